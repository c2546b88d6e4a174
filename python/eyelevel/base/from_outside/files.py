"""Read bytes, text and lines of files, up to their limits."""

from collections.abc import Iterator
from pathlib import Path

from eyelevel.base.from_outside.source import Source

_PIECE = 1 << 20


def read_bytes(path: Path | str, source: Source) -> bytes:
    """Return a file's content. Raises the source's error if it is missing or too long."""
    try:
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 (paths take as long)
            pieces, left = [], source.limit.bytes_max
            while piece := stream.read(min(left + 1, 8 * _PIECE)):
                pieces.append(piece)
                left -= len(piece)
                if left < 0:
                    raise source.too_long()
    except OSError as error:
        raise source.unreadable(error) from error
    except ValueError as error:  # a path with a NUL
        raise source.refusal(f"no file has this name ({error})") from error
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_head(path: Path | str, source: Source, size: int) -> bytes:
    """Return the file's first `size` bytes, for format detection."""
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            return stream.read(size)
    except OSError as error:
        raise source.unreadable(error) from error


def read_text(path: Path | str, source: Source) -> str:
    """Return a file's text, decoded from UTF-8, without a byte order mark.

    Raises the source's error, which names the first invalid line.
    """
    return text_of(read_bytes(path, source), source)


def text_of(content: bytes, source: Source, *, keep_mark: bool = False) -> str:
    """Decode UTF-8, without a byte order mark unless `keep_mark`.

    Raises the source's error, which names the first invalid line.
    """
    try:
        return content.decode("utf-8" if keep_mark else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = f"0x{error.object[error.start]:02x}"
        raise source.refusal(
            f"not UTF-8 (byte {byte})", str(line), "save the file as UTF-8"
        ) from error


def lines_of(path: Path | str, source: Source, line_bytes_max: int) -> Iterator[tuple[int, str]]:
    r"""Yield each line with its number, without its end; invalid UTF-8 becomes `\ufffd`.

    Raises the source's error if the file is missing or too long, or if a line is too long.
    """
    read = 0
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            number = 0
            while line := stream.readline(line_bytes_max + 1):
                number += 1
                read += len(line)
                if len(line) > line_bytes_max:
                    fault = f"a line over {line_bytes_max:,} bytes"
                    raise source.refusal(fault, str(number), "correct the line, or drop it")
                if read > source.limit.bytes_max or number > (source.limit.values_max or number):
                    raise source.too_long()
                yield number, line.decode("utf-8", errors="replace").rstrip("\r\n")
    except OSError as error:
        raise source.unreadable(error) from error
    except ValueError as error:
        raise source.refusal(f"no file has this name ({error})") from error
