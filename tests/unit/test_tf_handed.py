"""What tf.py_function is given lies where the graph has its op: known after the graph's first call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from probes.tf.handed import Handed, Home
from tests.unit.test_tf_awaited import Recorder


def op(device: str = "", kind: str = "EagerPyFunc") -> Any:
    return SimpleNamespace(type=kind, device=device, get_attr=lambda name: b"token")


def graph(device: str) -> Any:
    node = SimpleNamespace(op="EagerPyFunc", device=device, attr={"token": SimpleNamespace(s=b"token")})
    return SimpleNamespace(partition_graphs=[SimpleNamespace(node=[node])])


def handed(device: str = "") -> tuple[Handed, Home, Recorder, list[str]]:
    recorder: Any = Recorder()
    found = Handed(recorder)
    found.traced(op(device), 7)
    return found, found.home(b"token"), recorder, []


def test_what_is_taken_before_the_graph_was_read_is_told_when_it_was() -> None:
    found, home, _, told = handed()
    home.later(told.append)
    assert not home.known and told == []
    found.placed("step", {}, graph("/job:localhost/replica:0/task:0/device:CPU:1"))
    assert home.known and home.device == "cpu:1" and told == ["cpu:1"]
    home.later(told.append)
    assert told == ["cpu:1", "cpu:1"] and found.line(b"token") == 7


def test_a_device_that_the_code_asks_for_is_known_at_once() -> None:
    _, home, _, _ = handed("/device:CPU:2")
    assert home.known and home.device == "cpu:2"


def test_a_function_in_graphs_on_several_devices_has_no_home() -> None:
    """Nothing tells which of them is at work when Python takes a value."""
    found, home, _, _ = handed()
    for device in ("CPU:1", "CPU:2", "CPU:1"):
        found.placed("step", {}, graph(f"/device:{device}"))
    assert home.known and home.device == ""


def test_what_waits_for_a_graph_that_never_comes_is_told_as_tensorflow_says() -> None:
    _, home, recorder, told = handed()
    home.later(told.append)
    recorder.tick()
    assert told == []
    recorder.ending = True
    recorder.tick()
    assert told == [""]
    _, home, _, told = handed()
    for _ in range(150):  # a function of an input pipeline
        home.later(told.append)
    assert told == [""] * 150


def test_other_ops_are_none_of_its_business() -> None:
    found = Handed(Recorder())  # type: ignore[arg-type]  # a Recording of tickers only
    found.traced(op(kind="MatMul"), 7)
    assert found.home(b"token") is None and found.line(b"token") == 0
