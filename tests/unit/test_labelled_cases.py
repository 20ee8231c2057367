"""Labels are read as they are written, and what is no label is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.labelled.cases import FRAMEWORKS, CaseError, Label, labels_of, read_case, read_cases

DOC = '"""Something.\n\nhttps://example.org/1\n{more}"""\n'


def labels(text: str) -> list[Label]:
    return list(labels_of(text, "a.py"))


def written(folder: Path, text: str, more: str = "", name: str = "case.py") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(DOC.format(more=more) + text)
    return path


def test_a_label_wants_the_codes_own_severity() -> None:
    assert labels("x = 1\ny = x.numpy()  # expect: host-sync\n") == [Label("a.py:2", "host-sync", "warning")]
    assert labels("y = 1  # expect: mixed-context")[0].least == "error"
    assert labels("y = 1  # expect: explicit")[0].least == "info"


def test_a_label_may_be_content_with_a_note() -> None:
    assert labels("y = 1  # expect: info host-sync") == [Label("a.py:1", "host-sync", "info")]


def test_several_labels_of_a_line() -> None:
    found = labels("y = 1  # copied: expect: host-sync, variable-home; may: bounce\n")
    assert [(label.code, label.required) for label in found] == [
        ("host-sync", True),
        ("variable-home", True),
        ("bounce", False),
    ]


def test_a_label_in_a_string_is_none() -> None:
    assert labels('y = "# expect: host-sync"\n') == []


@pytest.mark.parametrize("text", ["host-snyc", "warning host-sync", "", "host-sync,"])
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(CaseError, match=r"a.py:1: .*is no label"):
        labels(f"y = 1  # expect: {text}\n")


def test_the_docstring_says_how_it_is_run(tmp_path: Path) -> None:
    more = "case: args='--steps 3' env.TF_X=1 may=unknown,xla-opaque exit=1\n"
    case = read_case(written(tmp_path, "y = 1\n", more), "tensorflow")
    assert (case.name, case.about) == ("case", "Something.")
    assert (case.args, case.env, case.exit) == (("--steps", "3"), (("TF_X", "1"),), 1)
    assert case.may == ("unknown", "xla-opaque")
    assert case.negative


def test_a_folder_is_a_case_with_the_labels_of_all_its_modules(tmp_path: Path) -> None:
    folder = tmp_path / "split"
    folder.mkdir()
    written(folder, "import more\n", name="main.py")
    (folder / "parts").mkdir()
    (folder / "parts" / "more.py").write_text("x = 1\ny = x  # expect: host-sync\n")
    case = read_case(folder, "mxnet")
    assert (case.name, case.script) == ("split", folder / "main.py")
    assert [label.site for label in case.labels] == ["parts/more.py:2"]
    assert not case.negative


@pytest.mark.parametrize("more", ["case: steps=3\n", "case: args\n"])
def test_an_unknown_setting_is_refused(tmp_path: Path, more: str) -> None:
    with pytest.raises(CaseError, match="is no setting"):
        read_case(written(tmp_path, "y = 1\n", more), "mxnet")


def test_a_case_without_its_source_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "case.py"
    path.write_text('"""Something."""\n')
    with pytest.raises(CaseError, match="names no public issue"):
        read_case(path, "mxnet")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_whole_set_can_be_read(framework: str) -> None:
    names = [case.name for case in read_cases([framework])]
    assert len(names) == len(set(names))
