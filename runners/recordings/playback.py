"""Replaying a recording: which message is due when. It keeps no clock, the caller has one."""

from __future__ import annotations

import bisect

from probes.nvml.snapshot import Message, Snapshot, merge
from runners.recordings.recording_file import Header, Recording


class Playback:
    """A recording as the messages that a viewer gets, once or over and over.

    Messages are numbered from 0 on, over all rounds. Each round begins with a whole message. `t` stays the
    time at which it was recorded, `seq` goes on over the rounds.
    """

    def __init__(self, recording: Recording, loop: bool = True) -> None:
        self._recording = recording
        self._count = len(recording.lines)
        self.loop = loop
        self.round_s = recording.offsets[-1] + 1 / recording.header.hz
        """How long one round takes, seconds: to the end of the last sample's tick."""

    @property
    def header(self) -> Header:
        """What the recording says of itself."""
        return self._recording.header

    def number_at(self, elapsed_s: float) -> int | None:
        """Return the number of the message that holds at a moment, seconds from the start.

        None where a recording that is not looped has ended.
        """
        rounds, rest = divmod(max(0.0, elapsed_s), self.round_s)
        if rounds and not self.loop:
            return None
        place = bisect.bisect_right(self._recording.offsets, rest) - 1
        return int(rounds) * self._count + place

    def due_s(self, number: int) -> float | None:
        """Return when a message is due, seconds from the start; None where none of this number comes."""
        rounds, place = divmod(number, self._count)
        if rounds and not self.loop:
            return None
        return rounds * self.round_s + self._recording.offsets[place]

    def message(self, number: int) -> Message:
        """Return a message; the first of each round is whole."""
        message = self._recording.message(number % self._count)
        message["seq"] = number + 1
        return message

    def snapshot(self, number: int) -> Snapshot:
        """Return the machine as it was after a message."""
        place = number % self._count
        whole = self._recording.whole
        snapshot: Snapshot | None = None
        for step in range(whole[bisect.bisect_right(whole, place) - 1], place + 1):
            snapshot = merge(snapshot, self._recording.message(step))
        assert snapshot is not None
        return {**snapshot, "seq": number + 1}
