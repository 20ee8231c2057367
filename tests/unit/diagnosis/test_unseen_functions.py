"""The headline over findings: what they say nothing of, where that is a considerable part of the run."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.detectors.unseen_work import hidden
from app.facts.tables import Tables
from app.reports.html import render_html
from app.reports.report_words import found_told
from app.reports.run_report import build_report
from app.reports.text import render_text
from app.web.run.finding_rows import headline
from app.web.run.stage import Stage
from probes.trace.rows import BY_XLA, DROPPED, Graph, Key, Node, Unseen

NO_GRAPH = "the runtime exported no placed graph for this call"


def run_of(*unseen: Unseen, eager: int = 0, calls: int = 0) -> Tables:
    """Eager ops, calls of a graph of ten ops that was seen, and what was not."""
    op: dict[str, Any] = {"op": "MatMul", "device": "cpu:1", "requested": "cpu:1", "loc": 0}
    nodes = [Node(1, n, f"op{n}", "Mul" if n else "_Arg", "", "cpu:1", 0, 0) for n in range(11)]
    return Tables(
        [],
        {},
        [Graph(1, "step", "__inference_step_1", 0, 0, None, calls)],
        [Key(1, "op", op, eager)],
        list(unseen),
        nodes_of=lambda graph: nodes,
    )


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (run_of(Unseen("ops inside train", 1410, NO_GRAPH), eager=100), "ops inside train"),
        (run_of(Unseen("ops inside train", 1410, NO_GRAPH), eager=100, calls=2000), ""),
        (run_of(Unseen("ops inside train", 1410, BY_XLA)), ""),
        (run_of(Unseen("functions of input pipelines", 4, "elsewhere"), eager=1), ""),
        (run_of(Unseen("ops inside body, called in step", 5, "one op; counted once a trace"), calls=50),
         "ops inside body"),
        (run_of(Unseen("ops inside body, called in step", 1, "one op; counted once a trace"), calls=50), ""),
        (run_of(Unseen("ops of hybridized blocks", 50, "traced before the recorder came"), calls=50),
         "ops of hybridized blocks"),
        (run_of(Unseen("ops of hybridized blocks", 1, "traced before the recorder came"), calls=50), ""),
        (run_of(Unseen(DROPPED, 1, "No space left on device"), eager=100), DROPPED),
        (run_of(Unseen(DROPPED, 1, "No space left on device"), Unseen("ops inside train", 1410, NO_GRAPH)),
         f"{DROPPED} and ops inside train"),
        (run_of(), ""),
    ],
)  # fmt: skip
def test_what_much_of_the_run_was_in_is_told_where_it_was_not_seen(run: Tables, told: str) -> None:
    """GIVEN what went unseen THEN only what holds a tenth of the run's ops or calls is for the headline."""
    assert hidden(run) == told


def test_a_headline_over_an_unseen_function_says_that_it_was_not_seen() -> None:
    """Bug: ``nothing needs attention``, where the only function that trained had not been seen."""
    info = {"run": "r", "status": "finished", "exit_code": 0}
    report = build_report(info, run_of(Unseen("ops inside train", 1410, NO_GRAPH), eager=100))
    told = "nothing needs attention in what was seen; not seen: ops inside train"
    assert f"Findings: {told}" in render_text(report).splitlines()
    assert f"<p>{told[0].upper()}{told[1:]}.</p>" in render_html(report)
    assert found_told(report) == "1 note, not seen: ops inside train"
    warned = report | {"findings": [*report["findings"], dict(report["findings"][0], severity="warning")]}
    assert "Findings: not seen: ops inside train" in render_text(warned).splitlines()
    assert found_told(warned) == "1 warning, 1 note, not seen: ops inside train"
    done = Stage("finished", "TensorFlow", 2, True)
    assert headline([], done, "ops inside train") == f"none: {told}"
    assert headline([], Stage("running", "TensorFlow", 2, True), "ops inside train").startswith(
        "none so far; "
    )
    assert headline([], done) == "none: nothing needs attention"
