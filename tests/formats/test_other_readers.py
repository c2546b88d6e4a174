"""What other tools' own checkers say of the recordings that we write."""

import json
import subprocess
import sys
import zipfile

import pytest
from labs import CORPUS

from eyelevel.lab.binary import run_tool

TIMEOUT_S = 120.0


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """A recording as our writer packs it, unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    wacz = folder / "site.wacz"
    run_tool(["archive", "import", str(CORPUS / "dashboard.wacz"), "--out", str(wacz)])
    with zipfile.ZipFile(wacz) as container:
        container.extractall(folder)
    return folder


def run(module: str, *arguments: str) -> str:
    call = f"import sys; from {module} import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", call, *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def cdxj(text: str) -> dict[str, tuple[str, str | None, str]]:
    """What an index says of each URL: its offset, status (pictures have none), digest."""
    entries = [json.loads(line.split(" ", 2)[2]) for line in text.splitlines() if "{" in line]
    return {
        each["url"]: (each["offset"], each.get("status"), each["digest"].removeprefix("sha1:"))
        for each in entries
    }


def test_warcio_finds_every_digest_right(unpacked):
    warc = unpacked / "archive" / "data.warc"
    said = run("warcio.cli", "check", "-v", str(warc))
    assert said.count("digest pass") == said.count("WARC-Record-ID") - said.count("no digest")
    assert "digest failed" not in said and said.count("digest pass") > 50


def test_warcio_would_see_a_changed_byte(unpacked, tmp_path):
    content = (unpacked / "archive" / "data.warc").read_bytes()
    changed = tmp_path / "changed.warc"
    at = content.index(b"<!DOCTYPE") if b"<!DOCTYPE" in content else len(content) // 2
    changed.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    call = "import sys; from warcio.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", call, "check", str(changed)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 1 and "digest failed" in done.stdout


def test_pywb_indexes_it_as_we_do(unpacked):
    ours = cdxj((unpacked / "indexes" / "index.cdx").read_text(encoding="utf-8"))
    pywbs = run("pywb.indexer.cdxindexer", "-j", str(unpacked / "archive" / "data.warc"))
    theirs = cdxj(pywbs)
    # The recorded page's picture, which no replay asks for, stands in no index of ours.
    pictures = [url for url in theirs if url.startswith("urn:view:")]
    assert len(pictures) == 1 and theirs.pop(pictures[0])
    assert theirs == ours and len(ours) == 21
