"""A component's modules as one text."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.components.shared.assets import FOLDER, script
from app.components.shared.bundle import BundleError, bundle

ENTRIES = (
    "changes/changes",
    "claim/claim",
    "diagram/main",
    "editor/editor",
    "facts/facts",
    "figure/figure",
    "findings/findings",
    "machine/history",
    "machine/main",
    "machine/text",
    "runs/runs",
    "source/source",
    "table/table",
)


def written(folder: Path, files: dict[str, str]) -> Path:
    """Write modules below a folder; the path of `box/main.js`."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder / "box" / "main.js"


def test_modules_come_in_the_order_in_which_they_are_needed(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        {
            "box/main.js": 'import { put } from "../shared/cells.js";\n'
            'import { Box } from "./box.js";\n'
            "\n"
            "export default function ({ data }) {\n"
            "  put(new Box(data));\n"
            "}\n",
            "box/box.js": 'import { put, WIDE } from "../shared/cells.js";\n'
            "const hidden = 1;\n"
            "export class Box {}\n"
            "put(WIDE + hidden);\n",
            "shared/cells.js": 'import COLORS from "./colors.json" with { type: "json" };\n'
            "export const WIDE = COLORS.wide;\n"
            "const hidden = 2;\n"
            "export function put(value) {\n"
            "  return value ?? hidden;\n"
            "}\n",
            "shared/colors.json": '{\n  "wide": 12\n}\n',
        },
    )
    assert bundle(entry, tmp_path) == (
        "const $shared_cells = (() => {\n"
        'const COLORS = {"wide": 12};\n'
        "const WIDE = COLORS.wide;\n"
        "const hidden = 2;\n"
        "function put(value) {\n"
        "  return value ?? hidden;\n"
        "}\n"
        "return { WIDE, put };\n"
        "})();\n"
        "const $box_box = (() => {\n"
        "const { put, WIDE } = $shared_cells;\n"
        "const hidden = 1;\n"
        "class Box {}\n"
        "put(WIDE + hidden);\n"
        "return { Box };\n"
        "})();\n"
        "const { put } = $shared_cells;\n"
        "const { Box } = $box_box;\n"
        "\n"
        "export default function ({ data }) {\n"
        "  put(new Box(data));\n"
        "}"
    )


@pytest.mark.parametrize(
    "line",
    [
        'import * as cells from "./cells.js";',
        'import { put as set } from "./cells.js";',
        'import "./cells.js";',
        'import { put } from "cells";',
        'import { put } from "./cells.js"',
        "import {",
        '  import { put } from "./cells.js";',
        'const cells = import("./cells.js");',
        "const here = import.meta.url;",
        "export { put };",
        'export * from "./cells.js";',
        "export let count = 0;",
        "export const { a, b } = {};",
        "export default {};",
    ],
)
def test_other_forms_are_refused(tmp_path: Path, line: str) -> None:
    entry = written(tmp_path, {"box/main.js": f"{line}\n", "box/cells.js": "export const put = 1;\n"})
    with pytest.raises(BundleError, match=r"main\.js:1: "):
        bundle(entry, tmp_path)


def test_words_in_comments_and_strings_are_no_imports(tmp_path: Path) -> None:
    text = '/** @import { Box } from "./box.js" */\n// It may import (later).\nconst say = "an import";'
    assert bundle(written(tmp_path, {"box/main.js": text}), tmp_path) == text


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"box/main.js": 'import { a } from "./other.js";\n'}, "is no file"),
        ({"box/main.js": 'import { a } from "../../other.js";\n'}, "is no file below"),
        (
            {"box/main.js": 'import { a, b } from "./other.js";\n', "box/other.js": "export const a = 1;\n"},
            "does not export b",
        ),
        (
            {
                "box/main.js": 'import { a } from "./other.js";\n',
                "box/other.js": 'import { b } from "./third.js";\nexport const a = 1;\n',
                "box/third.js": 'import { a } from "./other.js";\nexport const b = 1;\n',
            },
            "imports this module in turn",
        ),
        (
            {
                "box/main.js": 'import { a } from "./other.js";\n',
                "box/other.js": "export default function () {}\n",
            },
            "not a form",
        ),
    ],
)
def test_what_cannot_be_resolved_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(BundleError, match=message):
        bundle(written(tmp_path, files), tmp_path)


@pytest.mark.parametrize("name", ENTRIES)
def test_each_component_is_one_module_with_one_export(name: str) -> None:
    lines = script(name).splitlines()
    assert not [line for line in lines if line.lstrip().startswith("import ")]
    exports = [line for line in lines if line.startswith("export ")]
    assert len(exports) == 1 and exports[0].startswith("export default function ")


def test_every_component_is_among_them() -> None:
    entries = {
        str(file.relative_to(FOLDER).with_suffix(""))
        for file in FOLDER.glob("*/*.js")
        if "\nexport default function" in file.read_text()
    }
    assert entries == set(ENTRIES)
