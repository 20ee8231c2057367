// Mouse, wheel and keys.

import { crossingLines, groupLines } from "./tooltip.js";

const DRAG_PX = 4;

export function listen(diagram) {
  const { svg, root, tooltip } = diagram;
  let drag = null;
  let dragged = false;

  const at = (event) => {
    const group = event.target.closest(".group");
    const crossing = event.target.closest(".crossing");
    return {
      group: group && diagram.layout.places.get(group.dataset.id)?.group,
      crossing: crossing && diagram.crossings.get(crossing.dataset.id)?.item,
      handle: event.target.closest(".handle"),
    };
  };

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, y: event.clientY, id: event.pointerId };
    dragged = false;
  });
  svg.addEventListener("pointermove", (event) => {
    if (drag && event.buttons) {
      const dx = event.clientX - drag.x;
      const dy = event.clientY - drag.y;
      if (!dragged && Math.hypot(dx, dy) < DRAG_PX) return;
      if (!dragged) svg.setPointerCapture(drag.id);
      dragged = true;
      root.classList.add("dragging");
      tooltip.hide();
      drag = { ...drag, x: event.clientX, y: event.clientY };
      diagram.panBy(dx, dy);
      return;
    }
    const { group, crossing } = at(event);
    if (group) tooltip.show(groupLines(group, diagram.hues.get(group.device)), event.clientX, event.clientY);
    else if (crossing) tooltip.show(crossingLines(crossing), event.clientX, event.clientY);
    else tooltip.hide();
  });
  const release = () => {
    drag = null;
    root.classList.remove("dragging");
  };
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);
  svg.addEventListener("pointerleave", () => tooltip.hide());

  svg.addEventListener("click", (event) => {
    if (dragged) {
      dragged = false;
      return;
    }
    const { group, crossing, handle } = at(event);
    if (group && handle) diagram.toggle(group);
    else if (group) diagram.pickGroup(group.id);
    else if (crossing) diagram.pickCrossing(crossing.id);
    else diagram.clear();
  });
  svg.addEventListener("dblclick", (event) => {
    const { group, handle } = at(event);
    if (group && !handle && (group.expandable || group.expanded)) diagram.toggle(group);
  });

  let hint = 0;
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !root.matches(":focus-within")) {
      diagram.wheelHint.classList.add("shown");
      clearTimeout(hint);
      hint = setTimeout(() => diagram.wheelHint.classList.remove("shown"), 1200);
      return;
    }
    event.preventDefault();
    tooltip.hide();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      diagram.panBy(-(event.deltaX || event.deltaY) * unit, 0);
      return;
    }
    const frame = svg.getBoundingClientRect();
    diagram.zoomAt(event.clientX - frame.left - diagram.gutter, event.clientY - frame.top, Math.exp(-event.deltaY * unit * 0.0016));
  }, { passive: false });

  svg.addEventListener("keydown", (event) => {
    const focused = event.target.closest(".group, .crossing");
    const place = focused?.matches(".group") ? diagram.layout.places.get(focused.dataset.id) : null;
    const action = keyAction(diagram, event.key, focused, place);
    if (!action) return;
    event.preventDefault();
    action();
  });
  svg.addEventListener("focusin", (event) => {
    const group = event.target.closest(".group");
    if (group && group.matches(":focus-visible")) reveal(diagram, diagram.boxes.get(group.dataset.id));
  });
}

function keyAction(diagram, key, focused, place) {
  const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  if (steps[key]) return () => focusBeside(diagram, place, ...steps[key]);
  if (key === "Enter" || key === " ") {
    if (place) return () => diagram.pickGroup(place.group.id);
    if (focused) return () => diagram.pickCrossing(focused.dataset.id);
  }
  if ((key === "+" || key === "=") && place?.group.expandable) return () => diagram.toggle(place.group);
  if (key === "-" && place?.group.expanded) return () => diagram.toggle(place.group);
  if (key === "+" || key === "=") return () => diagram.zoomAt(diagram.viewWidth / 2, diagram.viewHeight / 2, 1.4);
  if (key === "-") return () => diagram.zoomAt(diagram.viewWidth / 2, diagram.viewHeight / 2, 1 / 1.4);
  if (key === "f" || key === "F" || key === "0") return () => diagram.fit(true);
  if (key === "Escape") return () => {
    diagram.tooltip.hide();
    diagram.clear();
    diagram.svg.focus();
  };
  if (key === "c" || key === "C") return () => focusCrossing(diagram, focused, place);
  return null;
}

// The group beside `from`: along the lane, or the closest one in the next lane that has any.
function focusBeside(diagram, from, dx, dy) {
  const places = [...diagram.layout.places.values()];
  let candidates = places;
  const distance = (place) => Math.abs(place.x - from.x) + Math.abs(place.y - from.y);
  if (from && dx) {
    candidates = places.filter((place) => place.lane === from.lane && Math.sign(place.column - from.column) === dx);
    candidates.sort((p, q) => Math.abs(p.column - from.column) - Math.abs(q.column - from.column) || distance(p) - distance(q));
  } else if (from) {
    candidates = places.filter((place) => Math.sign(place.y - from.y) === dy && place !== from);
    candidates.sort((p, q) => Math.abs(p.x - from.x) * 2 + Math.abs(p.y - from.y) - (Math.abs(q.x - from.x) * 2 + Math.abs(q.y - from.y)));
  }
  const next = candidates[0];
  if (next) diagram.groups.get(next.group.id).node.focus();
}

function focusCrossing(diagram, focused, place) {
  const current = focused?.matches(".crossing") ? focused.dataset.id : null;
  const group = place?.group.id ?? diagram.crossingsOf;
  diagram.crossingsOf = group;
  const list = diagram.data.crossings.filter((item) => !group || item.src === group || item.dst === group);
  if (!list.length) return;
  const index = list.findIndex((item) => item.id === current);
  const item = list[(index + 1) % list.length];
  diagram.crossings.get(item.id).node.focus();
  diagram.chrome.announce(`${item.from} to ${item.to}, ${item.text}, ${item.cause}`);
}

function reveal(diagram, box) {
  if (!box) return;
  const dx = box.x < 0 ? 20 - box.x : box.x + box.width > diagram.viewWidth ? diagram.viewWidth - 20 - box.x - box.width : 0;
  const dy = box.y < 0 ? 10 - box.y : box.y + box.height > diagram.viewHeight ? diagram.viewHeight - 10 - box.y - box.height : 0;
  if (dx || dy) diagram.panBy(dx, dy);
}
