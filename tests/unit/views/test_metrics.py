"""What Prometheus is told: names, labels, units as dcgm-exporter's, and nothing where there is no value."""

from __future__ import annotations

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from app.views.metric_names import DCGM_NAMES, HOST_NAMES
from app.views.metrics import metrics_text
from probes.nvml.fields import ALL_NAMES
from tests.unit.machine_snapshots import (
    DENIED,
    GIB,
    LOST,
    MIB,
    NO_DRIVER,
    UNSUPPORTED,
    T,
    elsewhere,
    gpu,
    lost_gpu,
    machine,
    process,
    without_gpus,
)

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(snapshot: dict[str, Any] | None, state: str = "live", now: float = T + 0.5) -> Samples:
    """All samples as Prometheus would read them; a series told twice would fail the test."""
    found: Samples = {}
    for family in text_string_to_metric_families(metrics_text(snapshot, state, now).decode()):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, key
            found[key] = sample.value
    return found


def values(found: Samples, name: str, *labels: str) -> dict[tuple[str, ...], float]:
    """The samples of one metric by the values of some labels."""
    return {
        tuple(dict(its).get(label, "") for label in labels): value
        for (metric, its), value in found.items()
        if metric == name
    }


def test_a_small_machine_in_full() -> None:
    card = {
        "index": 0,
        "uuid": "GPU-1",
        "pci_bus_id": "00000000:41:00.0",
        "name": "NVIDIA A100",
        "utilization_gpu_percent": 57,
        "memory_used_bytes": 20480 * MIB,
        "energy_joules": 1234.5,
        "fan_percent": UNSUPPORTED,
        "throttle_reasons": ["power cap (software)"],
        "processes": [process(command="/usr/bin/python3 train.py --key s3cret")],
        "xid": [],
        "unreadable": None,
    }
    snapshot = machine(card, host={"hostname": "ws1", "cpu_percent": 12.4, "load_1m": DENIED})
    labels = (
        'DCGM_FI_DRIVER_VERSION="570.86.15",{}Hostname="ws1",UUID="GPU-1",device="nvidia0",{}gpu="0",'
        'modelName="NVIDIA A100",pci_bus_id="00000000:41:00.0"'
    )
    card_labels = labels.format("", "")
    xid_labels = labels.format("", 'err_code="0",err_msg="No Error",')
    process_labels = (
        labels.format('GPU_I_ID="",', "") + ',pid="4242",program="python3",type="C",user="alice",where="here"'
    )
    assert metrics_text(snapshot, "live", T + 0.5).decode() == (
        "# HELP hopscope_build_info Which Hopscope this is.\n"
        "# TYPE hopscope_build_info gauge\n"
        'hopscope_build_info{version="0.1.0"} 1.0\n'
        "# HELP hopscope_sampler_state Whether samples come.\n"
        "# TYPE hopscope_sampler_state gauge\n"
        'hopscope_sampler_state{state="starting"} 0.0\n'
        'hopscope_sampler_state{state="live"} 1.0\n'
        'hopscope_sampler_state{state="stale"} 0.0\n'
        'hopscope_sampler_state{state="stopped"} 0.0\n'
        "# HELP hopscope_sampler_age_seconds Since the newest sample.\n"
        "# TYPE hopscope_sampler_age_seconds gauge\n"
        "hopscope_sampler_age_seconds 0.5\n"
        "# HELP hopscope_sampler_hz Samples a second.\n"
        "# TYPE hopscope_sampler_hz gauge\n"
        "hopscope_sampler_hz 1.0\n"
        "# HELP hopscope_nvml_up Whether NVML answers.\n"
        "# TYPE hopscope_nvml_up gauge\n"
        'hopscope_nvml_up{reason="",state="ok"} 1.0\n'
        "# HELP hopscope_gpus GPUs that NVML counts.\n"
        "# TYPE hopscope_gpus gauge\n"
        "hopscope_gpus 1.0\n"
        "# HELP hopscope_gpu_up Whether the card can be read.\n"
        "# TYPE hopscope_gpu_up gauge\n"
        f"hopscope_gpu_up{{{card_labels}}} 1.0\n"
        "# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.\n"
        "# TYPE DCGM_FI_DEV_XID_ERRORS gauge\n"
        f"DCGM_FI_DEV_XID_ERRORS{{{xid_labels}}} 0.0\n"
        "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n"
        "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
        f"DCGM_FI_DEV_GPU_UTIL{{{card_labels}}} 57.0\n"
        "# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).\n"
        "# TYPE DCGM_FI_DEV_FB_USED gauge\n"
        f"DCGM_FI_DEV_FB_USED{{{card_labels}}} 20480.0\n"
        "# HELP DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION Energy since the driver was loaded (in mJ).\n"
        "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION untyped\n"
        f"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{{card_labels}}} 1.2345e+06\n"
        "# HELP hopscope_gpu_throttled Why the clocks are not higher: 1 for each reason that holds now.\n"
        "# TYPE hopscope_gpu_throttled gauge\n"
        f'hopscope_gpu_throttled{{{card_labels},reason="power cap (software)"}} 1.0\n'
        "# HELP hopscope_gpu_slowed Whether heat, power or a fault holds the clocks down: 1 or 0.\n"
        "# TYPE hopscope_gpu_slowed gauge\n"
        f"hopscope_gpu_slowed{{{card_labels}}} 0.0\n"
        "# HELP hopscope_process_gpu_memory_bytes GPU memory of a process.\n"
        "# TYPE hopscope_process_gpu_memory_bytes gauge\n"
        f"hopscope_process_gpu_memory_bytes{{{process_labels}}} 1.073741824e+09\n"
        "# HELP hopscope_process_sm_percent A process' share of the multiprocessors (in %).\n"
        "# TYPE hopscope_process_sm_percent gauge\n"
        f"hopscope_process_sm_percent{{{process_labels}}} 55.0\n"
        "# HELP hopscope_missing_fields Readable cards on which a field has no value, by the field's name in "
        "devices --json.\n"
        "# TYPE hopscope_missing_fields gauge\n"
        'hopscope_missing_fields{field="fan_percent",state="unsupported"} 1.0\n'
        "# HELP hopscope_host_cpu_percent All processors' use (in % of all).\n"
        "# TYPE hopscope_host_cpu_percent gauge\n"
        "hopscope_host_cpu_percent 12.4\n"
    )


def test_every_field_that_is_a_number_has_a_metric() -> None:
    """A field added to the sampler is not forgotten here."""
    told = {name.field for name in DCGM_NAMES}
    words = {
        *("uuid", "pci_bus_id", "name", "serial", "vbios", "architecture", "compute_capability"),
        *("minor_number", "numa_node", "cpu_affinity", "compute_mode", "nvlink"),
        *("throttle_reasons", "mig", "processes", "xid"),
    }
    assert told | words == set(ALL_NAMES)
    assert not told & words
    metrics = [name.metric for name in (*DCGM_NAMES, *HOST_NAMES)]
    assert len(set(metrics)) == len(metrics)


def test_units() -> None:
    found = samples(machine(gpu()))
    told = {name: value for (name, labels), value in found.items() if ("gpu", "0") in labels}
    assert (
        told["DCGM_FI_DEV_FB_TOTAL"] == told["DCGM_FI_DEV_FB_FREE"] + 20480 + told["DCGM_FI_DEV_FB_RESERVED"]
    )
    assert told["DCGM_FI_DEV_POWER_USAGE"] == 251.37
    assert told["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] == 1_234_500
    assert told["DCGM_FI_DEV_SM_CLOCK"] == 1275
    assert told["DCGM_FI_DEV_PSTATE"] == 0
    assert told["DCGM_FI_PROF_PCIE_RX_BYTES"] == 2_097_152
    assert told["DCGM_FI_DEV_MIG_MODE"] == 0 and told["DCGM_FI_DEV_ECC_CURRENT"] == 1


def test_a_missing_value_gives_no_sample_and_is_counted() -> None:
    cards = [gpu(index, fan_percent=UNSUPPORTED, power_watts=DENIED) for index in (0, 1)]
    cards.append(gpu(2, performance_state="unknown", memory_used_bytes=UNSUPPORTED))
    found = samples(machine(*cards))
    assert values(found, "DCGM_FI_DEV_FAN_SPEED", "gpu") == {("2",): 30}
    assert values(found, "DCGM_FI_DEV_POWER_USAGE", "gpu") == {("2",): 251.37}
    assert values(found, "DCGM_FI_DEV_PSTATE", "gpu") == {("0",): 0, ("1",): 0}
    assert values(found, "DCGM_FI_DEV_FB_USED", "gpu") == {("0",): 20480, ("1",): 20480}
    assert values(found, "hopscope_missing_fields", "field", "state") == {
        ("fan_percent", "unsupported"): 2,
        ("power_watts", "denied"): 2,
        ("memory_used_bytes", "unsupported"): 1,
    }


def test_a_lost_card_is_down_and_tells_no_figure_but_its_xid() -> None:
    event = {"code": 79, "t": T, "text": "GPU has fallen off the bus"}
    found = samples(machine(gpu(0), lost_gpu(1, xid=[event]), lost_gpu(2)))
    assert values(found, "hopscope_gpu_up", "gpu") == {("0",): 1, ("1",): 0, ("2",): 0}
    xids = values(found, "DCGM_FI_DEV_XID_ERRORS", "gpu", "err_code", "err_msg")
    assert xids == {("0", "0", "No Error"): 0, ("1", "79", "GPU has fallen off the bus"): 79}
    assert values(found, "DCGM_FI_DEV_GPU_UTIL", "gpu") == {("0",): 57}
    assert values(found, "hopscope_missing_fields", "field", "state") == {}


def test_processes_of_other_containers_and_instances_are_told_apart() -> None:
    rows = [
        elsewhere(77, memory_bytes=3, sm_percent=UNSUPPORTED),
        process(5, gpu_instance=1, memory_bytes=1, sm_percent=LOST),
        process(5, gpu_instance=2, memory_bytes=2, sm_percent=LOST),
        process(5, gpu_instance=2, memory_bytes=2, sm_percent=LOST),
    ]
    instances = [
        {
            "uuid": f"MIG-{number}",
            "gpu_instance": 1,
            "compute_instance": number,
            "name": "A100 MIG 1c.3g.40gb",
            "memory_total_bytes": 40 * GIB,
            "memory_used_bytes": UNSUPPORTED if number else MIB,
        }
        for number in (0, 1)
    ]
    found = samples(machine(gpu(processes=rows, mig=instances)))
    memory = values(found, "hopscope_process_gpu_memory_bytes", "pid", "where", "user", "GPU_I_ID")
    assert memory == {
        ("77", "elsewhere", "", ""): 3,
        ("5", "here", "alice", "1"): 1,
        ("5", "here", "alice", "2"): 2,
    }
    assert values(found, "hopscope_process_sm_percent", "pid") == {}
    assert values(found, "hopscope_mig_memory_total_bytes", "GPU_I_ID", "compute_instance") == {
        ("1", "0"): 40 * GIB,
        ("1", "1"): 40 * GIB,
    }
    assert values(found, "hopscope_mig_memory_used_bytes", "compute_instance") == {("0",): MIB}


def test_old_figures_are_not_told_as_new_ones() -> None:
    found = samples(machine(gpu()), "stale", T + 30)
    assert {name for name, _ in found} == {
        "hopscope_build_info",
        "hopscope_sampler_state",
        "hopscope_sampler_age_seconds",
        "hopscope_sampler_hz",
    }
    assert values(found, "hopscope_sampler_state", "state")["stale",] == 1
    assert values(found, "hopscope_sampler_age_seconds") == {(): 30}
    assert {name for name, _ in samples(None, "starting")} == {
        "hopscope_build_info",
        "hopscope_sampler_state",
    }


def test_without_a_driver_the_host_is_told() -> None:
    found = samples(without_gpus())
    assert values(found, "hopscope_nvml_up", "state", "reason") == {
        (NO_DRIVER["state"], NO_DRIVER["reason"]): 0
    }
    assert values(found, "hopscope_gpus") == {(): 0}
    assert values(found, "hopscope_host_memory_total_bytes") == {(): 64 * GIB}
    assert not [name for name, _ in found if name.startswith("DCGM")]


def test_names_of_others_stay_in_their_quotes() -> None:
    evil = process(command='/x/py"thon\n3\\ a', user='e"ve')
    found = samples(machine(gpu(name='A "card"\nDCGM_FI_DEV_GPU_UTIL 100', processes=[evil])))
    assert values(found, "DCGM_FI_DEV_GPU_UTIL", "modelName") == {('A "card"\nDCGM_FI_DEV_GPU_UTIL 100',): 57}
    assert ('e"ve', 'py"thon\n3\\') in values(found, "hopscope_process_gpu_memory_bytes", "user", "program")


def test_a_name_that_is_no_unicode_keeps_nothing_else_from_being_told() -> None:
    """A process whose name is not UTF-8 ended all of `/metrics` in an error."""
    told = samples(machine(gpu(0, name="A\udc80B", processes=[process(1, command="./\ud800")])))
    models = {dict(labels).get("modelName") for _, labels in told}
    assert "A\N{REPLACEMENT CHARACTER}B" in models
