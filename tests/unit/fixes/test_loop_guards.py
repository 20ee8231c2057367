"""What something decides about already is not told "every N rounds" on top of that: it may be never then."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop


def told(text: str, **files: str) -> str | None:
    pull = hop("host-sync")
    named = {f"{name}.py": f"import tensorflow as tf\n{other}" for name, other in files.items()}
    text = f"import tensorflow as tf\n{text}"
    return fixed("host-sync", text, hops=(pull,), files=named, taken_by="float")


@pytest.mark.parametrize(
    "text",
    [
        "with record_if(due):\n    for i in range(999):\n        print(i, float(step(i)))  #!\n",
        "for i in range(999):\n    with log.every(10):\n        print(i, float(step(i)))  #!\n",
        "with only_chief():\n    for x in data:\n        print(float(step(x)))  #!\n",
        "for i in range(999):\n    if i % 7:\n        continue\n    print(float(step(i)))  #!\n",
        "for e in range(9):\n    if e % 3 == 2:\n        for x in xs:\n            print(float(f(x)))  #!\n",
        "def show(data):\n    for x in data:\n        print(float(step(x)))  #!\n"
        "for e in range(9):\n    if e % 3 == 2:\n        show(data)\n",
        "def show(x):\n    print(float(x))  #!\n"
        "with record_if(due):\n    for x in data:\n        show(step(x))\n",
        "for i in range(999):\n    with every(10):\n        if float(f(i)) > 9:  #!\n            print(i)\n",
    ],
)
def test_no_second_condition_is_put_around_it(text: str) -> None:
    assert told(text) is None


def test_nor_where_another_file_calls_it_now_and_then() -> None:
    show = "def show(data):\n    for x in data:\n        print(float(step(x)))  #!\n"
    assert told(show, main="for e in range(9):\n    if e % 3 == 2:\n        show(data)\n") is None
    assert told(show, main="for e in range(9):\n    show(data)\n") is not None


@pytest.mark.parametrize(
    "text",
    [
        "with w.as_default(), record_if(True):\n    for i in range(999):\n        print(float(f(i)))  #!\n",
        "if __name__ == '__main__':\n    for i in range(999):\n        print(float(step(i)))  #!\n",
        "for i in range(999):\n    if i % 7:\n        tidy()\n    print(float(step(i)))  #!\n",
        "for i in range(999):\n    with tf.device('GPU:0'):\n        print(float(step(i)))  #!\n",
    ],
)
def test_what_decides_nothing_is_in_nobody_s_way(text: str) -> None:
    assert "% 100 == 0" in (told(text) or "")
