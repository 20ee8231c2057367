// Text that fits: whole words and an ellipsis, never half a word.

const BREAKS = /(?<=[_/.\-:\s])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])/;

function makeMeasure(root) {
  const context = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(root).fontFamily || "sans-serif";
  const known = new Map();
  return (text, font = "500 12px") => {
    const key = font + text;
    let width = known.get(key);
    if (width === undefined) {
      context.font = `${font} ${family}`;
      width = context.measureText(text).width;
      known.set(key, width);
    }
    return width;
  };
}

function fitLabel(text, room, measure) {
  if (measure(text) <= room) return text;
  const words = text.split(BREAKS);
  for (let kept = words.length - 1; kept > 0; kept -= 1) {
    const short = words.slice(0, kept).join("").replace(/[_/.\-:\s]+$/, "") + "…";
    if (measure(short) <= room) return short;
  }
  return room >= measure("…") ? "…" : "";
}
