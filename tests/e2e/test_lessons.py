"""The Lessons page: verdicts, the runs behind them, running and stopping a batch, who may start one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.lessons import batch, detached
from app.lessons.catalogue import LESSONS
from app.lessons.judged import lessons
from tests.e2e.conftest import Server, settled, wait_until
from tests.e2e.run_page import expect

SHORT = "mx-context-scope"


class LessonsPage:
    """The page as a test reads and uses it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.list = page.get_by_test_id("table-lessons")
        self.claim = page.get_by_test_id("claim")
        self.runs = page.get_by_test_id("table-lesson-runs")

    def open(self, url: str) -> None:
        self.page.goto(url)
        settled(self.page)
        expect(self.list).to_have_attribute("data-rows", re.compile(r"^\d+$"))

    def badge(self, program: str) -> Any:
        return self.list.locator(f'tr[data-row="{program}"] [data-badge]')

    def button(self, name: str | re.Pattern[str]) -> Any:
        return self.page.get_by_role("button", name=name)


@pytest.fixture
def lessons_page(page: Any) -> LessonsPage:
    return LessonsPage(page)


@pytest.fixture(scope="module")
def shown(server: Server, mx_python: Path) -> Iterator[str]:
    """The address of the page; at the end nothing is left running."""
    yield f"{server.url}/lessons"
    detached.stop()
    wait_until(lambda: not going_on(), 120, lambda: str(batch.state()))


def going_on() -> bool:
    now = batch.state()
    return now is not None and now.going_on


def test_before_anything_was_run(shown: str, lessons_page: LessonsPage) -> None:
    lessons_page.open(shown)
    page = lessons_page.page
    expect(lessons_page.list).to_have_attribute("data-rows", str(len(LESSONS)))
    expect(lessons_page.button("Run all lessons")).to_be_enabled()
    expect(lessons_page.badge(SHORT)).to_have_text("not run")
    lessons_page.list.locator(f'tr[data-row="{SHORT}"]').click()
    expect(page).to_have_url(re.compile(f"lesson={SHORT}"))
    expect(lessons_page.claim).to_contain_text(LESSONS[SHORT].catalogued.claim)
    expect(page.get_by_text(LESSONS[SHORT].advice)).to_be_visible()
    # Its source is there before it was run.
    source = page.get_by_test_id("source-script")
    expect(source).to_contain_text("def main")
    expect(source.locator("tr.known")).to_have_count(0)
    page.reload()
    expect(lessons_page.list.locator("tr.selected")).to_have_attribute("data-row", SHORT)


def test_a_lesson_that_is_linked_is_in_sight_in_the_list(shown: str, lessons_page: LessonsPage) -> None:
    last = list(LESSONS)[-1]
    lessons_page.open(f"{shown}?lesson={last}")
    row = lessons_page.list.locator(f'tr[data-row="{last}"]')
    expect(row).to_have_class(re.compile("selected"))
    inside = """row => {
        const [own, box] = [row, row.closest(".scroller")].map((one) => one.getBoundingClientRect());
        return own.top >= box.top && own.bottom <= box.bottom + 1;
    }"""
    lessons_page.page.wait_for_function(f"row => ({inside})(row)", arg=row.element_handle(), timeout=60_000)
    # The page itself stays where it is.
    assert lessons_page.page.evaluate("document.scrollingElement.scrollTop") == 0


def test_filters_are_in_the_address(shown: str, lessons_page: LessonsPage) -> None:
    lessons_page.open(shown)
    page = lessons_page.page
    page.get_by_role("radio", name="MXNet").click()
    expect(page).to_have_url(re.compile("framework=mxnet"))
    number = sum(lesson.catalogued.framework == "mxnet" for lesson in LESSONS.values())
    expect(lessons_page.list).to_have_attribute("data-rows", str(number))
    page.get_by_role("radio", name=re.compile("^does not hold")).click()
    expect(page).to_have_url(re.compile("verdict=does\\+not\\+hold"))
    expect(lessons_page.list.get_by_test_id("table-empty")).to_contain_text("No lesson has that verdict")
    page.reload()
    expect(lessons_page.list.get_by_test_id("table-empty")).to_contain_text("No lesson has that verdict")
    page.get_by_role("radio", name="All").click()
    page.get_by_role("radio", name="Any verdict").click()
    expect(page).not_to_have_url(re.compile("verdict=|framework="))
    expect(lessons_page.list).to_have_attribute("data-rows", str(len(LESSONS)))


def test_a_copy_as_one_file(shown: str, lessons_page: LessonsPage) -> None:
    lessons_page.open(f"{shown}?lesson={SHORT}")
    with lessons_page.page.expect_download() as download:
        lessons_page.button("Copy as one file").click()
    assert download.value.suggested_filename == "mx_context_scope.py"
    text = Path(download.value.path()).read_text()
    compile(text, "copy", "exec")
    assert "import mxnet" in text and "import devices" not in text


def test_a_lesson_is_run_and_judged(shown: str, lessons_page: LessonsPage) -> None:
    lessons_page.open(f"{shown}?lesson={SHORT}")
    page = lessons_page.page
    lessons_page.button("Run this lesson").click()
    expect(lessons_page.badge(SHORT)).to_have_text("holds")
    (judged,) = lessons([SHORT])
    verdicts = lessons_page.claim.get_by_test_id("verdict")
    expect(verdicts).to_have_count(len(judged.verdicts))
    expect(verdicts.first).to_contain_text(judged.verdicts[0].text)
    expect(lessons_page.runs.locator("tbody tr")).to_have_count(len(judged.runs))
    expect(lessons_page.button("Run again")).to_be_enabled()

    # What its lines did stands beside them, and a picked one stays in the address.
    source = page.get_by_test_id("source-source")
    line = source.locator("tr.known:has([data-device])").first.get_attribute("data-line")
    # By its number: when it is drawn again the first may be another.
    source.locator(f'tr[data-line="{line}"]').click()
    expect(page).to_have_url(re.compile(rf"line=\w+\.py%3A{line}\b"))
    expect(page.get_by_test_id("table-line-ops").locator("tbody tr").first).to_be_visible()
    page.reload()
    expect(source.locator(f'tr[data-line="{line}"]')).to_have_attribute("aria-selected", "true")

    run = judged.runs[0].run
    lessons_page.runs.get_by_role("link", name=str(run)).click()
    page.wait_for_url(f"**/run?run={run}")


def test_a_batch_is_stopped_and_gone_on_with(shown: str, lessons_page: LessonsPage) -> None:
    last = list(LESSONS)[-1]
    lessons_page.open(f"{shown}?lesson={last}")
    page = lessons_page.page
    # Before the first of them is there.
    lacking = sum(one.run is None and one.state == "not run" for lesson in lessons() for one in lesson.runs)
    lessons_page.button(re.compile("^(Run all lessons|Go on)")).click()
    expect(page.get_by_test_id("stProgress")).to_contain_text(re.compile(r"^\d+ of \d+ runs · [\w-]+, "))
    expect(page.get_by_role("link", name="Watch it")).to_be_visible()
    expect(lessons_page.badge(last)).to_have_text("waiting")
    # One at a time: the others cannot be started beside it.
    expect(lessons_page.button("Run this lesson")).to_be_disabled()
    lessons_page.button("Stop").click()
    wait_until(lambda: not going_on(), 120, lambda: str(batch.state()))
    expect(page.get_by_test_id("stAlert")).to_contain_text("topped on request")
    left = lessons_page.button(re.compile(r"^Go on: \d+ runs left$"))
    expect(left).to_be_enabled()
    assert lacking >= int(re.findall(r"\d+", left.inner_text())[0]) > 0


def test_viewers_see_and_start_nothing(shown: str, viewer_page: Any) -> None:
    lessons_page = LessonsPage(viewer_page)
    lessons_page.open(f"{shown}?lesson={SHORT}")
    expect(lessons_page.badge(SHORT)).to_have_text("holds")
    expect(lessons_page.claim.get_by_test_id("verdict").first).to_be_visible()
    expect(lessons_page.button("Copy as one file")).to_be_visible()
    for name in ("Run all", "Run this", "Run again", "Go on", "Stop"):
        expect(lessons_page.button(name)).to_have_count(0)
