"""The list of lessons against the catalogue of programs."""

from __future__ import annotations

import re

import pytest

from app.lessons.catalogue import LESSONS, chosen
from app.lessons.lesson import Lesson
from runners.catalogue import PROGRAMS

EACH = pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS.keys())


def test_every_program_has_its_lesson() -> None:
    assert set(LESSONS) == set(PROGRAMS)
    assert chosen() == list(LESSONS.values())
    assert chosen(["mx-copy", "mx-copy"]) == [LESSONS["mx-copy"]]


@EACH
def test_its_variants_are_runs_of_the_program(lesson: Lesson) -> None:
    program = PROGRAMS[lesson.program]
    names = [variant.name for variant in lesson.variants]
    assert names
    assert len(names) == len(set(names))
    for place, variant in enumerate(lesson.variants):
        assert re.fullmatch(r"[a-z][a-z0-9-]*", variant.name)
        for option, value in variant.options.items():
            assert str(program.option(option).parse(str(value))) == str(value)
        assert variant.stand_ins is None or variant.devices is None
        assert variant.resumes is None or variant.resumes in names[:place]
    assert any(not variant.extra for variant in lesson.variants)


@EACH
def test_no_two_variants_are_the_same_run(lesson: Lesson) -> None:
    runs = [
        (sorted(variant.options.items()), variant.stand_ins, variant.devices, variant.steps)
        for variant in lesson.variants
    ]
    assert all(run not in runs[:place] for place, run in enumerate(runs))


@EACH
def test_its_advice_is_one_or_two_sentences(lesson: Lesson) -> None:
    sentences = re.split(r"(?<=[a-z)])\. (?=[A-Z])", lesson.advice)
    assert 1 <= len(sentences) <= 2
    assert lesson.advice.endswith(".")
    assert "  " not in lesson.advice
