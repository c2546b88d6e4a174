"""Where no result can be written: one line says which place, why, and the way out; nothing is left.

The places are real: a folder that is not there, a file in the way of a folder, `/proc`, in which
nobody makes a file, and `/dev/full`, which is what a full disk is to a program.
"""

import sys
from pathlib import Path

import pytest
from synthetic_run import write_run

from eyelevel.cli import main
from eyelevel.sites.recorded import list_shipped
from eyelevel.store.disk import folder_of_results, write_result

SITES = str(next(iter(list_shipped().values())).parent)
FOLDERS = {
    "run": ["run", "quickstart", "--out", "PLACE"],
    "demo": ["demo", "--out", "PLACE"],
    "load": ["load", "plain", "--out", "PLACE"],
    "export": ["export", "RUN", "--har", "--out", "PLACE"],
    "figures": ["figures", "RUN", "--out", "PLACE"],
    "site synth": ["site", "synth", "--like", "das2014", "--count", "1", "--out", "PLACE"],
}
FILES = {
    "metrics": ["metrics", "RUN", "--csv", "PLACE"],
    "corpus info": ["corpus", "info", SITES, "--csv", "PLACE"],
    "corpus select": ["corpus", "select", SITES, "--count", "1", "--out", "PLACE"],
    "trace synth": ["trace", "synth", "wifi", "PLACE"],
    "compare": ["compare", "RUN", "RUN", "--junit", "PLACE"],
    "run gate": ["run", "quickstart", "--out", "run", "--junit", "PLACE"],
    "validate level": ["validate", "level", "--page", "PLACE"],
    "record": ["record", "https://a.example/", "--out", "PLACE"],
    "scan": ["scan", "NAMES", "--out", "PLACE"],
    "probe": ["probe", "127.0.0.1:9", "--protocols", "tcp", "--out", "PLACE"],
    "probe parquet": ["probe", "127.0.0.1:9", "--protocols", "tcp", "--parquet", "PLACE"],
}
WAYS_OUT = {
    "nowhere/deep/x": "there is no folder {folder}; make it first, or name another place",
    "file/x": "a part of this name is a file and not a folder; name another place",
    "/proc/x": "/proc takes no new files; name another place",
    "file": "a file of this name is in the way; name another place",
    "/dev/full": "the disk is full; make room on it, then run this again",
}
CASES = [
    *((words, way) for words in FOLDERS.values() for way in ("file/x", "/proc/x", "file")),
    *((words, way) for words in FILES.values() for way in ("nowhere/deep/x", "file/x", "/proc/x")),
    *((FILES[name], "/dev/full") for name in ("metrics", "corpus info", "trace synth", "compare")),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("run")
    write_run(directory)
    return directory


@pytest.mark.parametrize(
    ("words", "way"), CASES, ids=[f"{' '.join(words[:2])} {way}" for words, way in CASES]
)
def test_the_place_is_named_with_the_way_out(
    words: list[str], way: str, run: Path, tmp_path: Path, monkeypatch, capsys
):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "names.txt").write_text("a.example\n")
    place = str(tmp_path / way)  # an absolute one stands for itself
    named = {"PLACE": place, "RUN": str(run), "NAMES": str(tmp_path / "names.txt")}
    monkeypatch.setattr(sys, "argv", ["eyelevel", *(named.get(word, word) for word in words)])
    monkeypatch.chdir(tmp_path)
    there = set(tmp_path.rglob("*"))
    assert main.main() == 2
    said, error = capsys.readouterr()
    expected = WAYS_OUT[way].format(folder=Path(place).parent)
    assert error.splitlines()[-1] == f"eyelevel: writing {place}: {expected}"
    assert not any(line.endswith(f": {place}") for line in said.splitlines())
    assert set(tmp_path.rglob("*")) == there
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_made_in_vain_is_gone_and_one_with_something_stays(tmp_path: Path):
    for name, left in (("vain", False), ("kept", True)):
        with pytest.raises(KeyboardInterrupt), folder_of_results(tmp_path / name / "in"):
            if left:
                (tmp_path / name / "in" / "file").touch()
            raise KeyboardInterrupt
        assert (tmp_path / name / "in").exists() == left


def test_a_link_is_written_through_and_a_device_stays_one(tmp_path: Path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    write_result(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "new"
    (tmp_path / "null").symlink_to("/dev/null")
    write_result(tmp_path / "null", "new")
    assert Path("/dev/null").is_char_device() and (tmp_path / "null").is_symlink()
