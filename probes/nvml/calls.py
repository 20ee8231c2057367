"""The one place from which NVML is called (by nvidia-ml-py): an answer is a value, or says why not."""

from __future__ import annotations

from typing import Any, Callable

from .missing import (
    DRIVER_NOT_LOADED,
    GPU_IS_LOST,
    LIB_RM_VERSION_MISMATCH,
    LIBRARY_NOT_FOUND,
    NO_PERMISSION,
    RESET_REQUIRED,
    UNINITIALIZED,
    error_name,
    missing,
)

_INIT_STATES = {
    LIBRARY_NOT_FOUND: "no-library",
    DRIVER_NOT_LOADED: "no-driver",
    LIB_RM_VERSION_MISMATCH: "mismatch",
    NO_PERMISSION: "denied",
    GPU_IS_LOST: "lost",
}
_INIT_WORDS = {
    LIBRARY_NOT_FOUND: "no NVIDIA driver is installed: its library libnvidia-ml.so.1 was not found",
    DRIVER_NOT_LOADED: "no NVIDIA driver is loaded: load it (modprobe nvidia); a container must be started"
    " with its GPUs",
    LIB_RM_VERSION_MISMATCH: "the NVIDIA driver and its library differ in version: reload the driver or"
    " restart the machine",
    NO_PERMISSION: "access to the NVIDIA driver is denied: this user may not open /dev/nvidiactl",
    UNINITIALIZED: "the NVIDIA driver was reloaded",
}
_DRIVER_GONE = (UNINITIALIZED, DRIVER_NOT_LOADED, LIB_RM_VERSION_MISMATCH)
_CARD_GONE = (GPU_IS_LOST, RESET_REQUIRED)


class CardGone(Exception):
    """No call to this card has an answer any more; `code` says why."""

    def __init__(self, code: int) -> None:
        super().__init__(error_name(code))
        self.code = code


class DriverGone(Exception):
    """Only a new process gets an answer from the driver now; `code` says why."""

    def __init__(self, code: int) -> None:
        super().__init__(error_name(code))
        self.code = code


class NoNvml(Exception):
    """NVML cannot be had; `problem` says so as a snapshot does: {state, reason, text}."""

    def __init__(self, problem: dict[str, str]) -> None:
        super().__init__(problem["text"])
        self.problem = problem


def why_not(code: int) -> dict[str, str]:
    """Return what a snapshot says of NVML where a call for the whole machine failed with `code`."""
    plain = _INIT_WORDS.get(code, f"the NVIDIA driver does not answer: it says {error_name(code)}")
    return {"state": _INIT_STATES.get(code, "error"), "reason": error_name(code), "text": plain}


class Nvml:
    """NVML, once initialised. Calls go through `ask`, or `must` where nothing else makes sense without."""

    def __init__(self) -> None:
        """Load and initialise NVML; NoNvml says why that can't be."""
        try:
            import pynvml
        except ImportError:
            text = "the package nvidia-ml-py is not installed, so GPUs cannot be looked for"
            raise NoNvml({"state": "no-module", "reason": "ImportError", "text": text}) from None
        self.module: Any = pynvml
        # The mismatch is no NVMLError, and a field of a struct may lack in an older nvidia-ml-py.
        self._failures = (pynvml.NVMLError, pynvml.NVMLLibraryMismatchError, AttributeError)
        try:
            pynvml.nvmlInit()
        except self._failures as error:
            raise NoNvml(why_not(self._code(error))) from None

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return what pynvml's function `name` gives, or what stands in its place.

        CardGone and DriverGone where no other call would fare better.
        """
        try:
            return getattr(self.module, name)(*arguments)
        except self._failures as error:
            code = self._code(error)
            if code in _CARD_GONE:
                raise CardGone(code) from None
            if code in _DRIVER_GONE:
                raise DriverGone(code) from None
            return missing(code)

    def code_of(self, name: str, *arguments: Any) -> tuple[int, Any]:
        """Return NVML's code, 0 for success, and the value: for calls whose errors are ordinary answers."""
        try:
            return 0, getattr(self.module, name)(*arguments)
        except self._failures as error:
            code = self._code(error)
            if code in _DRIVER_GONE:
                raise DriverGone(code) from None
            return code, None

    def has(self, name: str) -> bool:
        """Whether this nvidia-ml-py knows a function; the driver may still lack it."""
        return hasattr(self.module, name)

    def constant(self, name: str, default: int) -> int:
        """Return a number that this nvidia-ml-py may not know yet."""
        return int(getattr(self.module, name, default))

    def _code(self, error: Exception) -> int:
        value = getattr(error, "value", None)
        # NVMLLibraryMismatchError and AttributeError: the driver or nvidia-ml-py is too old for it.
        return int(value) if isinstance(value, int) else 13


def text_of(value: Any) -> Any:
    """Return bytes as text; anything else as it is."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


Convert = Callable[[Any], Any]
