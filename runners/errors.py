"""Errors that are shown to people: one line that says what happened, why, and what to do."""


class HopscopeError(Exception):
    """Something failed that the user should read about; `str(error)` is one line without a traceback."""


class UsageError(HopscopeError):
    """The request itself is wrong (unknown program, device, option, file); the command line exits with 2."""
