"""A library's call that waits by an option of its own: the option is given, where nobody takes the result."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop, said

MX = "import mxnet as mx\nfrom mxnet import gluon\n"
CLIP = "for x in data:\n    gluon.utils.clip_global_norm({})  #!\n    trainer.step(1)\n"
CHECKED = hop("host-sync", each=2.0, via="mxnet/gluon/utils.py:clip_global_norm")
OTHER = hop("host-sync", each=1.0)


def clipped(text: str, *hops: object) -> str | None:
    pulls = hops or (CHECKED,)
    return fixed("host-sync", MX + text, framework="mxnet", hops=pulls, taken_by="asscalar")


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ("grads, 0.25", "grads, 0.25, check_isfinite=False"),
        ("grads, max_norm=0.25", "grads, max_norm=0.25, check_isfinite=False"),
        ("grads, 0.25, True", None),
        ("grads, 0.25, check_isfinite=True", None),
        ("grads, **how", None),
    ],
)
def test_clipping_whose_norm_nobody_takes_is_told_not_to_check_it(given: str, after: str | None) -> None:
    """Bug: "Take the value every so many steps" was said, where the code takes none."""
    expected = after and MX + CLIP.format(after).replace("  #!", "")
    assert clipped(CLIP.format(given)) == expected


def test_only_where_the_check_is_what_waits() -> None:
    text = CLIP.format("grads, 0.25")
    assert clipped(text, CHECKED, OTHER) is None
    assert clipped(text.replace("gluon.utils.", "self.")) is None
    assert fixed("host-sync", MX + text, framework="mxnet", hops=(OTHER,), taken_by="asscalar") is None


def test_of_a_norm_that_is_used_the_option_is_told() -> None:
    text = "for x in data:\n    norm = gluon.utils.clip_global_norm(grads, 1)  #!\n    print(norm)\n"
    assert clipped(text) is None
    words = said("host-sync", MX + text, framework="mxnet", hops=(CHECKED,), taken_by="asscalar") or ""
    assert "check_isfinite=False" in words and "NaN is no longer warned of" in words
    unchecked = text.replace("grads, 1", "grads, 1, check_isfinite=False")
    told = said("host-sync", MX + unchecked, framework="mxnet", hops=(CHECKED,), taken_by="asscalar") or ""
    assert "check_isfinite" not in told
