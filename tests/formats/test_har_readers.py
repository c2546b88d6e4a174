"""What other people's readers of HAR find in ours: in a load's, and in a recording's."""

import json
import subprocess
from pathlib import Path

import pytest
from har2warc.har2warc import har2warc
from har_opening import CONTENT_OF_PAGE, MESSAGE, OPENING
from har_schema import HAR
from haralyzer import HarParser
from repository import ROOT
from sample_record import sample_record
from small_site import BODIES, pack_small_site
from warcio.archiveiterator import ArchiveIterator

from eyelevel.analysis.export.har import har_of
from eyelevel.lab.binary import run_tool

PAGEXRAY = ROOT / "out" / "peers" / "node_modules" / "pagexray"
TIMEOUT_S = 60.0


def har_of_load(folder: Path) -> Path:
    record = sample_record() | {"objects": [OPENING]}
    record["requests"] = [{"url": OPENING["url"], "exchange": 0}]
    file = folder / "load.har"
    har = har_of(record, [MESSAGE], [CONTENT_OF_PAGE])
    file.write_text(json.dumps(har), encoding="utf-8")
    return file


def har_of_recording(folder: Path) -> Path:
    file = folder / "site.har"
    run_tool(["archive", "export", str(pack_small_site(folder)), "--har", str(file)])
    return file


@pytest.fixture(params=[(har_of_load, 1), (har_of_recording, len(BODIES))])
def exported(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, int]:
    """A file and how many exchanges it has."""
    write, count = request.param
    return write(tmp_path), count


def test_it_keeps_to_the_schema(exported: tuple[Path, int]) -> None:
    har = json.loads(exported[0].read_text(encoding="utf-8"))
    assert [error.json_path + ": " + error.message for error in HAR.iter_errors(har)] == []


def test_haralyzer_reads_every_entry_and_body(exported: tuple[Path, int]) -> None:
    file, count = exported
    (page,) = HarParser(json.loads(file.read_text(encoding="utf-8"))).pages
    assert len(page.entries) == count
    assert all(entry.response.status == 200 and entry.response.text for entry in page.entries)


def test_har2warc_makes_a_record_of_every_exchange(
    exported: tuple[Path, int], tmp_path: Path
) -> None:
    file, count = exported
    warc = tmp_path / "made.warc.gz"
    har2warc(str(file), str(warc), gzip=True)
    with warc.open("rb") as stream:
        kinds = [record.rec_type for record in ArchiveIterator(stream)]
    assert kinds.count("response") == kinds.count("request") == count


def test_sitespeeds_reader_counts_what_was_sent(exported: tuple[Path, int]) -> None:
    if not PAGEXRAY.exists():
        pytest.skip("pagexray is not installed: scripts/test-peers installs it with npm")
    file, count = exported
    script = (
        "const har = JSON.parse(require('fs').readFileSync(process.argv[2]));"
        "const [page] = require(process.argv[1]).convert(har, {includeAssets: true});"
        "console.log(JSON.stringify([page.url, page.assets.length]))"
    )
    done = subprocess.run(
        ["node", "-e", script, str(PAGEXRAY), str(file)],
        capture_output=True, text=True, timeout=TIMEOUT_S, check=True,
    )  # fmt: skip
    url, assets = json.loads(done.stdout)
    har = json.loads(file.read_text(encoding="utf-8"))
    assert url == har["log"]["entries"][0]["request"]["url"] and assets == count
