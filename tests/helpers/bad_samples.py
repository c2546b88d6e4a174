"""Samples of every kind of file that people hand on, for tests of damaged ones."""

import gzip
import io
import json
from collections.abc import Callable
from typing import Any

from levels import level
from repository import ROOT
from sample_record import sample_connection, sample_object, sample_request

from eyelevel.analysis.decisions import STOP_VERSION
from eyelevel.analysis.stats.estimate import undetermined
from eyelevel.calibration.validation.stacks import Cell, Side
from eyelevel.run.bucket.layout import block_object, blocks_of, pack_block, read_block
from eyelevel.store.directory import ENVIRONMENT_FILE, PLAN_FILE
from eyelevel.store.pictures import PICTURES

GOLDEN = ROOT / "vectors" / "golden"
CORPUS = ROOT / "crates" / "fuzz" / "corpus"

STOPPED: dict[str, Any] = {
    "version": STOP_VERSION,
    "repetition": None,
    "reason": "quic against tcp on traced after 1 of 2 blocks: a clear sign",
    "networks": {"traced": 1},
    "comparisons": [
        {"network": "traced", "stack": "quic", "reference": "tcp", "state": "clear sign",
         "width": 0.1, "repetition": 1},
        {"network": "traced+cross", "stack": "quic", "reference": "tcp", "state": "open",
         "width": None, "repetition": None},
    ],
}  # fmt: skip
"""A `stop.json` of the golden plan, if it may stop."""


def environment() -> dict[str, Any]:
    """The golden run's, with a measured level and two cells of the yardstick, as JSON has it."""
    of_run = json.loads((GOLDEN / "run" / "environment.json").read_bytes())
    levels = [level(("tcp", "quic"), quic_ecn=1.0) | {"complete": True}]
    cells = [
        Cell.of("10ms-1.0%", 0.01, "bbr", _side("tcp", 9.5e6), _side("quic", 9.1e6)).as_json(),
        Cell.of("10ms", 0.0, "cubic", _side("tcp"), _side("quic")).as_json()
        | {"ratio": undetermined("one run shows no spread", value=1.3).as_json()},
    ]
    filled = of_run | {"levels": levels, "stacks_validated": cells}
    read: dict[str, Any] = json.loads(json.dumps(filled))
    return read


def environments() -> list[bytes]:
    """Return the environments of a run without measurements, and of one with many."""
    return [*golden("run/environment.json")(), json.dumps(environment()).encode()]


def statuses() -> list[bytes]:
    """Return the status of interrupted runs, on this machine and on others."""
    known = {
        "version": 1, "ending": "interrupted", "started_at": "2026-11-23T19:50:55+00:00",
        "written_at": "2026-11-23T19:55:33+00:00", "outcomes": {"ok": 2, "timeout": 1}, "slots": 13,
        "slots_there": 26, "loads_per_s": 2.5, "left_s": 60.0, "machines_lost": 1,
        "resume": "eyelevel run plan.toml --out run --resume",
    }  # fmt: skip
    here = {"slots": 1, "slots_there": None, "machines_lost": 0, "left_s": 0.0}
    return [json.dumps(each).encode() for each in (known, known | here)]


def stops() -> list[bytes]:
    """`STOPPED` as a file."""
    return [json.dumps(STOPPED).encode()]


def stop_plan() -> bytes:
    """The golden plan as one that may stop early."""
    plan = json.loads((GOLDEN / "run" / "plan.json").read_bytes())
    rule = {"blocks_min": 2, "futility": True}
    return json.dumps(plan | {"stop": rule}).encode()


def warcs() -> list[bytes]:
    """Return sites as they are recorded elsewhere, plain and packed; some hold nothing whole."""
    return [sample for sample in corpus("archive")() if not sample.startswith(b"PK")]


def _side(stack: str, goodput_bit_s: float = 1e7) -> Side:
    return Side(
        stack=stack,
        goodput_bit_s=goodput_bit_s,
        corrected_bit_s=goodput_bit_s / 0.95,
        retransmitted_packets=12,
        retransmitted_share=0.01,
        queue_delay_ms_p50=3.0,
        queue_delay_ms_p95=None,
        lateness_us_p99=90.0,
        lost_outside_packets=0,
        failed_runs=0,
        runs=(goodput_bit_s, goodput_bit_s * 1.01),
    )


def golden(pattern: str) -> Callable[[], list[bytes]]:
    """Files of the golden vectors."""
    return lambda: [path.read_bytes() for path in sorted(GOLDEN.glob(pattern))]


def corpus(target: str) -> Callable[[], list[bytes]]:
    """Return a fuzz target's corpus."""
    return lambda: [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]


def texts(*samples: str) -> Callable[[], list[bytes]]:
    """Samples as they stand here."""
    return lambda: [sample.encode() for sample in samples]


def copied() -> dict[str, bytes]:
    """The golden run as it lies in a bucket, with a machine."""
    run = GOLDEN / "run"
    files = [run / PLAN_FILE, run / ENVIRONMENT_FILE, *sorted((run / PICTURES).iterdir())]
    objects = {str(file.relative_to(run)): file.read_bytes() for file in files}
    trials = json.loads((run / PLAN_FILE).read_bytes())["trials"]
    blocks = blocks_of((each["block"], each["hash"]) for each in trials)
    for number, names in enumerate(blocks):
        objects[block_object(number)] = pack_block(read_block(run, names))
    machine = {
        "version": 1, "machine": "0123456789", "name": "lab", "slots": 1, "facts": {"cpu": "x"},
        "page_load_time_ms": [800.5], "processor_s": [1.5], "problems": [], "class": 1,
        "reason": "", "retired": [{"slot": 1, "reason": "it failed"}],
    }  # fmt: skip
    return objects | {"machines/0123456789.json": json.dumps(machine).encode()}


def in_bucket(name: str) -> Callable[[], list[bytes]]:
    """One object of `copied`."""
    return lambda: [copied()[name]]


def bucket_beside() -> dict[str, bytes]:
    """Return all objects of `copied` in the folder `bucket`."""
    return {f"bucket/{name}": content for name, content in copied().items()}


def plans() -> list[bytes]:
    """The golden plan, and one that says much."""
    much = (
        'title = "x"\nsites = ["plain", "api"]\nreference = "tcp"\nblocks = 7\nseed = 3\n'
        'device = "moto-g"\nvisit = "repeat"\nblocked_hosts = ["ads.example"]\nlogs = ["qlog"]\n'
        'stacks = ["tcp", { name = "x", base = "quic", external_server = { command = ["a"], '
        'protocols = ["h3"] } }]\n[stop]\n[[networks]]\nbase = "dsl"\n'
        'name = "y"\nloss_two_way = "1 %"\n[[networks]]\nname = "z"\nrate_down_bit_s = "1 Mbit/s"\n'
        'rate_up_bit_s = 1_000_000\nrtt_ms_min = "20 ms"\nqueue_ms = 200\n'
        '[[networks]]\nname = "w"\nrtt = "9 ms"\ndown = "rate 1 Mbit/s, loss 1%"\n'
        '[[networks]]\nname = "v"\nbase = "das-att-30"\nup = "delay 5ms"\n'
    )
    small = 'sites = ["plain"]\nnetworks = ["dsl"]\nstacks = ["tcp", "quic"]\nreference = "tcp"\n'
    return [much.encode(), (small + "blocks = 2\n").encode()]


def records() -> list[bytes]:
    """The golden records, each with an object, a request and a connection more."""
    full = []
    for content in golden("run/trials/*/record.json.gz")():
        record = json.loads(gzip.decompress(content))
        record["objects"].append(sample_object())
        record["requests"].append(sample_request())
        record["connections"].append(sample_connection(sent_bytes=9))
        full.append(gzip.compress(json.dumps(record).encode(), 1))
    return full


def delays_and_rates() -> list[bytes]:
    """Series of delay and rate, with other columns, other separators and comments."""
    return texts(
        "time_s,rtt_ms,down_mbps,up_mbps,sat\n0,40,12,3,a\n1,50.5,9,2.5,b\n2,45,0,2,b\n",
        "# of a terminal\nmbit_s;timestamp_ms;owd_ms\n8;1700000000000;20\n\n9;1700000000015;21\n",
    )()


def probe_rows() -> list[bytes]:
    """Return rows as the prober writes them."""
    row = {
        "event": "attempt", "host": "a.example", "port": 443, "address": "192.0.2.1", "path": "/",
        "at_unix_us": 1_700_000_000_000_000, "connection_us": 30_000, "tcp_handshake_us": 10_000,
        "dns_us": 900, "resumed": False, "split_connection": False, "failure": None,
        "vantage": "here", "cnames": ["a.example.edge.example"], "server": "edge",
    }  # fmt: skip
    lines = [
        json.dumps(row | {"protocol": protocol, "version": protocol, "connection_us": us})
        for protocol, us in (("tls1.3", 30_000), ("quic", 20_000), ("tls1.2", 45_000))
    ]
    return ["\n".join([*lines, *lines, ""]).encode()]


def listed_rows() -> list[bytes]:
    """Return the rows of a stopped list; its one name is in the list beside them."""
    begun = json.dumps({"event": "list", "targets": 2}) + "\n"
    done = json.dumps({"event": "target", "host": "a.example", "port": 443, "path": "/"}) + "\n"
    return [begun.encode() + probe_rows()[0] + done.encode()]


def scan_rows() -> list[bytes]:
    """Return rows as the scanner writes them; the first name is in the list beside them."""
    row = {
        "event": "scan", "name": "a.example", "host": "www.a.example", "port": 443,
        "address": "192.0.2.1", "address6": None, "tls_version": "TLSv1_3", "tls13": True,
        "quic": True, "http2": True, "skipped": None, "failure": None,
    }  # fmt: skip
    failed = row | {"name": "b.example", "tls_version": None, "failure": "refused"}
    rows = [row, failed, row | {"name": "c.example", "port": 8443, "host": "2001:db8::1"}]
    return ["".join(json.dumps(each) + "\n" for each in rows).encode()]


def parquet() -> list[bytes]:
    """Return the rows as a Parquet table."""
    import polars as pl

    buffer = io.BytesIO()
    rows = [json.loads(line) for line in probe_rows()[0].splitlines()]
    pl.DataFrame(rows).write_parquet(buffer)
    return [buffer.getvalue()]


THESIS = (
    "DnsLookupTime;TimeOfMeasurement;Url;Path;Ip;Port;ConnectionEstablishmentTime;HttpResponse;"
    "Protocol;TcpHandshakeTimeOptional\n0.5;1600000000;a.example;/;192.0.2.1;443;30.5;200;"
    "TCP/TLS1.3;10.1\n0.5;1600000001;a.example;/;192.0.2.1;443;20.5;200;QUICv1;\n"
)

CRUX = json.dumps(
    {
        "record": {
            "key": {"formFactor": "PHONE", "origin": "https://www.example.org"},
            "metrics": {
                "round_trip_time": {
                    "histogram": [
                        {"start": 0, "end": 75, "density": 0.4518},
                        {"start": 75, "end": 275, "density": 0.482},
                        {"start": 275, "density": 0.0661},
                    ],
                    "percentiles": {"p75": 126},
                }
            },
        }
    }
)
"""An answer of CrUX's API, of the form that it had in 2025."""

FCC = (
    "unit_id,dtime,target,address,fetch_time,bytes_total,bytes_sec,bytes_sec_interval,warmup_time,"
    "warmup_bytes,sequence,threads,successes,failures,location_id\n"
    "386,2015-01-02 01:00:00,a.example,192.0.2.1,5,7,9,1500000,1,2,0,3,1,0,9\n"
    "386,2015-01-02 01:00:00,a.example,192.0.2.1,9,22,8,3000000,1,2,1,3,1,0,9\n"
    "400,2015-01-03 01:00:00,a.example,192.0.2.1,5,7,9,150000,1,2,0,3,1,0,9\n"
    "386,2015-01-01 01:00:00,a.example,192.0.2.1,5,7,9,750000,1,2,0,3,1,0,9\n"
)
MONROE = (
    "nodeid,iccid,timestamp,sequencenumber,bytes,dataid,dataversion,guid,host,operator,rtt\n"
    "48,89,1463048694.5,70,84,MONROE.EXP.PING,2,g,192.0.2.1,Telenor,40.5\n"
    "48,89,1463048695.5,71,84,MONROE.EXP.PING,2,g,192.0.2.1,Telenor,60\n"
    "48,89,1463048696.5,72,84,MONROE.EXP.PING,2,g,192.0.2.1,Telenor,None\n"
    "48,89,1463048697.5,73,84,MONROE.EXP.PING,2,g,192.0.2.1,Telenor,80\n"
)
"""Synthetic rows with the headings of both campaigns' tables."""
