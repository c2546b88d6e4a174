"""A recording of a developer's own machine replays, though no resolver is asked for its hosts."""

import json

from eyelevel.lab.binary import run_tool
from eyelevel.sites.check import STACKS, check_page

PICTURE = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'
)
HOSTS = ("127.0.0.1", "localhost", "192.168.7.1", "a.localhost")
PLACES = ("http://localhost:8001", "https://192.168.7.1:8443", "https://a.localhost")


def pack(folder, main: str):
    pictures = "".join(f"<img src={place}/a.svg>" for place in PLACES)
    page = f"<!doctype html><title>local</title><link rel=icon href=data:,>{pictures}"
    (folder / "page").write_text(page, encoding="ascii")
    (folder / "picture").write_bytes(PICTURE)
    said = {"status": 200, "reason": "OK"}
    exchanges = [said | {"url": main, "file": "page", "headers": [["content-type", "text/html"]]}]
    exchanges += [
        said
        | {"url": f"{place}/a.svg", "file": "picture"}
        | {"headers": [["content-type", "image/svg+xml"]]}
        for place in PLACES
    ]
    manifest = {
        "title": "local",
        "description": "Made by a test",
        "main_url": main,
        "created_at": "2020-01-01T00:00:00Z",
        "addresses": {host: f"198.18.1.{number}" for number, host in enumerate(HOSTS)},
        "exchanges": exchanges,
    }
    file, out = folder / "manifest.json", folder / "local.wacz"
    file.write_text(json.dumps(manifest), encoding="utf-8")
    run_tool(["archive", "pack", str(file), "--out", str(out)])
    return out


def test_hosts_of_the_own_machine_are_taken_to_the_lab(tmp_path):
    for main in ("http://127.0.0.1:8000/", "https://127.0.0.1:8000/"):
        found = check_page(pack(tmp_path, main), len(STACKS), quiet_s=0.3)
        assert [load.detail for load in found.loads if load.ended != "complete"] == []
        assert found.misses == () and found.failure() == ""
        wanted = {main, *(f"{place}/a.svg" for place in PLACES)}
        assert [load.requested for load in found.loads] == [frozenset(wanted)] * len(STACKS)
