"""Several TensorFlow processes in one report, against TensorFlow's own logs of a run without the recorder."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.integration.recording import SCRIPTS, Recorded, by, record

SCRIPT = SCRIPTS / "tf_cluster.py"
STEPS, WEIGHTS, BIAS = 6, 8 * 4 * 4, 4 * 4
"""Of the script; bytes of its variables."""
DEVICE = r"/job:(\w+)/replica:0/task:(\d+)/device:(\w+:\d+)"
SEND = re.compile(rf"\] Send {DEVICE};[0-9a-f]+;{DEVICE};edge_\d+_(\S+?);\S+:\d+")
RECEIVED = re.compile(r'MemoryLogTensorOutput .*?kernel_name: "([^"]+)/_\d+" .*?requested_bytes: (\d+)')
REDUCED = re.compile(
    r"\] CollectiveReduceV2 group_size (\d+) group_key \d+ instance_key (\d+) "
    rf".*?shape \[(\d+)\] device {DEVICE}"
)
BROADCAST = re.compile(
    r"\] CollectiveOpKernel CompleteParams for collective CollectiveBcast"
    rf".*? device {DEVICE} .* instance (\d+)"
)
LOGS = {"TF_CPP_VMODULE": "sendrecv_ops=2,log_memory=2,collective_ops=1", "TF_CPP_MIN_LOG_LEVEL": "0"}

pytestmark = pytest.mark.usefixtures("hopscope_home")


def tensorflows_own(python: Path, kind: str) -> str:
    """What TensorFlow logs of the script in all its processes."""
    command = [str(python), str(SCRIPT), kind]
    done = subprocess.run(
        command, env=os.environ | LOGS, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stderr


def recorded(python: Path, kind: str) -> Recorded:
    done = record(python, SCRIPT, kind, exact=True)
    assert done.run.state == "finished", done.log[-3000:]
    return done


def name(job: str, task: str, device: str) -> str:
    return f"{job}:{task}/{device.lower()}"


def any_worker(device: str) -> str:
    """Which worker gets which step is chance."""
    return re.sub(r"^worker:\d+", "worker", device)


def test_pulls_and_pushes_of_parameter_servers_agree_with_tensorflows_logs(tf_python: Path) -> None:
    ours = recorded(tf_python, "servers")
    report = ours.report
    log = tensorflows_own(tf_python, "servers")
    sizes: dict[str, set[int]] = {}
    for tensor, size in RECEIVED.findall(log):
        sizes.setdefault(tensor, set()).add(int(size))
    sent: Counter[tuple[str, str, str]] = Counter()
    for found in SEND.findall(log):
        ends = any_worker(name(*found[:3])), any_worker(name(*found[3:6]))
        if found[6] in sizes:  # control edges bring nothing
            sent[(*ends, found[6])] += 1
    assert sum(sent.values()) == 4 * STEPS, "TensorFlow logged too little to prove anything"

    between = [hop for hop in report["hops"] if "chief" not in hop["src"] + hop["dst"]]
    counted: Counter[tuple[str, str, str]] = Counter()
    for hop in between:
        counted[any_worker(hop["src"]), any_worker(hop["dst"]), hop["producer"]] += hop["count"]
        assert sizes[hop["producer"]] == {hop["bytes"]}, hop
    assert counted == sent

    pulled = by(between, cause="variable-home", dst="worker:0/cpu:0")
    assert {(hop["src"], hop["bytes"]) for hop in pulled} <= {("ps:0/cpu:0", WEIGHTS), ("ps:1/cpu:0", BIAS)}
    assert {hop["basis"] for hop in between} == {"estimated"}
    # The lines are the chief's, though the ops ran elsewhere.
    assert all(hop["site"].startswith("tf_cluster.py:") for hop in between)
    placed = {row["device"]: row["ops"] for row in report["placement"]}
    assert set(placed) == {"chief:0/cpu:0", "ps:0/cpu:0", "ps:1/cpu:0", "worker:0/cpu:0", "worker:1/cpu:0"}
    assert placed["worker:0/cpu:0"] == placed["worker:1/cpu:0"] > 20
    memory = {row["device"]: row["peak_bytes"] for row in report["memory"]}
    assert (memory["ps:0/cpu:0"], memory["ps:1/cpu:0"]) == (WEIGHTS, BIAS)
    # An argument is sent once to each worker, which keeps it; nothing tells of that copy.
    handed = by(report["hops"], op="step", bytes=4)
    assert {(hop["count"], hop["basis"]) for hop in handed} == {(1, "inferred")}
    assert report["unseen"] == []
    # Of the graphs that the servers wrote nothing is left, not even a line in the log.
    left = {path.suffix for path in (ours.run.path / "trace").iterdir()} - {""}  # the sources' folder
    assert left == {".jsonl", ".counts"}
    assert "Dumped" not in ours.log
    assert re.search(r"^loss \d+\.\d{4}$", ours.log, re.MULTILINE), ours.log[-2000:]


def test_a_collective_of_two_workers_is_one_as_tensorflow_logged_it(tf_python: Path) -> None:
    report = recorded(tf_python, "workers").report
    log = tensorflows_own(tf_python, "workers")
    instances: dict[str, set[tuple[str, int]]] = {}
    for members, instance, elements, *device in REDUCED.findall(log):
        assert members == "2"
        instances.setdefault(instance, set()).add((name(*device), 4 * int(elements)))
    broadcasts: dict[str, set[str]] = {}
    for *device, instance in BROADCAST.findall(log):
        broadcasts.setdefault(instance, set()).add(name(*device))
    assert (len(instances), len(broadcasts)) == (STEPS, 2)

    both = ["worker:0/cpu:0", "worker:1/cpu:0"]
    reduced, *more = by(report["collectives"], op="CollectiveReduceV2")
    assert more == []
    assert reduced["count"] == len(instances)
    assert reduced["devices"] == both
    for members in instances.values():
        assert members == {(device, reduced["payload_bytes"]) for device in both}
    assert reduced["payload_bytes"] == WEIGHTS + BIAS
    assert (reduced["wire_bytes"], reduced["algorithm"]) == (2 * (WEIGHTS + BIAS), "ring")
    begun = by(report["collectives"], op="CollectiveBcast")
    assert [(row["devices"], row["payload_bytes"], row["count"]) for row in begun] == [
        (both, WEIGHTS, 1),
        (both, BIAS, 1),
    ]
    assert all(devices == set(both) for devices in broadcasts.values())
    assert report["hops"] == []
