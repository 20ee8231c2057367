"""Variables are replicas of each other only where nothing speaks against it; then they are compared."""

from __future__ import annotations

import functools
import threading
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from probes.tf.writes import Touched, Write, touched
from probes.trace.drift import Compared, compare
from probes.trace.replica_sets import Copy, Parameter, ReplicaSet, due


class Towers:
    """Two towers with a kernel and a bias each, and a line that updates them."""

    def __init__(self, starts: tuple[Any, Any], settings: tuple[Any, Any] = (None, None)) -> None:
        self.told: list[tuple[int, int, bool]] = []
        self.lines: list[list[int]] = []
        self.own_batches = True
        self.further: dict[str, float] = {}
        self.held = [{"kernel": numpy.array(start), "bias": numpy.zeros(2)} for start in starts]
        self.group = ReplicaSet(7, self._tell, lambda first, second: first == second)
        self.copies: list[dict[str, Copy]] = [{}, {}]
        for line, name in enumerate(("bias", "kernel"), 3):
            parameter = Parameter(line, "2")
            self.group.parameters[id(parameter)] = parameter
            for tower, device in enumerate(("cpu:1", "cpu:2")):
                copy = Copy(device, name, parameter, functools.partial(self._read, tower, name))
                copy.optimizer = settings[tower]
                copy.keep()
                parameter.copies[device] = self.copies[tower][name] = copy

    def _read(self, tower: int, name: str) -> Any:
        return self.held[tower][name].copy()

    def _tell(self, found: Compared, updates: int) -> None:
        self.told.append((updates, found.differing, found.differs))
        self.lines.append(list(found.made))

    def updates(self, tower: int, by: float, times: int) -> None:
        for _ in range(times):
            self.update(tower, by)

    def update(self, tower: int, by: float) -> None:
        for name, copy in self.copies[tower].items():
            if self.group.over:
                return
            # Of batches of their own gradients differ by more than a factor.
            along = numpy.array([1.0, 10 * by if self.own_batches else 1.0])
            self.held[tower][name] = self.held[tower][name] - by * along * self.further.get(name, 1.0)
            copy.parameter.updated(copy)
            if due(copy.updates):
                copy.keep()
                self.group.reached(copy.updates)


START = [0.5, -1.5]


def test_towers_with_gradients_of_their_own_are_told_of() -> None:
    towers = Towers((START, START))
    for _ in range(9):
        towers.update(0, 0.1)
        towers.update(1, 0.2)
    assert towers.told == [(1, 2, True), (2, 2, True), (4, 2, True), (8, 2, True)]


def test_the_line_that_made_the_worst_parameter_comes_first() -> None:
    """GIVEN kernels that other batches move further than the biases, which are updated first."""
    towers = Towers((START, START))
    towers.further["kernel"] = 3.0
    for _ in range(2):
        towers.update(0, 0.1)
        towers.update(1, 0.2)
    assert towers.lines == [[4, 3], [4, 3]]


def test_towers_with_equal_gradients_stay_equal() -> None:
    towers = Towers((START, START))
    for _ in range(4):
        towers.update(0, 0.1)
        towers.update(1, 0.1)
    assert towers.told == [(1, 0, False), (2, 0, False), (4, 0, False)]


@pytest.mark.parametrize(
    ("starts", "settings"),
    [
        pytest.param((START, [0.5, -1.4]), (None, None), id="other initial values"),
        pytest.param(([1.0, 1.0], [1.0, 1.0]), (None, None), id="only constants are equal"),
        pytest.param((START, START), (0.1, 0.2), id="other settings of the optimizers"),
    ],
)
def test_models_that_are_meant_to_differ(starts: tuple[Any, Any], settings: tuple[Any, Any]) -> None:
    towers = Towers(starts, settings)
    for _ in range(4):
        towers.update(0, 0.1)
        towers.update(1, 0.2)
    assert towers.told == []
    assert towers.group.over


def test_models_that_learn_from_one_batch_at_other_rates_are_a_search() -> None:
    """WHEN the code updates them itself THEN no optimizer tells its rate, but the first updates do."""
    towers = Towers((START, START))
    towers.own_batches = False
    for _ in range(4):
        towers.update(0, 0.1)
        towers.update(1, 0.2)
    assert towers.told == []
    assert towers.group.over


def test_models_trained_one_after_the_other_are_no_replicas() -> None:
    towers = Towers((START, START))
    for tower in (0, 1):
        towers.updates(tower, 0.1 + 0.1 * tower, 9)
    assert towers.told == []


def test_towers_in_threads_are_compared_after_equally_many_updates() -> None:
    towers = Towers((START, START))
    thread = threading.Thread(target=towers.updates, args=(1, 0.2, 4))
    towers.updates(0, 0.1, 4)
    thread.start()
    thread.join()
    assert towers.told == [(1, 2, True), (2, 2, True), (4, 2, True)]


def test_what_is_equal_again_is_told_once_and_left_alone() -> None:
    towers = Towers((START, START))
    for by in ((0.1, 0.2), (0.2, 0.1), (0.1, 0.2), (0.1, 0.2)):
        towers.update(0, by[0])
        towers.update(1, by[1])
    assert [(updates, differs) for updates, _, differs in towers.told] == [(1, True), (2, False)]


def test_rounding_that_grew_late_is_no_drift() -> None:
    towers = Towers((START, START))
    for number in range(32):
        towers.update(0, 0.1)
        towers.update(1, 0.1 if number < 20 else 0.1001)
    assert towers.told == [(1, 0, False), (2, 0, False), (4, 0, False), (8, 0, False), (16, 0, False)]


def test_a_variable_joins_those_of_other_devices_that_are_not_trained_yet() -> None:
    parameter = Parameter(3, "2")
    first = parameter.copies["cpu:1"] = Copy("cpu:1", "w", parameter, lambda: None)
    assert parameter.takes("cpu:2")
    assert not parameter.takes("cpu:1")
    parameter.updated(first)
    assert not parameter.takes("cpu:2")


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (("w", "w"), "w, of shape 3x4"),
        (("a/kernel", "b/kernel"), "a/kernel and b/kernel, of shape 3x4"),
        (("a", "b", "c", "d"), "a and 3 others, of shape 3x4"),
        (("", ""), "a variable, of shape 3x4"),
    ],
)
def test_a_parameter_is_called_by_its_variables(names: tuple[str, ...], label: str) -> None:
    parameter = Parameter(3, "3x4")
    for number, name in enumerate(names):
        parameter.copies[f"cpu:{number}"] = Copy(f"cpu:{number}", name, parameter, lambda: None)
    assert parameter.label == label


def test_the_comparison_names_the_parameter_that_is_furthest_apart() -> None:
    array = numpy.array
    found = compare(
        [
            ("a", [array([4.0, 2.0]), array([4.0, 2.0])]),
            ("b", [array([1.0]), array([1.5])]),
            ("c", [array([1.0]), None]),
        ]
    )
    assert (found.parameters, found.differing, found.which, found.relative) == (3, 1, "b", 0.125)


def _op(kind: str, name: str, *inputs: Any, **attrs: Any) -> Any:
    return SimpleNamespace(type=kind, name=name, inputs=inputs, get_attr=attrs.__getitem__)


def _tensor(op: Any = None) -> Any:
    return SimpleNamespace(op=op)


def test_a_function_writes_to_its_arguments_itself_and_by_those_that_it_calls() -> None:
    first, second, other = _tensor(), _tensor(), _tensor()
    difference = _tensor(_op("Identity", "i", _tensor(_op("Sub", "s"))))
    mean = _tensor(_op("Mean", "m"))
    inner = SimpleNamespace(name="inner")
    graph = SimpleNamespace(
        inputs=[first, second],
        _hopscope_ops={"by_gradient": (11, 0, "", 0), "by_mean": (12, 0, "", 0)},
        get_operations=lambda: [
            _op("AssignVariableOp", "by_gradient", first, difference),
            _op("AssignVariableOp", "by_mean", second, mean),
            _op("AssignSubVariableOp", "of_another", other, mean),
            _op("ReadVariableOp", "read", first),
            _op("If", "if", mean, second, then_branch=inner, else_branch=inner),
        ],
    )
    known = {"inner": Touched((Write(0, True, 21),), ((0,),))}
    assert touched(graph, [[first, other]], known) == Touched(
        (Write(0, True, 11), Write(1, False, 12), Write(1, True, 21)), ((0,), (1,))
    )
