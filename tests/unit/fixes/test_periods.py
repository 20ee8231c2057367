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
        "with record_if(due):\n    for i in range(999):\n        print(i, float(loss))  #!\n",
        "for i in range(999):\n    with log.every(10):\n        print(i, float(loss))  #!\n",
        "with only_chief():\n    for x in data:\n        print(float(loss))  #!\n",
        "for i in range(999):\n    if i % 7:\n        continue\n    print(float(loss))  #!\n",
        "for e in range(9):\n    if e % 3 == 2:\n        for x in xs:\n            print(float(loss))  #!\n",
        "def show(x):\n    print(float(x))  #!\n"
        "with record_if(due):\n    for x in data:\n        show(step(x))\n",
        "for i in range(999):\n    with every(10):\n        if float(loss) > 9:  #!\n            print(i)\n",
    ],
)
def test_no_second_condition_is_put_around_it(text: str) -> None:
    assert told(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "if __name__ == '__main__':\n    for i in range(999):\n        print(float(loss))  #!\n",
        "for i in range(999):\n    if i % 7:\n        tidy()\n    print(float(loss))  #!\n",
        "for i in range(999):\n    with tf.device('GPU:0'):\n        print(float(loss))  #!\n",
    ],
)
def test_what_decides_nothing_is_in_nobody_s_way(text: str) -> None:
    assert "% 100 == 0" in (told(text) or "")
