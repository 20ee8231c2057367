"""pytest's plugin: ``@pytest.mark.hopscope(forbid=["host-sync"])`` and the fixture ``hopscope_forbid``."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .forbidding import forbid

_MARK = "hopscope"


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the marker."""
    config.addinivalue_line(
        "markers",
        f'{_MARK}(forbid=["host-sync", ..]): fail where a hop, sync or upload of these codes happens in it',
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Record a marked test's call, without its fixtures, and fail it where it did what it must not."""
    __tracebackhide__ = True
    mark = item.get_closest_marker(_MARK)
    if mark is None:
        yield
        return
    codes = mark.kwargs.get("forbid", mark.args)
    codes = (codes,) if isinstance(codes, str) else tuple(codes)
    block = forbid(*codes, root=str(item.config.rootpath), name=item.name)
    try:
        block.__enter__()
    except Exception as error:  # noqa: BLE001 - it is the test's outcome, whatever it is
        outcome: Any = yield
        _fail(outcome, error)
        return
    outcome = yield
    raised = outcome.excinfo
    try:
        # The block's own exception is the test's outcome already.
        with contextlib.suppress(BaseException) if raised else contextlib.nullcontext():
            block.__exit__(*(raised or (None, None, None)))
    except Exception as error:  # noqa: BLE001 - as above
        _fail(outcome, error)


def _fail(outcome: Any, error: Exception) -> None:
    if hasattr(outcome, "force_exception"):
        outcome.force_exception(error)
    else:  # pluggy before 1.1
        outcome._excinfo = (type(error), error, error.__traceback__)


@pytest.fixture
def hopscope_forbid(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`with hopscope_forbid("host-sync"): ..`: a part of a test in which that must not happen."""
    return functools.partial(forbid, root=str(request.config.rootpath), name=request.node.name)
