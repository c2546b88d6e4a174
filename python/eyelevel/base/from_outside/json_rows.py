"""Read tables in JSON: an array of objects, or one object per line (newline-delimited JSON)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eyelevel.base.errors import ExpectedError
from eyelevel.base.from_outside.csv_rows import Table
from eyelevel.base.from_outside.json_text import check_size, parse_json
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject

_AGAIN = "export it again, as an array of objects, as an object a line, or as CSV"
_ROWS = 'write an object a row, such as {"rtt_ms": 40, "down_mbit_s": 20}'


def is_json(text: str) -> bool:
    """Return whether a table is JSON."""
    return text.lstrip("\ufeff \t\r\n").startswith(("{", "["))


def json_records(text: str, source: Source) -> list[tuple[str, JsonObject]]:
    """Return the objects of JSON text, each with its place: its line, or `[0]` and so on.

    One object may extend over several lines. A list of objects within one, such as an API's `data`
    or a repeated struct, gives one row each, combined with the object's other fields. Raises the
    source's error for anything else.
    """
    content = text.lstrip("\ufeff").encode("utf-8", "surrogatepass")
    check_size(content, source)
    exact = replace(source, limit=replace(source.limit, remedy=_AGAIN))
    lines = [(n, line) for n, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
    records: list[tuple[str, object]]
    if len(lines) > 1 and _is_object(lines[0][1], exact):
        records = [(str(number), _of_line(line, number, exact)) for number, line in lines]
    elif isinstance(value := parse_json(content, exact), list):
        records = [(f"[{index}]", each) for index, each in enumerate(value)]
    else:
        records = [("1", value)]
    found = []
    for place, record in records:
        if not isinstance(record, Mapping):
            raise source.refusal(f"`{excerpt(record)[:40]}` is no object", place, _ROWS)
        found += _unnest(place, dict(record))
    return found


def _unnest(place: str, record: JsonObject) -> list[tuple[str, JsonObject]]:
    lists = [(name, rows) for name, value in record.items() if (rows := _objects(value))]
    if len(lists) != 1:
        return [(place, record)]
    ((name, rows),) = lists
    others = {each: value for each, value in record.items() if each != name}
    return [
        (f"{place}.{excerpt(name)}[{index}]", {**others, name: row} if others else dict(row))
        for index, row in enumerate(rows)
    ]


def _objects(value: object) -> list[JsonMapping]:
    """Return the elements of a list of objects; [] for any other value."""
    listed = value if isinstance(value, list) else []
    return listed if all(isinstance(each, Mapping) for each in listed) else []


def is_row(record: Mapping[str, object]) -> bool:
    """Return whether an object is a row of a table: named values, nested at most once."""
    return bool(record) and not any(
        isinstance(value, Mapping) and any(map(_is_nested, value.values()))
        for value in record.values()
    )


def table_of(records: Sequence[tuple[str, Mapping[str, object]]], source: Source) -> Table:
    """Convert JSON rows to a table, whose heading has all names in order of occurrence.

    The field `end` of a struct `bin` is named `bin.end`, as in BigQuery's CSV; null is empty.
    """
    rows: list[tuple[str, dict[str, str]]] = []
    for place, record in records:
        row: dict[str, str] = {}
        for name, value in record.items():
            fields = value if isinstance(value, Mapping) else {"": value}
            for field, each in fields.items():
                row[f"{name}.{field}" if field else name] = _cell(each, name, place, source)
        rows.append((place, row))
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    cells = [(place, [row.get(name, "") for name in names]) for place, row in rows]
    return Table("", [("1", names), *cells])


def _is_object(line: bytes, source: Source) -> bool:
    """Return whether the first line is a complete object, so that each line is one."""
    try:
        return isinstance(parse_json(line, source), Mapping)
    except ExpectedError:
        return False


def _of_line(line: bytes, number: int, source: Source) -> object:
    try:
        return parse_json(line, source)
    except ExpectedError:
        # Parse it again after empty lines, so that the message has the right line number.
        return parse_json(b"\n" * (number - 1) + line, source)


def _is_nested(value: object) -> bool:
    return isinstance(value, Mapping | list)


def _cell(value: object, name: str, place: str, source: Source) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | list | Mapping):
        fault = f"`{excerpt(name)}` is {excerpt(value)[:40]}, no number and no text"
        raise source.refusal(fault, place, _ROWS)
    return str(value).strip() if isinstance(value, str) else repr(value)
