"""A live load: the page from servers of others, over the network that is there."""

import json
from pathlib import Path

import pytest
from emulated_internet import (
    ADDRESSES,
    ADDRESSES6,
    IMAGES,
    STATIC,
    URL,
    WWW,
    emulated_internet,
    needs_programs,
)
from labs import run_in
from loads import one_load

from eyelevel.run.block.attempts import RETRIES_MAX

RTT_MS = 40.0
FORWARDING = "/proc/sys/net/ipv6/conf/all/forwarding"


def test_a_page_comes_from_its_own_servers_over_connections_of_the_browsers_own(
    labs: None, tmp_path: Path
) -> None:
    needs_programs()
    with emulated_internet(tmp_path, RTT_MS) as internet:
        words = ("load", URL, "--live", "--upstream-ca", str(internet.authority), "--json")
        row, done, _ = one_load(lambda _: internet.eyelevel(*words))
    assert done.returncode == (row["outcome"] != "ok"), done.stderr
    assert row["network"] == "live" and row["path"] is None and row["connections"] == []
    assert len(row["objects"]) == 2 + IMAGES
    for item in row["objects"]:
        host = item["url"].split("/")[2]
        assert (item["status"], item["protocol"]) == (200, "h2"), item
        # The server itself, and nothing that stands before it.
        assert item["address"].startswith(ADDRESSES[host]), item
    (page,) = [item for item in row["objects"] if item["url"] == URL]
    opened, ended = page["connect_ms"]
    # TCP's handshake and TLS's, of one round trip each: what ends TLS on the way has less. The
    # browser may begin before what it calls the navigation's start.
    assert ended - opened > 1.5 * RTT_MS
    assert {item["url"].split("/")[2] for item in row["objects"]} == {WWW, STATIC}


@pytest.mark.parametrize("stack", ["tcp+", "quic"])
def test_where_the_machine_has_ipv6_the_page_comes_over_it(
    labs: None, tmp_path: Path, stack: str
) -> None:
    needs_programs()
    url = f"https://{STATIC}/" if stack == "quic" else URL
    words = ("load", url, "--live", "--stack", stack, "--json")
    with emulated_internet(tmp_path, RTT_MS, ipv6=True) as internet:
        trust = ("--upstream-ca", str(internet.authority))
        assert run_in(internet.lab, "sh", "-c", f"echo 1 > {FORWARDING}").returncode == 0
        over6, done, _ = one_load(lambda _: internet.eyelevel(*words, *trust))
        assert run_in(internet.lab, "sh", "-c", f"echo 0 > {FORWARDING}").returncode == 0
        over4, without, _ = one_load(lambda _: internet.eyelevel(*words, *trust))
    for row, addresses in ((over6, ADDRESSES6), (over4, ADDRESSES)):
        own = {item["url"].split("/")[2]: item["address"] for item in row["objects"]}
        for host, address in own.items():
            assert address.rpartition(":")[0].strip("[]") == addresses[host]
    told = "live loads are over IPv4 alone: this machine has IPv6, but forwards no packets of it"
    assert told in without.stderr and "IPv4 alone" not in done.stderr


def test_over_quic_the_page_comes_over_http3(labs: None, tmp_path: Path) -> None:
    needs_programs()
    with emulated_internet(tmp_path, RTT_MS) as internet:
        trust = ("--upstream-ca", str(internet.authority))
        words = ("load", f"https://{STATIC}/", "--live", "--stack", "quic", "--json", *trust)
        row, _, _ = one_load(lambda _: internet.eyelevel(*words))
    assert {item["protocol"] for item in row["objects"]} == {"h3"}
    assert {item["address"].rpartition(":")[0] for item in row["objects"]} == {ADDRESSES[STATIC]}


def test_what_a_live_load_lacks_is_one_line(labs: None, tmp_path: Path) -> None:
    needs_programs()
    with emulated_internet(tmp_path, 1.0) as internet:
        for words, told in (
            (["https://nobody.example/"], "net::ERR_NAME_NOT_RESOLVED"),
            (["http://10.1.2.3/"], "a live load reaches only public addresses"),
            ([URL], "net::ERR_CERT_AUTHORITY_INVALID"),
        ):
            done = internet.eyelevel("load", *words, "--live", "--json")
            (row,) = json.loads(done.stdout)
            assert (done.returncode, row["outcome"]) == (1, "lab-failed")
            assert told in row["outcome_detail"]
        out = tmp_path / "study"
        done = internet.eyelevel("validate", "live", "https://nobody.example/", "--out", str(out))
        assert done.returncode == 2
        assert "recording https://nobody.example/ failed" in done.stderr
        assert not out.exists()
        for words, told in (
            (["--allow", "intranet.example"], "judged by addresses"),
            (["--upstream-ca", "/nowhere.pem"], "read certificates from /nowhere.pem"),
        ):
            done = internet.eyelevel("load", URL, "--live", *words)
            assert done.returncode == 2 and told in done.stderr, done.stderr
            assert done.stderr.count("\n") == 1


def test_an_error_page_is_not_the_page(labs: None, tmp_path: Path) -> None:
    needs_programs()
    tmp_path.chmod(0o755)
    out, url = tmp_path / "study", f"{URL}missing"
    with emulated_internet(tmp_path, 1.0) as internet:
        trust = ("--upstream-ca", str(internet.authority))
        for _ in range(1 + RETRIES_MAX):
            done = internet.eyelevel("load", url, "--live", "--json", *trust)
            (row,) = json.loads(done.stdout)
            if row["outcome"] != "starved":  # which is said first
                break
        assert (done.returncode, row["outcome"]) == (1, "different-page")
        assert row["outcome_detail"] == f"the page answered 404: {url}"
        done = internet.eyelevel("validate", "live", url, "--out", str(out), *trust)
    assert done.returncode == 2 and not out.exists()
    assert f"recording {url}: the page answered 404, so it is not kept" in done.stderr
