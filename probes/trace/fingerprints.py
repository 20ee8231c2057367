"""A number that tells whether an array's values were changed in place since it was taken before.

It costs a part of what fetching the array does. All bytes go into it: a small array's one by one, a larger
one's as the sum of each block's words, whose own bytes no longer matter but for those of its first and last
block. So a change of any element is seen, and one of the order unless it stays within inner blocks.
"""

from __future__ import annotations

import zlib
from typing import Any, Optional

_WORD = 8
_BLOCK = 4096
"""Bytes that are summed up to one word."""
_SMALL = 2 * _BLOCK
"""Bytes of arrays that are read as they are: faster than sums up to there."""


def fingerprint(array: Any) -> Optional[int]:
    """Of a numpy array's values; None for one that can't be read so, such as one of Python's objects."""
    if array.dtype.hasobject or not array.flags.c_contiguous:
        return None
    data = array.reshape(-1).view("u1")
    if data.size <= _SMALL:
        return zlib.crc32(data)
    blocks = data[: data.size // _BLOCK * _BLOCK].view("u8").reshape(-1, _BLOCK // _WORD)
    ends = zlib.crc32(data[-_BLOCK:], zlib.crc32(data[:_BLOCK]))
    return zlib.crc32(blocks.sum(axis=1), ends)
