// @ts-check
// Plotly's browser half, fetched once for all figures of the page.

/** @import { PlotlyLibrary } from "./window.js" */

export const SOURCE = "/hopscope/plotly.min.js";

/** @returns {Promise<PlotlyLibrary>} */
export function loadPlotly() {
  window.hopscopePlotly ??= new Promise((done, fail) => {
    const tag = document.createElement("script");
    tag.src = SOURCE;
    tag.onload = () => (window.Plotly ? done(window.Plotly) : fail(new Error("no Plotly in it")));
    tag.onerror = () => fail(new Error("it could not be loaded"));
    document.head.append(tag);
  });
  return window.hopscopePlotly;
}
