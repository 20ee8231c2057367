"""The recorder's hops against TensorFlow's own logs of the same program, run without the recorder."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.integration.recording import SCRIPTS, record

SCRIPT = SCRIPTS / "independent.py"
SEND = re.compile(r"\] Send \S*device:(\w+:\d+);[0-9a-f]+;\S*device:(\w+:\d+);edge_\d+_(\S+?);\S+:\d+")
RECEIVED = re.compile(r'MemoryLogTensorOutput .*?kernel_name: "([^"]+)/_\d+" .*?requested_bytes: (\d+)')
LOGS = {"TF_CPP_VMODULE": "sendrecv_ops=2,log_memory=2", "TF_CPP_MIN_LOG_LEVEL": "0"}


class Own(NamedTuple):
    """What TensorFlow itself logged of a run without the recorder."""

    sends: Counter[tuple[str, str, str]]
    """(source, destination, producer) of every send, control edges too."""
    received: dict[str, set[int]]
    """Producer -> the sizes that its receivers took, in bytes; control edges bring none."""


def tensorflows_own(python: Path) -> Own:
    done = subprocess.run(
        [python, SCRIPT], env=os.environ | LOGS, capture_output=True, text=True, check=True, timeout=120
    )
    received: dict[str, set[int]] = {}
    for name, size in RECEIVED.findall(done.stderr):
        received.setdefault(name, set()).add(int(size))
    sends = Counter((src.lower(), dst.lower(), name) for src, dst, name in SEND.findall(done.stderr))
    return Own(sends, received)


def test_devices_counts_and_bytes_agree_with_tensorflows_logs(tf_python: Path, hopscope_home: Path) -> None:
    recorded = record(tf_python, SCRIPT)
    assert recorded.run.state == "finished", recorded.log[-2000:]
    own = tensorflows_own(tf_python)
    sent = {key: n for key, n in own.sends.items() if key[2] in own.received}
    assert len(sent) >= 5, "TensorFlow logged too little to prove anything"

    in_python = [hop for hop in recorded.report["hops"] if "Python" in (hop["producer"], hop["op"])]
    hops = [hop for hop in recorded.report["hops"] if hop not in in_python]
    ours: Counter[tuple[str, str, str]] = Counter()
    for hop in hops:
        ours[hop["src"], hop["dst"], hop["producer"]] += hop["count"]
    assert ours == sent
    for hop in hops:
        assert own.received[hop["producer"]] == {hop["bytes"]}, hop


def test_results_are_bit_equal(tf_python: Path, hopscope_home: Path) -> None:
    plain = subprocess.run([tf_python, SCRIPT], capture_output=True, text=True, check=True, timeout=120)
    recorded = record(tf_python, SCRIPT)
    losses = [line for line in recorded.log.split() if re.fullmatch(r"-?0x[\d.a-f]+p[+-]\d+", line)]
    assert len(losses) == 6
    assert losses == plain.stdout.split()
