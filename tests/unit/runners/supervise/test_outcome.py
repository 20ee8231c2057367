"""How a run's end is put into words."""

from __future__ import annotations

import signal

from runners.supervise.outcome import End, judge_end


def exited(code: int) -> int:
    return code << 8


def test_an_end_with_0_is_finished_and_needs_no_words() -> None:
    assert judge_end(End(exited(0), stopped=False)) == {
        "state": "finished",
        "exit_code": 0,
        "signal": None,
        "reason": None,
    }


def test_another_status_is_a_failure() -> None:
    end = judge_end(End(exited(3), stopped=False))
    assert (end["state"], end["exit_code"], end["reason"]) == ("failed", 3, "exited with status 3")


def test_an_end_with_0_is_a_failure_where_others_needed_it() -> None:
    end = judge_end(End(exited(0), stopped=False, member="ps-0", deserted=True))
    assert (end["state"], end["exit_code"]) == ("failed", 0)
    assert end["reason"] == "ps-0 exited with status 0, while others still needed it"


def test_a_signal_is_named() -> None:
    end = judge_end(End(signal.SIGKILL, stopped=False))
    assert (end["state"], end["signal"], end["reason"]) == ("failed", 9, "killed by signal 9 (SIGKILL)")
    core = judge_end(End(signal.SIGSEGV | 0x80, stopped=False))
    assert core["reason"] == "killed by signal 11 (SIGSEGV), core dumped"


def test_a_stop_says_whether_it_took_a_kill() -> None:
    obeyed = judge_end(End(signal.SIGTERM, stopped=True))
    assert obeyed["reason"] == "stopped on request"
    clean = judge_end(End(exited(0), stopped=True))
    assert (clean["state"], clean["reason"]) == ("stopped", "stopped on request; exited with status 0")
    forced = judge_end(End(signal.SIGKILL, stopped=True, killed_after=0.5))
    assert forced["reason"] == "stopped on request: it did not end within 0.5 s, so it was killed"


def test_what_it_left_behind_is_told_beside_its_own_end() -> None:
    assert judge_end(End(exited(0), stopped=False, leftovers=1))["reason"] == (
        "1 process that it left behind had to be ended"
    )
    assert judge_end(End(exited(2), stopped=False, leftovers=2))["reason"] == (
        "exited with status 2; 2 processes that it left behind had to be ended"
    )


def test_an_unseen_end_is_a_failure_and_says_so() -> None:
    end = judge_end(End(None, stopped=False))
    assert (end["state"], end["exit_code"], end["signal"]) == ("failed", None, None)
    assert end["reason"] == "its end was not seen"


def test_of_several_processes_the_one_that_ended_it_is_named() -> None:
    killed = judge_end(End(signal.SIGKILL, stopped=False, member="server-0"))
    assert (killed["state"], killed["signal"]) == ("failed", 9)
    assert killed["reason"] == "server-0 was killed by signal 9 (SIGKILL)"
    left = judge_end(End(exited(3), stopped=False, member="worker-1", remarks=["and more"]))
    assert left["reason"] == "worker-1 exited with status 3; and more"
    assert (
        judge_end(End(None, stopped=False, member="worker-1"))["reason"] == "the end of worker-1 was not seen"
    )


def test_a_time_limit_is_a_failure_whatever_the_status() -> None:
    end = judge_end(End(exited(0), stopped=False, limit_s=60.0))
    assert (end["state"], end["exit_code"]) == ("failed", 0)
    assert end["reason"] == "the time limit of 60 s ended it; exited with status 0"


def test_a_signal_that_was_sent_to_end_it_is_not_told_as_the_reason() -> None:
    sent = judge_end(End(signal.SIGTERM, stopped=False, member="worker-0", limit_s=60.0))
    assert (sent["state"], sent["signal"]) == ("failed", 15)
    assert sent["reason"] == "the time limit of 60 s ended it"
    forced = judge_end(End(signal.SIGKILL, stopped=False, killed_after=5.0, member="worker-0", limit_s=60.0))
    assert forced["reason"] == (
        "the time limit of 60 s ended it: it did not end when asked to, so it was killed"
    )
    assert judge_end(End(signal.SIGTERM, stopped=True, member="worker-0"))["reason"] == "stopped on request"
    crashed = judge_end(End(signal.SIGSEGV, stopped=True, member="worker-0"))
    assert crashed["reason"] == "stopped on request; worker-0 was killed by signal 11 (SIGSEGV)"
    by_another = judge_end(End(signal.SIGTERM, stopped=False, member="worker-0"))
    assert by_another["reason"] == "worker-0 was killed by signal 15 (SIGTERM)"


def test_a_finished_run_may_have_a_remark() -> None:
    end = judge_end(End(exited(0), stopped=False, remarks=["server-0 aborted after the others had finished"]))
    assert (end["state"], end["reason"]) == ("finished", "server-0 aborted after the others had finished")
