"""`eyelevel scan` against servers and a resolver of our own, in a lab."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from labs import cannot_build_labs
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.prober import ProbeTarget

pytestmark = pytest.mark.skipif(bool(cannot_build_labs()), reason=cannot_build_labs() or "-")

PATH = {side: [{"stage": "delay", "delay_ms": 1}] for side in ("down", "up")}
SERVERS = {"names": ["both.lab", "*.both.lab", "www.only.lab"]}


@contextmanager
def surroundings(folder: Path, **target: Any) -> Iterator[tuple[Lab, list[str]]]:
    """A lab with servers beyond the path and a resolver on this side; options that lead there."""
    with Lab(LabConfig(PATH, 1)) as lab:
        address = lab.ready.server_address
        here = {"a": [address], "h3": True}
        zone = {
            "both.lab": here,
            "www.only.lab": here,
            "wrong.lab": here,
            "closed.lab": {"a": ["127.0.0.9"]},
            "six.lab": {"aaaa": ["2001:db8::1"]},
            "silent.lab": {"silent": True},
        }
        resolver = {"address": "127.0.0.1", "port": 5353, "zone": zone}
        with (
            ProbeTarget.behind(lab, SERVERS | target) as servers,
            ProbeTarget(lab.command_prefix, resolver),
        ):
            authority = folder / "ca.pem"
            authority.write_text(servers.authority_pem, encoding="ascii")
            options = ["--resolver", "127.0.0.1:5353", "--ca", str(authority), "--private"]
            yield lab, [*options, "--rate", "1000"]


def scanned(lab: Lab, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "scan", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )


def rows(path: Path) -> dict[str, dict[str, Any]]:
    read = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({row["name"] for row in read}) == len(read)
    return {row["name"]: row for row in read}


def test_a_scan_tells_who_supports_what_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    names = ["1,both.lab", "2,only.lab", "3,wrong.lab", "4,closed.lab", "5,absent.lab"]
    names += ["6,six.lab", "7,kept.out.lab"]
    listed, out = tmp_path / "list.csv", tmp_path / "rows.jsonl"
    listed.write_text("\n".join(names), encoding="utf-8")
    (tmp_path / "optout").write_text("out.lab\nwww.absent.lab\n", encoding="utf-8")
    with surroundings(tmp_path) as (lab, around):
        options = [str(listed), "--out", str(out), "--opt-out", str(tmp_path / "optout"), *around]
        done = scanned(lab, *options, "--json")
        assert done.returncode == 0, done.stderr
        found = rows(out)
        assert scanned(lab, *options).returncode == 2, "the file exists"
        both = scanned(lab, *options[:3], "--names-with", "tls1.3,quic", "--opt-out", options[4])
        assert both.returncode == 0, both.stderr
        assert both.stdout.split() == ["both.lab", "www.only.lab", "wrong.lab"]
        # Killed in the middle of a row, and one row short.
        text = out.read_text(encoding="utf-8")
        out.write_text(text[: text[:-1].rindex("\n") + 40], encoding="utf-8")
        again = scanned(lab, *options, "--json", "--resume")
        assert again.returncode == 0, again.stderr
        assert set(rows(out)) == set(found)
        # Alone: what waits for nobody must not make a busy machine's answers late.
        (tmp_path / "silent.csv").write_text("1,silent.lab\n", encoding="utf-8")
        waited = [str(tmp_path / "silent.csv"), "--out", str(tmp_path / "silent.jsonl")]
        assert scanned(lab, *waited, *around, "--timeout", "1s").returncode == 0
    both = found["both.lab"]
    expected = {"tls13", "http2", "post_quantum", "quic", "alt_svc_h3", "https_record_h3"}
    assert all(both[feature] is True for feature in expected), both
    assert (both["ipv6"], both["http_status"], both["failure"]) == (False, 200, None)
    www = found["only.lab"]
    assert (www["host"], www["www_tried"], www["tls13"]) == ("www.only.lab", True, True)
    wrong = found["wrong.lab"]
    assert (wrong["failure"], wrong["tls13"], wrong["quic"]) == ("certificate", True, True)
    assert found["closed.lab"]["failure"] == "refused"
    assert found["absent.lab"]["failure"] == "dns-no-such-name"
    assert (found["absent.lab"]["www_tried"], found["closed.lab"]["www_tried"]) == (False, True)
    assert (found["six.lab"]["ipv6"], found["six.lab"]["ipv6_reached"]) == (True, False)
    assert rows(tmp_path / "silent.jsonl")["silent.lab"]["failure"] == "dns-timeout"
    assert "kept.out.lab" not in found
    for said in (done, again):
        summary = json.loads(said.stdout)
        assert (summary["names"], summary["skipped"]) == (7, {"opt-out list": 1})
        shares = {share["feature"]: share for share in summary["shares"]}
        for feature in ("tls13", "tls13_and_quic"):
            assert (shares[feature]["count"], shares[feature]["of"]) == (3, 3)
        assert shares["https_record_h3"]["share"]["high"] <= 1


def test_private_addresses_are_left_alone_and_an_address_has_one_connection_at_a_time(
    tmp_path: Path,
) -> None:
    listed, out = tmp_path / "names", tmp_path / "rows.jsonl"
    listed.write_text("".join(f"n{n}.both.lab\n" for n in range(30)), encoding="utf-8")
    with surroundings(tmp_path) as (lab, options):
        zone = {"*": {"a": [lab.ready.server_address]}}
        resolver = {"address": "127.0.0.1", "port": 5354, "zone": zone}
        options = [option.replace(":5353", ":5354") for option in options]
        with ProbeTarget(lab.command_prefix, resolver):
            done = scanned(lab, str(listed), "--out", str(out), *options, "--only", "tls")
            assert done.returncode == 0, done.stderr
            spans = sorted(
                (row["at_unix_us"], row["tcp_handshake_us"] + row["tls_handshake_us"])
                for row in rows(out).values()
            )
            public = [option for option in options if option != "--private"]
            left = tmp_path / "left.jsonl"
            assert scanned(lab, str(listed), "--out", str(left), *public).returncode == 0
    # All began together, and each took a path of 2 ms three times, one after the other.
    ended_us = out.stat().st_mtime_ns // 1000
    assert ended_us - spans[0][0] > sum(took_us for _, took_us in spans)
    assert {row["skipped"] for row in rows(left).values()} == {"excluded address"}
    assert all(row["tls_version"] is None for row in rows(left).values())
