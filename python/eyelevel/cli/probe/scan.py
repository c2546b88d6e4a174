"""Find which protocols a list of hosts supports (`eyelevel scan`)."""

import contextlib
import json
import resource
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import INTERRUPTS, ScanError
from eyelevel.base.from_outside.words import excerpt
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, print_json, results, say, table
from eyelevel.cli.probe.progress import GO_ON, mend, progress
from eyelevel.lab.prober import probe_events
from eyelevel.probes.scans import (
    FEATURES,
    OptOut,
    Summary,
    count_names,
    parse_wanted,
    read_names,
    read_opt_out,
    read_rows,
    targets_with,
)
from eyelevel.probes.targets import parse_duration_s, parse_resolver
from eyelevel.store.disk import writing


def show(summary: Summary) -> None:
    """Print the summary as a table."""
    listing = table(
        "supports", "names", "of", "share", "95 % interval", right=("names", "of", "share")
    )
    for share in summary.shares():
        title, of_names = FEATURES[share.feature]
        bounds = (share.share.low, share.share.high)
        listing.add_row(
            title,
            str(share.count),
            f"{share.of} {of_names}",
            f"{share.count / share.of:.1%}" if share.of else "",
            f"{bounds[0]:.1%} to {bounds[1]:.1%}" if share.of else "",
        )
    results.print(listing)
    parts = [
        f"{summary.names} names",
        f"{summary.bases['resolved']} resolved",
        f"{summary.bases['reached']} reached over TLS",
        *(f"{count} left out: {reason}" for reason, count in summary.skipped.items()),
    ]
    results.print("; ".join(parts), markup=False)
    if summary.failures:
        failures = ", ".join(f"{name} {count}" for name, count in summary.failures.most_common())
        results.print(f"failures: {failures}", markup=False)


USER_AGENT = "eyelevel-scan/0.1 (who supports which protocols; see docs/guides/probing.md{contact})"
WHAT = ("tls", "quic", "ipv6", "https-records")
SOCKETS_A_NAME = 3
"""Sockets per name: lookups of both address families and of HTTPS records are sent at once."""
SOCKETS_OWN = 64
RATE_MAX = 100_000.0


def scan(
    list_: Annotated[
        Path, typer.Argument(metavar="LIST", help="A list from Tranco or Alexa, or of names.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Write rows as JSON lines; by default LIST.scan.jsonl.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue --out where it stopped.")] = False,
    top: Annotated[
        int | None, typer.Option(min=1, help="Only this many names from the top.")
    ] = None,
    only: Annotated[str, typer.Option(help="What to try, separated by commas.")] = ",".join(WHAT),
    www: Annotated[bool, typer.Option(help="If a name fails, try it with www. in front.")] = True,
    rate: Annotated[float, typer.Option(max=RATE_MAX, help="Connections per second.")] = 50.0,
    in_flight: Annotated[int, typer.Option(min=1, help="Names in progress at once.")] = 200,
    timeout: Annotated[
        str, typer.Option(help="The time limit of one lookup or connection.")
    ] = "10s",
    opt_out: Annotated[
        Path | None, typer.Option(help="A file of names and ranges never to ask.")
    ] = None,
    contact: Annotated[str | None, typer.Option(help="Who you are, for the user agent.")] = None,
    private: Annotated[bool, typer.Option(help="Also ask private addresses, as in labs.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port of every server.")] = 443,
    resolver: Annotated[str | None, typer.Option(help="Use this resolver: ADDRESS[:PORT].")] = None,
    ca: Annotated[Path | None, typer.Option(help="Trust only these roots (PEM).")] = None,
    vantage: Annotated[
        str | None, typer.Option(help="The name of this place, for every row.")
    ] = None,
    names_with: Annotated[
        str | None,
        typer.Option(
            help="Ask nothing; print the hosts in --out that support these, such as tls1.3,quic."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Find out which protocols the hosts of a list support, with one row per name and a summary.

    Each name is asked once. Before you scan the Internet, read in docs/guides/probing.md how to
    behave.
    """
    out = out or Path(f"{list_.stem}.scan.jsonl")
    if names_with is not None:
        count_names(list_, top, port, lambda line: say(hints, line))
        _print_names(list_, read_names(list_, top, port), out, names_with, opt_out, as_json=as_json)
        return
    chosen = _choose(only)
    if rate <= 0:
        raise ScanError(
            f"--rate {rate:g}: give a positive number of connections per second, such as 0.5"
        )
    _make_room_for_sockets(in_flight)
    excluded = read_opt_out(opt_out) if opt_out else OptOut()
    config = {
        "port": port,
        **{name.replace("-", "_"): name in chosen for name in WHAT},
        "www": www,
        "rate_per_s": rate,
        "in_flight": in_flight,
        "timeout_ms": round(1000 * parse_duration_s(timeout, "--timeout")),
        "resolver": parse_resolver(resolver) if resolver else None,
        "excluded": list(excluded.ranges),
        "excluded_names": excluded.list_www_names(),
        "public_only": not private,
        "authority_file": str(ca.resolve()) if ca else None,
        "vantage": vantage,
        "user_agent": USER_AGENT.format(contact=f"; {contact}" if contact else ""),
    }
    summary = Summary()
    done = _read_done(out, summary, resume=resume)
    total = count_names(list_, top, port, lambda line: say(hints, line))
    names = _yield_names_left(read_names(list_, top, port), done, excluded, summary)
    with writing(out):
        stream = out.open("a", encoding="utf-8")
    with stream, progress("names", total) as bar:
        bar(summary.names, _describe_reached(summary))
        try:
            for row in probe_events("scan", config, lines=names):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
                # At most one row is lost with this process.
                stream.flush()
                summary.take(row)
                bar(summary.names, _describe_reached(summary))
        except INTERRUPTS:
            say(hints, f"stopped after {summary.names} names: {GO_ON}")
            raise
    if as_json:
        print_json(summary.as_json() | {"out": str(out)})
    else:
        show(summary)
    end_at("rows", out, as_json=as_json)


def _describe_reached(summary: Summary) -> str:
    return f"{summary.bases['reached']} reached"


def _choose(only: str) -> list[str]:
    chosen = [name.strip() for name in only.split(",") if name.strip()]
    if not chosen or set(chosen) - set(WHAT):
        raise ScanError(f"--only {only}: choose among {', '.join(WHAT)}, with commas between")
    return chosen


def _make_room_for_sockets(in_flight: int) -> None:
    needed = SOCKETS_OWN + SOCKETS_A_NAME * in_flight
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in (resource.RLIM_INFINITY,) and needed > hard:
        most = (hard - SOCKETS_OWN) // SOCKETS_A_NAME
        raise ScanError(
            f"--in-flight {in_flight} needs {needed} open files: at most {most} here; "
            "give less, or raise ulimit -n"
        )
    if soft != resource.RLIM_INFINITY and needed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _read_done(out: Path, summary: Summary, *, resume: bool) -> set[str]:
    """Return the names that the file already has, and count them in the summary."""
    if not out.exists():
        return set()
    if not resume:
        raise ScanError(f"{out} exists: continue it with --resume, or choose another --out")
    mend(out)
    done = set()
    for row in read_rows(out):
        try:
            summary.take(row)
        except (TypeError, LookupError, AttributeError, ValueError) as error:
            message = (
                f"{out}: `{excerpt(row['name'])}` is not a row of a scan: choose another --out"
            )
            raise ScanError(message) from error
        done.add(row["name"])
    return done


def _yield_names_left(
    source: Generator[str, None, None], done: set[str], opt_out: OptOut, summary: Summary
) -> Iterator[str]:
    """Yield the names to query in the list's order; opted-out names are counted and skipped."""
    with contextlib.closing(source) as names:
        for name in names:
            if opt_out.covers(name):
                summary.take({"skipped": "opt-out list"})
            elif name not in done:
                yield name


def _print_names(
    path: Path,
    source: Generator[str, None, None],
    out: Path,
    text: str,
    opt_out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the file's hosts that have all features, each once, in the list's order."""
    if as_json:
        raise ScanError("--names-with prints a list: leave --json out")
    fields = parse_wanted(text)
    excluded = read_opt_out(opt_out) if opt_out else OptOut()
    if not out.exists():
        raise ScanError(
            f"--names-with: {out}: there is no such file; scan first, or give the file of "
            "rows with --out"
        )
    targets = targets_with(read_rows(out), fields, out)
    printed = set()
    with contextlib.closing(source) as names:
        for name in names:
            target = targets.get(name)
            if target is not None and target not in printed and not excluded.covers(name):
                printed.add(target)
                print(target)
    hints.print(f"{len(printed)} of {path} have {text} in {out}", markup=False, soft_wrap=True)
