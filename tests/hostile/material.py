"""What hostile inputs are made of: texts, numbers, JSON values, and damage to bytes that were sound.

Everything follows from the random number generator that is handed in, so an input can be made again.
"""

from __future__ import annotations

import json
import random
from typing import Any

MARK = "hopscopecanary"
"""Letters only, so that no escaping changes them: what stands before them shows whether it was escaped."""
SECRET = "canary-secret-5f1d0c7e9b"
"""The content of the files outside of the home: it must be in no answer."""
COMMAND = "hopscope-canary-command"
"""A program on the PATH that must never be started."""

_MARKUP = (
    f"<script>window.{MARK}=1</script>",
    f"<img src=x onerror=window.{MARK}=1 class={MARK}>",
    f"<{MARK}>",
    f'"><svg/onload=window.{MARK}=1>',
    f"</pre></code></title></style><{MARK}>",
    f"' onmouseover='window.{MARK}=1",
    f"<!--<{MARK}>-->",
    f"<iframe src=javascript:window.{MARK}=1>",
    f"[{MARK}](javascript:window.{MARK}=1)",
    f"![{MARK}](http://192.0.2.1/{MARK})",
    f"<http://192.0.2.1/{MARK}>",
    f"**{MARK}**",
    f"# {MARK}",
    f"```\n{MARK}\n```",
    f"`{MARK}`",
    f"${MARK}$ $$\\frac{{1}}{{{MARK}}}$$ \\href{{javascript:{MARK}}}{{x}}",
    f":red[{MARK}] :material/{MARK}: :streamlit:",
    f"| {MARK} | b |\n|---|---|\n| 1 | 2 |",
    f"&lt;{MARK}&gt; &#60;{MARK}&#62;",
    f"{{{{{MARK}}}}} {{0.__class__}} %s %n %(x)s ${{{MARK}}}",
)
_CONTROL = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]8;;http://192.0.2.1/\x1b\\link\x1b]8;;\x1b\\",
    "\x1bP1;1|17/41\x1b\\",
    "\x1b[2J\x1b[H",
    "\x9b31m\x9d0;x\x9c",
    "\x00",
    "a\rb",
    "a\x08\x08b",
    "\x7f",
    "line\nbreak",
    "line\u2028break\u2029x\x85y",
    "\u202egnp.exe\u202c",
    "\u2066x\u2069\u200f",
    "\ufeffx\u200bx",
    "\u0007" * 50,
    "\x0e\x0f",
)
_PATHS = (
    "../../../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "/",
    "//",
    "~",
    "~root/.bashrc",
    "%2e%2e%2f",
    "..\\..\\x",
    "/proc/self/environ",
    "/dev/zero",
    "/dev/tty",
    "file:///etc/passwd",
    "CON",
    "-rf",
    "--help",
    "a/../../b",
    "x" * 256,
    "x/" * 300,
)
_SHELL = (
    f"$({COMMAND})",
    f"`{COMMAND}`",
    f"; {COMMAND} #",
    f"| {COMMAND}",
    f"&& {COMMAND}",
    COMMAND,
    f"__import__('os').system('{COMMAND}')",
    f"-c {COMMAND}",
)
_UNICODE = (
    "\ud800",
    "\udfff\ud800",
    "a\udc80b",
    "\U0001f4a9" * 20,
    "e" + "\u0301" * 200,
    "\u0130\u0131\u1e9e",
    "\ufdfa" * 50,
    "\u0661\u0662\u0663",
    "\u00b2\u00b3",
    "\u2460",
    "\U000e0001\U000e0041",
    "\ufffe\uffff",
)
_NUMERIC = (
    "NaN",
    "Infinity",
    "-1",
    "1e400",
    "9" * 400,
    "9" * 5000,
    "0x10",
    "1_000",
    "१२३",
    "1,000",
    "٣",
    "-0",
    "00",
    "1e-400",
    "18446744073709551616",
)
_FIELD = (
    "gpu:0",
    "cpu:0",
    "gpu:99999999999999999999",
    "cpu:-1",
    "gpu:",
    ":0",
    "gpu:0/gpu:1",
    "worker:0/gpu:0",
    "worker:/gpu:x",
    "/job:worker/replica:0/task:0/device:GPU:0",
    "ps:0/cpu:0",
    "train.py:31",
    "train.py:0",
    "train.py:-5",
    "train.py:99999999999999999999",
    "train.py:" + "9" * 5000,
    "train.py",
    ":",
    "::::",
    "a:b:c",
    "train.py:³",
    "64x256",
    "?x?",
    "x" * 40,
    "-1x-1",
    "99999999999x99999999999",
    "float32",
    "resource",
    "MatMul",
    "_Arg",
    "gradients/" * 200,
    "a/b/c/d/e",
    "//a//b//",
    "",
    " ",
    "\t",
    "None",
    "null",
    "main",
    "step",
    "bounce@train.py:1",
    "host-sync:0",
    ">",
    "gpu:0>gpu:1",
    "0",
    "1",
)
_POOLS = (_MARKUP, _CONTROL, _PATHS, _SHELL, _UNICODE, _NUMERIC, _FIELD)
_NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 255, 256, 65535, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**53, 2**53 + 1),
    *(2**62, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, 10**400, -(10**400), 10**4000),
    *(0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
)
_DEEP = 100_000


def text(rng: random.Random) -> str:
    """A text: mostly one of the known hard ones, now and then several, long, or of any characters."""
    kind = rng.random()
    if kind < 0.70:
        return rng.choice(rng.choice(_POOLS))
    if kind < 0.85:
        return "".join(rng.choice(rng.choice(_POOLS)) for _ in range(rng.randint(2, 4)))
    if kind < 0.95:
        return "".join(chr(rng.choice((rng.randrange(256), rng.randrange(0x11_0000)))) for _ in range(20))
    return rng.choice(("A", "<", "/", "a/", "\x1b[1m", "é", "😀", ":", "&", "[")) * rng.choice(
        (300, 5000, 70_000)
    )


def name(rng: random.Random) -> str:
    """A text that can be the name of a file."""
    made = "".join(letter for letter in text(rng) if letter not in "/\0") or "x"
    made = made.encode("utf-8", "surrogatepass")[:200].decode("utf-8", "surrogateescape")
    return "dots" + made if made.strip(".") == "" else made


def number(rng: random.Random) -> Any:
    """A number; every second one at an edge of what some type holds."""
    if rng.random() < 0.5:
        return rng.choice(_NUMBERS)
    return rng.choice((rng.randint(-10, 100), rng.getrandbits(64), rng.uniform(-1e6, 1e6)))


def value(rng: random.Random, depth: int = 0) -> Any:
    """Any JSON value."""
    kind = rng.random()
    if kind < 0.1:
        return None
    if kind < 0.18:
        return rng.random() < 0.5
    if kind < 0.45:
        return number(rng)
    if kind < 0.75 or depth > 3:
        return text(rng)
    size = rng.choice((0, 1, 2, 5))
    if kind < 0.88:
        return [value(rng, depth + 1) for _ in range(size)]
    return {text(rng)[:100]: value(rng, depth + 1) for _ in range(size)}


def alike(rng: random.Random, old: Any) -> Any:
    """A hostile value of the type that stood there, so that it gets past checks of types."""
    match old:
        case bool():
            return not old
        case int():
            found = number(rng)
            return found if isinstance(found, int) else rng.randint(-3, 3)
        case float():
            return number(rng)
        case str():
            return text(rng)
        case list():
            return [alike(rng, part) for part in old for _ in range(rng.choice((0, 1, 1, 2)))]
        case dict():
            return {key: alike(rng, part) for key, part in old.items() if rng.random() < 0.9}
    return value(rng)


def damaged_value(rng: random.Random, old: Any) -> Any:
    """The value with one part, however deep, in another's place, gone, doubled or made hostile."""
    if isinstance(old, dict) and old and rng.random() < 0.85:
        key = rng.choice(list(old))
        if rng.random() < 0.12:
            return {name: part for name, part in old.items() if name != key}
        return {**old, key: damaged_value(rng, old[key])}
    if isinstance(old, list) and old and rng.random() < 0.85:
        at = rng.randrange(len(old))
        kind = rng.random()
        if kind < 0.06:
            return old[:at] + old[at + 1 :]
        if kind < 0.12:
            return [*old[:at], old[at], *old[at:]]
        return [*old[:at], damaged_value(rng, old[at]), *old[at + 1 :]]
    return alike(rng, old) if rng.random() < 0.6 else value(rng)


def as_json(rng: random.Random, made: Any) -> bytes:
    """The value as JSON, with what Python's writer allows beyond the standard: NaN, lone surrogates."""
    if rng.random() < 0.01:
        return b"[" * _DEEP if rng.random() < 0.5 else b'{"a":' * _DEEP + b"1" + b"}" * _DEEP
    ascii_only = rng.random() < 0.7
    # Numbers of more than 4,300 digits are not written by Python, but others do.
    return json.dumps(made, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")


def damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    """The bytes with a few of them flipped, cut out, doubled, or replaced by NUL and what is no UTF-8."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        if not found:
            return bytes(found)
        at = rng.randrange(len(found))
        length = rng.choice((1, 1, 2, 8, 100, 4096))
        match rng.randrange(6):
            case 0:
                found[at] ^= 1 << rng.randrange(8)
            case 1:
                found[at : at + length] = b"\0" * min(length, len(found) - at)
            case 2:
                del found[at : at + length]
            case 3:
                found[at:at] = found[at : at + length]
            case 4:
                found[at:at] = rng.choice(
                    (b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\n", b"\0", b"\r\n", b"\x1b[")
                )
            case _:
                del found[at:]
    return bytes(found)
