"""The examples of docs/causes.md, recorded: each has its finding at the marked line, and not once fixed.

CPU devices stand in for the GPUs. A framework's scripts run in forks of one process that has imported it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.diagnosis.registry import CAUSES
from app.fixes.code.edits import Repair, applied
from benchmarks.labelled.cases import Case
from tests.integration.labelled_set import reports

pytestmark = pytest.mark.timeout(300)  # the first test of a framework waits for all its scripts

NOT_REAL = {"device-order": "it takes two GPUs that CUDA numbers"}
PREDICTED = {"no-kernel": "CPU devices have kernels for all ops; a pre-flight knows those of GPUs"}
WITHOUT_PATCH = {"missing-device", "no-kernel", "redundant-copy", "unbalanced", "unknown"}
"""Their fixed code follows the advice, which is in words."""
NOTE_LEFT = {"host-sync": "the losses are still read, once, after the loop"}
IMPORTS = {
    "tensorflow": "import numpy as np\nimport tensorflow as tf\n",
    "mxnet": "import mxnet as mx\nfrom mxnet import autograd, gluon, nd\n",
}
STAND_INS = {
    "tensorflow": """\
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
""",
    "mxnet": "",
}
GPU = re.compile(r"(\bGPU:|\bgpu\()(\d)")
STAND_IN = {"GPU:": "CPU:", "gpu(": "cpu("}
EXAMPLES = {cause.code: cause.example for cause in CAUSES if cause.code not in NOT_REAL}
FIXED = [code for code, example in EXAMPLES.items() if example.after]

Findings = Mapping[str, list[Mapping[str, Any]]]


@pytest.fixture(scope="module")
def tensorflow(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return recorded("tensorflow", tf_python, tmp_path_factory.mktemp("examples"))


@pytest.fixture(scope="module")
def mxnet(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return recorded("mxnet", mx_python, tmp_path_factory.mktemp("examples"))


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_cause_is_found_at_the_marked_line(code: str, request: pytest.FixtureRequest) -> None:
    findings = request.getfixturevalue(EXAMPLES[code].framework)[f"{code} before"]
    assert (code, marked_site(code)) in [(found["code"], found["site"]) for found in findings]


@pytest.mark.parametrize("code", FIXED)
def test_the_fixed_code_has_no_such_finding(code: str, request: pytest.FixtureRequest) -> None:
    example = EXAMPLES[code]
    findings = request.getfixturevalue(example.framework)[f"{code} after"]
    left = [one["severity"] for one in findings if one["code"] == code]
    assert left == (["info"] if code in NOTE_LEFT else [])


@pytest.mark.parametrize("code", FIXED)
def test_the_fixed_code_is_what_the_patch_writes(code: str, request: pytest.FixtureRequest) -> None:
    example = EXAMPLES[code]
    proposed = finding(code, request.getfixturevalue(example.framework))["repair"]
    assert (proposed is None) == (code in WITHOUT_PATCH)
    if proposed is not None:
        changed = applied(script_text(code, example.before), Repair.read(proposed).edits)
        assert re.sub(r"  # <- [a-z-]+$", "", changed, flags=re.MULTILINE) == script_text(code, example.after)


def finding(code: str, findings: Findings) -> Mapping[str, Any]:
    """The cause's finding at the marked line."""
    [found] = [
        one for one in findings[f"{code} before"] if (one["code"], one["site"]) == (code, marked_site(code))
    ]
    return found


def marked_site(code: str) -> str | None:
    """The marked line as findings name it; None where no line is marked."""
    line = EXAMPLES[code].marked_line(code)
    return f"{code}_before.py:{len(prelude(code).splitlines()) + line}" if line else None


def recorded(framework: str, python: Path, folder: Path) -> Findings:
    """The findings of each of the framework's scripts, by code and ``before`` or ``after``."""
    cases = [
        case(code, kind, text, folder)
        for code, example in EXAMPLES.items()
        if example.framework == framework
        for kind, text in (("before", example.before), ("after", example.after))
        if text
    ]
    told = reports(python, cases, folder)
    broken = {name: report for name, report in told.items() if isinstance(report, str)}
    assert broken == {}
    return {name: report["findings"] for name, report in told.items() if not isinstance(report, str)}


def case(code: str, kind: str, text: str, folder: Path) -> Case:
    """A script with the example's text."""
    script = folder / f"{code}_{kind}.py"
    script.write_text(script_text(code, text))
    return Case(f"{code} {kind}", EXAMPLES[code].framework, script, "", (), preflight=code in PREDICTED)


def script_text(code: str, text: str) -> str:
    """An example's text behind its prelude, on the devices on which it is recorded."""
    if code not in PREDICTED:
        text = GPU.sub(lambda gpu: f"{STAND_IN[gpu[1]]}{int(gpu[2]) + 1}", text)
    return prelude(code) + text


def prelude(code: str) -> str:
    """What an example leaves out: imports, and devices that stand in for GPUs where it is recorded."""
    framework = EXAMPLES[code].framework
    return IMPORTS[framework] + ("" if code in PREDICTED else STAND_INS[framework])
