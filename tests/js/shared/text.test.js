import assert from "node:assert/strict";
import { test } from "node:test";

import { shortSite } from "../../../app/components/shared/cells.js";
import { breakable } from "../../../app/components/shared/change.js";
import { codeParts } from "../../../app/components/shared/code.js";

test("of a long path the end is shown, from a folder on", () => {
  assert.equal(shortSite("models/train.py:12"), "models/train.py:12");
  assert.equal(shortSite("/home/ann/projects/vision/models/resnet/train.py:12"), "…/vision/models/resnet/train.py:12");
});

test("of a long file name nothing is left out", () => {
  const file = "a_name_that_is_longer_than_the_column_is_wide.py:12";
  assert.equal(shortSite(file), file);
  assert.equal(shortSite(`src/${file}`), `…/${file}`);
});

test("a line of code is all there, with its words marked", () => {
  assert.deepEqual(codeParts("return 12", [[0, 6, "keyword"], [7, 9, "digits"]]), [
    { text: "return", kind: "keyword" }, { text: " ", kind: "" }, { text: "12", kind: "digits" }, { text: "", kind: "" },
  ]);
});

test("words that overlap, lie outside or are of no kind stay plain", () => {
  assert.deepEqual(codeParts("ab cd", [[0, 2, "name"], [1, 4, "name"], [3, 9, "name"], [3, 5, "odd"]]), [
    { text: "ab", kind: "name" }, { text: " cd", kind: "" },
  ]);
});

test("an empty line is as high as others", () => {
  assert.deepEqual(codeParts("", []), [{ text: "\u200b", kind: "" }]);
});

test("code may break behind brackets and commas, after its first word", () => {
  const line = "    loss = fit(model, data[0])";
  const parts = breakable(line);
  assert.equal(parts.join(""), line);
  assert.deepEqual(parts, ["    loss", " = fit(", "model,", " data[", "0])"]);
});
