"""The machine for programs: /metrics, devices.json and devices.txt, of the sample that the page shows too."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.conftest import Server, start_server, wait_until
from tests.nvml import NvmlDouble


@pytest.fixture(scope="module")
def watched(
    nvml_makeable: None, tf_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, NvmlDouble]]:
    """A server on a machine with two cards."""
    folder = tmp_path_factory.mktemp("watched")
    with NvmlDouble(folder, 2) as double:
        environment = double.environment(cuda=False)
        with start_server(folder, folder, environment=environment) as running:
            yield running, double


def fetch(server: Server, path: str, *, token: bool = True) -> tuple[int, str, Any]:
    """What a program gets that has the viewer's token in its address, as Prometheus may be told to."""
    try:
        address = server.link(path, "viewer") if token else server.url + path
        with urllib.request.urlopen(address, timeout=60) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def told(text: str, name: str) -> dict[str, float]:
    """A metric's value of each GPU that has one."""
    return {
        sample.labels["gpu"]: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


def answer_with(server: Server, name: str, values: dict[str, float]) -> tuple[str, Any]:
    """The first answer of /metrics in which these GPUs have these values, with its headers."""
    found: list[tuple[str, Any]] = []

    def has_them() -> bool:
        _, text, headers = fetch(server, "/metrics")
        found[:] = [(text, headers)]
        return values.items() <= told(text, name).items()

    wait_until(has_them, 60, lambda: found[0][0])
    return found[0]


def test_nobody_gets_anything_without_a_token(watched: tuple[Server, NvmlDouble]) -> None:
    server, _ = watched
    for path in ("/metrics", "/hopscope/devices.json", "/hopscope/devices.txt"):
        assert fetch(server, path, token=False)[0] == 403


def test_prometheus_is_told_what_holds_now(watched: tuple[Server, NvmlDouble]) -> None:
    server, double = watched
    double.set(1, "temperature", 71)
    # What is told of one answer is asked of that one: on a busy machine the next may be of no new sample.
    text, headers = answer_with(server, "DCGM_FI_DEV_GPU_TEMP", {"1": 71})
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert 'hopscope_sampler_state{state="live"} 1.0' in text
    double.lose(1)
    text, _ = answer_with(server, "hopscope_gpu_up", {"0": 1, "1": 0})
    assert set(told(text, "DCGM_FI_DEV_GPU_TEMP")) == {"0"}
    double.heal()
    answer_with(server, "DCGM_FI_DEV_GPU_TEMP", {"1": 71})


def test_the_same_as_json_and_as_text(watched: tuple[Server, NvmlDouble]) -> None:
    server, _ = watched
    wait_until(lambda: fetch(server, "/hopscope/devices.json")[0] == 200, 60, server.printed)
    _, body, headers = fetch(server, "/hopscope/devices.json")
    devices = json.loads(body)
    assert headers["Cache-Control"] == "no-store"
    assert [gpu["cuda_ordinals"]["PCI_BUS_ID"] for gpu in devices["gpus"]] == [0, 1]
    code, text, headers = fetch(server, "/hopscope/devices.txt")
    assert code == 200 and headers["Content-Type"].startswith("text/plain")
    assert "|   1  NVIDIA A100-SXM4-80GB" in text and "Which card is which" in text
