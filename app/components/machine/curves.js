// From samples to the points of a curve, and from Plotly's events to ranges.

// Plotly shows numbers as UTC; these show as the reader's own time of day.
export function localMs(t) {
  const ms = t * 1000;
  return ms - new Date(ms).getTimezoneOffset() * 60000;
}

export function curve(times, values, by, first, gap) {
  const [x, y] = [[], []];
  for (let at = 0; at < values.length; at += 1) {
    if (times[at] < first) continue;
    // Over a stretch without samples there is no line.
    if (x.length && times[at] - times[at - 1] > gap) {
      x.push(localMs((times[at] + times[at - 1]) / 2));
      y.push(null);
    }
    x.push(localMs(times[at]));
    y.push(values[at] === null || values[at] === undefined ? null : values[at] / by);
  }
  return { x, y };
}

export function largest(traces) {
  let most = 0;
  for (const { y } of traces) for (const value of y) if (value > most) most = value;
  return most;
}

export function means(samples, fields) {
  const found = new Map();
  for (const device of samples[0].keys()) {
    const mean = (field) => {
      const known = samples.map((values) => values.get(device)?.[field]).filter((value) => typeof value === "number");
      return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
    };
    found.set(device, Object.fromEntries(fields.map((field) => [field, mean(field)])));
  }
  return found;
}

export function rangeOf(change, axis) {
  const from = change[`${axis}.range[0]`] ?? change[`${axis}.range`]?.[0];
  const to = change[`${axis}.range[1]`] ?? change[`${axis}.range`]?.[1];
  return from === undefined || to === undefined ? null : [from, to];
}
