"""Files that several threads parse at once, as viewers of several runs have it."""

from __future__ import annotations

import ast
import gc
import threading
import time
from collections.abc import Iterator

import pytest

from runners.python_source import parse, parse_expression

TEXT = "x = (1 + 2) * [3, 4][0]\n" * 60


class LetsOthersRun:
    """In a circle, so that a collection of garbage ends it: in the middle of a tree, if one is built then."""

    def __init__(self) -> None:
        self.circle = self

    def __del__(self) -> None:
        time.sleep(0.0005)


@pytest.fixture
def much_garbage() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(40)
    yield
    gc.set_threshold(*before)


def test_threads_that_parse_at_once_do_not_fail_each_other(much_garbage: None) -> None:
    failed: list[str] = []

    def read(text: str) -> None:
        for _ in range(60):
            LetsOthersRun()
            try:
                assert len(parse(text).body) == text.count("\n")
            except SystemError as error:
                failed.append(str(error))

    threads = [threading.Thread(target=read, args=(TEXT * (1 + number % 2 * 2),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_an_expression_is_parsed_like_a_file() -> None:
    assert ast.unparse(parse_expression('"CPU:1"')) == "'CPU:1'"
    with pytest.raises(SyntaxError):
        parse_expression("x = 1")
