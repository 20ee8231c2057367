"""Files that are written through memory, and of which the program never meets a descriptor.

A program may close descriptors that it did not open: daemons close all of them. The number then belongs to
the file that the program opens next, and whoever kept the number writes into that file, cuts it or closes it.
To compare before each use what lies behind the number is not enough: another thread can close it in between.
So a file has a descriptor only while it is created. From then on it grows by its path (truncate), further
stretches are mapped from a mapping that is there (mremap), and their blocks are reserved by having the kernel
write there, which says where a write of the program's would end it with SIGBUS. Python's `mmap` keeps a copy
of the descriptor (it need not from 3.13 on), so the C library is called.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import resource
import weakref
from typing import Any, Optional

from .. import private_files
from .descriptors import Held, identity_of

PAGE = mmap.ALLOCATIONGRANULARITY
_MAY_MOVE = 1
_POPULATE_WRITE = 23
"""Of madvise, from Linux 5.14 on."""
_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_address, _size, _int = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
_libc.mmap.restype = _libc.mremap.restype = _address
_libc.mmap.argtypes = [_address, _size, _int, _int, _int, ctypes.c_long]
_libc.mremap.argtypes = [_address, _size, _size, _int]
_libc.munmap.argtypes = [_address, _size]
_libc.madvise.argtypes = [_address, _size, _int]
_libc.access.argtypes = [_address, _int]
_libc.getrandom.argtypes = [_address, _size, ctypes.c_uint]
_stretches: dict[int, tuple[weakref.ref[Any], int, int]] = {}
"""What is mapped, with its address and size in bytes, by the reference's id."""


def _unmap(reference: weakref.ref[Any]) -> None:
    _, address, size = _stretches.pop(id(reference))
    _libc.munmap(address, size)


class Window:
    """A stretch of a file in memory, from the offset `start` to `end`; `view` are its bytes."""

    def __init__(self, address: Optional[int], start: int, size: int) -> None:
        """Own a mapping of `size` bytes; OSError where the call that made it failed."""
        if address is None or address == _FAILED:
            raise _last_error()
        self.start = start
        self.end = start + size
        self.address = address
        stretch = (ctypes.c_char * size).from_address(address)
        # The last view of it that goes unmaps it, whichever thread has that.
        # By no `weakref.finalize`: the first of these in a process takes its place among what runs at exit.
        reference = weakref.ref(stretch, _unmap)
        _stretches[id(reference)] = reference, address, size
        self.view = memoryview(stretch).cast("B")

    def again(self, start: int, size: int) -> Window:
        """Map `size` bytes from the offset `start`, a page that lies in this window, once more."""
        address = _libc.mremap(self.address + start - self.start, 0, size, _MAY_MOVE)
        return Window(address, start, size)

    def reserve(self, start: int) -> None:
        """Give what lies from the offset `start` on its blocks; OSError where there is no room."""
        address, size = self.address + start - self.start, self.end - start
        if size <= 0 or not _libc.madvise(address, size, _POPULATE_WRITE):
            return
        if ctypes.get_errno() != errno.EINVAL:
            raise _last_error()
        for offset in range(start - self.start, self.end - self.start, PAGE):
            # An older kernel: a call that writes to memory.
            if _libc.getrandom(self.address + offset, 1, 0) != 1:
                raise _last_error()
            self.view[offset] = 0

    @property
    def readable(self) -> bool:
        """Whether its first page lies in the file: a call that reads it fails elsewhere, without SIGBUS."""
        ctypes.set_errno(0)
        _libc.access(self.address, 0)
        return ctypes.get_errno() != errno.EFAULT


class MappedFile:
    """One new file of this process, private to its owner, known by its path, device and inode."""

    def __init__(self, path: str) -> None:
        """Create the file; FileExistsError where the path is taken, OSError where it cannot be created."""
        self.path = path
        check_limit(PAGE)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        held = Held(os.open(path, flags, private_files.FILE_MODE))
        try:
            os.chmod(path, private_files.FILE_MODE)  # whatever the umask took away
            self._identity = identity_of(os.lstat(path))
            protection = mmap.PROT_READ | mmap.PROT_WRITE
            address = _libc.mmap(None, PAGE, protection, mmap.MAP_SHARED, held.number, 0)
            self._first = Window(address, 0, PAGE)
        finally:
            held.close()
        self._reserved = 0
        # If the number was another file's for a moment, that one does not grow with ours.
        before = self._first.readable
        os.truncate(path, PAGE)
        if before or not self._first.readable:
            raise OSError(errno.ESTALE, "the program closed it meanwhile", path)

    def window(self, start: int, size: int, near: Optional[Window] = None) -> Window:
        """Map a stretch whose blocks are reserved; OSError where there is no room for it.

        `start` is the offset of a page, in the window `near` or else in the first page.
        """
        check_limit(start + size)
        self._check()
        if start + size > self._reserved:
            os.truncate(self.path, start + size)
        window = (near or self._first).again(start, size)
        window.reserve(max(start, self._reserved))
        self._reserved = max(self._reserved, window.end)
        return window

    def cut(self, size: int) -> None:
        """Leave only the first `size` bytes."""
        self._check()
        os.truncate(self.path, size)

    def read(self, size: int) -> bytes:
        """The first `size` bytes, which have been written, wherever the file lies by now."""
        return bytes(self._first.again(0, -(-size // PAGE) * PAGE).view[:size]) if size else b""

    def _check(self) -> None:
        """OSError (ESTALE) where the path leads to another file by now."""
        if identity_of(os.lstat(self.path)) != self._identity:
            raise OSError(errno.ESTALE, "another file lies there now", self.path)


def check_limit(size: int) -> None:
    """OSError where the program's own limit allows no file of this size.

    A write beyond it would have the kernel send SIGXFSZ, which may end the program.
    """
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if most != resource.RLIM_INFINITY and size > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))


def _last_error() -> OSError:
    number = ctypes.get_errno() or errno.EIO
    if number == errno.EFAULT:  # where a write would end with SIGBUS
        number = errno.ENOSPC
    return OSError(number, os.strerror(number))
