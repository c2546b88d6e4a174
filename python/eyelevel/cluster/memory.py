"""What a client gives back on its way, so that it is no larger after 30,000 blocks than after a
thousand."""

import ctypes

from dask.utils import key_split

GIVE_BACK_BLOCKS = 500
"""After so many blocks it is done again: it takes some milliseconds."""


def give_back() -> None:
    """Memory that holds nothing which is needed again."""
    # Dask remembers the name of each task that it ever had, up to 100,000.
    key_split.cache_clear()
    # A thread's heap keeps what a table left behind when it grew, and what an answer was made of.
    # Only glibc has the function.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
