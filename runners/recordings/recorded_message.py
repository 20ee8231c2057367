"""What may be taken of a sampler's message that comes from a file: anybody may have written that.

Values that are not what their field holds become missing ones, what no field is called is left out, and
lengths are bounded, so that whoever shows a recording meets nothing that a sampler would not say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeGuard

from probes.nvml.fields import ALL_NAMES
from probes.nvml.missing import absent, is_missing
from probes.nvml.snapshot import Message
from runners.printable import encodable

MOST_GPUS = 256
_MOST_PROCESSES = 4096
_MOST_LISTED = 64
_LONGEST_TEXT = 1000
_LONGEST_NUMBER = 18
"""Digits: what a double of a browser and of an array holds."""
_LATEST_S = 1e11

_UNFIT = absent("not a value of this field", "error")
_TEXTS = {
    *("uuid", "pci_bus_id", "name", "serial", "vbios", "architecture", "compute_capability", "cpu_affinity"),
    *("performance_state", "compute_mode", "mig_mode", "hostname", "pid_namespace"),
}
_SWITCHES = {
    *("persistence_mode", "ecc_mode", "retired_pages_pending", "remapped_rows_pending"),
    "remapped_rows_failure",
}
_PLACES = ("here", "elsewhere", "gone")


Check = Callable[[Any], Any]


class Unfit(ValueError):
    """A line that is no message at all."""


def parse_message(line: bytes) -> Message:
    """Return the message in a line, with nothing in it that no sampler would say; Unfit where it is none."""
    message = parse_object(line)
    number, t, full = message.get("seq"), message.get("t"), message.get("full")
    if not _whole(number) or not _number(_time(t)) or not isinstance(full, bool):
        raise Unfit("no message")
    found: Message = {"seq": number, "t": t, "full": full}
    if full:
        # A whole one has them all, so that those after it have something to change.
        message = {"hz": 1.0, "driver": _UNFIT, "cuda_driver": _UNFIT, "nvml": "ok", "host": {}} | message
        message = {"gpus": [], "topology": [], "p2p": []} | message
    for name in ("driver", "cuda_driver"):
        if name in message:
            found[name] = _told(message[name], _text)
    if "hz" in message:
        hz = message["hz"]
        found["hz"] = hz if _number(hz) and 0 < hz <= 1000 else 1.0
    if "nvml" in message:
        found["nvml"] = _nvml(message["nvml"])
    if "gpus" in message:
        found["gpus"] = _gpus(message["gpus"], full)
    for name, check in (("topology", _topology), ("p2p", _peers)):
        if name in message:
            rows = _rows(message[name], MOST_GPUS)
            found[name] = [[_told(cell, check) for cell in _rows(row, MOST_GPUS)] for row in rows]
    if isinstance(message.get("host"), dict):
        found["host"] = _fields(message["host"], ())
    return found


def parse_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object in a line; Unfit for anything else, numbers that no machine has among it."""
    try:
        value = json.loads(line, parse_constant=_refuse, parse_float=_float, parse_int=_int)
    except (ValueError, RecursionError) as error:
        raise Unfit(str(error)) from None
    if not isinstance(value, dict):
        raise Unfit("no object")
    return value


def _refuse(text: str) -> NoReturn:
    raise Unfit(text)


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _int(text: str) -> int:
    return int(text) if len(text) <= _LONGEST_NUMBER else _refuse(text)


def _gpus(value: Any, whole: bool) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for gpu in _rows(value, MOST_GPUS):
        index = gpu.get("index") if isinstance(gpu, dict) else None
        if not _whole(index) or not 0 <= index < 1 << 16 or index in found:
            raise Unfit("a GPU without its number")
        row = {"index": index, **_fields(gpu, ALL_NAMES)}
        if whole:
            row = {**dict.fromkeys(ALL_NAMES, _UNFIT), "unreadable": None, **row}
        found[index] = row
    return list(found.values())


def _fields(row: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a card or of the host; one that is not `known` only where it is an ordinary value."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name == "index" or len(name) > _MOST_LISTED:
            continue
        if name == "unreadable":
            found[name] = None if value is None else _told(value, _never)
            continue
        kept = _told(value, _check_of(name))
        if kept is not _UNFIT or name in known:
            found[name] = kept
    return found


def _check_of(name: str) -> Check:
    if name in _TEXTS:
        return _text
    return _CHECKS.get(name, _switch if name in _SWITCHES else _value)


# Each of these returns the value, or _UNFIT.


def _told(value: Any, check: Check) -> Any:
    """A missing value as it is; of others what `check` makes of them."""
    if is_missing(value):
        state, reason = _text(value["state"]), _text(value["reason"])
        return _UNFIT if _UNFIT in (state, reason) else {"state": state, "reason": reason}
    return check(value)


def _never(_value: Any) -> Any:
    return _UNFIT


def _value(value: Any) -> Any:
    return value if _number(value) else _UNFIT


def _text(value: Any) -> Any:
    return encodable(value[:_LONGEST_TEXT]) if isinstance(value, str) else _UNFIT


def _switch(value: Any) -> Any:
    return value if isinstance(value, bool) else _UNFIT


def _nothing_or(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _row_of(checks: Mapping[str, Check]) -> Check:
    """A check of objects that have these keys; any other key is left out."""

    def check(row: Any) -> Any:
        if not isinstance(row, dict):
            return _UNFIT
        return {name: _told(row.get(name), its) for name, its in checks.items()}

    return check


_process_row = _row_of(
    {
        "pid": _value,
        "type": _text,
        "user": _text,
        "command": _text,
        "memory_bytes": _value,
        "sm_percent": _value,
        "gpu_instance": _nothing_or(_value),
    }
)


def _process(row: Any) -> Any:
    if not isinstance(row, dict) or not _whole(row.get("pid")):
        return _UNFIT
    where = row.get("where")
    # What is not known to be here counts as of elsewhere.
    return {**_process_row(row), "where": where if where in _PLACES else "elsewhere"}


def _time(value: Any) -> Any:
    return value if _number(value) and 0 <= value <= _LATEST_S else _UNFIT


_xid_row = _row_of({"code": _value, "t": _time, "text": _text})


def _xid(row: Any) -> Any:
    event = _xid_row(row)
    return _UNFIT if event is _UNFIT or any(map(is_missing, event.values())) else event


_topology = _row_of({"level": _text, "short": _text, "nvlinks": _value})
_peers = _row_of({"read": _text, "write": _text, "nvlink": _text, "atomics": _text})
_instance = _row_of(
    {
        "uuid": _text,
        "gpu_instance": _value,
        "compute_instance": _value,
        "name": _text,
        "memory_total_bytes": _value,
        "memory_used_bytes": _value,
    }
)
_link_row = _row_of(
    {
        "link": _value,
        "state": _text,
        "version": _nothing_or(_value),
        "remote_pci_bus_id": _nothing_or(_text),
        "switch": _switch,
    }
)


def _link(row: Any) -> Any:
    link = _link_row(row)
    if link is not _UNFIT and "switch" not in row:
        # One that is down does not say what is at its other end.
        del link["switch"]
    return link


def _list_of(check: Check, most: int = _MOST_LISTED) -> Check:
    """A check of lists; elements that do not fit are left out."""

    def told(value: Any) -> Any:
        if not isinstance(value, list):
            return _UNFIT
        return [kept for kept in map(check, _rows(value, most)) if kept is not _UNFIT]

    return told


_CHECKS: dict[str, Check] = {
    "throttle_reasons": _list_of(_text),
    "processes": _list_of(_process, _MOST_PROCESSES),
    "xid": _list_of(_xid),
    "mig": _list_of(_instance),
    "nvlink": _list_of(_link),
}


def _nvml(value: Any) -> Any:
    if value == "ok":
        return "ok"
    known = value if isinstance(value, dict) else {}
    texts = {name: _text(known.get(name)) for name in ("state", "reason", "text")}
    return {name: "" if text is _UNFIT else text for name, text in texts.items()}


def _rows(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise Unfit("no list, or too long a one")
    return value


def _whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
