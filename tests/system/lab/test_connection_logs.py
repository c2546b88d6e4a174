"""Logs of a load: qlog, packets with their keys, samples of TCP_INFO, and their drawing."""

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from loads import COMMAND, load
from timeouts import TEST_TIMEOUT_S

from eyelevel.analysis.connections import parse_qlog, parse_tcp_info
from eyelevel.analysis.trials.waits import measures_of
from eyelevel.store.directory import read_trial

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
        options = ("--stack", stack, "--network", "lte", "--logs", "qlog,pcap,tcp-info,lab")
        trial = load(str(small_site), *options, out=out)
        found[stack] = trial["kept_in"] / "trials" / trial["hash"]
    return found


@pytest.mark.parametrize(
    ("stack", "library"), [("tcp+", "h2::codec::framed_read: received"), ("quic", "noq_proto::")]
)
def test_the_debug_log_has_the_labs_steps_and_the_libraries_below(
    trials: dict[str, Path], stack: str, library: str
) -> None:
    lines = (trials[stack] / "logs/lab.log").read_text(encoding="utf-8").splitlines()
    start_s = record_of(trials[stack])["browser"]["navigation_start_ns"] / 1e9
    times_s = [float(line.split()[0]) for line in lines]
    assert times_s[0] < start_s < times_s[-1]  # one clock
    text = "\n".join(lines)
    assert "eyelevel_lab::up: the path runs" in text and library in text
    assert '"event":"request"' in text and "eyelevel_lab::up: stopping" in text


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


@pytest.mark.parametrize("stack", ["quic", "tcp+"])
def test_what_the_downlink_carried_over_time_adds_up(trials: dict[str, Path], stack: str) -> None:
    record = record_of(trials[stack])
    down = record["path"]["down"]
    # The lab's stop may overtake the last packets between the model and the device.
    overtaken = sum(down["timeline"]["released_bytes"]) - down["released_bytes"]
    assert 0 <= overtaken < 0.05 * down["bytes"]
    assert max(down["timeline"]["inside_bytes_max"]) <= down["bytes"]
    gap_ms, empty, used, most = measures_of(record)
    load_ms = record["navigation"]["page_load_time_ms"]
    assert 0 < gap_ms < load_ms and 0 < empty < 1 and 0 < used < 1 and most > 1000


def test_the_keys_are_those_of_the_captured_handshakes(trials: dict[str, Path]) -> None:
    payloads = [packet[20 + (packet[32] >> 4) * 4 :] for _, packet in packets(trials["tcp+"])]
    hellos = {each[11:43].hex() for each in payloads if each.startswith(CLIENT_HELLO)}
    lines = (trials["tcp+"] / "logs/keys.log").read_text().splitlines()
    known = {line.split(" ")[1] for line in lines if line.startswith("SERVER_TRAFFIC_SECRET_0 ")}
    assert known and known <= hellos
    assert "SERVER_TRAFFIC_SECRET_0 " in (trials["quic"] / "logs/keys.log").read_text()


def tshark(trial: Path, selected: str, *fields: str, keys: bool = True) -> list[list[str]]:
    """The fields of each packet that Wireshark's own reader selects."""
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed (Debian: apt-get install tshark)")
    command = [
        "tshark",
        "-o",
        "tcp.reassemble_out_of_order:TRUE",
        "-r",
        trial / "logs/packets.pcap",
    ]
    command += ["-o", f"tls.keylog_file:{trial / 'logs/keys.log'}"] if keys else []
    command += ["-Y", selected, "-T", "fields", *(f"-e{name}" for name in fields)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=True
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_another_program_decrypts_every_page_over_tcp(trials: dict[str, Path]) -> None:
    requests = record_of(trials["tcp+"])["requests"]
    asked = tshark(trials["tcp+"], "http2.headers.method", "http2.headers.path")
    paths = sorted(path for (row,) in asked for path in row.split(","))
    assert paths == sorted(urlsplit(request["url"]).path for request in requests)
    data = 0
    for kinds, lengths in tshark(
        trials["tcp+"], "tcp.srcport == 443", "http2.type", "http2.length"
    ):
        frames = zip(kinds.split(","), lengths.split(","), strict=True)
        data += sum(int(length) for kind, length in frames if kind == "0")
    assert data == sum(request["body_bytes"] for request in requests)


def test_another_program_decrypts_every_packet_over_quic(trials: dict[str, Path]) -> None:
    requests = record_of(trials["quic"])["requests"]
    protected = tshark(trials["quic"], "quic.short", "frame.number")
    assert protected
    assert tshark(trials["quic"], "quic.short && !quic.frame_type", "frame.number") == []
    # Initial packets are for everyone to read (RFC 9001, 5.2), and may share a datagram.
    alone = "quic.short && !(quic.header_form == 1)"
    assert tshark(trials["quic"], alone, "frame.number")
    assert tshark(trials["quic"], f"quic.frame_type && {alone}", "frame.number", keys=False) == []
    heads = tshark(
        trials["quic"], "http3.frame_type == 1 && udp.dstport == 443",
        "udp.srcport", "quic.stream.stream_id",
    )  # fmt: skip
    asked = {
        (port, stream)
        for port, streams in heads
        for stream in streams.split(",")
        if int(stream) % 4 == 0  # begun by the client, in both directions (RFC 9000, 2.1)
    }
    assert len(asked) == len(requests)


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
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=True
    )
    quic, tcp = json.loads(done.stdout)["connections"]
    assert (quic["protocol"], tcp["protocol"]) == ("h3", "h2")
    assert all(each["window_bytes_max"] > 40_000 for each in (quic, tcp))
    assert "has no" not in done.stderr
    text = page.read_text(encoding="utf-8")
    assert "quic, connection" in text and "Congestion window" in text
