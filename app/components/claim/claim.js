// @ts-check
// What a program's claim came to: a word and the measurement a line, and below what was claimed.

import { node, span } from "../shared/cells.js";
import { mount } from "../shared/mount.js";
import { applyPalette } from "../shared/theme.js";

/** @import { Call } from "../shared/records.js" */

/**
 * What app/components/claim/claim.py gives.
 * @typedef {{ text: string, tone: string, measured: string }} Verdict
 * @typedef {{ verdicts: Verdict[], claim: string }} ClaimData
 */

class Claim {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.verdicts = node("div", { class: "verdicts" }, root);
    this.claim = node("p", { class: "claim" }, root);
    this.stamp = "";
  }

  /** @param {ClaimData} data */
  update(data) {
    applyPalette(this.root);
    this.root.dataset.testid = "claim";
    const stamp = JSON.stringify(data);
    if (stamp === this.stamp) return;
    this.stamp = stamp;
    this.verdicts.replaceChildren();
    for (const { text, tone, measured } of data.verdicts) {
      const line = node("div", { class: "verdict", "data-testid": "verdict", "data-verdict": text }, this.verdicts);
      span(line, text, `badge ${tone}`);
      span(line, measured, "measured");
    }
    this.claim.replaceChildren();
    this.claim.hidden = !data.claim;
    span(this.claim, "Claim  ", "claim-lead");
    span(this.claim, data.claim);
  }
}

/** @param {Call<ClaimData>} call */
export default function ({ data, parentElement }) {
  const [box, leave] = mount(parentElement, ".hopscope", (root) => new Claim(root));
  box.update(data);
  return leave;
}
