"""What cannot work is refused twice, with the reason: by the plan before launch, and by the script.

The Launch page shows a plan's problems and starts nothing; `demo` prints them and exits 2.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from app.cli import dispatch
from runners import catalogue
from runners.environments import environments
from runners.environments.environments import Environment
from runners.plan import program_plan
from runners.plan.plan import LaunchOptions
from runners.programs.keras_versions import keras_problems

SERVER = Path(__file__).with_name("script_server.py")
LIMIT_S = 200


class Case(NamedTuple):
    """A request that cannot work."""

    program: str
    request: str
    """`2`: that many stand-ins, or `gpu:0,cpu:1`: those devices; then options."""
    reason: str
    """In the plan's words."""
    script_says: str | None
    """In the script's; None where only a plan can know."""

    @property
    def devices(self) -> str:
        return self.request.split()[0]

    @property
    def options(self) -> list[str]:
        return self.request.split()[1:]

    def words(self) -> list[str]:
        """The script's own command line."""
        how = "--stand-ins" if self.devices.isdigit() else "--devices"
        script = str(catalogue.PROGRAMS[self.program].script)
        return [script, how, self.devices, *(f"--{option}" for option in self.options)]


NO_DEVICE = "device=cpu:9 is not one of the devices of this run"
NO_MNIST = "there is no MNIST at"
CASES = [
    # Too few devices, too many, another kind.
    Case("tf-model-parallel", "1", "needs at least 2 devices, not 1", "needs at least 2 devices"),
    Case("tf-pin-replica-gradients", "1", "needs at least 2 devices, not 1", "needs at least 2 devices"),
    Case("tf-mirrored-uneven", "1", "needs at least 2 devices, not 1", "needs at least 2 devices"),
    Case("mx-two-devices", "1", "needs at least 2 devices, not 1", "needs at least 2 devices"),
    Case("mx-copy", "3", "takes 2 devices at most, not 3", "can use 2 devices at most"),
    Case("mx-mixed-context", "3", "takes 2 devices at most, not 3", "can use 2 devices at most"),
    Case("tf-mirrored", "gpu:7", "gpu:7 does not exist here", "there is no device gpu:7"),
    Case("mx-contexts", "gpu:7", "gpu:7 does not exist here", "there is no device gpu:7"),
    Case(
        "tf-default-placement", "2 visible=3", "visible=3 is more than the 2 devices", "--visible 3 is more"
    ),
    Case("tf-visible-order", "2 subset=3", "subset=3 is more than the 2 devices", "--subset 3 is more"),
    # A device that the run does not have, or that it compares others with.
    *(
        Case(name, "2 device=cpu:9", NO_DEVICE, "--device cpu:9 is not one of the devices")
        for name, program in catalogue.PROGRAMS.items()
        if "device" in {option.name for option in program.options}
    ),
    Case(
        "mx-matmul-size", "cpu:0", "compares its device with the host", "is the host, and cannot be compared"
    ),
    # Fewer images than replicas, or more than there are.
    Case("tf-mirrored", "4 batch=3", "batch=3 leaves some of 4 replicas", "too small for 4 replicas"),
    Case("tf-central-storage", "4 batch=3", "batch=3 leaves some of 4 replicas", "too small for 4 replicas"),
    Case("tf-pin-replica-gradients", "3 batch=2", "batch=2 leaves some of 3 replicas", "too small for 3"),
    Case("tf-mirrored-uneven", "2 batch=2", "batch=2 leaves a replica without", "leaves a replica without"),
    Case(
        "mx-gluon-data-parallel", "3 batch=2", "batch=2 leaves some of 3 devices", "too small for 3 devices"
    ),
    Case(
        "mx-module-data-parallel", "3 batch=2", "batch=2 leaves a device without", "leaves a device without"
    ),
    Case(
        "mx-module", "1 batch=1499", "batch=1499 is more than the 1498", "--batch 1499 is more than the 1498"
    ),
    Case("mx-module-data-parallel", "2 batch=1499", "more than the 1498 images", "more than the 1498 images"),
    # How gradients are summed.
    Case("tf-mirrored", "2 cross-device-ops=nccl", "nccl needs GPUs", "nccl works on GPUs only"),
    Case("mx-module-data-parallel", "2 kvstore=nccl", "nccl needs GPUs", "nccl works on GPUs only"),
    Case(
        "tf-mirrored", "3 cross-device-ops=hierarchical-copy", "even number of devices, not 3", "even number"
    ),
    # Splits, shares, sizes, speeds.
    Case(
        "tf-model-parallel",
        "3 split=2",
        "split=2 has 1 points, and 3 devices need 2",
        "--split needs 2 points",
    ),
    Case("tf-model-parallel", "3 split=4,2", "does not rise", "does not rise"),
    Case("tf-model-parallel", "2 split=6", "split=6 names layer 6", "--split names layer 6"),
    Case("tf-model-parallel", "7", "layers=6 are too few for 7 devices", "6 layers are too few for 7"),
    Case("mx-model-parallel-lstm", "2 split=4", "split=4 names layer 4", "--split names layer 4"),
    Case("mx-model-parallel-lstm", "3 layers=2", "layers=2 are too few for 3", "2 layers are too few for 3"),
    Case("mx-module-data-parallel", "2 work-load-list=1,2,3", "has 3 shares, and 2 devices", "has 3 shares"),
    Case("mx-matmul-size", "1 sizes=64", "2 different ones or more", "it takes two to compare"),
    Case("tf-mirrored-uneven", "2 slowdown=1", "makes both splits the same", "makes both splits the same"),
    # XLA, Keras.
    Case("tf-mirrored", "2 jit-compile=on", "works with loop=fit on GPUs only", "in --loop fit on GPUs only"),
    # Data that is not here.
    *(
        Case(name, "2 data=mnist", NO_MNIST, NO_MNIST if program.cluster is None else None)
        for name, program in catalogue.PROGRAMS.items()
        if "data" in {option.name for option in program.options}
    ),
    # Several processes: each of them is told by its variables that it is one, which these tests do not make.
    Case("tf-multiworker", "1 loop=fit", "loop=fit needs keras=2", None),
    Case("tf-multiworker", "2 batch=3", "batch=3 leaves some of 4 replicas", None),
    Case("tf-multiworker", "1 communication=nccl", "communication=nccl needs GPUs", None),
    Case("tf-multiworker-checkpoint", "2 batch=3", "batch=3 leaves some of 4 replicas", None),
    Case("tf-parameter-server", "1 loop=fit", "Keras 3 cannot fit under ParameterServerStrategy", None),
    Case("tf-parameter-server", "1 workers=80", "are too many for one machine: 64 at most", None),
    Case("mx-dist-sync", "2 batch=3", "batch=3 leaves some of 4 replicas", None),
    Case("mx-dist-sync", "1 servers=70", "are too many for one machine: 64 at most", None),
    # Values that mean nothing.
    Case("tf-no-kernel", "1 op=angel", "did you mean angle", "invalid choice: 'angel'"),
    Case("tf-host-sync", "1 every=0", "every=0 is not possible", "'0' is not a whole number of at least 1"),
    Case("tf-host-sync", "1 repeats=0", "repeats=0 is not possible", "'0' is not a whole number"),
    Case("tf-input-pipeline", "1 pipeline=tfdata", "did you mean tf-data", "invalid choice: 'tfdata'"),
]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No GPU to see, no MNIST, no runs."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for name in ("KERAS_HOME", "MXNET_HOME", "HOPSCOPE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def name_of(case: Case) -> str:
    return f"{case.program} {case.request}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_command_exits_2_with_the_reason(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def environment(name: str) -> Environment:
        return Environment(name, tmp_path, tmp_path / "python", "ready", None, None, "pip", tmp_path, "cpu")

    monkeypatch.setattr(environments, "environment", environment)
    monkeypatch.setattr(environments, "require", lambda name: None)
    how = "--stand-ins" if case.devices.isdigit() else "--devices"
    sets = [word for option in case.options for word in ("--set", option)]
    assert dispatch.main(["demo", case.program, how, case.devices, *sets]) == 2
    told = capfd.readouterr().err
    assert case.reason in told
    assert "Traceback" not in told
    assert not (tmp_path / "HOPSCOPE_HOME" / "runs").exists(), "nothing was launched"


@pytest.mark.parametrize("framework", ["tensorflow", "mxnet"])
def test_the_script_exits_2_with_the_reason(framework: str, request: pytest.FixtureRequest) -> None:
    python = request.getfixturevalue("tf_python" if framework == "tensorflow" else "mx_python")
    cases = [
        case for case in CASES if case.script_says and catalogue.PROGRAMS[case.program].framework == framework
    ]
    done = subprocess.run(
        [python, SERVER, framework],
        input=json.dumps([case.words() for case in cases]) + "\n",
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    answers = json.loads(done.stdout)
    assert len(answers) == len(cases)
    wrong = []
    for case, (status, out, err) in zip(cases, answers, strict=True):
        told = [line for line in err.splitlines() if line.startswith(f"{case.program}: ")]
        right = status == 2 and not out and len(told) == 1 and str(case.script_says) in told[0]
        if not right:
            wrong.append((name_of(case), status, out, err[-300:]))
    assert wrong == []


@pytest.mark.parametrize("name", catalogue.PROGRAMS)
def test_what_a_program_does_by_itself_is_possible(name: str) -> None:
    program = catalogue.PROGRAMS[name]
    problems = [
        problem
        for count in {program.default_devices, program.min_devices}
        for problem in program_plan.plan_program(
            name, stand_ins=count, launch=LaunchOptions(python=sys.executable)
        ).problems
    ]
    assert problems == []


def test_one_repeat_is_possible_and_told_to_give_no_verdict(tf_python: Path) -> None:
    made = program_plan.plan_program(
        "tf-host-sync", stand_ins=1, options={"repeats": 1}, launch=LaunchOptions(python=tf_python)
    )
    assert made.problems == []
    assert "repeats=1 gives no spread, so this run will say no verdict" in made.notes


@pytest.mark.parametrize(
    ("keras", "installed", "reason"),
    [
        (
            "2",
            {"tensorflow": "2.21.0"},
            "keras=2 is not here: TensorFlow 2.21.0 has Keras 3; install tf_keras",
        ),
        ("2", {"tensorflow": "2.21.0", "tf-keras": "2.21.0"}, None),
        ("2", {"tensorflow": "2.15.1"}, None),
        ("3", {"tensorflow": "2.15.1"}, "keras=3 is not here: TensorFlow 2.15.1 has Keras 2; choose keras=2"),
        ("3", {"tensorflow": "2.21.0"}, None),
        ("3", {}, None),
    ],
)
def test_a_keras_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, keras: str, installed: dict[str, str], reason: str | None
) -> None:
    monkeypatch.setattr("runners.programs.keras_versions.package_versions", lambda python: installed)
    problems = keras_problems({"keras": keras}, Path("/e/python"))
    assert len(problems) == (reason is not None)
    assert all(str(reason) in problem for problem in problems)


@pytest.mark.parametrize("words", [("demo", "mx-copy"), ("run", "--framework", "mxnet", "--", "train.py")])
def test_a_framework_is_not_installed_unasked(
    hopscope_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:
    """It takes gigabytes: the command says what to run."""
    (tmp_path / "train.py").write_text("import mxnet\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPSCOPE_ENVS", str(tmp_path / "envs"))
    monkeypatch.delenv("HOPSCOPE_MXNET", raising=False)
    assert dispatch.main(list(words)) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "install" in line]
    assert "install it with: python3 -m app setup --framework mxnet" in line
    assert f"the CPU build needs 0.4 GB in {tmp_path}/envs/mxnet" in line
    assert not (tmp_path / "envs").exists()
