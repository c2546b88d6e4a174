"""Logs of a load: qlog, packets with their keys, samples of TCP_INFO, and their drawing."""

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eyelevel.connections.qlog import parse_qlog
from eyelevel.connections.tcp_info import parse_tcp_info
from eyelevel.store import read_trial

COMMAND = [sys.executable, "-m", "eyelevel.cli.main"]
PCAP_HEAD, RECORD_HEAD = struct.Struct("<IHHiIII"), struct.Struct("<IIII")
RAW_IP, NANOSECONDS = 101, 0xA1B23C4D
TCP, UDP = 6, 17
CLIENT_HELLO = b"\x16\x03\x01"

pytestmark = pytest.mark.usefixtures("labs")


@pytest.fixture(scope="module")
def trials(small_site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One load over each stack, with all logs."""
    found = {}
    for stack in ("quic", "tcp+"):
        out = tmp_path_factory.mktemp("logged")
        command = [*COMMAND, "load", str(small_site), "--stack", stack, "--network", "lte"]
        command += ["--logs", "qlog,pcap,tcp-info", "--out", str(out), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        (load,) = json.loads(done.stdout)
        assert load["outcome"] in ("ok", "starved"), load["outcome_detail"]
        found[stack] = out / "trials" / load["hash"]
    return found


def record_of(trial: Path) -> dict[str, Any]:
    return dict(read_trial(trial.parent.parent, trial.name).record)


def packets(trial: Path) -> list[tuple[int, bytes]]:
    """Nanoseconds and bytes of each IP packet."""
    content = (trial / "logs/packets.pcap").read_bytes()
    magic, *_, link_type = PCAP_HEAD.unpack_from(content)
    assert (magic, link_type) == (NANOSECONDS, RAW_IP)
    at, found = PCAP_HEAD.size, []
    while at < len(content):
        seconds, ns, kept, length = RECORD_HEAD.unpack_from(content, at)
        assert kept == length
        at += RECORD_HEAD.size
        found.append((seconds * 10**9 + ns, content[at : at + kept]))
        at += kept
    assert at == len(content)
    return found


def checksum(packet: bytes) -> int:
    """Zero where all of an IPv4 packet's TCP or UDP checksum is right."""
    source_and_destination, payload = packet[12:20], packet[20:]
    pseudo = source_and_destination + struct.pack(">HH", packet[9], len(payload))
    data = pseudo + payload + b"\0" * (len(payload) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


@pytest.mark.parametrize(("stack", "protocol"), [("quic", UDP), ("tcp+", TCP)])
def test_the_capture_has_every_packet_whole_and_in_order(
    trials: dict[str, Path], stack: str, protocol: int
) -> None:
    path, captured = record_of(trials[stack])["path"], packets(trials[stack])
    # What the servers sent, and what came to them.
    assert len(captured) == path["capture_packets"]
    assert len(captured) == path["down"]["packets"] + path["up"]["released_packets"]
    total = path["down"]["bytes"] + path["up"]["released_bytes"]
    assert sum(len(packet) for _, packet in captured) == total
    assert path["capture_lost_packets"] == 0
    times = [at for at, _ in captured]
    assert times == sorted(times)
    ours = [packet for _, packet in captured if packet[9] == protocol]
    assert ours and all(checksum(packet) == 0 for packet in ours)


def test_the_keys_are_those_of_the_captured_handshakes(trials: dict[str, Path]) -> None:
    payloads = [packet[20 + (packet[32] >> 4) * 4 :] for _, packet in packets(trials["tcp+"])]
    hellos = {each[11:43].hex() for each in payloads if each.startswith(CLIENT_HELLO)}
    lines = (trials["tcp+"] / "logs/keys.log").read_text().splitlines()
    known = {line.split(" ")[1] for line in lines if line.startswith("SERVER_TRAFFIC_SECRET_0 ")}
    assert known and known <= hellos
    assert "SERVER_TRAFFIC_SECRET_0 " in (trials["quic"] / "logs/keys.log").read_text()


def test_each_transport_tells_what_it_knew(trials: dict[str, Path]) -> None:
    for stack, trial in trials.items():
        for connection in record_of(trial)["connections"]:
            number, in_force = connection["connection"], connection["in_force"]
            if in_force.get("failure"):
                continue
            if stack == "quic":
                file = trial / f"logs/connection-{number}.sqlog"
                found = parse_qlog(file.read_bytes(), str(file))
                packet_bytes = in_force["packet_bytes"]
            else:
                file = trial / "logs/tcp-info.jsonl"
                found = parse_tcp_info(file.read_bytes(), number, str(file))
                packet_bytes = 1448
            assert found.window_bytes[0] == 32 * packet_bytes
            assert sum(count for _, count in found.losses) == in_force["retransmitted_packets"]
            rtts = [rtt for rtt in found.rtt_ms if rtt is not None]
            assert min(rtts) >= 0.9 * in_force["rtt_ms_min"]
            assert connection["accepted_at_ns"] <= connection["ready_at_ns"]


def test_both_are_drawn_on_one_time_axis(trials: dict[str, Path], tmp_path: Path) -> None:
    page = tmp_path / "both.html"
    command = [*COMMAND, "explain", *map(str, trials.values()), "--out", str(page), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    quic, tcp = json.loads(done.stdout)["connections"]
    assert (quic["protocol"], tcp["protocol"]) == ("h3", "h2")
    assert all(each["window_bytes_max"] > 40_000 for each in (quic, tcp))
    assert "has no" not in done.stderr
    text = page.read_text(encoding="utf-8")
    assert "quic, connection" in text and "Congestion window" in text
