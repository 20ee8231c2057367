"""Which card each GPU of a run was, and whether it is the one that was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.causes.device_order.cause import order_findings
from app.diagnosis.findings import run_findings
from app.facts.device_map import device_map
from app.facts.tables import Tables
from probes.trace.rows import Process
from runners.machine.gpus import Gpu, Gpus
from runners.machine.machine_map import MachineMap, machine_map

A = Gpu(0, "GPU-aaaa", "00000000:41:00.0", "Card X", (9, 0))
B = Gpu(1, "GPU-bbbb", "00000000:81:00.0", "Card X", (9, 0))
C = Gpu(2, "GPU-cccc", "00000000:C1:00.0", "Card X", (9, 0))
MACHINE = Gpus((A, B, C))
UNSET = {"CUDA_DEVICE_ORDER": None, "CUDA_VISIBLE_DEVICES": None}


def spec(*cards: Gpu, environment: dict[str, str] | None = None) -> dict[str, Any]:
    """What a launch writes down: with --devices naming these cards, without where there are none."""
    made: dict[str, Any] = {"machine": machine_map(MACHINE, environment or {}), "devices": None, "env": {}}
    if cards:
        made["devices"] = [card.device for card in cards]
        made["device_map"] = {
            f"gpu:{place}": {"nvml_index": card.index, "uuid": card.uuid, "name": card.name}
            for place, card in enumerate(cards)
        }
        visible = ",".join(card.uuid for card in cards)
        made["env"] = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": visible}
    return made


def process(
    *cards: Gpu, index: int = 0, role: str = "", env: dict[str, Any] | None = None, **header: Any
) -> Process:
    """A process that has these cards as gpu:0, gpu:1 and so on."""
    prefix = f"{role}/" if role else ""
    mapped: dict[str, dict[str, Any]] = {f"{prefix}cpu:0": {"stand_in": False}}
    for place, card in enumerate(cards):
        mapped[f"{prefix}gpu:{place}"] = {
            "stand_in": False,
            "cuda_ordinal": place,
            "uuid": card.uuid,
            "source": "the CUDA driver",
        }
    header = {"cuda_environment": UNSET if env is None else env, "devices_complete": True, **header}
    return Process(
        index, 1, "main", "tensorflow", "2.21", None, None, 0, 0, list(mapped), mapped, True, header
    )


def run(*processes: Process) -> Tables:
    return Tables(processes=list(processes), locations={}, graphs=[], keys=[], unseen=[])


def test_what_was_asked_for_and_got_needs_no_word() -> None:
    given = spec(C, A)
    assert order_findings(given, run(process(C, A, env=given["env"]))) == []


def test_a_script_that_sets_the_variable_itself_is_told_of() -> None:
    given = spec(C, A)
    inside = {**given["env"], "CUDA_VISIBLE_DEVICES": "1,0"}
    (finding,) = order_findings(given, run(process(B, A, env=inside)))
    assert (finding.code, finding.severity) == ("device-order", "warning")
    assert finding.summary == (
        "The run got other cards than --devices asked for: gpu:0 is nvidia-smi's 1, not nvidia-smi's 2; the"
        " program set CUDA_VISIBLE_DEVICES=1,0 itself."
    )
    assert finding.fix is not None and "--devices" in finding.fix
    assert finding.evidence.row()["asked_for"] == ["gpu:0: nvidia-smi's 2", "gpu:1: nvidia-smi's 0"]
    assert finding.evidence.row()["got"] == ["gpu:0: nvidia-smi's 1"]
    assert finding.evidence.row()["told_by"] == ["the CUDA driver"]


def test_cards_that_nobody_asked_for_are_told_of() -> None:
    given = spec(C)
    inside = {**given["env"], "CUDA_VISIBLE_DEVICES": None}
    (finding,) = order_findings(given, run(process(A, B, C, env=inside)))
    assert "gpu:1 is nvidia-smi's 1, which was not asked for" in finding.summary
    assert "the program removed CUDA_VISIBLE_DEVICES itself" in finding.summary


def test_a_program_that_hides_some_of_its_devices_renumbers_them() -> None:
    given = spec(C, A)
    (finding,) = order_findings(given, run(process(A, env=given["env"])))
    assert "gpu:0 is nvidia-smi's 0, not nvidia-smi's 2" in finding.summary
    assert "numbers those anew" in finding.summary


def test_a_card_that_no_process_has_is_told_of() -> None:
    given = spec(C)
    (finding,) = order_findings(given, run(process(env={**given["env"], "CUDA_VISIBLE_DEVICES": "-1"})))
    assert finding.summary == (
        "gpu:0, which --devices asked for, is in no process of the run: the program set"
        " CUDA_VISIBLE_DEVICES=-1 itself."
    )
    (finding,) = order_findings(given, run(process(env=given["env"])))
    assert finding.summary.endswith("is in no process of the run.")
    # A helper process that hides the cards from itself is no fault, nor is a list that may grow.
    assert order_findings(given, run(process(), process(C, index=1, env=given["env"]))) == []
    assert order_findings(given, run(process(devices_complete=False))) == []


def test_each_process_of_a_group_has_its_own() -> None:
    given = spec(A, B)
    facts = [given["device_map"]["gpu:0"], given["device_map"]["gpu:1"]]
    given["device_map"] = {f"worker:{rank}/gpu:0": facts[rank] for rank in (0, 1)}
    right = [process(card, index=rank, role=f"worker:{rank}") for rank, card in enumerate((A, B))]
    assert order_findings(given, run(*right)) == []
    wrong = [process(card, index=rank, role=f"worker:{rank}") for rank, card in enumerate((B, A))]
    (finding,) = order_findings(given, run(*wrong))
    assert "worker:0/gpu:0 is nvidia-smi's 1, not nvidia-smi's 0" in finding.summary


def test_the_users_own_environment_is_what_was_asked_for_without_devices() -> None:
    asked = {"CUDA_VISIBLE_DEVICES": "2,0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    (note,) = order_findings(spec(environment=asked), run(process(C, A, env=asked)))
    assert note.severity == "info"
    (finding,) = order_findings(spec(environment=asked), run(process(B, env={"CUDA_VISIBLE_DEVICES": "1"})))
    assert finding.severity == "warning"
    assert "than CUDA_VISIBLE_DEVICES at the launch asked for" in finding.summary


def test_without_a_wish_another_count_than_nvidia_smis_is_a_note() -> None:
    (note,) = order_findings(spec(), run(process(C, B, A)))
    assert (note.severity, note.fix) == ("info", None)
    assert note.summary == (
        "The run counts its GPUs unlike nvidia-smi: gpu:0 is nvidia-smi's 2 and gpu:2 is nvidia-smi's 0; CUDA"
        " counts the fastest card first unless CUDA_DEVICE_ORDER is PCI_BUS_ID."
    )
    (note,) = order_findings(spec(), run(process(C, env={**UNSET, "CUDA_VISIBLE_DEVICES": "2"})))
    assert note.summary.endswith("it counts the entries of CUDA_VISIBLE_DEVICES=2.")
    assert order_findings(spec(), run(process(A, B, C))) == []


def test_one_name_for_several_cards_is_a_note() -> None:
    (note,) = order_findings(spec(), run(process(A), process(B, index=1)))
    assert note.severity == "info"
    assert note.summary.startswith(
        "One name is several cards in this run's processes: gpu:0 is nvidia-smi's 0"
    )


@pytest.mark.parametrize(
    "kept",
    [{}, {"machine": 3}, {"machine": {"gpus": [1, {"index": "x"}], "cuda_orders": [], "environment": 7}}],
)
def test_a_spec_that_somebody_edited_says_nothing(kept: dict[str, Any]) -> None:
    assert order_findings(kept, run(process(A, B))) == []
    assert order_findings({**kept, "devices": 5, "device_map": [], "env": 1}, run(process(A))) == []
    assert MachineMap(kept.get("machine")).cards == []


def test_a_run_on_stand_ins_and_one_without_devices_have_nothing_to_say() -> None:
    assert order_findings(spec(), run()) == []
    stand_ins = {**spec(), "devices": ["cpu:1"], "device_map": {"cpu:1": {"stand_in": True}}}
    assert order_findings(stand_ins, run(process())) == []


def test_the_finding_is_among_the_runs_findings() -> None:
    given = spec(C)
    found = run_findings(run(process(A)), [], [], given)
    assert [finding.code for finding in found] == ["device-order"]


class TestDeviceMap:
    """The report's map: what the launcher meant, and what the process saw."""

    def test_a_card_has_its_number_in_nvidia_smi(self) -> None:
        mapped = device_map(spec(), run(process(C)))
        assert mapped["gpu:0"] == {
            "stand_in": False,
            "cuda_ordinal": 0,
            "uuid": "GPU-cccc",
            "source": "the CUDA driver",
            "pci_bus_id": "00000000:C1:00.0",
            "nvml_index": 2,
            "name": "Card X",
        }

    def test_another_card_than_was_meant_takes_nothing_from_that_one(self) -> None:
        mapped = device_map(spec(C), run(process(B)))
        assert (mapped["gpu:0"]["uuid"], mapped["gpu:0"]["nvml_index"]) == ("GPU-bbbb", 1)

    def test_cuda_writes_a_bus_id_with_four_digits(self) -> None:
        one = process(C)
        one.device_map["gpu:0"] = {"pci_bus_id": "0000:c1:00.0"}
        assert device_map(spec(), run(one))["gpu:0"]["nvml_index"] == 2

    def test_a_part_of_a_card_is_that_card(self) -> None:
        one = process(C)
        one.device_map["gpu:0"] = {"stand_in": True, "parent_uuid": "GPU-bbbb"}
        assert device_map(spec(), run(one))["gpu:0"]["nvml_index"] == 1

    def test_where_processes_differ_both_cards_are_told(self) -> None:
        mapped = device_map(spec(), run(process(A), process(B, index=1), process(B, index=2)))
        assert (mapped["gpu:0"]["uuid"], mapped["gpu:0"]["also"]) == ("GPU-aaaa", ["GPU-bbbb"])

    def test_on_another_machine_nothing_of_this_one_is_mixed_in(self) -> None:
        given = {**spec(), "machine": {}}
        assert "nvml_index" not in device_map(given, run(process(A)))["gpu:0"]


def test_stand_ins_that_were_given_and_not_made_are_no_devices_of_the_run() -> None:
    stand_ins = {name: {"stand_in": True} for name in ("cpu:1", "cpu:2")}
    given = spec() | {"device_map": {"cpu:0": {"stand_in": False}} | stand_ins}
    assert set(device_map(given, run(process()))) == {"cpu:0"}
    # A process that does not tell all its devices makes them when they are first used.
    assert set(device_map(given, run(process(devices_complete=False)))) == {"cpu:0", "cpu:1", "cpu:2"}
