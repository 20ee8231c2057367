// @ts-check
// Mouse, wheel and keys.

import { fit, panBy, zoomAt } from "./camera.js";
import { clear, pickCrossing, pickGroup } from "./marks.js";
import { crossingLines, groupLines } from "./tooltip.js";

/**
 * @import { Diagram } from "./main.js"
 * @import { Box, Crossing, Group, Layout, Place } from "./records.js"
 */

/**
 * What is under the pointer; on a group perhaps its handle.
 * @typedef {{ group?: Group, crossing?: Crossing, handle: boolean }} Hit
 */

const DRAG_PX = 4;

/**
 * The group or the crossing that a node of the drawing belongs to; neither where it is of none that is drawn now.
 * @param {Pick<Element, "closest">} target
 * @param {Pick<Layout, "places"> | null} layout
 * @param {ReadonlyMap<string, { item: Crossing }>} crossings
 * @returns {Hit}
 */
export function hitOf(target, layout, crossings) {
  const group = idOf(target.closest(".group"));
  const crossing = idOf(target.closest(".crossing"));
  return {
    group: layout?.places.get(group)?.group,
    crossing: crossings.get(crossing)?.item,
    handle: target.closest(".handle") !== null,
  };
}

/** @param {Element | null} node */
function idOf(node) {
  return node?.getAttribute("data-id") ?? "";
}

/**
 * What a click does: a group's handle opens or closes it, the rest of it selects it, as does a crossing; beside
 * both nothing is selected any more.
 * @param {Hit} hit
 * @returns {"toggle" | "group" | "crossing" | "clear"}
 */
export function clickMeans({ group, crossing, handle }) {
  if (group) return handle ? "toggle" : "group";
  return crossing ? "crossing" : "clear";
}

/** @param {Diagram} diagram */
export function listen(diagram) {
  const { svg, root, tooltip } = diagram;
  /** @type {{ x: number, y: number, id: number } | null} */
  let drag = null;
  let dragged = false;

  /** @param {Event} event */
  const at = (event) => hitOf(/** @type {Element} */ (event.target), diagram.layout, diagram.crossings);

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
      panBy(diagram, dx, dy);
      return;
    }
    const { group, crossing } = at(event);
    if (group) tooltip.show(groupLines(group, diagram.hueOf(group.device)), event.clientX, event.clientY);
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
    const hit = at(event);
    const means = clickMeans(hit);
    if (hit.group && means === "toggle") diagram.toggle(hit.group);
    else if (hit.group) pickGroup(diagram, hit.group.id);
    else if (hit.crossing) pickCrossing(diagram, hit.crossing.id);
    else clear(diagram);
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
      hint = window.setTimeout(() => diagram.wheelHint.classList.remove("shown"), 1200);
      return;
    }
    event.preventDefault();
    tooltip.hide();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      panBy(diagram, -(event.deltaX || event.deltaY) * unit, 0);
      return;
    }
    const frame = svg.getBoundingClientRect();
    zoomAt(diagram, event.clientX - frame.left - diagram.gutter, event.clientY - frame.top, Math.exp(-event.deltaY * unit * 0.0016));
  }, { passive: false });

  svg.addEventListener("keydown", (event) => {
    const { group, crossing } = at(event);
    const action = keyAction(diagram, event.key, group, crossing);
    if (!action) return;
    event.preventDefault();
    action();
  });
  svg.addEventListener("focusin", (event) => {
    const node = /** @type {Element} */ (event.target).closest(".group");
    if (!node?.matches(":focus-visible")) return;
    const box = diagram.boxes.get(idOf(node));
    if (!box) return;
    const { dx, dy } = revealing(box, diagram.viewWidth, diagram.viewHeight);
    if (dx || dy) panBy(diagram, dx, dy);
  });
}

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/**
 * What a key does where this group or crossing has the focus; null for nothing.
 * @param {Diagram} diagram
 * @param {string} key
 * @param {Group | undefined} group
 * @param {Crossing | undefined} crossing
 */
function keyAction(diagram, key, group, crossing) {
  if (STEPS[key]) return () => focusBeside(diagram, group, ...STEPS[key]);
  if (key === "Enter" || key === " ") {
    if (group) return () => pickGroup(diagram, group.id);
    if (crossing) return () => pickCrossing(diagram, crossing.id);
  }
  if ((key === "+" || key === "=") && group?.expandable) return () => diagram.toggle(group);
  if (key === "-" && group?.expanded) return () => diagram.toggle(group);
  if (key === "+" || key === "=") return () => zoomAt(diagram, diagram.viewWidth / 2, diagram.viewHeight / 2, 1.4);
  if (key === "-") return () => zoomAt(diagram, diagram.viewWidth / 2, diagram.viewHeight / 2, 1 / 1.4);
  if (key === "f" || key === "F" || key === "0") return () => fit(diagram);
  if (key === "Escape") return () => {
    diagram.tooltip.hide();
    clear(diagram);
    diagram.svg.focus();
  };
  if (key === "c" || key === "C") return () => focusCrossing(diagram, group, crossing);
  return null;
}

/**
 * @param {Diagram} diagram
 * @param {Group | undefined} group
 * @param {number} dx
 * @param {number} dy
 */
function focusBeside(diagram, group, dx, dy) {
  if (!diagram.layout) return;
  const { places } = diagram.layout;
  const next = beside([...places.values()], group ? places.get(group.id) : undefined, dx, dy);
  if (next) diagram.groups.get(next.group.id)?.node.focus();
}

/**
 * The group beside `from`: along the lane, or the closest one in the next lane that has any; without one, the first.
 * @param {Place[]} places
 * @param {Place | undefined} from
 * @param {number} dx
 * @param {number} dy
 * @returns {Place | undefined}
 */
export function beside(places, from, dx, dy) {
  if (!from) return places[0];
  /** @param {Place} place */
  const distance = (place) => Math.abs(place.x - from.x) + Math.abs(place.y - from.y);
  /** @param {Place} place */
  const columns = (place) => Math.abs(place.column - from.column);
  /** @param {Place} place */
  const slanting = (place) => Math.abs(place.x - from.x) * 2 + Math.abs(place.y - from.y);
  if (dx) {
    const along = places.filter((place) => place.lane === from.lane && Math.sign(place.column - from.column) === dx);
    return along.sort((p, q) => columns(p) - columns(q) || distance(p) - distance(q))[0];
  }
  const across = places.filter((place) => Math.sign(place.y - from.y) === dy && place !== from);
  return across.sort((p, q) => slanting(p) - slanting(q))[0];
}

/**
 * The crossing after `current` among those of a group, from the last to the first; among all without a group.
 * @param {Crossing[]} crossings
 * @param {string} group
 * @param {string | undefined} current
 * @returns {Crossing | undefined}
 */
export function nextCrossing(crossings, group, current) {
  const list = crossings.filter((item) => !group || item.src === group || item.dst === group);
  const index = list.findIndex((item) => item.id === current);
  return list[(index + 1) % list.length];
}

/**
 * @param {Diagram} diagram
 * @param {Group | undefined} group
 * @param {Crossing | undefined} crossing
 */
function focusCrossing(diagram, group, crossing) {
  diagram.crossingsOf = group?.id ?? diagram.crossingsOf;
  const item = nextCrossing(diagram.data.crossings, diagram.crossingsOf, crossing?.id);
  if (!item) return;
  diagram.crossings.get(item.id)?.node.focus();
  diagram.chrome.announce(`${item.from} to ${item.to}, ${item.text}, ${item.cause}`);
}

/**
 * How far is to be panned so that a bar is in view.
 * @param {Box} box
 * @param {number} viewWidth
 * @param {number} viewHeight
 */
export function revealing(box, viewWidth, viewHeight) {
  const dx = box.x < 0 ? 20 - box.x : box.x + box.width > viewWidth ? viewWidth - 20 - box.x - box.width : 0;
  const dy = box.y < 0 ? 10 - box.y : box.y + box.height > viewHeight ? viewHeight - 10 - box.y - box.height : 0;
  return { dx, dy };
}
