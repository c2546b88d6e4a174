"""`eyelevel probe`: how long connections take, on the Internet and in the lab."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.output import print_json
from eyelevel.cli.probe.listed import measure_list, resumable
from eyelevel.cli.probe.output import Sink, make_sink
from eyelevel.cli.probe.report import report
from eyelevel.cli.probe.rounds import alone, repeat
from eyelevel.cli.probe.servers import (
    BLOCKS,
    BLOCKS_MAX,
    DEFAULT,
    Kept,
    put_side_by_side,
    show_side_by_side,
)
from eyelevel.cli.probe.udp import check_udp
from eyelevel.cli.values import named_stack
from eyelevel.disk.folders import temporary_folder
from eyelevel.errors import ProbeError
from eyelevel.json_types import JsonMapping, JsonObject
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.prober import ProbeTarget, probe_events
from eyelevel.networks.compose import Composed, NetworkWords, compose
from eyelevel.networks.network import lab_path
from eyelevel.probes.target_list import read_targets
from eyelevel.probes.targets import (
    parse_connect,
    parse_duration_s,
    parse_protocols,
    parse_resolver,
    parse_target,
    protocols_of_stacks,
)
from eyelevel.run.trial.traces import read_stages

LAB = "lab"
LAB_HOSTS_MAX = 100


def rows_in_lab(
    config: JsonMapping,
    network: Composed,
    stacks: str | None,
    target: JsonMapping | None = None,
) -> Iterator[JsonObject]:
    """Rows of one round in a new lab; each has the network's `path_rtt_ms` as well.

    `target` says how the servers behave (spec/probe.md); by default they take early data.
    """
    config = dict(config)
    if stacks is not None:
        named = [named_stack(name.strip()) for name in stacks.split(",")]
        config["protocols"] = protocols_of_stacks(
            [(stack.http_version, stack.tls_version) for stack in named]
        )
        config |= _early(stacks, {stack.early_data for stack in named})
    names = [each["host"] for each in config["targets"]]
    behaviour = {"names": names, "early_data": True, "quic_versions": [1, 0x6B3343CF]}
    # As the prober and the path have it: waiting for a processor is not the network's time.
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


def _early(stacks: str, kinds: set[bool]) -> dict[str, bool]:
    """Stacks with 0-RTT have it in resumed connections, for all rows of a round or none."""
    if kinds == {True, False}:
        raise ProbeError(f"--stack {stacks}: probe stacks with 0-RTT apart from those without")
    return {"resume_session": True, "early_data": True} if kinds == {True} else {}


USER_AGENT = "eyelevel-probe/0.1 (connection timing; see docs/guides/probing.md)"
"""Says what it is and where its conduct is written down."""

COUNT_MAX = 10_000
PROTOCOLS = "tls1.2,tls1.3,quic"


class _MeasureFirst(TyperGroup):
    """`eyelevel probe HOST` means `eyelevel probe measure HOST`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = ["measure", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_MeasureFirst, help="Time connections over each protocol; report on them.")
app.command("report")(report)


@dataclass(frozen=True)
class Request:
    """What one round probes, and what becomes of its rows."""

    config: JsonObject
    network: Composed | None
    stacks: str | None

    def rows(self) -> Iterator[JsonObject]:
        """One round."""
        if self.network is not None:
            return rows_in_lab(self.config, self.network, self.stacks)
        return probe_events("probe", self.config)


@app.command("measure")
@with_network_options()
def measure(
    hosts: Annotated[list[str] | None, typer.Argument(help="HOST[:PORT][/PATH], or `lab`.")] = None,
    list_: Annotated[
        Path | None, typer.Option("--list", help="Hosts, one a line; # comments.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with a --list in --out.")] = False,
    protocols: Annotated[
        str | None, typer.Option(help="Of tcp, tls1.2, tls1.3, quic, quic-v2.")
    ] = None,
    v4: Annotated[bool, typer.Option("-4", help="Over IPv4 alone, with -6 over both.")] = False,
    v6: Annotated[bool, typer.Option("-6", help="Over IPv6 alone, with -4 over both.")] = False,
    count: Annotated[int, typer.Option(min=1, max=COUNT_MAX, help="Attempts a protocol.")] = 1,
    interval: Annotated[str, typer.Option(help="Between attempts on one host.")] = "1s",
    timeout: Annotated[str, typer.Option(help="For one attempt.")] = "30s",
    resume_session: Annotated[bool, typer.Option(help="Resume a session made before.")] = False,
    early_data: Annotated[bool, typer.Option(help="Send the request as early data.")] = False,
    print_: Annotated[
        bool, typer.Option("--print", help="Print what servers answer: head, 4 kB of body.")
    ] = False,
    local_port: Annotated[int | None, typer.Option(min=1, max=65535, help="Send from it.")] = None,
    resolver: Annotated[str | None, typer.Option(help="Ask this one, ADDRESS[:PORT].")] = None,
    connect: Annotated[str | None, typer.Option(help="Connect to this IP; no DNS.")] = None,
    ca: Annotated[Path | None, typer.Option(help="Trust these roots (PEM) alone.")] = None,
    vantage: Annotated[str | None, typer.Option(help="This place's name, in every row.")] = None,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    stack: Annotated[str | None, typer.Option(help="With `lab`: stacks, commas between.")] = None,
    lab_hosts: Annotated[
        int,
        typer.Option("--hosts", min=1, max=LAB_HOSTS_MAX, help="With `lab`: names of its server."),
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Decides the order of attempts.")] = 1,
    every: Annotated[str | None, typer.Option(help="Measure again and again: 1h.")] = None,
    for_: Annotated[str | None, typer.Option("--for", help="How long, with --every: 7d.")] = None,
    out: Annotated[Path | None, typer.Option(help="Append rows as JSON lines.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write rows as Parquet.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the thesis's columns.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print rows as JSON lines.")] = False,
) -> None:
    """Time DNS, TCP, TLS and QUIC and the first byte of a response; a row for each attempt.

    DNS is asked once for each host, and attempts on one host are in random order. What was measured
    is analysed by `eyelevel probe report FILE…`.
    """
    if (list_ is None) == (not hosts):
        raise ProbeError("write hosts to probe, or their --list, and not both")
    if resume and (list_ is None or every):
        raise ProbeError("--resume goes on with one round of a --list")
    resumed = resumable(out, parquet) if resume else None
    in_lab = hosts == [LAB]
    if in_lab and (connect or resolver or ca):
        raise ProbeError("a lab has its own address, names and roots: leave --connect and so on")
    if not in_lab and (given := words.given()):
        raise ProbeError(f"{next(iter(given))}: a network needs the host `lab`")
    if not in_lab and (stack or lab_hosts > 1):
        raise ProbeError(f"{'--stack' if stack else '--hosts'} needs the host `lab`")
    if in_lab and lab_hosts > 1:
        hosts = [f"{LAB}{number}" for number in range(1, lab_hosts + 1)]
    if early_data and not resume_session:
        raise ProbeError("--early-data needs --resume-session: only a resumed session has keys")
    if print_ and as_csv:
        raise ProbeError("--print writes answers between rows, which CSV has no place for: --json")
    if protocols and stack:
        raise ProbeError("--stack says which protocols: leave --protocols out, or --stack")
    # A lab's servers have both always; somebody else's may have one.
    v4 = v4 or (in_lab and not v6)
    both = v4 == v6
    if connect:
        connect = parse_connect(connect, v4=v4 or both, v6=v6 or both)
    targets = read_targets(list_) if list_ else [parse_target(host) for host in hosts or []]
    config: JsonObject = {
        "targets": [target.as_config(connect) for target in targets],
        "protocols": parse_protocols(protocols or PROTOCOLS),
        "v4": v4 or both,
        "v6": v6 or both,
        "count": count,
        "interval_ms": round(1000 * parse_duration_s(interval, "--interval")),
        "timeout_ms": round(1000 * parse_duration_s(timeout, "--timeout")),
        "resume_session": resume_session,
        "early_data": early_data,
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
        with make_sink(out, parquet, as_csv=as_csv, as_json=as_json) as sink:
            if list_ is not None:
                measure_list(config, sink, resumed)
            else:
                _drain(request.rows(), sink)
        return
    if every is None or for_ is None or out is None:
        raise ProbeError("--every and --for go together, and need --out for what they measure")
    every_s, for_s = parse_duration_s(every, "--every"), parse_duration_s(for_, "--for")
    # The lock first: opening cuts half a line, which another process might just be writing.
    with (
        alone(out) as state_path,
        make_sink(out, parquet, as_csv=as_csv, as_json=as_json) as sink,
    ):
        repeat(state_path, every_s, for_s, lambda: _drain(request.rows(), sink))


def _drain(rows: Iterable[JsonObject], sink: Sink) -> None:
    for row in rows:
        sink.take(row)
    sink.round_over()


PLAIN: JsonObject = {
    "resume_session": False,
    "early_data": False,
    **dict.fromkeys(("local_port", "resolver", "vantage")),
    "user_agent": USER_AGENT,
}
"""What is asked where no option says otherwise."""


def udp(
    hosts: Annotated[list[str], typer.Argument(help="HOST[:PORT], some that speak HTTP/3.")],
    timeout: Annotated[str, typer.Option(help="For one attempt.")] = "5s",
    connect: Annotated[str | None, typer.Option(help="Connect to this IP; no DNS.")] = None,
    ca: Annotated[Path | None, typer.Option(help="Trust these roots (PEM) alone.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Does QUIC get through here? Exit 0: it passes; 1: it is blocked; 3: that cannot be told.

    Each host is asked three times over TCP with TLS 1.3 and over QUIC. Name some of different
    operators: silence is the network's fault only if it is not the servers' own.
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
    check_udp(config, as_json=as_json)


app.command("udp")(udp)


@app.command("servers")
@with_network_options()
def servers(
    list_: Annotated[
        str, typer.Argument(metavar="SERVERS", help="Commas between; the first is the reference.")
    ] = DEFAULT,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    blocks: Annotated[
        int, typer.Option(min=1, max=BLOCKS_MAX, help="Each server once in each.")
    ] = BLOCKS,
    seed: Annotated[int, typer.Option(min=0, help="Decides the order within blocks.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Append rows as JSON lines.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with --out where it stopped.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Put libraries of servers side by side: nginx, Caddy, s_server, aioquic and ours.

    Each is started in a new lab, confined, over the same emulated path and with certificates of the
    same making, once in each block, and probed by a resumed and a full handshake.
    """
    once = {"v4": True, "v6": True, "count": 1, "interval_ms": 0, "timeout_ms": 10_000}
    kept = Kept(out, resume)
    said = put_side_by_side(list_, words, {**once, **PLAIN, "seed": seed}, blocks, kept)
    if as_json:
        print_json(said)
    else:
        show_side_by_side(said)
