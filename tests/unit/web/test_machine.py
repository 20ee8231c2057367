"""The Machine page's sections at rest: which card is which, matrices, costs, fitness."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, ClassVar

import pytest
from streamlit.testing.v1 import AppTest

from app.web.machine import machine_costs, machine_fitness, machine_matrices, machine_order
from runners.environments.fitness import Fit, Part
from runners.machine import cuda_order
from runners.machine.copy_costs import Costs, Pair, save
from runners.machine.cuda_order import visible, with_ordinals
from runners.machine.gpus import gpus_of
from tests.unit.machine_snapshots import LOST, gpu, lost_gpu, machine, silent_gpu, without_gpus
from tests.unit.web.app_pages import page_of

NONE_SET: dict[str, str] = {}


def two(**fields: Any) -> dict[str, Any]:
    """Two unlike cards with CUDA's numbers, as a snapshot of another machine has them."""
    cards = [gpu(0, name="Small", **fields), gpu(1, name="Large")]
    for card, fastest in zip(cards, (1, 0), strict=True):
        card["cuda_ordinals"] = {"PCI_BUS_ID": card["index"], "FASTEST_FIRST": fastest}
        card["cuda_ordinal"] = fastest
    return machine(*cards)


def texts(rows: list[dict[str, Any]], *names: str) -> list[list[str]]:
    return [[row["cells"][name]["text"] for name in names] for row in rows]


class TestOrder:
    def test_each_card_has_all_its_names(self) -> None:
        rows = machine_order.index_rows(two())
        assert texts(rows, "index", "name", "pci", "fastest", "tensorflow", "mxnet") == [
            ["0", "Small", "0", "1", "/GPU:1", "gpu(1)"],
            ["1", "Large", "1", "0", "/GPU:0", "gpu(0)"],
        ]
        assert rows[0]["cells"]["uuid"]["text"].startswith("GPU-00000000")
        assert rows[0]["cells"]["bus"]["text"] == "00000000:41:00.0"

    def test_a_hidden_card_and_one_that_cannot_be_read_say_why(self, monkeypatch: pytest.MonkeyPatch) -> None:
        hidden = with_ordinals(machine(gpu(0), gpu(1)), {"CUDA_VISIBLE_DEVICES": "1"})
        first = machine_order.index_rows(hidden)[0]["cells"]["tensorflow"]
        assert first == {"text": "hidden", "title": "hidden by CUDA_VISIBLE_DEVICES=1"}
        monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: {"problem": "no"})
        lost = with_ordinals(machine(gpu(0), lost_gpu(1)), NONE_SET)
        cells = machine_order.index_rows(lost)[1]["cells"]
        assert (cells["pci"]["text"], cells["pci"]["title"]) == ("?", "the card cannot be read")

    def test_where_the_numbers_differ_is_said(self) -> None:
        snapshot = two()
        note = machine_order.order_note(snapshot, gpus_of(snapshot), "measured: asked of the driver")
        assert note.startswith(
            "CUDA counts these cards as nvidia-smi does only with CUDA_DEVICE_ORDER=PCI_BUS_ID. Fastest first"
            " is measured: asked of the driver."
        )
        alike = with_ordinals(machine(gpu(0), gpu(1)), NONE_SET)
        told = machine_order.order_note(alike, gpus_of(alike))
        assert told.startswith("CUDA counts these cards as nvidia-smi does, in either order.")

    def test_an_order_that_is_not_known_is_said_to_be(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: {"problem": "it hangs"})
        monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())
        snapshot = with_ordinals(machine(gpu(0), gpu(1, name="Another")), NONE_SET)
        note = machine_order.order_note(snapshot, gpus_of(snapshot))
        assert note.startswith(
            "CUDA's default order is not known: CUDA's order could not be asked: it hangs."
        )

    def test_entries_are_shown_with_what_becomes_of_them(self) -> None:
        cards = gpus_of(two()).cards
        seen = visible(cards, "1abc,,0", {card.uuid: card.index for card in cards})
        rows = machine_order.entry_rows(seen)
        assert texts(rows, "place", "entry", "seen", "cuda", "tensorflow", "mxnet", "card") == [
            ["1", "1abc", "yes", "0", "/GPU:0", "gpu(0)", "GPU 1 · Large"],
            ["2", "(empty)", "no", "", "", "", ""],
            ["3", "0", "no", "", "", "", ""],
        ]
        assert [row["cells"]["seen"]["tone"] for row in rows] == ["odd", "alert", "quiet"]

    def test_without_a_value_there_is_a_row_a_device(self) -> None:
        cards = gpus_of(two()).cards
        rows = machine_order.entry_rows(visible(cards, None, {card.uuid: 1 - card.index for card in cards}))
        assert texts(rows, "cuda", "card") == [["0", "GPU 1 · Large"], ["1", "GPU 0 · Small"]]
        unknown = machine_order.entry_rows(visible(cards, None, None))
        assert texts(unknown, "card")[0] == ["not known: CUDA's order here is not"]


def order_page() -> None:
    """A page with nothing but the section."""
    from app.web.machine.machine_order import order_section
    from tests.unit.web.test_machine import two

    order_section(two(), {})


def test_of_a_recorded_machine_this_ones_driver_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: pytest.fail("it was asked"))
    snapshot = with_ordinals(machine(gpu(0), gpu(1, name="Another")), NONE_SET, here=False)
    assert [card["cuda_ordinals"]["PCI_BUS_ID"] for card in snapshot["gpus"]] == [0, 1]
    assert "which was not asked" in snapshot["gpus"][0]["cuda_ordinals"]["FASTEST_FIRST"]["reason"]


class TestTheBox:
    def page(self, **query: str) -> AppTest:
        page = page_of(order_page)
        for name, value in query.items():
            page.query_params[name.replace("_", "-")] = value
        return page.run()

    def test_the_environment_as_it_is(self) -> None:
        page = self.page()
        assert not page.exception
        assert "not set" in page.caption[0].value
        assert not page.text_input[0].disabled
        assert page.markdown[-1].value.startswith(
            "CUDA\\_VISIBLE\\_DEVICES is not set, so every GPU is visible"
        )

    def test_a_value_from_the_address_is_shown_again(self) -> None:
        page = self.page(visible_as="Set to", visible_devices="1,-1,0", device_order="PCI_BUS_ID")
        assert not page.exception
        assert (page.text_input[0].value, page.selectbox[0].value) == ("1,-1,0", "PCI_BUS_ID")
        assert page.markdown[-1].value == "1 GPU is visible."

    def test_an_empty_value_hides_all(self) -> None:
        page = self.page(visible_as="Set to")
        assert "so no GPU is visible" in page.markdown[-1].value

    def test_a_value_is_typed_and_so_chosen(self) -> None:
        page = self.page()
        page.text_input[0].set_value("0,0").run()
        assert not page.exception
        assert page.markdown[-1].value.startswith("GPU 1 is named twice")
        assert page.button_group[0].value == machine_order.SET
        assert "Set to" in str(page.query_params["visible-as"])


def empty_page() -> None:
    """All sections for a machine without a GPU."""
    from app.web.machine import machine_costs, machine_fitness, machine_matrices, machine_order
    from tests.unit.machine_snapshots import without_gpus

    machine_order.order_section(without_gpus())
    machine_matrices.matrices_section(without_gpus())
    machine_costs.costs_section(without_gpus(), operator=True)
    machine_fitness.fitness_section(without_gpus())


def one_page() -> None:
    """All sections for a machine with one GPU."""
    from app.web.machine import machine_costs, machine_matrices, machine_order
    from tests.unit.machine_snapshots import gpu, machine

    machine_order.order_section(machine(gpu(0)))
    machine_matrices.matrices_section(machine(gpu(0)))
    machine_costs.costs_section(machine(gpu(0)), operator=False)


def test_without_a_gpu_every_section_says_why(hopscope_home: Path) -> None:
    page = page_of(empty_page).run()
    assert not page.exception
    told = [caption.value for caption in page.caption]
    assert len(told) == 3
    assert all("no NVIDIA driver is installed" in text for text in told)
    assert not page.button


def broken_page() -> None:
    """All sections for a machine with a good card, a lost one and one of which nothing is told."""
    from app.web.machine import machine_costs, machine_fitness, machine_matrices, machine_order
    from tests.unit.machine_snapshots import LOST, gpu, lost_gpu, machine, silent_gpu

    cells = [[LOST] * 3] * 3
    snapshot = machine(gpu(0), lost_gpu(1), silent_gpu(2), topology=cells, p2p=LOST)
    machine_order.order_section(snapshot, {})
    machine_matrices.matrices_section(snapshot)
    machine_costs.costs_section(snapshot, operator=True)
    machine_fitness.fitness_section(snapshot)


def mig_page() -> None:
    """The order and the matrices of cards of which one is in MIG mode, as their driver tells them."""
    from app.web.machine import machine_matrices, machine_order
    from tests.unit.machine_snapshots import DENIED, gpu, machine

    snapshot = machine(gpu(0, mig_mode="on"), gpu(1, name="Another"), topology=[[DENIED] * 2] * 2)
    machine_order.order_section(snapshot, {})
    machine_matrices.matrices_section(snapshot)


def test_why_there_is_a_question_mark_stands_below_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"devices": [{"ordinal": 0, "uuid": "MIG-1", "parent_uuid": gpu(0)["uuid"], "pci_bus_id": "x"}]}
    monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: one)
    monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())
    page = page_of(mig_page).run()
    assert not page.exception
    told = [caption.value.replace("\\", "") for caption in page.caption]
    assert "The ? of GPU 0 and GPU 1: in MIG mode CUDA shows one instance only, not the cards' order." in told
    assert told.count("The ? of GPU 0 and GPU 1: NVML_ERROR_NO_PERMISSION.") == 1


def silent_page() -> None:
    """All sections for a machine that tells nothing."""
    from app.web.machine import machine_costs, machine_fitness, machine_matrices, machine_order
    from tests.unit.machine_snapshots import LOST, machine, silent_gpu

    snapshot = machine(silent_gpu(0), silent_gpu(1), driver=LOST, cuda_driver=LOST, topology=LOST, p2p=LOST)
    machine_order.order_section(snapshot, {})
    machine_matrices.matrices_section(snapshot)
    machine_costs.costs_section(snapshot, operator=True)
    machine_fitness.fitness_section(snapshot)


def test_a_machine_that_tells_nothing_has_its_reasons_in_every_section(hopscope_home: Path) -> None:
    page = page_of(silent_page).run()
    assert not page.exception
    told = [caption.value.replace("\\", "") for caption in page.caption]
    reasons = "; ".join(f"GPU {index} cannot be read: NVML_ERROR_GPU_IS_LOST" for index in (0, 1))
    assert f"There is no card to number: {reasons}." in told
    assert f"There is nothing to copy between: {reasons}. Copies between stand-ins cost nothing." in told


def test_cards_of_which_nothing_is_told_leave_the_sections_whole(
    hopscope_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = {"devices": [{"ordinal": 0, "uuid": gpu(0)["uuid"], "pci_bus_id": "0000:41:00.0"}]}
    monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: one)
    monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())
    page = page_of(broken_page).run()
    assert not page.exception
    told = [caption.value.replace("\\", "") for caption in page.caption]
    for index in (1, 2):
        # In the order, both matrices and the costs; never as if the good card were lost.
        assert told.count(f"GPU {index} cannot be read: NVML_ERROR_GPU_IS_LOST.") == 4
    assert not [text for text in told if "GPU 0" in text]
    assert "so every GPU is visible" in next(one.value for one in page.markdown if "visible" in one.value)


def test_a_card_that_cannot_be_read_is_one_row_and_the_others_keep_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = {"devices": [{"ordinal": 0, "uuid": gpu(0)["uuid"], "pci_bus_id": "0000:41:00.0"}]}
    monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: one)
    monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())
    snapshot = with_ordinals(machine(gpu(0), lost_gpu(1), silent_gpu(2)), NONE_SET)
    order = machine_order.order_of(snapshot, gpus_of(snapshot), "FASTEST_FIRST")
    assert order.ordinals == {gpu(0)["uuid"]: 0}
    rows = machine_order.index_rows(snapshot)
    assert texts(rows, "name", "pci", "mxnet") == [
        ["NVIDIA A100-SXM4-80GB", "0", "gpu(0)"],
        ["cannot be read · NVIDIA A100-SXM4-80GB", "?", "?"],
        ["cannot be read", "?", "?"],
    ]
    silent = {**gpu(0), "cuda_ordinal": LOST, "cuda_ordinals": LOST}
    assert texts(machine_order.index_rows(machine(silent)), "pci", "fastest", "mxnet") == [["?", "?", "?"]]
    order = machine_order.order_of(machine(silent), gpus_of(machine(silent)), "FASTEST_FIRST")
    assert (order.ordinals, order.reason) == (None, "NVML_ERROR_GPU_IS_LOST")


def test_with_one_gpu_there_is_no_way_between_cards(hopscope_home: Path) -> None:
    page = page_of(one_page).run()
    assert not page.exception
    told = [caption.value for caption in page.caption]
    assert "There is one card, so there is no way between cards." in told
    assert "Measuring takes the operator's address." in told
    assert not [button for button in page.button if button.key == "measure-copies"]


class TestMatrices:
    near: ClassVar = {"level": "single switch", "short": "PIX", "nvlinks": 0}
    joined: ClassVar = {"level": "system", "short": "SYS", "nvlinks": 4}
    both: ClassVar = {"read": "ok", "write": "ok", "nvlink": "ok", "atomics": "ok"}
    reads: ClassVar = {"read": "ok", "write": "not supported", "nvlink": "not supported", "atomics": LOST}
    neither: ClassVar = {"read": "chipset not supported", "write": "x", "nvlink": "x", "atomics": "x"}

    def test_nearness_has_words_and_a_legend_of_what_occurs(self) -> None:
        snapshot = two() | {"topology": [[self.near, self.joined], [self.near, LOST]]}
        rows = machine_matrices.topology_rows(snapshot)
        assert texts(rows, "from", "to0", "to1") == [["GPU 0", "same", "NV4"], ["GPU 1", "PIX", "same"]]
        assert rows[0]["cells"]["to1"]["title"] == "4 NVLinks; by PCIe: system"
        assert machine_matrices.shorts(snapshot) == {"PIX", "NV#"}
        assert machine_matrices.shorts(snapshot) <= set(machine_matrices.LEGEND)

    def test_peer_access_is_told_each_way(self) -> None:
        rows = machine_matrices.peer_rows(two() | {"p2p": [[LOST, self.both], [self.reads, LOST]]})
        assert texts(rows, "to0", "to1") == [["same", "yes · NVLink"], ["reads only", "same"]]
        assert "atomics: NVML_ERROR_GPU_IS_LOST" in rows[1]["cells"]["to0"]["title"]
        rows = machine_matrices.peer_rows(two() | {"p2p": [[LOST, self.neither], [LOST, LOST]]})
        assert texts(rows, "to0", "to1") == [["same", "no"], ["?", "same"]]
        assert rows[1]["cells"]["to0"]["title"] == "NVML_ERROR_GPU_IS_LOST"

    def test_a_matrix_that_is_too_small_leaves_questions(self) -> None:
        rows = machine_matrices.topology_rows(two() | {"topology": [[self.near]]})
        assert texts(rows, "to0", "to1") == [["same", "?"], ["?", "same"]]

    def test_there_is_a_column_a_card(self) -> None:
        heads = [column.title for column in machine_matrices.columns(two()["gpus"])]
        assert heads == ["", "GPU 0", "GPU 1"]


class TestCosts:
    def costs(self) -> tuple[Costs, Any]:
        cards = gpus_of(two()).cards
        first, second = (card.uuid for card in cards)
        pairs = (
            Pair("host", first, 12 * 2**30, 9e-6, "pinned"),
            Pair(first, "host", 6 * 2**30, 2e-5, "pageable"),
            Pair(first, second, 40 * 2**30, 5e-6, None, True),
            Pair(second, first, 10 * 2**30, 3e-5, None, False),
        )
        skipped = (
            {"src": second, "dst": "host", "reason": "it failed"},
            {"src": second, "dst": None, "reason": "full"},
        )
        return Costs(0.0, "570.86.15", "ws1", 64 << 20, pairs, skipped), cards

    def test_rows_send_and_columns_receive(self) -> None:
        costs, cards = self.costs()
        rows = machine_costs.cost_rows(costs, cards)
        names = [column.name for column in machine_costs.columns(costs, cards)]
        heads = [column.title for column in machine_costs.columns(costs, cards)]
        assert heads == ["", "GPU 0", "GPU 1", "host, pinned", "host, pageable"]
        assert texts(rows, *names) == [
            ["GPU 0", "?", "40.0 GiB/s", "?", "6.0 GiB/s"],
            ["GPU 1", "10.0 GiB/s", "?", "?", "?"],
            ["host, pinned", "12.0 GiB/s", "?", "", ""],
            ["host, pageable", "?", "?", "", ""],
        ]
        remarks = [rows[0]["cells"][names[2]]["remark"], rows[1]["cells"][names[1]]["remark"]]
        assert remarks == ["5 µs · direct", "30 µs · through the host"]
        assert rows[2]["cells"][names[1]]["remark"] == "9 µs"

    def test_one_unit_and_as_many_digits_in_the_whole_matrix(self) -> None:
        costs, cards = self.costs()
        first, second = (card.uuid for card in cards)
        slow = Pair(second, first, 480 * 2**20, 3e-5, None, False)
        odd = Pair(first, second, 11.5678 * 2**30, 3e-5, None, True)
        rows = machine_costs.cost_rows(dataclasses.replace(costs, pairs=(slow, odd)), cards)
        assert rows[0]["cells"][f"to-{second}"]["text"] == "11.6 GiB/s"
        assert rows[1]["cells"][f"to-{first}"]["text"] == "0.5 GiB/s"
        assert rows[0]["cells"][f"to-{second}"]["shade"] == 1
        assert rows[1]["cells"][f"to-{first}"]["shade"] == 0.04

    def test_what_was_left_out_is_told_by_name(self) -> None:
        costs, cards = self.costs()
        assert machine_costs.left_out(costs, cards) == [
            "Not measured: GPU 1 to host: it failed",
            "Not measured: GPU 1: full",
        ]
        assert machine_costs.named(f"{cards[0].uuid} to host", cards) == "GPU 0 to host"

    def test_costs_of_another_driver_are_not_shown_as_this_ones(self, hopscope_home: Path) -> None:
        costs, _ = self.costs()
        save(costs)
        page = page_of(costs_page).run()
        assert not page.exception
        assert any("Measured on ws1" in caption.value for caption in page.caption)
        page = page_of(upgraded_page).run()
        assert (
            page.caption[0].value
            == "Measured with driver 570\\.86\\.15, and not yet with this one, 580\\.1\\."
        )
        # Before it is pressed it says what it does.
        assert any("slows down" in caption.value for caption in page.caption)
        assert [button.key for button in page.button] == ["measure-copies"]


def costs_page() -> None:
    from app.web.machine.machine_costs import costs_section
    from tests.unit.web.test_machine import two

    costs_section(two(), operator=False)


def upgraded_page() -> None:
    from app.web.machine.machine_costs import costs_section
    from tests.unit.web.test_machine import two

    costs_section(two() | {"driver": "580.1"}, operator=True)


def test_fitness_is_a_line_a_framework_and_what_it_rests_on() -> None:
    fits = [
        Fit("tensorflow", "TensorFlow", "works", "works on gpu:0", (Part("driver", "works", "driver 570"),)),
        Fit("mxnet", "MXNet", "no", "its GPU build does not even start", (Part("driver", "no", "none"),)),
    ]
    rows = machine_fitness.fit_rows(fits)
    assert texts(rows, "framework", "status", "text")[1] == [
        "MXNet",
        "no",
        "its GPU build does not even start",
    ]
    assert [row["cells"]["status"]["tone"] for row in rows] == ["good", "alert"]
    assert texts(machine_fitness.part_rows(fits), "framework", "what", "text")[0] == [
        "TensorFlow",
        "driver",
        "driver 570",
    ]


def test_a_machine_without_gpus_has_no_card_to_number() -> None:
    assert gpus_of(without_gpus()).cards == ()
