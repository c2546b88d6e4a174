"""What nothing uses is found; what is used in ways that a reader of code cannot see is not."""

from pathlib import Path

import pytest
from repository import ROOT

from scripts.checks.dead_code import USED, dead_code

USER = "from eyelevel.part import Record\n\nprint(Record(1.0))\n"
RECORD = "class Record:\n    sent_ms: float\n"


def faults(
    folder: Path, part: str, user: str = USER, spec: str = "", template: str = ""
) -> list[str]:
    written = {
        "python/eyelevel/part.py": part,
        "python/eyelevel/user.py": user,
        "spec/run-record.md": spec,
        "python/eyelevel/report/templates/record.html": template,
        "tests/test_part.py": "from eyelevel.part import tested\n\ntested()\n",
    }
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [fault.rpartition(": ")[2] for fault in dead_code(folder)]


def test_the_product_has_no_dead_code_and_the_list_of_what_is_used_is_short():
    unused = {fault.rpartition(" ")[2] for fault in dead_code(ROOT, used=())}
    assert unused == set(USED), (
        "an entry that nothing needs goes, dead code goes or gets its reason"
    )


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("def left():\n    pass\n", "nothing uses the function left"),
        ("def tested():\n    pass\n", "nothing uses the function tested"),
        ("LEFT_MS = 3\n", "nothing uses the variable LEFT_MS"),
        ("class Left:\n    pass\n", "nothing uses the class Left"),
    ],
)
def test_what_nothing_but_a_test_uses_is_dead(tmp_path, part, fault):
    assert faults(tmp_path, "class Record:\n    pass\n\n\n" + part) == [fault]


def test_a_field_is_used_where_it_is_read_or_written_as_json(tmp_path):
    assert faults(tmp_path / "unused", RECORD) == ["nothing uses the variable sent_ms"]
    assert faults(tmp_path / "specified", RECORD, spec="`sent_ms`: when it was sent") == []
    assert faults(tmp_path / "column", RECORD, USER + 'print(table["sent_ms"])\n') == []
    assert faults(tmp_path / "read", RECORD, template="<p>{{ record.sent_ms }}</p>") == []
    assert faults(tmp_path / "text", RECORD, template="<p>record.sent_ms</p>") != []
    # What is no field is used by code alone.
    assert faults(
        tmp_path / "variable", "class Record:\n    pass\n\n\nsent_ms = 1\n", spec="sent_ms"
    )
