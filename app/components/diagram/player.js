// The step player: lights the groups in rank order and moves a dot along each crossing. It shows what
// depends on what, not how long anything took.

import { r } from "./edges.js";
import { el, set } from "./scene.js";

const RANK_MS = 520;
const SHORTEST_MS = 3000;
const LONGEST_MS = 18000;

export function makePlayer(state) {
  const player = { playing: false, at: 0, frame: 0, dots: new Map() };

  player.toggle = () => (player.playing ? player.stop() : player.start());

  player.start = () => {
    const { layout } = state;
    if (!layout || !layout.places.size) return;
    player.playing = true;
    state.root.classList.add("playing");
    const span = layout.columns + 0.6;
    const total = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, span * RANK_MS));
    const started = performance.now();
    const step = (now) => {
      if (!player.playing) return;
      const t = ((now - started) / total) * span;
      if (t >= span) {
        player.stop();
        return;
      }
      player.draw(t);
      player.frame = requestAnimationFrame(step);
    };
    player.frame = requestAnimationFrame(step);
    state.refreshControls();
  };

  player.stop = () => {
    player.playing = false;
    cancelAnimationFrame(player.frame);
    state.root.classList.remove("playing");
    for (const entry of state.groups.values()) entry.node.classList.remove("lit", "done");
    for (const dot of player.dots.values()) dot.remove();
    player.dots.clear();
    state.refreshControls();
  };

  player.draw = (t) => {
    for (const [id, place] of state.layout.places) {
      const entry = state.groups.get(id);
      if (!entry) continue;
      entry.node.classList.toggle("lit", t >= place.column && t < place.column + 1);
      entry.node.classList.toggle("done", t >= place.column + 1);
    }
    state.keepColumnInView(Math.min(Math.floor(t), state.layout.columns - 1));
    for (const [id, route] of state.routes) {
      const from = state.layout.places.get(route.crossing.src).column + 0.5;
      const to = Math.max(from + 0.6, state.layout.places.get(route.crossing.dst).column + 0.1);
      const share = (t - from) / (to - from);
      let dot = player.dots.get(id);
      if (share < 0 || share > 1) {
        if (dot) dot.remove();
        player.dots.delete(id);
        continue;
      }
      if (!dot) {
        dot = el("circle", { class: `dot${route.crossing.alert ? " alert" : ""}`, r: r(3.5 + route.width / 2) }, state.over);
        player.dots.set(id, dot);
      }
      const { line } = state.crossings.get(id);
      const { x, y } = line.getPointAtLength(line.getTotalLength() * share);
      set(dot, { cx: r(x), cy: r(y) });
    }
  };
  return player;
}
