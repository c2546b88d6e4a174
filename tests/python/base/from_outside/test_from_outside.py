"""Each reader against what it must refuse: one line with file, place and remedy."""

import gzip
import io
import json
import tracemalloc
import warnings
import zipfile
import zlib

import numpy as np
import pytest
from PIL import Image

from eyelevel.base.errors import OutsideError, StoreError
from eyelevel.base.from_outside import limits
from eyelevel.base.from_outside.arrays import read_arrays
from eyelevel.base.from_outside.csv_rows import csv_rows
from eyelevel.base.from_outside.files import lines_of, read_bytes, read_text
from eyelevel.base.from_outside.json_text import parse_json, parse_object
from eyelevel.base.from_outside.limits import LIMITS, Limit
from eyelevel.base.from_outside.packed import gunzip, open_pack
from eyelevel.base.from_outside.pictures import PictureError, open_picture
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.toml_text import parse_toml

SMALL = Limit("thing", 1000, "for this test", "get another", 50)
SOURCE = Source("a\x1b[2J file", SMALL)


def refused(read, said: str) -> None:
    with pytest.raises(OutsideError) as error:
        read()
    text = str(error.value)
    assert said in text and text.isprintable() and len(text) < 500, text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON (it is empty"),
        (b"[" * 900, "more than any thing"),
        (b"[" * 201 + b"]" * 201, "over 50 values"),
        (b'{"a": NaN}', ":1:7: damaged, not JSON"),
        (b"[1e999]", "the number inf is out of range"),
        (b"[-1e999]", "the number -inf is out of range"),
        (b"[9223372036854775808]", "the number 9.22e+18 is out of range"),
        (b'{"a":' + b"9" * 700 + b"}", "of hundreds of digits"),
        (b'["\\ud800"]', "damaged, not JSON"),
        (b'["\xff"]', "damaged, not JSON"),
        (b"[1,\n2,", ":2:2: damaged, not JSON"),
        (b" " * 1001, "over 0 MB"),
    ],
)
def test_json_that_is_none(content, said):
    refused(lambda: parse_json(content, SOURCE), said)


def test_deep_json_is_refused_by_its_depth():
    source = Source("file", Limit("thing", 10**6, "", "get another"))
    refused(lambda: parse_json(b"[" * 20_000, source), "recursion limit exceeded")


def test_json_that_is_fine_is_as_any_other_reader_has_it():
    value = {"a": [1, -1.5, 2**63 - 1, 1e300, None, True, "ä\u0000😀"], "b": {}}
    assert parse_object(json.dumps(value).encode(), SOURCE) == value
    refused(lambda: parse_object(b"[]", SOURCE), "not a JSON object; get another")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = ", ":1: not TOML"),
        ("b = 1\na = " + "[" * 600, "nested too deep"),
        ("a = " + "[" * 21 + "]" * 21, "nested too deep"),
        ("x = 1\n" + ".".join("a" * 30) + " = 1", ":2: a key of more than 20 parts"),
        ("[" + " . ".join(["'a'"] * 30) + "]", ":1: a key of more than 20 parts"),
        ("a = " + "9" * 900, "`a`: a number of more than 64 bits"),
        ("a.b = [0, 9223372036854775808]", "`a.b`: a number of more than 64 bits"),
        ("a = nan", "`a`: nan is not a finite number"),
        ("a = [{b = -inf}]", "`a.b`: -inf is not a finite number"),
        ("a = 2026-02-31", "not TOML"),
        ("x" * 1001, "over 0 MB"),
    ],
)
def test_toml_that_is_none(text, said):
    refused(lambda: parse_toml(text, SOURCE), said)


def test_a_number_of_5000_digits_is_refused():
    source = Source("file", Limit("thing", 10**6, "", "get another"))
    refused(lambda: parse_toml("a = " + "9" * 5000, source), "too many digits")


def test_text_names_the_line_that_is_none(tmp_path):
    file = tmp_path / "text"
    file.write_bytes(b"a\nb\xe9\n")
    source = Source(str(file), SMALL)
    refused(lambda: read_text(file, source), f"{file}:2: not UTF-8 (byte 0xe9); save the file as")
    file.write_bytes(b"\xef\xbb\xbfa")
    assert read_text(file, source) == "a"
    refused(lambda: read_bytes(tmp_path / "no", source), "there is no such file")
    refused(lambda: read_bytes(tmp_path, source), "it is a folder; name a file")
    refused(lambda: read_bytes("a\0b", source), "no file has this name")
    refused(lambda: read_bytes("/dev/zero", source), "over 0 MB")


def test_lines_are_bounded_each_and_in_all(tmp_path):
    file = tmp_path / "lines"
    source = Source(str(file), SMALL)
    file.write_bytes(b"a\r\n\xff\n")
    assert list(lines_of(file, source, 10)) == [(1, "a"), (2, "\ufffd")]
    file.write_bytes(b"a\n" + b"b" * 11)
    refused(lambda: list(lines_of(file, source, 10)), f"{file}:2: a line over 10 bytes")
    file.write_bytes(b"a\n" * 51)
    refused(lambda: list(lines_of(file, source, 10)), "more than any thing")
    refused(lambda: list(lines_of("/dev/zero", source, 10)), "a line over 10 bytes")


def test_csv_ends_a_quote_with_its_line():
    assert list(csv_rows('# c\n\na;"b\nc;d', SOURCE)) == [(3, ["a", "b"]), (4, ["c", "d"])]
    refused(lambda: list(csv_rows('a,"' + "x" * 200_000, SOURCE)), ":1: no row of a table")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"no gzip", "incorrect header"),
        (gzip.compress(b"a" * 100, mtime=0)[:-4], "it ends early"),
        (gzip.compress(b"a" * 1001, mtime=0), "more than any thing"),
        (gzip.compress(b"a" * 600, mtime=0) * 2, "more than any thing"),
        (gzip.compress(b"a", mtime=0) + b"rest", "not whole gzip data"),
        (gzip.compress(bytes(range(256)), mtime=0)[:-8] + b"12345678", "incorrect data check"),
    ],
)
def test_gzip_that_is_none(content, said):
    refused(lambda: gunzip(content, SOURCE), said)


def test_a_bomb_of_gzip_takes_no_more_memory_than_its_limit():
    assert gunzip(gzip.compress(b"a" * 600) + gzip.compress(b"b"), SOURCE) == b"a" * 600 + b"b"
    bomb = gzip.compress(bytes(50_000_000))
    tracemalloc.start()
    refused(lambda: gunzip(bomb, SOURCE), "more than any thing")
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as pack:
        warnings.simplefilter("ignore")  # that a name is there twice
        for name, content in members:
            pack.writestr(name, content)
    return buffer.getvalue()


def patched(content: bytes, at_local: int, at_central: int, value: int) -> bytes:
    changed = bytearray(content)
    changed[changed.find(b"PK\x03\x04") + at_local] = value
    changed[changed.find(b"PK\x01\x02") + at_central] = value
    return bytes(changed)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no whole ZIP"),
        (b"PK" * 30, "no whole ZIP"),
        (zipped(("a", b"x" * 999))[:-5], "no whole ZIP"),
        (zipped(("a", b"x"), ("a", b"y")), "`a` is in it twice"),
        (zipped(("a", b"x")).replace(b"a", b"\0"), "has no name"),
        (zipped(("a", b"x" * 999_999)), "`a` is longer than any such file"),
        (zipped(("a", b"x" * 600), ("b", b"y" * 600)), "`b` is longer than any such file"),
        (zipped(("a", b"x"), method=zipfile.ZIP_LZMA), "is packed by method 14"),
        (patched(zipped(("a", b"x")), 6, 8, 1), "`a` is encrypted; get it without"),
        (patched(zipped(("a", b"x")), 8, 10, 99), "is packed by method 99"),
        (zipped(("a\x1b[2J", b"x" * 2000)), "`a\\x1b[2J` is longer"),
        (zipped(*((f"{n}", b"") for n in range(51))), "over 50 values"),
    ],
)
def test_zips_that_are_none(content, said):
    def read() -> None:
        with open_pack(io.BytesIO(content), SOURCE) as pack:
            for name in pack.names:
                pack.read(name, 1000)

    refused(read, said)


def test_a_damaged_member_is_named():
    content = bytearray(zipped(("a", bytes(range(256)))))
    content[60] ^= 0xFF
    with open_pack(io.BytesIO(content), SOURCE) as pack:
        refused(lambda: pack.read("a", 1000), "`a` is damaged")
        refused(lambda: pack.read("b", 1000), "it lacks `b`")


ARRAYS = {"at": "<f8", "part": "<i8"}


def npz(path, **arrays) -> Source:
    with path.open("wb") as stream:
        np.savez(stream, **arrays)
    return Source(str(path), SMALL)


def test_arrays_come_back_and_no_others(tmp_path):
    path = tmp_path / "a.npz"
    at, part = np.array([1.5, 2.0]), np.zeros((0, 3), np.int64)
    source = npz(path, at=at, part=part, more=np.array([object()]))
    found = read_arrays(path, ARRAYS, source)
    assert found["at"].tolist() == [1.5, 2.0] and found["part"].shape == (0, 3)
    refused(
        lambda: read_arrays(path, {"at": "<i4"}, source),
        "numbers of type <f8, not <i4; get another",
    )
    refused(lambda: read_arrays(path, {"no": "<i4"}, source), "it lacks `no.npy`")
    refused(lambda: read_arrays(path, {"more": "|O8"}, source), "`more` is damaged, no array")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (900000000000,), }\n", "not as long"),
        ("{'descr': '<f8', 'fortran_order': True, 'shape': (1,), }\n", "no array as it was"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\n", "no array as it was"),
        ("(" * 500, "no array as it was written"),
    ],
)
def test_headers_of_arrays_are_not_believed(tmp_path, header, said):
    body = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(8)
    path = tmp_path / "a.npz"
    path.write_bytes(zipped(("at.npy", body)))
    refused(lambda: read_arrays(path, {"at": "<f8"}, Source(str(path), SMALL)), said)


def picture(size: tuple[int, int], kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", size).save(buffer, kind)
    return buffer.getvalue()


def test_pictures_are_of_known_kinds_and_sizes():
    assert open_picture(picture((3, 2), "PNG")).size == (3, 2)
    damaged = bytearray(picture((300, 200), "WEBP"))
    damaged[40:] = b"\xff" * (len(damaged) - 40)
    chunk = b"IHDR" + (60_000).to_bytes(4, "big") * 2 + bytes((8, 0, 0, 0, 0))
    bomb = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4, "big") + chunk
    bomb += zlib.crc32(chunk).to_bytes(4, "big")
    for content in (b"", b"GIF89a", picture((3, 2), "GIF"), bytes(damaged), bomb):
        with pytest.raises(PictureError):
            open_picture(content)


def test_the_table_of_limits_gives_reasons_and_names_each_once():
    assert len({limit.name for limit in LIMITS}) == len(LIMITS)
    assert all(limit.reason and limit.remedy and limit.bytes_max > 0 for limit in LIMITS)
    every = {value for value in vars(limits).values() if isinstance(value, Limit)}
    assert every == set(LIMITS)


def test_the_error_is_the_callers():
    with pytest.raises(StoreError, match=r"^x:1:0: damaged, not JSON"):
        parse_json(b"", Source("x", SMALL, StoreError))
