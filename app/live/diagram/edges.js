// The curve of a crossing: out of the right of one bar, into the left of another; where there is no room
// between them, out of the facing side.

const HEAD = 5;

function lineWidth(weight) {
  return 1.4 + weight * 5.6;
}

function routeCrossings(crossings, at) {
  const routes = new Map();
  const sides = new Map();
  const join = (key, entry) => {
    if (!sides.has(key)) sides.set(key, []);
    sides.get(key).push(entry);
  };
  for (const crossing of crossings) {
    const a = at.get(crossing.src);
    const b = at.get(crossing.dst);
    if (!a || !b) continue;
    const width = lineWidth(crossing.weight);
    const head = HEAD + width;
    const beside = b.x - (a.x + a.width) > head + 8;
    const down = b.y > a.y;
    const route = { crossing, a, b, width, head, beside, down };
    routes.set(crossing.id, route);
    join(`${crossing.src}|${beside ? "right" : down ? "bottom" : "top"}`, { route, end: "a", order: beside ? b.y : b.x });
    join(`${crossing.dst}|${beside ? "left" : down ? "top" : "bottom"}`, { route, end: "b", order: beside ? a.y : a.x });
  }
  for (const entries of sides.values()) {
    entries.sort((p, q) => p.order - q.order || (p.route.crossing.id < q.route.crossing.id ? -1 : 1));
    entries.forEach((entry, index) => {
      entry.route[entry.end + "Port"] = (index + 1) / (entries.length + 1) - 0.5;
    });
  }
  for (const route of routes.values()) Object.assign(route, curve(route));
  return routes;
}

function curve({ a, b, aPort, bPort, head, width, beside, down }) {
  const half = head * 0.62;
  if (beside) {
    const x1 = a.x + a.width;
    const y1 = a.y + a.height / 2 + aPort * a.height * 0.8;
    const tip = b.x - 1;
    const y2 = b.y + b.height / 2 + bPort * b.height * 0.8;
    const x2 = tip - head + 1;
    const bend = Math.max(14, Math.min(90, (x2 - x1) * 0.55));
    return {
      path: `M${r(x1)},${r(y1)}C${r(x1 + bend)},${r(y1)} ${r(x2 - bend)},${r(y2)} ${r(x2)},${r(y2)}`,
      arrow: `M${r(tip)},${r(y2)}l${r(-head)},${r(-half)}v${r(2 * half)}z`,
      points: [x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2],
    };
  }
  const sign = down ? 1 : -1;
  const x1 = a.x + a.width / 2 + aPort * Math.min(a.width * 0.8, 60);
  const y1 = down ? a.y + a.height : a.y;
  const x2 = b.x + b.width / 2 + bPort * Math.min(b.width * 0.8, 60);
  const tip = (down ? b.y : b.y + b.height) - sign;
  const y2 = tip - sign * (head - 1);
  const bend = sign * Math.max(14, Math.min(80, Math.abs(y2 - y1) * 0.55));
  return {
    path: `M${r(x1)},${r(y1)}C${r(x1)},${r(y1 + bend)} ${r(x2)},${r(y2 - bend)} ${r(x2)},${r(y2)}`,
    arrow: `M${r(x2)},${r(tip)}l${r(-half)},${r(-sign * head)}h${r(2 * half)}z`,
    points: [x1, y1, x1, y1 + bend, x2, y2 - bend, x2, y2],
  };
}

function pointOn([x1, y1, x2, y2, x3, y3, x4, y4], t) {
  const u = 1 - t;
  const [p, q, s, w] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
  return [p * x1 + q * x2 + s * x3 + w * x4, p * y1 + q * y2 + s * y3 + w * y4];
}

function r(value) {
  return Math.round(value * 10) / 10;
}
