import json

import pytest

from eyelevel.base.errors import TraceError
from eyelevel.cli.path.trace import import_

TRACE = b"0\n1\n10\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a").mkdir()
    for name, content in {"a/x": TRACE, "x": b"0\n9\n", "bad": b"0\nz\n"}.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_files_are_written_and_stages_printed(folder, capsys):
    out = folder / "new" / "out"
    import_([folder / "x"], out)
    assert capsys.readouterr().out.split("\n")[0] == f'  --down or --up "trace {out}/x.trace"'
    import_([folder / "x"], out, as_json=True)
    (said,) = json.loads(capsys.readouterr().out)
    assert said["stages"] == {"either": f"trace {out}/x.trace"}
    assert {file.name: file.read_bytes() for file in out.iterdir()} == {"x.trace": b"0\n9\n"}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("x", "bad"), "bad:2: `z` is not a whole number"),
        (("x", "a/x"), "`x.trace` is already the name for"),
        (("x", "none"), "none: there is no such file"),
    ],
)
def test_nothing_is_written_where_one_is_refused(folder, names, said):
    before = sorted(folder.rglob("*"))
    with pytest.raises(TraceError, match=said):
        import_([folder / name for name in names], folder / "out")
    assert sorted(folder.rglob("*")) == before


def test_what_is_there_is_kept(folder):
    import_([folder / "x"], folder / "out")
    with pytest.raises(TraceError, match=r"another .*x\.trace exists already; choose another"):
        import_([folder / "a/x"], folder / "out")
    assert (folder / "out/x.trace").read_bytes() == b"0\n9\n"


def test_a_folder_whose_name_no_stage_could_have_is_refused(folder):
    with pytest.raises(TraceError, match="names in stages cannot have spaces, commas or quotes"):
        import_([folder / "x"], folder / "my out")
