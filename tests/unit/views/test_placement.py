"""The placement diagram as data for its component."""

from __future__ import annotations

import json

from app.views.placement import EMPTY, diagram_data, distinct_labels
from app.views.placement_data import Crossing, Diagram, GraphChoice, Group, Lane, Link
from app.views.selection import Selection
from app.views.units import TIMES


def group(scope: str, device: str, rank: int, kind: str = "scope", **more: object) -> Group:
    fields: dict[str, object] = {
        "id": f"7|{device}|{scope}",
        "label": scope.rpartition("/")[2],
        "scope": scope,
        "device": device,
        "ops": 3,
        "op_histogram": (("MatMul", 2), ("AddV2", 1)),
        "rank": rank,
        "hops": 1,
        "expandable": True,
        "expanded": False,
        "kind": kind,
        "site": "model.py:31",
        "expand": f"7|{scope}",
    }
    return Group(**(fields | more))  # type: ignore[arg-type]


def crossing(src: Group, dst: Group, size: int | None, count: int | None, **more: object) -> Crossing:
    fields: dict[str, object] = {
        "id": f"{src.id}>{dst.id}",
        "src_group": src.id,
        "dst_group": dst.id,
        "src_device": src.device,
        "dst_device": dst.device,
        "bytes_total": size,
        "count": count,
        "hops": (1,),
        "cause": "explicit",
        "severity": "info",
        "tensors": ("dense/Relu:0",),
        "basis": "estimated",
    }
    return Crossing(**(fields | more))  # type: ignore[arg-type]


FIRST = group("dense", "cpu:1", 0)
SECOND = group("dense_1", "cpu:2", 1, device_histogram=(("cpu:2", 3), ("cpu:0", 1)))
DIAGRAM = Diagram(
    lanes=(
        Lane("cpu:1", True, (FIRST.id,), 3),
        Lane("cpu:2", True, (SECOND.id,), 3),
        Lane("cpu:0", False, ()),
    ),
    groups=(SECOND, FIRST),
    crossings=(crossing(FIRST, SECOND, 6_553_600, 100),),
    depth=1,
    hidden=0,
    links=(Link(FIRST.id, SECOND.id, 2),),
    graphs=(GraphChoice("7", "train_step", 6, 100), GraphChoice("8", "evaluate", 2, 1)),
    drawn=("7",),
)
HOPS = [
    {"tensor": "labels", "bytes": 4, "count": 1, "site": "train.py:3"},
    {"tensor": "dense/Relu:0", "bytes": 65536, "count": 100, "site": "model.py:31"},
]


def test_the_whole_of_it() -> None:
    data = diagram_data(DIAGRAM, hops=HOPS, opened=["7|gradient_tape"])
    assert data == {
        "lanes": [
            {"device": "cpu:1", "hue": "var(--hs-hue0)", "remark": "stand-in", "ops": "3 ops"},
            {"device": "cpu:2", "hue": "var(--hs-hue1)", "remark": "stand-in", "ops": "3 ops"},
            {"device": "cpu:0", "hue": "var(--hs-host)", "remark": "host", "ops": "0 ops"},
        ],
        "groups": [
            {
                "id": "7|cpu:1|dense",
                "label": "dense",
                "scope": "dense",
                "device": "cpu:1",
                "rank": 0,
                "ops": 3,
                "hops": 1,
                "kind": "scope",
                "expandable": True,
                "expanded": False,
                "expand": "7|dense",
                "site": "model.py:31",
                "types": ["MatMul 2", "AddV2 1"],
                "mix": [],
                "series": [],
            },
            {
                "id": "7|cpu:2|dense_1",
                "label": "dense_1",
                "scope": "dense_1",
                "device": "cpu:2",
                "rank": 1,
                "ops": 3,
                "hops": 1,
                "kind": "scope",
                "expandable": True,
                "expanded": False,
                "expand": "7|dense_1",
                "site": "model.py:31",
                "types": ["MatMul 2", "AddV2 1"],
                "mix": [["var(--hs-hue1)", 3, "cpu:2"], ["var(--hs-host)", 1, "cpu:0"]],
                "series": [],
            },
        ],
        "crossings": [
            {
                "id": "7|cpu:1|dense>7|cpu:2|dense_1",
                "src": "7|cpu:1|dense",
                "dst": "7|cpu:2|dense_1",
                "from": "cpu:1",
                "to": "cpu:2",
                "bytes": 6_553_600,
                "count": 100,
                "text": f"6.25 MiB · 100{TIMES}",
                "share": "",
                "collective": False,
                "weight": 0.688,
                "alert": False,
                "severity": "info",
                "cause": "explicit",
                "basis": "estimated",
                "hops": [1],
                "tensors": ["dense/Relu:0"],
                "details": [{"tensor": "dense/Relu:0", "size": f"64 KiB {TIMES} 100", "site": "model.py:31"}],
                "sites": ["model.py:31"],
            }
        ],
        "links": [["7|cpu:1|dense", "7|cpu:2|dense_1"]],
        "selection": {"group": "", "crossings": [], "filtered": False},
        "opened": [{"expand": "7|gradient_tape", "label": "gradient_tape"}],
        "causes": [{"cause": "explicit", "label": "explicit", "alert": False, "number": 1, "dashed": False}],
        "badges": True,
        "scale": [
            {"label": "1 KiB", "weight": 0.144},
            {"label": "1 MiB", "weight": 0.574},
            {"label": "1 GiB", "weight": 1.0},
        ],
        "title": "train_step (6 ops, 100 calls)",
        "traces": "",
        "note": "",
        "empty": EMPTY,
    }
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_a_selection_marks_groups_and_crossings() -> None:
    def selected(selection: Selection) -> object:
        return diagram_data(DIAGRAM, selection)["selection"]

    arrow = DIAGRAM.crossings[0].id
    assert selected(Selection(group=FIRST.id)) == {"group": FIRST.id, "crossings": [], "filtered": False}
    assert selected(Selection(group="gone")) == {"group": "", "crossings": [], "filtered": False}
    for selection in (
        Selection(crossing=arrow),
        Selection(hops=frozenset({1, 9})),
        Selection(pair=("cpu:1", "cpu:2")),
    ):
        assert selected(selection) == {"group": "", "crossings": [arrow], "filtered": True}
    assert selected(Selection(pair=("cpu:2", "cpu:1"))) == {"group": "", "crossings": [], "filtered": True}


def test_unknown_sizes_and_counts_are_never_guessed() -> None:
    diagram = Diagram(
        DIAGRAM.lanes,
        DIAGRAM.groups,
        (
            crossing(FIRST, SECOND, None, None),
            crossing(SECOND, FIRST, None, 5, bytes_known=2048, severity="error", cause="mixed-context"),
        ),
        1,
        0,
    )
    drawn = diagram_data(diagram)["crossings"]
    assert [(one["bytes"], one["count"], one["text"], one["weight"], one["alert"]) for one in drawn] == [
        (None, None, "?", 0.0, False),
        (None, 5, f"≥ 2 KiB · 5{TIMES}", 0.187, True),
    ]


def test_hues_agree_with_the_run_not_with_the_drawn_lanes() -> None:
    diagram = Diagram((Lane("worker:1/gpu:0", False, ()),), (), (), 1, 0)
    data = diagram_data(diagram, devices=["worker:0/gpu:0", "worker:1/gpu:0"])
    assert data["lanes"][0]["hue"] == "var(--hs-hue1)"


def test_labels_that_several_scopes_share_get_more_of_their_path() -> None:
    groups = [
        group("dense", "cpu:1", 0),
        group("gradient_tape/dense", "cpu:1", 1),
        group("a/x/dense_1", "cpu:1", 2),
        group("b/x/dense_1", "cpu:1", 2),
        group("sgd", "cpu:1", 3),
        group("sgd", "cpu:2", 3),
        group("", "cpu:2", 4, label=""),
    ]
    assert list(distinct_labels(groups).values()) == [
        "dense",
        "gradient_tape/dense",
        "a/x/dense_1",
        "b/x/dense_1",
        "sgd",
        "sgd",
        "top level",
    ]


def test_what_is_not_drawn_is_told() -> None:
    stray = crossing(FIRST, group("gone", "cpu:2", 9), 5, 1)
    partial = GraphChoice("7", "train_step", 6, 100, "it holds a compiled cluster")
    lanes = (*DIAGRAM.lanes[:2], Lane("cpu:0", False, (), 0, elsewhere=True))
    diagram = Diagram(
        lanes, DIAGRAM.groups, (stray,), 1, 12, graphs=(partial,), drawn=("7",), idle=("cpu:3", "cpu:4")
    )
    data = diagram_data(diagram)
    assert data["crossings"] == []
    assert [lane["ops"] for lane in data["lanes"]] == ["3 ops", "3 ops", "0 ops drawn"]
    assert data["note"] == (
        "12 ops not drawn. 1 crossing to groups that are not drawn. No op ran on cpu:3, cpu:4. "
        "train_step is partial: it holds a compiled cluster."
    )


def test_types_beyond_six_are_counted() -> None:
    histogram = tuple((f"Op{index}", 1) for index in range(9))
    diagram = Diagram(DIAGRAM.lanes, (group("dense", "cpu:1", 0, op_histogram=histogram),), (), 1, 0)
    assert diagram_data(diagram)["groups"][0]["types"] == [*(f"Op{index} 1" for index in range(6)), "3 more"]


def test_nothing_to_draw() -> None:
    data = diagram_data(Diagram((), (), (), 1, 0), empty="This run recorded nothing.")
    assert (data["lanes"], data["groups"], data["crossings"], data["empty"]) == (
        [],
        [],
        [],
        "This run recorded nothing.",
    )


def test_collectives_say_their_payload_and_each_arrow_its_share() -> None:
    ring = crossing(
        FIRST,
        SECOND,
        6_800_160,
        20,
        hops=(),
        cause="collective",
        tensors=(),
        collective="all-reduce · ring",
        payload=340_008,
        site="train.py:9",
    )
    data = diagram_data(Diagram(DIAGRAM.lanes, DIAGRAM.groups, (ring,), 1, 0))
    (drawn,) = data["crossings"]
    assert (drawn["text"], drawn["share"]) == (
        f"all-reduce · ring · 332 KiB payload · 20{TIMES}",
        f"6.49 MiB · 20{TIMES}",
    )
    assert (drawn["collective"], drawn["basis"], drawn["sites"]) == (True, "estimated", ["train.py:9"])
    assert data["causes"] == [
        {"cause": "collective", "label": "collective", "alert": False, "number": 1, "dashed": True}
    ]


def test_a_cause_of_two_severities_has_two_names_in_the_legend() -> None:
    crossings = (
        crossing(FIRST, SECOND, 4, 1, cause="default-device"),
        crossing(SECOND, FIRST, 4, 1, cause="default-device", severity="warning"),
    )
    causes = diagram_data(Diagram(DIAGRAM.lanes, DIAGRAM.groups, crossings, 1, 0))["causes"]
    assert [(one["label"], one["alert"]) for one in causes] == [
        ("default-device", True),
        ("default-device (info)", False),
    ]


def test_graphs_of_a_name_that_are_not_drawn_are_counted() -> None:
    traces = (
        GraphChoice("7", "train_step", 6, 100, None, "train_step"),
        GraphChoice("8", "train_step (2)", 6, 1, None, "train_step"),
    )
    one = Diagram(DIAGRAM.lanes, DIAGRAM.groups, (), 1, 0, graphs=traces, drawn=("7",))
    assert diagram_data(one)["traces"] == "1 of 2 graphs of train_step shown"
    both = Diagram(DIAGRAM.lanes, DIAGRAM.groups, (), 1, 0, graphs=traces, drawn=("7", "8"))
    assert diagram_data(both)["traces"] == ""
