"""The group `eyelevel probe`: connection times on the Internet and in the lab.

Probe a list of hosts one after the other, with progress and resumption (`probe --list`). Run one
round of attempts: on the Internet, or in a lab created for it. Run repeated rounds that survive
restarts and never overlap (`--every` and `--for`). Test whether a network lets QUIC through
(`eyelevel probe udp`).
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from eyelevel.base.errors import INTERRUPTS, AllFailedError, LabError, ProbeError
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import KEPT
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.finish import end_at
from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.output import complain, hints, print_json, results, say, table
from eyelevel.cli.probe.output import Form, Sink, make_sink
from eyelevel.cli.probe.progress import GO_ON, NO_GOING_ON, mend, progress
from eyelevel.cli.probe.report import report
from eyelevel.cli.probe.servers import (
    BLOCKS,
    BLOCKS_MAX,
    DEFAULT,
    Handshakes,
    Kept,
    put_side_by_side,
    show_side_by_side,
)
from eyelevel.cli.values import get_stack
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.prober import ProbeTarget, probe_events
from eyelevel.load.servers.visits import Conditions
from eyelevel.load.traces import read_stages
from eyelevel.plan.networks.compose import Composed, NetworkWords, compose
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.stacks import KeyExchange
from eyelevel.probes.targets import (
    Key,
    Rounds,
    key_of,
    list_row,
    parse_connect,
    parse_duration_s,
    parse_protocols,
    parse_resolver,
    parse_target,
    protocols_of_stacks,
    read_finished_targets,
    read_targets,
    target_row,
)
from eyelevel.probes.udp import PROTOCOLS, Passage, passage
from eyelevel.store.disk import temporary_folder, writing


@dataclass(frozen=True)
class Request:
    """The probes of one round, and how their rows are handled."""

    config: JsonObject
    network: Composed | None
    stacks: str | None

    def rows(self) -> Iterator[JsonObject]:
        """Yield the rows of one round."""
        if self.network is not None:
            return rows_in_lab(self.config, self.network, self.stacks)
        return probe_events("probe", self.config)


def sessions(*, resumed: bool, early: bool) -> dict[str, bool]:
    """Return the prober's settings for resuming sessions. Raises `ProbeError`."""
    if early and not resumed:
        raise ProbeError(
            "--early-data needs --resume-session: only a resumed session has keys for it"
        )
    return {"resume_session": resumed, "early_data": early}


def rows_in_lab(
    config: JsonMapping,
    network: Composed,
    stacks: str | None,
    target: JsonMapping | None = None,
) -> Iterator[JsonObject]:
    """Yield the rows of one round in a new lab, with the network's `path_rtt_ms` added.

    `target` configures the servers (spec/probe.md); by default they accept early data.
    """
    config = dict(config)
    if stacks is not None:
        named = [get_stack(name.strip()) for name in stacks.split(",")]
        config["protocols"] = protocols_of_stacks(
            [(stack.http_version, stack.tls_version) for stack in named]
        )
        config |= _early_data_settings(stacks, {stack.early_data for stack in named})
    names = [each["host"] for each in config["targets"]]
    behaviour = {"names": names, "early_data": True, "quic_versions": [1, 0x6B3343CF]}
    # Like prober and path: waiting for a CPU must not count as network time.
    behaviour["realtime"] = True
    with (
        Lab(LabConfig(lab_path(network.network, network.files), int(config["seed"]))) as lab,
        ProbeTarget.behind(lab, behaviour | dict(target or {})) as servers,
        temporary_folder("probe") as folder,
    ):
        authority = folder / "ca.pem"
        authority.write_text(servers.authority_pem, encoding="ascii")
        both = (lab.ready.server_address, lab.ready.server_address6)
        addresses = [address for address in both if address]
        config["authority_file"] = str(authority)
        config["targets"] = [one | {"connect": addresses} for one in config["targets"]]
        for event in probe_events("probe", config, lab.command_prefix):
            is_row = event["event"] == "attempt"
            yield event | ({"path_rtt_ms": network.network.rtt_ms_min} if is_row else {})


def _early_data_settings(stacks: str, kinds: set[bool]) -> dict[str, bool]:
    """Return early-data settings: 0-RTT in resumed connections for all rows of a round or none."""
    if kinds == {True, False}:
        raise ProbeError(f"--stack {stacks}: probe stacks with 0-RTT apart from those without")
    return sessions(resumed=True, early=True) if kinds == {True} else {}


LAB = "lab"
LAB_HOSTS_MAX = 100

USER_AGENT = "eyelevel-probe/0.1 (connection timing; see docs/guides/probing.md)"
"""User agent that names the tool and the page with its conduct."""

COUNT_MAX = 10_000
DEFAULT_PROTOCOLS = "tls1.2,tls1.3,quic"


class _MeasureFirst(TyperGroup):
    """A group that runs `eyelevel probe HOST` as `eyelevel probe measure HOST`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, "-h", "--help"):
            args = ["measure", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_MeasureFirst,
    help="Time connections over each protocol (`eyelevel probe HOST`), and report on them.",
)
app.command("report")(report)


@app.command("measure")
@with_network_options()
def measure(
    hosts: Annotated[list[str] | None, typer.Argument(help="HOST[:PORT][/PATH], or `lab`.")] = None,
    list_: Annotated[
        Path | None, typer.Option("--list", help="A file of hosts, one per line; # comments.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue a --list in --out.")] = False,
    protocols: Annotated[
        str | None, typer.Option(help="Any of tcp, tls1.2, tls1.3, quic, quic-v2.")
    ] = None,
    v4: Annotated[bool, typer.Option("-4", help="Use IPv4 only; with -6 use both.")] = False,
    v6: Annotated[bool, typer.Option("-6", help="Use IPv6 only; with -4 use both.")] = False,
    count: Annotated[int, typer.Option(min=1, max=COUNT_MAX, help="Attempts per protocol.")] = 1,
    interval: Annotated[str, typer.Option(help="The time between attempts on one host.")] = "1s",
    timeout: Annotated[str, typer.Option(help="The time limit of one attempt.")] = "30s",
    resume_session: Annotated[bool, typer.Option(help="Resume an earlier session.")] = False,
    early: Annotated[
        bool,
        typer.Option("--early-data/--no-early-data", help="Send the request as early data."),
    ] = False,
    print_: Annotated[
        bool, typer.Option("--print", help="Print servers' answers: head and 4 kB of body.")
    ] = False,
    local_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Send from this port.")
    ] = None,
    resolver: Annotated[str | None, typer.Option(help="Use this resolver: ADDRESS[:PORT].")] = None,
    connect: Annotated[
        str | None, typer.Option(help="Connect to this IP address, without DNS.")
    ] = None,
    ca: Annotated[Path | None, typer.Option(help="Trust only these roots (PEM).")] = None,
    vantage: Annotated[
        str | None, typer.Option(help="The name of this place, for every row.")
    ] = None,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    stack: Annotated[
        str | None, typer.Option(help="With `lab`: stacks, separated by commas.")
    ] = None,
    lab_hosts: Annotated[
        int,
        typer.Option(
            "--hosts", min=1, max=LAB_HOSTS_MAX, help="With `lab`: how many names its server has."
        ),
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the order of attempts.")] = 1,
    every: Annotated[
        str | None, typer.Option(help="Repeat the measurement, such as every 1h.")
    ] = None,
    for_: Annotated[
        str | None, typer.Option("--for", help="With --every: how long, such as 7d.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Append rows as JSON lines.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write rows as Parquet.")] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV: every column, and failed attempts too.")
    ] = False,
    as_thesis_csv: Annotated[
        bool, typer.Option("--thesis-csv", help="Print CSV with the thesis's columns.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print rows as JSON lines.")] = False,
) -> None:
    """Time DNS, TCP, TLS, QUIC and the first byte of a response, with one row per attempt.

    DNS is asked once per host, and the attempts on one host are in random order. `eyelevel
    probe report FILE…` analyses the rows.
    """
    if (list_ is None) == (not hosts):
        raise ProbeError("write hosts to probe, or their --list, and not both")
    if resume and (list_ is None or every):
        raise ProbeError("--resume continues one round of a --list; give that, and no --every")
    resumed = _resumable(out, parquet) if resume else None
    in_lab = hosts == [LAB]
    if in_lab and (connect or resolver or ca):
        raise ProbeError(
            "a lab has its own addresses, names and roots: leave out --connect and the like"
        )
    if not in_lab and (given := words.given()):
        raise ProbeError(
            f"{next(iter(given))}: a network needs the host `lab`; write `eyelevel probe lab`"
        )
    if not in_lab and (stack or lab_hosts > 1):
        raise ProbeError(f"{'--stack' if stack else '--hosts'} needs the host `lab`")
    if in_lab and lab_hosts > 1:
        hosts = [f"{LAB}{number}" for number in range(1, lab_hosts + 1)]
    of_sessions = sessions(resumed=resume_session, early=early)
    if as_csv + as_thesis_csv + as_json > 1:
        raise ProbeError("--csv, --thesis-csv and --json exclude one another: give one of them")
    form = Form.of(csv=as_csv, thesis_csv=as_thesis_csv, json=as_json)
    if print_ and form in (Form.CSV, Form.THESIS_CSV):
        raise ProbeError("--print writes answers between rows, which CSV cannot hold: use --json")
    if protocols and stack:
        raise ProbeError(
            "--stack already says which protocols: give only one of --protocols and --stack"
        )
    # A lab's servers always have both; others may have only one.
    v4 = v4 or (in_lab and not v6)
    both = v4 == v6
    if connect:
        connect = parse_connect(connect, v4=v4 or both, v6=v6 or both)
    targets = (
        read_targets(list_, lambda line: say(hints, line))
        if list_
        else [parse_target(host) for host in hosts or []]
    )
    config: JsonObject = {
        "targets": [target.as_config(connect) for target in targets],
        "protocols": parse_protocols(protocols or DEFAULT_PROTOCOLS),
        "v4": v4 or both,
        "v6": v6 or both,
        "count": count,
        "interval_ms": round(1000 * parse_duration_s(interval, "--interval")),
        "timeout_ms": round(1000 * parse_duration_s(timeout, "--timeout")),
        **of_sessions,
        "keep_answers": print_,
        "local_port": local_port,
        "resolver": parse_resolver(resolver) if resolver else None,
        "authority_file": str(ca.resolve()) if ca else None,
        "vantage": vantage,
        "user_agent": USER_AGENT,
        "seed": seed,
    }
    request = Request(config, compose(words, read_stages) if in_lab else None, stack)
    if every is None and for_ is None:
        with make_sink(out, parquet, form) as sink:
            if list_ is not None:
                _measure_list(config, sink, resumed)
            else:
                _drain(request.rows(), sink)
            sink.all_over()
        _end(out, parquet, is_for_machines=form is not Form.TABLE)
        if resumed is None:
            _end_if_all_failed(sink)
        return
    if every is None or for_ is None or out is None:
        raise ProbeError(
            "--every and --for go together and need --out for what they measure; give all three"
        )
    every_s, for_s = parse_duration_s(every, "--every"), parse_duration_s(for_, "--for")
    # Lock first: opening removes an incomplete line, which another process may be writing.
    with (
        alone(out) as state_path,
        make_sink(out, parquet, form) as sink,
    ):
        repeat(state_path, every_s, for_s, lambda: _drain(request.rows(), sink))
    _end(out, parquet, is_for_machines=form is not Form.TABLE)
    _end_if_all_failed(sink)


def _end(*files: Path | None, is_for_machines: bool) -> None:
    for file in filter(None, files):
        if file.exists():  # without rows there is no Parquet file
            end_at("rows", file, as_json=is_for_machines)


def _end_if_all_failed(sink: Sink) -> None:
    """Raise `AllFailedError` if no attempt succeeded."""
    if sink.attempts and sink.failures == sink.attempts:
        raise AllFailedError(
            f"all {sink.attempts} attempts failed; the last one, on {sink.last_failure}; check the "
            "host's name, its port and this network"
        )


def _drain(rows: Iterable[JsonObject], sink: Sink) -> None:
    for row in rows:
        sink.take(row)
    sink.round_over()


PLAIN: JsonObject = {
    **sessions(resumed=False, early=False),
    **dict.fromkeys(("local_port", "resolver", "vantage")),
    "user_agent": USER_AGENT,
}
"""Configuration of a request without any options."""
HANDSHAKES: JsonObject = {
    **{"v4": True, "v6": True, "count": 1, "interval_ms": 0, "timeout_ms": 10_000},
    **PLAIN,
}
"""Configuration of a comparison of servers."""


def udp(
    hosts: Annotated[
        list[str], typer.Argument(help="HOST[:PORT] of some hosts that support HTTP/3.")
    ],
    timeout: Annotated[str, typer.Option(help="The time limit of one attempt.")] = "5s",
    connect: Annotated[
        str | None, typer.Option(help="Connect to this IP address, without DNS.")
    ] = None,
    ca: Annotated[Path | None, typer.Option(help="Trust only these roots (PEM).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Test whether QUIC gets through this network.

    Exits 0 if it does, 1 if it is blocked, and 3 if that cannot be determined. Each host is
    asked three times over TCP with TLS 1.3 and over QUIC. Name hosts of different operators:
    silence may be a server's own choice rather than the network's.
    """
    if connect:
        connect = parse_connect(connect, v4=True, v6=True)
    config: JsonObject = {
        "targets": [parse_target(host).as_config(connect) for host in hosts],
        "timeout_ms": round(1000 * parse_duration_s(timeout, "--timeout")),
        "authority_file": str(ca.resolve()) if ca else None,
        **PLAIN,
        "seed": 1,
    }
    _check_udp(config, as_json=as_json)


app.command("udp")(udp)


@app.command("servers")
@with_network_options()
def servers(
    list_: Annotated[
        str,
        typer.Argument(
            metavar="SERVERS", help="The servers, separated by commas; the first is the reference."
        ),
    ] = DEFAULT,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    blocks: Annotated[
        int,
        typer.Option(
            min=1, max=BLOCKS_MAX, help="The number of blocks, each with one visit to every server."
        ),
    ] = BLOCKS,
    server: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=COMMAND",
            help="Also compare this server, which COMMAND starts as in docs/guides/"
            "external-server.md (`NAME=interop COMMAND` as the QUIC interop runner does); may be "
            "given again.",
        ),
    ] = [],  # noqa: B006 (typer copies it)
    path: Annotated[
        list[str],
        typer.Option(help="A file or folder that these commands may read; may be given again."),
    ] = [],  # noqa: B006
    protocols: Annotated[
        str | None,
        typer.Option(help="Only these of `tls1.2,tls1.3,quic`."),
    ] = None,
    chain: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES", min=1000, help="The size of the certificate chain that servers get."
        ),
    ] = None,
    key_exchange: Annotated[
        KeyExchange, typer.Option(help="The key exchange of our servers.")
    ] = "hybrid",
    lose: Annotated[
        list[int],
        typer.Option(
            metavar="NUMBER",
            min=1,
            help="Lose this packet from the server, counted from 1, of one full handshake; may be "
            "given again.",
        ),
    ] = [],  # noqa: B006
    lose_up: Annotated[
        list[int],
        typer.Option(metavar="NUMBER", min=1, help="The same of the packets to the server."),
    ] = [],  # noqa: B006
    seed: Annotated[int, typer.Option(min=0, help="The seed of the order within blocks.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Append rows as JSON lines.")] = None,
    resume: Annotated[bool, typer.Option(help="Continue --out where it stopped.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Compare the handshakes of server libraries: nginx, Caddy, Envoy, aioquic, ours and others.

    In each block every server is started once, confined in a new lab, over the same emulated
    path and with certificates made in the same way, and is probed with a resumed and a full
    handshake.
    """
    kept = Kept(out, resume)
    conditions = Conditions(chain, key_exchange, tuple(lose), tuple(lose_up))
    handshakes = Handshakes(list_, server, protocols, conditions, paths=tuple(path))
    config = {**HANDSHAKES, "seed": seed}
    comparison = put_side_by_side(handshakes, words, config, blocks, kept)
    if as_json:
        print_json(comparison)
    else:
        show_side_by_side(comparison)
    if out:
        end_at("rows", out, as_json=as_json)


def _resumable(out: Path | None, parquet: Path | None) -> Path:
    """Return the file of rows to resume. Raises `ProbeError`."""
    if out is None:
        raise ProbeError("--resume needs --out, the file to continue")
    if parquet is not None:
        raise ProbeError("--resume continues --out: leave out --parquet, which starts a new file")
    if not out.exists():
        raise ProbeError(f"{out} does not exist: leave out --resume to begin")
    return out


def _measure_list(config: JsonObject, sink: Sink, resumed: Path | None) -> None:
    """Measure one round over all targets except those with complete rows in `resumed`.

    A host that was interrupted is measured again completely; its earlier rows stay.
    """
    before = read_finished_targets(resumed) if resumed else set()
    left = [target for target in config["targets"] if key_of(target) not in before]
    total = len(config["targets"])
    count = total - len(left)
    if resumed:
        hints.print(f"{count} of {total} hosts are in {resumed}", markup=False, soft_wrap=True)
    else:
        sink.mark(list_row(total))
    if not left:
        return
    current: Key | None = None
    with progress("hosts", total) as bar:
        bar(count, f"now {left[0]['host']}")
        try:
            for row in probe_events("probe", config | {"targets": left}):
                if current is not None and key_of(row) != current:
                    count += 1
                    _end_list(sink, current)
                    bar(count, f"now {row['host']}")
                current = key_of(row)
                sink.take(row)
            if current is not None:
                count += 1
                _end_list(sink, current)
                bar(count, "all measured")
        except INTERRUPTS:
            how = GO_ON if sink.has_file else NO_GOING_ON
            say(hints, f"stopped after {count} of {total} hosts: {how}")
            raise


def _end_list(sink: Sink, key: Key) -> None:
    sink.mark(target_row(key))
    sink.round_over()


WAIT_S_MAX = 3600.0
"""Maximum length of one wait, s, so that a suspended machine or a set clock is noticed."""


@contextmanager
def alone(out: Path) -> Iterator[Path]:
    """Lock `out` against other measuring processes; yields the file with the state of its rounds.

    Raises `ProbeError` if another process has the lock.
    """
    state_path = out.with_name(out.name + ".rounds")
    with writing(out):
        stream = state_path.open("a+", encoding="utf-8")
    with stream as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ProbeError(
                f"{out} is already in use by another measurement: wait, or choose another"
            ) from None
        mend(state_path)
        yield state_path


def repeat(state_path: Path, every_s: float, for_s: float, measure: Callable[[], None]) -> None:
    """Measure at every due time; an interrupted series of the same command is continued.

    If a round fails completely, the error is printed and the next round begins when it is due.
    """
    rounds, last = _restore(state_path, every_s, for_s)
    while (number := rounds.next_after(time.time(), last)) is not None:
        wait_s = rounds.due_unix_s(number) - time.time()
        if wait_s > 0:
            time.sleep(min(wait_s, WAIT_S_MAX))
            continue
        last = number
        _save(state_path, rounds, last)
        hints.print(f"round {number + 1} of {rounds.count}")
        try:
            measure()
        except LabError as error:
            complain(f"round {number + 1}: {error}")


def _restore(path: Path, every_s: float, for_s: float) -> tuple[Rounds, int | None]:
    source = Source(str(path), KEPT, ProbeError)
    last_line = read_text(path, source).strip().rpartition("\n")[2]
    if last_line:
        try:
            state = parse_object(last_line.encode(), source)
            began_s, last = float(state["began_unix_s"]), int(state["last"])
            is_same = (state["every_s"], state["for_s"]) == (every_s, for_s)
        except (ProbeError, ValueError, TypeError, LookupError) as error:
            raise ProbeError(
                f"{path} is not a record of rounds: remove it to start again"
            ) from error
        if is_same:
            hints.print(f"continuing after round {last + 1}: {path}")
            return Rounds(began_s, every_s, for_s), last
    return Rounds(time.time(), every_s, for_s), None


def _save(path: Path, rounds: Rounds, last: int) -> None:
    """Write the state to the locked file in place: a rename would lose the lock."""
    state = {
        "began_unix_s": rounds.began_unix_s,
        "every_s": rounds.every_s,
        "for_s": rounds.for_s,
        "last": last,
    }
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(state) + "\n")
        stream.flush()
        os.fsync(stream.fileno())


STATUS = {"passes": 0, "blocked": 1, "undetermined": 3}
"""Exit statuses, as for gates: yes, no, inconclusive."""
UDP_CHECK_CONFIG = {
    "protocols": list(PROTOCOLS),
    "v4": True,
    "v6": True,
    "count": 3,
    "interval_ms": 200,
}
"""Configuration of the probes of each host."""


def _check_udp(config: JsonMapping, *, as_json: bool) -> None:
    """Probe, print the verdict, and exit with its status."""
    with hints.waiting(f"asking {len(config['targets'])} hosts over TCP and QUIC"):
        found = passage(probe_events("probe", {**config, **UDP_CHECK_CONFIG}))
    if as_json:
        print_json(found.as_json())
    else:
        _show(found)
    raise typer.Exit(STATUS[found.verdict])


def _show(found: Passage) -> None:
    numbers = ("TLS 1.3", "QUIC", "no answer")
    listing = table("host", "address", *numbers, "offers HTTP/3", "UDP", right=numbers)
    for each in found.hosts:
        counts = (str(count) for count in (each.tls, each.quic, each.quic_silent))
        offers = "yes" if each.offers_h3 else "no"
        listing.add_row(each.host, each.address or "", *counts, offers, each.state)
    results.print(listing)
    results.print(f"QUIC: {found.verdict}: {found.why}", markup=False, soft_wrap=True)
