"""pytest's plugin: ``@pytest.mark.hopscope(forbid=["host-sync"])`` and the fixture ``hopscope_forbid``.

The runs of tests that failed stay, and are named at the end; with ``--hopscope-keep=all`` those of all do.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from . import judge
from .clone import HopscopeError, clone, recorder
from .forbidding import ForbiddenTransfer, forbid, kept, name_of_test

_MARK = "hopscope"
_PROPERTY = "hopscope_run"
"""Under this a test's report names its runs, also from another process."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which runs stay."""
    parser.getgroup("hopscope").addoption(
        "--hopscope-keep",
        choices=("failed", "all"),
        default="failed",
        help="which tests' recorded runs stay (default: failed)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the marker."""
    config.addinivalue_line(
        "markers",
        f'{_MARK}(forbid=["host-sync", ..]): fail where a hop, sync or upload of these codes happens in it',
    )
    kept.everything = config.getoption("--hopscope-keep", "failed") == "all"


def pytest_unconfigure() -> None:
    """The session is over, and with it what judged its tests."""
    judge.end()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Record a marked test's call, without its fixtures, and fail it where it did what it must not."""
    __tracebackhide__ = True
    mark = item.get_closest_marker(_MARK)
    if mark is None:
        yield
        return
    try:
        block = forbid(*_codes(mark), root=str(item.config.rootpath), name=name_of_test(item.nodeid))
        block.__enter__()
    except (ValueError, HopscopeError) as error:
        outcome: Any = yield
        _fail(outcome, pytest.fail.Exception(f"hopscope: {error}", pytrace=False))
        return
    outcome = yield
    raised = outcome.excinfo
    try:
        # The block's own exception is the test's outcome already.
        with contextlib.suppress(BaseException) if raised else contextlib.nullcontext():
            block.__exit__(*(raised or (None, None, None)))
    except Exception as error:  # noqa: BLE001 - as above
        _fail(outcome, error)


def _codes(mark: pytest.Mark) -> tuple[str, ...]:
    """What a marker forbids; ValueError where that is not what it says."""
    wrong = sorted(set(mark.kwargs) - {"forbid"})
    if wrong:
        raise ValueError(f"the marker takes forbid=[..], and not {', '.join(wrong)}")
    codes = mark.kwargs.get("forbid", mark.args)
    if not codes:
        raise ValueError("the marker names no codes; write @pytest.mark.hopscope(forbid=['host-sync'])")
    return (codes,) if isinstance(codes, str) else tuple(codes)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Once a test is over, delete its runs where it went as it was meant to, and else note them."""
    outcome: Any = yield
    report = outcome.get_result()
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, ForbiddenTransfer):
        _name_first(report, error)
        _without_traceback(report)
    failed = item.stash.get(_FAILED, False) or report.failed
    item.stash[_FAILED] = failed and report.when != "teardown"
    if report.when != "teardown":
        return
    for block in kept.taken():
        if failed or kept.everything:
            report.user_properties.append((_PROPERTY, block.id))
        else:
            block.discard()


def _name_first(report: Any, error: ForbiddenTransfer) -> None:
    """Have pytest's one line of a failed test begin with what was forbidden, its op and its line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        more = len(error.rows) - 1
        crash.message = error.rows[0] + (f", and {more} more" if more else "")


def _without_traceback(report: Any) -> None:
    """Drop what pytest says of a traceback that is all hidden: a marked test's holds this plugin alone."""
    traceback: Any = getattr(report.longrepr, "reprtraceback", None)
    if str(getattr(traceback, "extraline", None) or "").startswith("All traceback entries are hidden"):
        traceback.extraline = None


_FAILED = pytest.StashKey[bool]()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell which runs stay, and where."""
    reports = [one for reports in terminalreporter.stats.values() for one in reports]
    runs = {
        value: one.nodeid
        for one in reports
        for name, value in getattr(one, "user_properties", ())
        if name == _PROPERTY
    }
    if not runs:
        return
    terminalreporter.section("hopscope")
    with contextlib.suppress(HopscopeError):
        folder = os.path.join(recorder("attach.places").home(), "runs")
        app = os.path.join(clone(), "app")
        terminalreporter.write_line(
            f"kept in {folder}; python3 {app} report RUN tells of one, its page shows it"
        )
    for run, node in sorted(runs.items()):
        terminalreporter.write_line(f"{run}  {node}")


def _fail(outcome: Any, error: BaseException) -> None:
    if hasattr(outcome, "force_exception"):
        outcome.force_exception(error)
    else:  # pluggy before 1.1
        outcome._excinfo = (type(error), error, error.__traceback__)


@pytest.fixture
def hopscope_forbid(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`with hopscope_forbid("host-sync"): ..`: a part of a test in which that must not happen."""
    return functools.partial(
        forbid, root=str(request.config.rootpath), name=name_of_test(request.node.nodeid)
    )
