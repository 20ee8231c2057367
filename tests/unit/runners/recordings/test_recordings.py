"""Recordings: written, read back, and replayed; and files that are none, or that somebody bent."""

from __future__ import annotations

import gzip
import io
import json
import random
import stat
from pathlib import Path
from typing import Any

import pytest

from app.views.metrics import metrics_text
from app.views.smi_text import smi_text
from probes.nvml.snapshot import Message, Snapshot, change, merge
from runners.errors import HopscopeError, UsageError
from runners.machine.sample_history import History
from runners.recordings import recording_file, recordings
from runners.recordings.playback import Playback
from runners.recordings.recorded_message import Unfit, parse_message
from runners.recordings.recordings import Recorder, Recording, read_header, read_recording
from tests.unit.machine_snapshots import LOST, UNSUPPORTED, T, gpu, host, lost_gpu, machine, process

HEADER = {
    "format": "hopscope-recording",
    "version": 1,
    "made": "2026-01-01T00:00:00+00:00",
    "hostname": "ws1",
    "hopscope": "0.1.0",
    "hz": 1.0,
    "gpus": ["NVIDIA A100-SXM4-80GB"],
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def snapshots(count: int, first_t: float = T, step_s: float = 1.0) -> list[Snapshot]:
    """A machine whose utilisation is the sample's number, and which loses its second card at the third."""
    return [
        machine(
            gpu(0, utilization_gpu_percent=number, processes=[process()]),
            gpu(1) if number < 2 else lost_gpu(1),
            seq=number + 1,
            t=first_t + number * step_s,
        )
        for number in range(count)
    ]


def record(path: Path, states: list[Snapshot]) -> Recorder:
    """Write what a sampler would say of these states."""
    recorder = Recorder(path)
    before: Snapshot | None = None
    for state in states:
        recorder.add(change(before, state), state)
        before = state
    recorder.close()
    return recorder


def text_of(*lines: Any) -> bytes:
    return b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines
    )


def reading(path: Path, *lines: Any) -> Recording:
    path.write_bytes(text_of(HEADER, *lines))
    return read_recording(path)


def whole(number: int = 0, **fields: Any) -> Message:
    return machine(gpu(0), seq=number + 1, t=T + number) | {"full": True} | fields


def step(number: int, **fields: Any) -> Message:
    return {"seq": number + 1, "t": T + number, "full": False, **fields}


def replayed(recording: Recording) -> list[Snapshot]:
    state: Snapshot | None = None
    found = []
    for place in range(len(recording.lines)):
        state = merge(state, recording.message(place))
        found.append(state)
    return found


class TestWriting:
    @pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
    def test_what_was_recorded_is_read_back(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        states = snapshots(5)
        recorder = record(path, states)
        assert (recorder.samples, recorder.bytes) == (5, path.stat().st_size)
        assert (recorder.first_t, recorder.last_t) == (T, T + 4)
        recording = read_recording(path)
        assert replayed(recording) == states
        assert recording.notes == ()
        assert recording.offsets == (0, 1, 2, 3, 4)
        header = read_header(path)
        assert header == recording.header
        assert (header.hostname, header.hz, header.hopscope) == ("ws1", 1.0, "0.1.0")
        assert header.gpus == ("NVIDIA A100-SXM4-80GB",) * 2
        assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")

    def test_lines_in_full(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        state = {"seq": 3, "t": 5.5, "hz": 2.0, "nvml": "ok", "gpus": [], "host": {"hostname": "ws1"}}
        recorder = Recorder(path)
        recorder.add({"seq": 3, "t": 5.5, "full": False}, state)
        recorder.add(
            {"seq": 4, "t": 6.0, "full": False, "host": {"load_1m": 1.0}},
            {**state, "seq": 4, "t": 6.0, "host": {"hostname": "ws1", "load_1m": 1.0}},
        )
        recorder.close()
        first, *rest = path.read_text().splitlines()
        made = json.loads(first).pop("made")
        assert first == (
            f'{{"format":"hopscope-recording","version":1,"made":"{made}","hostname":"ws1","hopscope":"0.1.0",'
            '"hz":2.0,"gpus":[]}'
        )
        assert rest == [
            '{"seq":3,"t":5.5,"hz":2.0,"nvml":"ok","gpus":[],"host":{"hostname":"ws1"},"full":true}',
            '{"seq":4,"t":6.0,"full":false,"host":{"load_1m":1.0}}',
        ]

    def test_others_may_not_read_it(self, tmp_path: Path) -> None:
        record(tmp_path / "a.jsonl", snapshots(1))
        assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o600

    def test_a_whole_sample_comes_every_minute(self, tmp_path: Path) -> None:
        record(tmp_path / "a.jsonl", snapshots(130))
        assert read_recording(tmp_path / "a.jsonl").whole == (0, 60, 120)

    def test_news_of_the_sampler_are_no_samples(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        first, second = snapshots(2)
        recorder = Recorder(path)
        recorder.add({**first, "full": True}, first)
        stale = {"sampler": {"state": "stale", "text": "the sampler was killed"}}
        recorder.add({"seq": 1, "t": T, "full": False, **stale}, {**first, **stale})
        live = {"sampler": {"state": "live", "text": ""}}
        recorder.add({**change(first, second), **live}, {**second, **live})
        recorder.close()
        assert recorder.samples == 2
        assert replayed(read_recording(path)) == [first, second]

    def test_a_file_that_exists_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text("precious")
        with pytest.raises(UsageError, match=r"a\.jsonl exists; name another file, or add --overwrite"):
            Recorder(path)
        recorder = Recorder(path, overwrite=True)
        assert path.read_text() == "precious"
        recorder.add(whole(), whole())
        recorder.close()
        assert len(read_recording(path).lines) == 1
        with pytest.raises(UsageError, match="is a folder"):
            Recorder(tmp_path)
        with pytest.raises(UsageError, match="there is no folder"):
            Recorder(tmp_path / "none" / "a.jsonl")

    def test_a_full_disk_is_one_line(self) -> None:
        recorder = Recorder(Path("/dev/full"), overwrite=True)
        with pytest.raises(HopscopeError, match=r"^/dev/full cannot be written: No space left on device$"):
            recorder.add(whole(), whole())

    def test_closed_without_a_sample_there_is_no_file(self, tmp_path: Path) -> None:
        recorder = Recorder(tmp_path / "a.jsonl")
        recorder.close()
        assert not (tmp_path / "a.jsonl").exists()

    @pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
    def test_a_recorder_that_is_killed_loses_little(self, tmp_path: Path, name: str) -> None:
        recorder = Recorder(tmp_path / name)
        for state in snapshots(25):
            recorder.add({**state, "full": True}, state)
        # Read while it is open: what a killed one leaves.
        found = len(read_recording(tmp_path / name).lines)
        recorder.close()
        assert found >= 20


class TestReading:
    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"", "is not a recording"),
            (b"\x00\xff\x00", "is not a recording"),
            (b"<html>", "is not a recording"),
            (b'{"format": "other"}\n', "is not a recording"),
            (b'["hopscope-recording"]\n', "is not a recording"),
            (b"\x1f\x8bnot gzip at all", "is not a recording"),
            (b"[" * 100_000, "is not a recording"),
            (text_of(HEADER | {"version": 2}), r"was made by another Hopscope \(format 2\)"),
            (text_of(HEADER | {"version": "x" * 999}), "was made by another Hopscope"),
            (text_of(HEADER | {"made": "yesterday"}), "does not say when it was made"),
            (text_of(HEADER), "holds no whole sample"),
            (text_of(HEADER, step(0)), "holds no whole sample"),
        ],
    )
    def test_a_foreign_file_is_refused_in_one_line(self, tmp_path: Path, content: bytes, why: str) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(content)
        with pytest.raises(HopscopeError, match=why) as told:
            read_recording(path)
        assert "\n" not in str(told.value) and len(str(told.value)) < 200

    def test_no_file_is_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(HopscopeError, match=r"^none\.jsonl cannot be read: No such file or directory$"):
            read_recording(tmp_path / "none.jsonl")

    def test_bad_lines_are_counted_and_told(self, tmp_path: Path) -> None:
        recording = reading(
            tmp_path / "a.jsonl",
            whole(),
            b"not json",
            b"",
            {"seq": "1", "t": T, "full": False},
            {"seq": 1, "t": T},
            b'{"seq": 1, "t": NaN, "full": false}',
            b'{"seq": 1, "t": 1e999, "full": false}',
            b'{"seq": 1, "t": 1, "full": false, "x": ' + b"9" * 5000 + b"}",
            step(1, gpus=[{"index": 7, "name": "never told of"}]),
            step(1, gpus={"index": 0}),
            step(2, gpus=[{"index": 0, "utilization_gpu_percent": 3}]),
        )
        assert recording.notes == ("8 lines are not of a recording and left out",)
        assert [state["gpus"][0]["utilization_gpu_percent"] for state in replayed(recording)] == [57, 3]

    @pytest.mark.parametrize("packed", [False, True])
    def test_cut_short_anywhere_it_gives_what_was_whole(self, tmp_path: Path, packed: bool) -> None:
        content = text_of(HEADER, *(whole(number) for number in range(4)))
        content = gzip.compress(content) if packed else content
        path = tmp_path / "a.jsonl"
        seen = set()
        for size in range(len(content) - 1, 0, -5 if packed else -97):
            path.write_bytes(content[:size])
            try:
                recording = read_recording(path)
            except HopscopeError:
                continue
            whole_lines = not packed and content[:size].endswith(b"\n")
            told = "its end is missing: its recorder was killed, or the file was cut"
            assert recording.notes == (() if whole_lines else (told,))
            seen.add(len(recording.lines))
        assert 3 in seen and seen <= {1, 2, 3, 4}

    def test_damage_within_gzip_is_an_end(self, tmp_path: Path) -> None:
        content = bytearray(gzip.compress(text_of(HEADER, *(whole(number) for number in range(400)))))
        content[len(content) // 2] ^= 0xFF
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(content)
        try:
            assert len(read_recording(path).lines) <= 400
        except HopscopeError as error:
            assert "holds no whole sample" in str(error)

    def test_a_recording_of_many_samples_is_read_to_a_bound(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recording_file, "MOST_LINES", 5)
        many = reading(tmp_path / "a.jsonl", *(whole(number) for number in range(20)))
        assert len(many.lines) == 5
        assert many.notes == ("only its first 5 samples are read: it is longer than can be replayed",)

    def test_a_line_of_absurd_length_is_passed_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recording_file, "LONGEST_LINE", 100_000)
        long = reading(tmp_path / "a.jsonl", whole(), b'{"x": "' + b"y" * 400_000 + b'"}', whole(1))
        assert len(long.lines) == 2
        assert long.notes == ("1 line is not of a recording and left out",)

    def test_gzip_that_unpacks_without_end_is_read_to_a_bound(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recording_file, "MOST_BYTES", 1 << 20)
        monkeypatch.setattr(recording_file, "LONGEST_LINE", 1 << 16)
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(text_of(HEADER, whole()) + b"x" * (8 << 20)))
        recording = read_recording(path)
        assert len(recording.lines) == 1
        assert recording.notes[-1].startswith("only its first 1 samples are read")

    def test_clocks_that_jump(self, tmp_path: Path) -> None:
        times = [T, T + 1, T - 3600, T - 3599, T + 86_400]
        recording = reading(tmp_path / "a.jsonl", *(whole(t=t) for t in times))
        assert recording.offsets == (0, 1, 2, 3, 13)


class TestValues:
    """What a file says of a machine, where no sampler would."""

    def taken(self, **fields: Any) -> dict[str, Any]:
        message = parse_message(json.dumps(whole(gpus=[gpu(0) | fields])).encode())
        found: dict[str, Any] = message["gpus"][0]
        return found

    def test_a_sound_message_is_taken_as_it_is(self) -> None:
        state = machine(
            gpu(0, processes=[process(gpu_instance=2)]), lost_gpu(1), gpu(2, fan_percent=UNSUPPORTED)
        )
        event = {"code": 79, "t": T, "text": "GPU has fallen off the bus"}
        state["gpus"][1]["xid"] = [event]
        assert parse_message(json.dumps(state | {"full": True}).encode()) == state | {"full": True}
        news = step(3, gpus=[{"index": 0, "processes": LOST}], host=host(cpu_percent=LOST), nvml="ok")
        assert parse_message(json.dumps(news).encode()) == news

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("utilization_gpu_percent", "<script>"),
            ("utilization_gpu_percent", None),
            ("utilization_gpu_percent", True),
            ("memory_used_bytes", [1]),
            ("memory_used_bytes", {"state": "denied", "reason": 7}),
            ("name", 7),
            ("persistence_mode", "yes"),
            ("processes", {"pid": 1}),
            ("throttle_reasons", "idle"),
        ],
    )
    def test_what_does_not_fit_its_field_is_missing(self, name: str, value: Any) -> None:
        assert self.taken(**{name: value})[name] == {"state": "error", "reason": "not a value of this field"}

    def test_what_does_not_fit_in_a_list_is_left_out(self) -> None:
        rows = [process(1), {"pid": "2"}, 3, {"pid": 4, "where": "moon", "memory_bytes": "much"}, LOST]
        first, second = self.taken(processes=rows)["processes"]
        assert first == process(1)
        assert (second["pid"], second["where"]) == (4, "elsewhere")
        assert second["memory_bytes"]["state"] == "error" and second["gpu_instance"] is None
        times = [{"code": 31, "t": t, "text": "x"} for t in ("now", 1e17, -1)]
        assert self.taken(xid=[*times, LOST])["xid"] == []
        assert self.taken(throttle_reasons=["idle", 7])["throttle_reasons"] == ["idle"]

    def test_unknown_names_and_long_texts(self) -> None:
        taken = self.taken(**{"evil": "<b>", "new_figure_percent": 5, "x" * 500: 1, "name": "n" * 5000})
        assert "evil" not in taken and taken["new_figure_percent"] == 5
        assert not any(len(name) > 64 for name in taken) and len(taken["name"]) == 1000

    def test_a_whole_message_lacks_nothing(self) -> None:
        message = parse_message(b'{"seq": 1, "t": 5, "full": true, "gpus": [{"index": 0}]}')
        assert message["nvml"] == "ok" and message["topology"] == [] and message["host"] == {}
        assert message["gpus"][0]["uuid"]["state"] == "error" and message["gpus"][0]["unreadable"] is None

    @pytest.mark.parametrize(
        "gpus", [[{"index": 0}, {"index": 0}], [{}], [{"index": -1}], [{"index": True}], [7], {}, [{}] * 999]
    )
    def test_rows_that_cannot_be_told_apart_are_no_message(self, gpus: Any) -> None:
        with pytest.raises(Unfit):
            parse_message(json.dumps(whole(gpus=gpus)).encode())

    def test_whatever_is_written_the_views_draw_it(self, tmp_path: Path) -> None:
        """Values of any kind at any place of a message: taken or refused, what is taken can be shown."""
        odd: list[Any] = [None, True, -1, 1e17, "", "\x1b[2J<b>", [], {}, [[]], {"state": "x", "reason": "y"}]
        base = machine(
            gpu(0, processes=[process()], xid=[{"code": 1, "t": T, "text": "x"}], mig_mode="on", mig=[{}]),
            lost_gpu(1),
        )
        chance = random.Random(4)
        drawn = 0
        for _ in range(400):
            message = json.loads(json.dumps(base)) | {"full": True}
            for _ in range(chance.randint(1, 6)):
                bend(message, odd, chance)
            try:
                recording = reading(tmp_path / "a.jsonl", message, step(1))
            except HopscopeError:
                continue
            state = Playback(recording).snapshot(1)
            assert smi_text(state) and metrics_text(state, "live", T)
            History(4).add(state)
            drawn += 1
        assert drawn > 100


def bend(value: Any, odd: list[Any], chance: random.Random) -> None:
    """Put an odd value at a place of a JSON value, chosen by chance."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = chance.choice(keys)
        inner = value[key]
        if isinstance(inner, (dict, list)) and inner and chance.random() < 0.8:
            value = inner
            continue
        value[key] = json.loads(json.dumps(chance.choice(odd)))
        return


class TestPlayback:
    def recording(self, tmp_path: Path, count: int = 4, **its: Any) -> Recording:
        record(tmp_path / "p.jsonl", snapshots(count, **its))
        return read_recording(tmp_path / "p.jsonl")

    def test_once_it_ends(self, tmp_path: Path) -> None:
        playback = Playback(self.recording(tmp_path), loop=False)
        assert playback.round_s == 4
        assert [playback.number_at(at) for at in (-1, 0, 0.9, 1, 3.5, 4, 99)] == [0, 0, 0, 1, 3, None, None]
        assert [playback.due_s(number) for number in (0, 3, 4)] == [0, 3, None]

    def test_over_and_over_the_numbers_go_on(self, tmp_path: Path) -> None:
        playback = Playback(self.recording(tmp_path))
        assert [playback.number_at(at) for at in (0, 3.9, 4, 5.5, 41)] == [0, 3, 4, 5, 41]
        assert [playback.due_s(number) for number in (0, 3, 4, 41)] == [0, 3, 4, 41]
        messages = [playback.message(number) for number in range(9)]
        assert [message["seq"] for message in messages] == list(range(1, 10))
        assert [message["full"] for message in messages][:5:4] == [True, True]
        assert [message["t"] - T for message in messages] == [0, 1, 2, 3, 0, 1, 2, 3, 0]

    def test_a_snapshot_of_any_moment_is_what_merging_gives(self, tmp_path: Path) -> None:
        recording = self.recording(tmp_path, 70)
        playback = Playback(recording)
        expected = replayed(recording)
        for number in (0, 1, 2, 59, 60, 61, 69):
            assert playback.snapshot(number) == expected[number]
            assert playback.snapshot(number + 70) == expected[number] | {"seq": number + 71}
        assert playback.header.hostname == "ws1"

    def test_gaps_are_shortened(self, tmp_path: Path) -> None:
        playback = Playback(self.recording(tmp_path, 3, step_s=3600.0))
        assert playback.round_s == 21
        assert playback.number_at(10.5) == 1


class TestFolder:
    def packed(self, **header: Any) -> io.BytesIO:
        return io.BytesIO(text_of(HEADER | header, whole()))

    def test_added_listed_found_removed(self, home: Path) -> None:
        assert recordings.listed() == []
        old = recordings.add("C:\\x/../../my machine.jsonl.gz", self.packed(made="2025-01-01T00:00:00+00:00"))
        new = recordings.add("", io.BytesIO(gzip.compress(self.packed(hostname="ws/2").read())))
        again = recordings.add("my machine", self.packed())
        assert [one.id for one in (old, new, again)] == [
            "my-machine.jsonl",
            "ws-2-2026-01-01-0000.jsonl.gz",
            "my-machine-2.jsonl",
        ]
        assert {one.id for one in recordings.listed()} == {one.id for one in (old, new, again)}
        assert recordings.listed()[-1] == old and old.problem is None
        assert recordings.find(new.id) == home / "recordings" / new.id
        assert len(read_recording(recordings.find(new.id)).lines) == 1
        recordings.remove(old.id)
        assert [one.id for one in recordings.listed() if one.id == old.id] == []
        assert sorted(path.name for path in (home / "recordings").iterdir()) == sorted((new.id, again.id))

    @pytest.mark.parametrize(
        "name",
        ["", ".", "..", "../secret.jsonl", "/etc/passwd", ".hidden.jsonl", "a", "x\0.jsonl", "none.jsonl"],
    )
    def test_an_id_never_leads_out_of_the_folder(self, home: Path, name: str) -> None:
        home.mkdir()
        (home / "secret.jsonl").write_bytes(text_of(HEADER, whole()))
        for act in (recordings.find, recordings.remove):
            with pytest.raises(UsageError, match="there is no recording"):
                act(name)
        assert (home / "secret.jsonl").exists()

    def test_what_is_no_recording_is_not_kept(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(UsageError, match=r"^holiday\.png is not a recording: "):
            recordings.add("holiday.png", io.BytesIO(b"\x89PNG"))
        monkeypatch.setattr(recordings, "MOST_UPLOADED", 10)
        with pytest.raises(UsageError, match="is larger than"):
            recordings.add("a.jsonl", self.packed())
        assert list((home / "recordings").iterdir()) == []

    def test_a_damaged_file_in_the_folder_is_listed_with_its_reason(self, home: Path) -> None:
        (home / "recordings").mkdir(parents=True)
        (home / "recordings" / "bad.jsonl").write_text("hello")
        (home / "recordings" / "notes.txt").write_text("hello")
        (only,) = recordings.listed()
        assert (only.id, only.header, only.bytes) == ("bad.jsonl", None, 5)
        assert only.problem is not None and only.problem.startswith("bad.jsonl is not a recording")


def test_a_text_of_a_recording_can_be_encoded() -> None:
    whole = machine(gpu(0, name="A\udc80B"))
    message = parse_message(json.dumps({**whole, "full": True}).encode())
    assert message["gpus"][0]["name"] == "A\N{REPLACEMENT CHARACTER}B"
