"""Unpack gzip and ZIP in pieces within size limits."""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt

_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 1 << 20
_ENCRYPTED = 0x1
_KNOWN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""Exceptions of `zipfile` for an archive that is damaged, encrypted or uses an unsupported
method.
"""


def gunzip(content: bytes, source: Source) -> bytes:
    """Unpack all members of a gzip file, up to the source's limit."""
    pieces, left = [], source.limit.bytes_max
    while content:
        member = zlib.decompressobj(_GZIP)
        try:
            piece = member.decompress(content, left + 1)
        except zlib.error as error:
            raise source.refusal(f"damaged, not whole gzip data ({error})") from error
        pieces.append(piece)
        left -= len(piece)
        if left < 0:
            raise source.too_long()
        if not member.eof:
            raise source.refusal("damaged, not whole gzip data (it ends early)")
        content = member.unused_data
    if not pieces:
        raise source.refusal("damaged, not whole gzip data (it is empty)")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class Pack:
    """A ZIP archive with a validated list of members; its unpacked total is limited."""

    def __init__(self, pack: zipfile.ZipFile, source: Source) -> None:
        self._pack, self._source = pack, source
        self._left = source.limit.bytes_max
        self._members = _check_members(pack, source)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of its members in order."""
        return tuple(self._members)

    def read(self, name: str, bytes_max: int) -> bytes:
        """Return one member's content, at most `bytes_max`."""
        return b"".join(self.pieces(name, bytes_max))

    def pieces(self, name: str, bytes_max: int | None = None) -> Iterator[bytes]:
        """Yield one member in pieces; raises the source's error if it is damaged or too long."""
        if name not in self._members:
            raise self._source.refusal(f"it lacks `{excerpt(name)}`")
        left = self._left if bytes_max is None else bytes_max
        try:
            with self._pack.open(self._members[name]) as stream:
                while piece := stream.read(_PIECE):
                    left -= len(piece)
                    self._left -= len(piece)
                    if left < 0 or self._left < 0:
                        raise self._source.refusal(
                            f"`{excerpt(name)}` is longer than any such file"
                        )
                    yield piece
        except (*_BROKEN, OSError) as error:  # OSError for a seek before the file's beginning
            raise self._source.refusal(
                f"`{excerpt(name)}` is damaged ({excerpt(error)})"
            ) from error


@contextmanager
def open_pack(file: Path | IO[bytes], source: Source) -> Iterator[Pack]:
    """Open a ZIP archive; raises the source's error if it or its list of members is invalid."""
    try:
        pack = zipfile.ZipFile(file)
    except OSError as error:
        raise source.unreadable(error) from error
    except (*_BROKEN, UnicodeError, OverflowError) as error:
        raise source.refusal(f"damaged, no whole ZIP ({excerpt(error)})") from error
    with pack:
        yield Pack(pack, source)


def _check_members(pack: zipfile.ZipFile, source: Source) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    entries = pack.infolist()
    if len(entries) > source.limit.values_max:
        raise source.too_many()
    for entry in entries:
        name = entry.filename
        quoted = excerpt(name)
        if not name or "\0" in entry.orig_filename:
            raise source.refusal("a file in it has no name, or one with a NUL")
        if name in members:
            raise source.refusal(f"`{quoted}` is in it twice")
        if entry.flag_bits & _ENCRYPTED:
            raise source.refusal(f"`{quoted}` is encrypted", remedy="get it without a password")
        if entry.compress_type not in _KNOWN:
            raise source.refusal(
                f"`{quoted}` is packed by method {entry.compress_type}, and 0 and 8 are read",
                remedy="pack it as stored or deflated",
            )
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise source.refusal(f"`{quoted}` is a link")
        members[name] = entry
    return members
