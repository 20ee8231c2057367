"""What the Machine page's scripts make of snapshots and recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("streamlit")

from app.components.machine.machine import shape_of
from app.web.machine.machine_recordings import recording_row
from runners.recordings import recordings
from tests.unit.machine_samples import UNSUPPORTED, ByHand, full_message, gpu


def test_shape_tells_which_gpus_there_are_or_why_none() -> None:
    assert shape_of(None) == ""
    assert shape_of(full_message(1, 0.0)) == "ok GPU-0 GPU-1"
    lost = {**full_message(1, 0.0), "gpus": [gpu(0), gpu(1, uuid=UNSUPPORTED)]}
    assert shape_of(lost) == "ok GPU-0 ?1"
    none = {"nvml": {"state": "no-driver", "reason": "R", "text": "t"}, "gpus": []}
    assert shape_of(none) == "no-driver"


def test_a_recording_is_a_row_with_what_it_is_of(hopscope_home: Path) -> None:
    recordings.folder().mkdir(parents=True)
    source = ByHand()
    recorder = recordings.Recorder(recordings.folder() / "bench.jsonl")
    source.subscribe(recorder.add)
    source.publish(full_message(1, 1_700_000_000.0, gpus=3))
    recorder.close()
    (recordings.folder() / "other.jsonl").write_text("{}\n")
    good, bad = (recording_row(entry, operator=True)["cells"] for entry in recordings.listed())
    assert good["host"]["text"] == "bench" and good["host"]["href"] == "/?replay=bench.jsonl"
    assert good["gpus"]["text"].startswith("3 ") and good["gpus"]["text"].endswith("NVIDIA Test")
    assert bad["host"]["note"] and "made" not in bad
    viewers = recording_row(recordings.listed()[0], operator=False)["cells"]
    assert [action["name"] for action in viewers["actions"]["actions"]] == ["replay"]
    assert [action["name"] for action in bad["actions"]["actions"]] == ["remove"]
    assert good["length"]["sort"] == 1.0 and good["length"]["text"].startswith("1")
    with (recordings.folder() / "bench.jsonl").open("a") as file:
        file.write("what is this\n")
    damaged = recording_row(recordings.listed()[0], operator=False)["cells"]
    assert "1 line is not of a recording" in damaged["host"]["note"]
