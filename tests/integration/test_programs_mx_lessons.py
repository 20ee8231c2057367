"""The small MXNet programs on stand-ins: they finish, take every option, and say what cannot work.

What a program's verdict is where it depends on the machine's speed is not asserted, only that it follows
from the figures in it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from runners import catalogue
from runners.plan import fitting

PROGRAMS = Path(__file__).parents[2] / "runners" / "programs" / "mxnet"
STEP = re.compile(r"step (\d+)/(\d+)(?: loss \d+\.\d+)? \d+\.\d steps/s")
FIGURE = r"[\d.,e+]+"
BUSY = r"(\. The machine was busy: a load of .* cores?)?"
SPREAD = rf"{FIGURE} times \({FIGURE}\.\.{FIGURE}\)"
LIMIT_S = 60


class Ran(NamedTuple):
    """What a program printed."""

    lines: list[str]
    verdicts: list[str]
    steps: int
    """The number of the last step that it told."""


def start(python: Path, program: str, args: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [str(python), str(PROGRAMS / program / "train.py"), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def ran(python: Path, program: str, args: str) -> Ran:
    """Run a program that must succeed on stand-ins."""
    done = start(python, program, args.split())
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    steps = [match for match in map(STEP.fullmatch, lines) if match]
    assert steps[-1][1] == steps[-1][2], "the last step is always printed"
    verdicts = [line.removeprefix("verdict ") for line in lines if line.startswith("verdict ")]
    assert lines[len(lines) - len(verdicts) :] == [f"verdict {verdict}" for verdict in verdicts]
    return Ran(lines, verdicts, int(steps[-1][1]))


def test_contexts(mx_python: Path) -> None:
    done = ran(mx_python, "contexts", "--stand-ins 2 --steps 3")
    assert done.steps == 3
    assert "no context: 3 arrays on cpu:0" in done.lines
    assert "ctx=cpu(2): 3 arrays on cpu:2" in done.lines
    assert [verdict.partition(":")[0] for verdict in done.verdicts] == ["holds", "holds", "does not hold"]
    names, tried, missing = done.verdicts
    assert "mx.gpu() == mx.gpu(0) is True, and mx.gpu(0) == mx.gpu(1) is False" in names
    assert re.search(r"try_gpu\(\d+\), a GPU that is not here, 3 of 3 arrays were made on cpu:0", tried)
    assert re.search(r"asked for on gpu\(\d+\), which is not here, raised MXNetError \(.+\)", missing)


def test_context_scope(mx_python: Path) -> None:
    done = ran(mx_python, "context_scope", "--stand-ins 3 --devices cpu:3,cpu:1 --device cpu:3 --steps 2")
    for how in ("nd.ones in the block", "nd.array in the block", "nd.ones with ctx="):
        assert f"{how}: 2 on cpu:3" in done.lines
    for how in ("after the bare name", "after the block", "in a thread of the block", "x * 2 in the block"):
        assert f"{how}: 2 on cpu:0" in done.lines
    [verdict] = done.verdicts
    assert verdict.startswith(
        "holds: of the arrays made in the with-block, or with ctx=, 10 of 10 are on cpu:3;"
    )
    assert verdict.endswith("14 of 14 are on cpu:0")


def test_context_scope_cannot_tell_the_host_from_the_default(mx_python: Path) -> None:
    [verdict] = ran(mx_python, "context_scope", "--devices cpu:0 --steps 1").verdicts
    assert verdict == (
        "not testable here: the device is cpu:0, which is the current context to begin with. "
        "12 of 12 arrays are on cpu:0"
    )


def test_copy(mx_python: Path) -> None:
    done = ran(mx_python, "copy", "--stand-ins 2 --devices cpu:2,cpu:0 --size 8 --steps 2 --seed 3")
    assert "x is on cpu:2, 8 x 8 x 4 bytes" in done.lines
    for how in ("copyto", "as_in_context", "as_in_ctx"):
        assert f"{how}, other device: a new array on cpu:0, 2 times" in done.lines
    assert "copyto, same device: a new array on cpu:2, 2 times" in done.lines
    assert "as_in_context, same device: the array given on cpu:2, 2 times" in done.lines
    copyto, kept = done.verdicts
    assert copyto.startswith(
        "holds: copyto(context) made a new array 2 of 2 times on the same device and 2 of 2"
    )
    assert "changing it left x as it was" in copyto
    assert kept.startswith("holds: as_in_context and as_in_ctx returned the same array 2 and 2 of 2 times")


def test_mixed_context(mx_python: Path) -> None:
    done = ran(mx_python, "mixed_context", "--stand-ins 2 --size 8 --steps 2")
    assert "x + y: ran on cpu:1 2 times" in done.lines
    assert "y + x: ran on cpu:2 2 times" in done.lines
    assert "x += y: ran on cpu:1 2 times" in done.lines
    assert "x + y in a hybridized block: raised ValueError 2 times" in done.lines
    gpus, cpus = done.verdicts
    assert gpus.startswith(
        "not testable here: that x + y raises takes a GPU, and cpu:1 and cpu:2 are CPU con"
    )
    assert cpus.startswith("holds: on CPU contexts x + y ran on cpu:1 2 of 2 times and y + x on cpu:2 2 of 2")
    assert "with right values" in cpus
    assert cpus.endswith("8 of 8 times on cpu:1")


def test_gluon_params(mx_python: Path) -> None:
    args = (
        "--stand-ins 2 --device cpu:1 --batch 32 --width 32 --log-every 5 --seed 1 --data digits --steps 60"
    )
    done = ran(mx_python, "gluon_params", args)
    assert done.steps == 60
    assert "initialize(ctx=cpu(1)): 3 of 6 parameters wait for their shape" in done.lines
    accuracy = next(re.match(r"accuracy (\d\.\d+)", line) for line in done.lines if "accuracy" in line)
    assert accuracy
    assert float(accuracy[1]) > 0.5
    assert any(
        line.startswith("forward with data on cpu:0 raised RuntimeError: Parameter") for line in done.lines
    )
    placed, loaded = done.verdicts
    assert placed == (
        "holds: initialize(ctx=cpu(1)) put 6 parameters on cpu:1 and their gradients on cpu:1; "
        "in 60 steps all results were on cpu:1"
    )
    assert loaded.startswith(
        "holds: parameters saved from cpu:1 were loaded on 3 of 3 devices (cpu:0, cpu:1, cpu:2)"
    )


def test_matmul_size(mx_python: Path) -> None:
    done = ran(mx_python, "matmul_size", "--stand-ins 1 --sizes 32,8 --steps 2 --repeats 3")
    assert done.steps == 2 * 2 * 2 * 3
    assert any(
        re.match(rf"8 x 8: a product takes {FIGURE} ms \(.*\) on the host", line) for line in done.lines
    )
    [verdict] = done.verdicts
    assert re.fullmatch(
        r"not testable here: cpu:1 is a stand-in, computed by the host's own processor\. With the host as 1, "
        rf"cpu:1 is {SPREAD} as fast at 8, {SPREAD} as fast at 32 \(median, lowest and highest of 3\){BUSY}",
        verdict,
    )


def test_two_devices_share_a_processor(mx_python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What MXNet does by itself on a machine with many cores; two contexts at once then hang.
    monkeypatch.setenv("MXNET_OMP_MAX_THREADS", "4")
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    done = ran(mx_python, "two_devices", "--stand-ins 2 --sizes 256 --steps 5 --repeats 2")
    assert done.steps == 2 * 2 * 5 * 2
    [verdict] = done.verdicts
    assert re.fullmatch(
        r"not testable here: cpu:1 and cpu:2 are threads of one processor, which has \d+ cores for this "
        rf"process\. With one device as 1, two are {SPREAD} as fast at 256 "
        rf"\(median, lowest and highest .*\){BUSY}",
        verdict,
    )


def assert_follows(verdict: str, ratios: int) -> None:
    """Assert that a verdict of two repeats is what its first `ratios` ratios say."""
    spreads = re.findall(rf"{FIGURE} times \(({FIGURE})\.\.({FIGURE})\)", verdict)[:ratios]
    assert len(spreads) == ratios, verdict
    lowest, highest = ([float(spread[end]) for spread in spreads] for end in (0, 1))
    # The figures are rounded, so near a limit they do not tell.
    if min(lowest) > 1.06:
        assert verdict.startswith("holds: ")
    elif min(highest) < 1.04:
        assert verdict.startswith(
            ("does not hold: ", "not testable here: Python and its stand-in need a core")
        )


def test_log_norm(mx_python: Path) -> None:
    done = ran(mx_python, "log_norm", "--stand-ins 1 --size 16 --steps 20 --repeats 2")
    assert done.steps == 4 * 20 * 2
    [verdict] = done.verdicts
    assert re.search(rf"etching each of 20 values took {SPREAD} as long as keeping them on cpu:1", verdict)
    assert re.search(rf"; no bus was crossed, the device is a stand-in{BUSY}$", verdict)
    assert_follows(verdict, 2)


def test_log_norm_of_one_variant_has_nothing_to_compare(mx_python: Path) -> None:
    done = ran(mx_python, "log_norm", "--stand-ins 1 --steps 5 --repeats 2 --variant assign-log")
    [verdict] = done.verdicts
    assert verdict.startswith(
        "not testable here: assign-log alone has nothing to be compared with. 5 products"
    )


def test_host_sync(mx_python: Path) -> None:
    done = ran(mx_python, "host_sync", "--stand-ins 2 --steps 5 --repeats 2 --batch 16 --width 32 --seed 4")
    assert done.steps == 3 * 5 * 2
    stall, lock = done.verdicts
    assert_follows(stall, 2)
    split = re.search(rf"is ({FIGURE}) ms \(\S+\) of waiting and ({FIGURE}) ms \(\S+\) of copying", stall)
    assert split
    assert float(split[1]) > 0 < float(split[2])
    # The call lets the lock go, on any machine: the other thread runs, if slowly on a single core.
    assert re.fullmatch(
        rf"does not hold: while asnumpy\(\) waited, another Python thread ran at {FIGURE} % "
        rf"\({FIGURE}\.\.{FIGURE}\) of the speed it has while Python sleeps",
        lock,
    )


@pytest.mark.parametrize("program", ["matmul_size", "log_norm", "two_devices", "host_sync"])
def test_one_repeat_gives_no_verdict(mx_python: Path, program: str) -> None:
    assert ran(mx_python, program, "--stand-ins 2 --steps 2 --repeats 1").verdicts == []


def test_the_same_seed_gives_the_same_losses(mx_python: Path) -> None:
    args = "--stand-ins 1 --steps 4 --width 32 --repeats 1 --variant asscalar"
    losses = [
        re.findall(r"last loss (\S+)", "\n".join(ran(mx_python, "host_sync", f"{args} {more}").lines))
        for more in ("--seed 5", "--seed 5", "--seed 6")
    ]
    assert losses[0] == losses[1] != losses[2]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        # Told before MXNet is imported.
        ("contexts --steps 0", "argument --steps: '0' is not a whole number of at least 1"),
        ("context_scope --device mx.cpu", "'mx.cpu' is not a device; write cpu:1 or gpu:0"),
        ("copy --size -4", "'-4' is not a whole number of at least 1"),
        ("mixed_context --devices cpu:1,cpu:1", "cpu:1 is named twice in 'cpu:1,cpu:1'"),
        ("gluon_params --data mnist", "there is no MNIST at"),
        ("matmul_size --sizes 64,big", "'big' is not a whole number of at least 1"),
        (
            "matmul_size --stand-ins 1 --sizes 64,64",
            "--sizes 64 is one size, and it takes two to compare small with large",
        ),
        ("log_norm --variant fetch", "invalid choice: 'fetch'"),
        ("two_devices --repeats 0", "argument --repeats: '0' is not a whole number of at least 1"),
        ("host_sync --seed -1", "'-1' is not a whole number from 0 to"),
        # Told once the devices are known.
        (
            "context_scope --stand-ins 1 --device cpu:2",
            "--device cpu:2 is not one of the devices of this run",
        ),
        ("copy --stand-ins 1", "needs at least 2 devices, and cpu:1 is 1"),
        ("mixed_context --stand-ins 3", "can use 2 devices at most, and cpu:1, cpu:2, cpu:3 are 3"),
        (
            "gluon_params --devices cpu:1",
            "there is no device cpu:1: MXNet has cpu:0; --stand-ins N makes cpu:1",
        ),
        ("matmul_size --devices cpu:0", "--device cpu:0 is the host, and cannot be compared with itself"),
        ("two_devices --stand-ins 1", "needs at least 2 devices, and cpu:1 is 1"),
    ],
)
def test_what_cannot_work_is_told_in_one_line(
    mx_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    for name in ("KERAS_HOME", "MXNET_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    program, *args = command.split()
    done = start(mx_python, program, args)
    assert done.returncode == 2
    assert done.stdout == ""
    [name] = [
        one.name for one in catalogue.PROGRAMS.values() if one.script == PROGRAMS / program / "train.py"
    ]
    [told] = done.stderr.splitlines()
    assert told.startswith(f"{name}: ")
    assert message in told


def test_mnist_that_gluon_fetched(mx_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import gzip, os, sys, numpy as np\n"
        "draw = np.random.default_rng(0).integers\n"
        "for part, n in (('train', 300), ('t10k', 60)):\n"
        "    for what, kind, shape, most in (('images', 3, (n, 28, 28), 256), ('labels', 1, (n,), 10)):\n"
        "        name = os.path.join(sys.argv[1], f'{part}-{what}-idx{kind}-ubyte.gz')\n"
        "        with gzip.open(name, 'wb') as file:\n"
        "            file.write(bytes((0, 0, 8, kind)) + np.array(shape, '>i4').tobytes())\n"
        "            file.write(draw(0, most, shape, 'uint8').tobytes())\n"
    )
    folder = tmp_path / "datasets" / "mnist"
    folder.mkdir(parents=True)
    subprocess.run([mx_python, "-c", code, folder], timeout=LIMIT_S, check=True)
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "none"))
    done = ran(mx_python, "gluon_params", "--stand-ins 1 --data mnist --width 8 --steps 2")
    assert "model on cpu:1; 300 MNIST" in done.lines


@pytest.mark.parametrize(
    ("name", "devices", "options", "message"),
    [
        ("mx-copy", ["cpu:1"], {}, "mx-copy needs at least 2 devices, not 1"),
        (
            "mx-mixed-context",
            ["cpu:1", "cpu:2", "cpu:3"],
            {},
            "mx-mixed-context takes 2 devices at most, not 3",
        ),
        ("mx-two-devices", ["gpu:0"], {}, "mx-two-devices needs at least 2 devices, not 1"),
        ("mx-contexts", ["cpu:1"], {"device": "cpu:2"}, "device=cpu:2 is not one of the devices of this run"),
        ("mx-matmul-size", ["cpu:0"], {}, "mx-matmul-size compares its device with the host, cpu:0"),
        ("mx-matmul-size", ["cpu:0", "cpu:1"], {"device": "cpu:0"}, "compares its device with the host"),
        ("mx-matmul-size", ["cpu:0", "cpu:1"], {}, None),
        ("mx-log-norm", ["cpu:0"], {}, None),
    ],
)
def test_what_cannot_fit_is_known_before_the_launch(
    name: str, devices: list[str], options: dict[str, str], message: str | None
) -> None:
    program = catalogue.PROGRAMS[name]
    values = {option.name: option.default for option in program.options} | options
    problems = fitting.program_problems(program, devices, values)
    assert [message in problem for problem in problems if message] == ([True] if message else [])
    assert bool(problems) is bool(message)
