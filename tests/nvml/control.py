"""The double as tests use it: what its GPUs are like and what goes wrong, also while programs run on it."""

from __future__ import annotations

import ctypes
import mmap
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.nvml import layout
from tests.nvml.build import CUDA, NVML, build, functions
from tests.nvml.groups import HANDLES, INIT, PROCESS_LISTS
from tests.nvml.layout import NONE, SWITCH
from tests.nvml.machine import GPU, gpu_strings, p2p_default, topology_default

CONTROL_VARIABLE = "NVML_DOUBLE_CONTROL"

KINDS = {"C": 1, "G": 2, "M": 4, "C+G": 3}
GPU_IS_LOST = 15


class NvmlDouble:
    """NVIDIA's driver with some GPUs, for the processes that get `environment()`.

    `folder` takes the libraries and the control file. `without` names functions of NVML that this driver
    lacks, as groups.OLD_DRIVER. GPUs are counted from 0, in the order of NVML's index.
    """

    def __init__(self, folder: Path, gpus: int = 8, *, without: frozenset[str] = frozenset()) -> None:
        assert 0 <= gpus <= layout.MAX_GPUS
        self.folder = folder / "nvml-double"
        self.control_file = self.folder / "control"
        self.gpus = gpus
        self._without = without
        self._numbers = {name: number for number, name in enumerate(functions())}

    def __enter__(self) -> Self:
        for name, content in build(self._without).items():
            library = self._place(name)
            library.parent.mkdir(parents=True)
            library.write_bytes(content)
        kind = layout.control_type(len(self._numbers))
        self.control_file.write_bytes(bytes(ctypes.sizeof(kind)))
        with self.control_file.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)
        self.control: Any = kind.from_buffer(self._memory)
        self._describe()
        return self

    def __exit__(self, *_failure: object) -> None:
        # Those who hang are let go, so that nothing outlives the test.
        self.release()
        del self.control
        self._memory.close()

    def environment(self, *, nvml: bool = True, cuda: bool = True) -> dict[str, str]:
        """The variables for a child process; without `nvml` or `cuda` it does not find that library.

        A framework that finds the double of CUDA would try to compute on it: leave that out there.
        """
        wanted = [name for name, there in ((NVML, nvml), (CUDA, cuda)) if there]
        folders = [str(self._place(name).parent) for name in wanted]
        if there := os.environ.get("LD_LIBRARY_PATH"):
            folders.append(there)
        return {"LD_LIBRARY_PATH": ":".join(folders), CONTROL_VARIABLE: str(self.control_file)}

    def uninstall(self) -> None:
        """Take NVML's library away; who has loaded it keeps it."""
        self._place(NVML).rename(self.folder / NVML)

    def install(self) -> None:
        """Put it back."""
        (self.folder / NVML).rename(self._place(NVML))

    # What the GPUs are like

    def set(self, gpu: int, name: str, value: int | float | str | None) -> None:
        """Change a figure of a GPU, in NVML's own units (layout.GPU_NUMBERS); None is unsupported."""
        place = self.control.gpu[gpu]
        if name in layout.GPU_STRINGS:
            setattr(place, name, str(value or "").encode())
        elif name in layout.GPU_NUMBERS:
            setattr(place, name, NONE if value is None else int(value))
        else:
            raise KeyError(f"{name} is none of {', '.join((*layout.GPU_STRINGS, *layout.GPU_NUMBERS))}")

    def get(self, gpu: int, name: str) -> Any:
        """A figure as it was set; a wave does not show here."""
        value = getattr(self.control.gpu[gpu], name)
        return value.decode() if isinstance(value, bytes) else None if value == NONE else value

    def animate(self, on: bool = True) -> None:
        """Let load, memory, power, temperature, clocks and traffic swing, each GPU at its own pace."""
        self.control.started = time.time()
        self.control.animated = on

    def versions(self, driver: str, cuda: int, nvml: str | None = None) -> None:
        """What the driver says of itself; CUDA as 12080."""
        self.control.driver_version = driver.encode()
        self.control.nvml_version = (nvml or f"12.{driver}").encode()
        self.control.cuda_version = cuda

    def connect(self, one: int, other: int, links: int) -> None:
        """Join two GPUs by so many further NVLinks."""
        for gpu, peer in ((one, other), (other, one)):
            for _ in range(links):
                self._add_link(gpu, peer)
        for gpu, peer in ((one, other), (other, one)):
            self.control.gpu[gpu].p2p[peer][2] = 0

    def connect_switch(self, links: int) -> None:
        """Join every GPU to NVSwitches by so many NVLinks, and to nothing else."""
        self.disconnect()
        for gpu in range(self.gpus):
            for _ in range(links):
                self._add_link(gpu, SWITCH)
            for peer in range(self.gpus):
                self.control.gpu[gpu].p2p[peer][2] = 0

    def disconnect(self) -> None:
        """Take all NVLinks away."""
        for gpu in range(self.gpus):
            self.control.gpu[gpu].link_count = 0
            for peer in range(self.gpus):
                self.control.gpu[gpu].p2p[peer][2] = 5

    def link(self, gpu: int, link: int, *, up: bool) -> None:
        """Take one NVLink of a GPU down, or up again."""
        self.control.gpu[gpu].link_up[link] = up

    def topology(self, one: int, other: int, level: int | None) -> None:
        """How near two GPUs are, in NVML's levels: 10 a switch, 30 a host bridge, 50 the system, or None."""
        for gpu, peer in ((one, other), (other, one)):
            self.control.gpu[gpu].topology[peer] = NONE if level is None else level

    def p2p(self, one: int, other: int, status: int, kinds: Sequence[int] = (0, 1, 2, 3, 4)) -> None:
        """Whether `one` reaches `other`: NVML's status for read, write, nvlink, atomics and pci."""
        for kind in kinds:
            self.control.gpu[one].p2p[other][kind] = status

    def mig(self, gpu: int, instances: Sequence[Mapping[str, Any]] | None) -> None:
        """Split a GPU into instances, each layout.INSTANCE_NUMBERS, name, uuid as wanted; None: MIG off."""
        place = self.control.gpu[gpu]
        for number, wanted in enumerate(instances or ()):
            instance = place.instances[number]
            instance.gpu_instance = wanted.get("gpu_instance", number + 1)
            instance.compute_instance = wanted.get("compute_instance", 0)
            instance.memory_total = wanted.get("memory_total", 10 * 2**30)
            instance.memory_used = wanted.get("memory_used", 2**30)
            instance.multiprocessors = wanted.get("multiprocessors", 14)
            instance.gpu_slices = wanted.get("gpu_slices", 1)
            instance.compute_slices = wanted.get("compute_slices", 1)
            name = wanted.get("name", f"{place.name.decode()[:15]} MIG 1g.10gb")
            uuid = wanted.get("uuid", f"MIG-{gpu:04x}{number:04x}-5555-5555-5555-0123456789ab")
            instance.name, instance.uuid = name.encode(), uuid.encode()
        place.instance_count = len(instances or ())
        place.mig_mode = place.mig_mode_pending = instances is not None

    def add_process(
        self,
        gpu: int,
        pid: int,
        type: str = "C",
        *,
        memory: int | None = 2**30,
        sm: int | None = 40,
        **more: int | None,
    ) -> None:
        """Put a process on a GPU: memory in bytes, shares in per cent; `more` of layout.PROCESS_NUMBERS."""
        place = self.control.gpu[gpu]
        process = place.processes[place.process_count]
        numbers: dict[str, int | None] = dict.fromkeys(layout.PROCESS_NUMBERS)
        numbers |= {"pid": pid, "kinds": KINDS[type], "memory": memory, "sm": sm}
        numbers |= {"memory_utilization": 10, "encoder": 0, "decoder": 0} | more
        for name, value in numbers.items():
            setattr(process, name, NONE if value is None else value)
        place.process_count += 1

    def remove_process(self, gpu: int, pid: int) -> None:
        """Take a process off a GPU."""
        place = self.control.gpu[gpu]
        stay = [place.processes[at] for at in range(place.process_count)]
        stay = [layout.Process.from_buffer_copy(process) for process in stay if process.pid != pid]
        for at, process in enumerate(stay):
            place.processes[at] = process
        place.process_count = len(stay)

    # What goes wrong

    def fail(self, function: str, code: int, gpu: int | None = None) -> None:
        """Let a function fail with NVML's (or CUDA's) code: for one GPU, or for all and without one."""
        self._function(function).fault[self._slot(gpu)] = code

    def heal(self, function: str | None = None, gpu: int | None = None) -> None:
        """Undo `fail`; without a function, all faults of everything, lost GPUs too."""
        if function is not None:
            self._function(function).fault[self._slot(gpu)] = 0
            return
        for number in range(len(self._numbers)):
            for slot in range(layout.MAX_GPUS + 1):
                self.control.function[number].fault[slot] = 0
        for slot in range(self.gpus):
            self.control.gpu[slot].fault = 0
            self.control.gpu[slot].removed = 0
            for field in range(layout.MAX_FIELDS):
                self.control.gpu[slot].field_fault[field] = 0

    def fail_init(self, code: int) -> None:
        """Let NVML not start: 9 no driver, 18 mismatch, 4 no permission, 999 unknown; 0 heals."""
        for function in INIT:
            self.fail(function, code)

    def fail_handle(self, gpu: int, code: int) -> None:
        """Refuse a GPU's handle however it is asked for; 0 heals."""
        for function in HANDLES:
            self.fail(function, code, gpu)

    def fail_field(self, field: int, code: int, gpu: int) -> None:
        """Let one of nvmlDeviceGetFieldValues' values fail; 0 heals."""
        self.control.gpu[gpu].field_fault[field] = code

    def lose(self, gpu: int, code: int = GPU_IS_LOST, *, handle: bool = False) -> None:
        """Let every call with a GPU's handle fail, and with `handle` getting one too; 0 heals."""
        self.control.gpu[gpu].fault = code
        if handle or not code:
            self.fail_handle(gpu, code)

    def deny_processes(self, code: int = 4, gpu: int | None = None) -> None:
        """Refuse the lists of processes; 0 heals."""
        for function in PROCESS_LISTS:
            self.fail(function, code, gpu)

    def remove(self, gpu: int, *, back: bool = False) -> None:
        """Take a GPU out: it is no longer counted, and those behind it move up. `back` puts it in again."""
        self.control.gpu[gpu].removed = not back

    def hang(self, function: str, gpu: int | None = None, *, deaf: bool = False) -> None:
        """Let calls not return until `release`; `deaf`: only SIGKILL ends the process then."""
        self._function(function).hang[self._slot(gpu)] = 2 if deaf else 1

    def release(self, function: str | None = None, gpu: int | None = None) -> None:
        """Let hanging calls return; without a function, all."""
        if function is not None:
            self._function(function).hang[self._slot(gpu)] = 0
            return
        for number in range(len(self._numbers)):
            for slot in range(layout.MAX_GPUS + 1):
                self.control.function[number].hang[slot] = 0

    def delay(self, function: str, seconds: float) -> None:
        """Let each call sleep so long, as a real driver's nvmlDeviceGetPcieThroughput does for 20 ms."""
        self._function(function).delay_microseconds = int(seconds * 1e6)

    def reload_driver(self, version: str | None = None) -> None:
        """Replace the driver under those who use it.

        Their calls fail with 999, then 18, so does initialising again, and after a shutdown they are
        uninitialised; only a new process works.
        """
        if version:
            self.versions(version, self.control.cuda_version)
        self.control.driver_generation += 1

    def xid(self, gpu: int, code: int) -> None:
        """Raise an XID error."""
        place = self.control.xids[self.control.xid_count % layout.MAX_XIDS]
        place.gpu, place.code = gpu, code
        self.control.xid_count += 1

    # What was asked

    def calls(self, function: str) -> int:
        """How often a function was called since the start."""
        return int(self._function(function).calls)

    def all_calls(self) -> dict[str, int]:
        """Every function that was called, and how often."""
        counts = {name: self.calls(name) for name in self._numbers}
        return {name: count for name, count in counts.items() if count}

    def _place(self, library: str) -> Path:
        return self.folder / library.partition(".")[0] / library

    def _function(self, name: str) -> Any:
        return self.control.function[self._numbers[name]]

    @staticmethod
    def _slot(gpu: int | None) -> int:
        return layout.MAX_GPUS if gpu is None else gpu

    def _add_link(self, gpu: int, peer: int) -> None:
        place = self.control.gpu[gpu]
        place.link_peer[place.link_count] = peer
        place.link_up[place.link_count] = 1
        place.link_count += 1

    def _describe(self) -> None:
        self.control.gpus = self.gpus
        self.control.started = time.time()
        self.versions("570.86.15", 12080)
        for gpu in range(layout.MAX_GPUS):
            place = self.control.gpu[gpu]
            for name in layout.GPU_NUMBERS:
                value = GPU[name]
                self.set(gpu, name, value(gpu) if callable(value) else value)
            for name, text in gpu_strings(gpu).items():
                self.set(gpu, name, text)
            for peer in range(layout.MAX_GPUS):
                place.topology[peer] = topology_default(gpu, peer)
                for kind, status in enumerate(p2p_default(gpu, peer)):
                    place.p2p[peer][kind] = status
        for gpu in range(0, self.gpus - 1, 2):
            self.connect(gpu, gpu + 1, 4)
        self.control.magic = layout.MAGIC
