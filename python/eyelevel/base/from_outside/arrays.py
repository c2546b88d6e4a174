"""Read numpy arrays from untrusted npz files: of expected types, and no longer than their bytes.

`numpy.load` trusts an array's header, allocates what it claims and evaluates it as Python. Our
files have one form of header, which is parsed as text.
"""

import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from eyelevel.base.from_outside.packed import open_pack
from eyelevel.base.from_outside.source import Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([<|][a-z]\d{1,2})', 'fortran_order': False, "
    rb"'shape': \(((?:\d{1,12}(?:, \d{1,12})*,?)?)\), \} *\n"
)


def read_arrays(
    path: Path | IO[bytes], wanted: Mapping[str, str], source: Source
) -> "dict[str, NDArray[np.generic[Any]]]":
    """Return the arrays of these names, each of its type (`<f8`, `|u1`, ...).

    Raises the source's error if one is missing, of another type or damaged.
    """
    import numpy as np

    arrays = {}
    with open_pack(path, source) as pack:
        for name, kind in wanted.items():
            content = pack.read(f"{name}.npy", source.limit.bytes_max)
            start = len(_MAGIC) + 2
            length = int.from_bytes(content[len(_MAGIC) : start], "little")
            header = _HEADER.fullmatch(content[start : start + length])
            if not content.startswith(_MAGIC) or header is None:
                raise source.refusal(f"`{name}` is damaged, no array as it was written")
            if (found := header[1].decode()) != kind:
                raise source.refusal(f"`{name}` is damaged: numbers of type {found}, not {kind}")
            shape = tuple(int(size) for size in header[2].split(b",") if size.strip())
            body = memoryview(content)[start + length :]
            if prod(shape) * np.dtype(kind).itemsize != len(body):
                raise source.refusal(f"`{name}` is damaged: not as long as it says")
            arrays[name] = np.frombuffer(body, kind).reshape(shape)
    return arrays
