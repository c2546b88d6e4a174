"""Answer one question about one page (`eyelevel ask`)."""

import contextlib
import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from eyelevel.analysis.claims import find_undecided, find_worse
from eyelevel.analysis.gains.against_itself import noise_sentences
from eyelevel.analysis.metrics.catalogue import PRIMARY_METRICS
from eyelevel.base.errors import PlanError, unknown
from eyelevel.cli.finish import OpenOption, ending_at
from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.options import AllowOption, HostWaitOption, UnsafeBrowserOption
from eyelevel.cli.output import complain, hints, print_json, results
from eyelevel.cli.path.network import read_users
from eyelevel.cli.results.gate import EXIT_CODES, Inconclusive, InconclusiveOption
from eyelevel.cli.results.report import Summary, make_report
from eyelevel.cli.run.plan import open_pages
from eyelevel.cli.run.plan_text import budget_seconds
from eyelevel.cli.run.run import run_plan
from eyelevel.cli.site.record import record_page
from eyelevel.cli.values import EXAMPLE, is_page_url
from eyelevel.load.quiet_host import WAIT_S_MAX
from eyelevel.load.traces import read_stages, read_trace_file
from eyelevel.plan.browser import BrowserName
from eyelevel.plan.edits import EDITS, Edit, parse_change
from eyelevel.plan.file.change import (
    BLOCKS_MAX,
    BLOCKS_MIN,
    DEFAULT_BASE,
    question_plan,
    toml_text,
)
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.file.two_pages import (
    BROWSER_CHANGES,
    DEFAULT_STACK,
    browser_plan,
    edit_plan,
    live_plan,
    pages_plan,
)
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.from_csv import toml_of
from eyelevel.plan.networks.plan_text import plan_table
from eyelevel.plan.networks.presets import find_recorded_pair
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import VisitKind
from eyelevel.report.first_screen.changed_pages import changed
from eyelevel.report.first_screen.warnings import first_warnings
from eyelevel.report.page import summary_of
from eyelevel.report.sections.why import explain_causes
from eyelevel.run.study.estimate import repetition_s
from eyelevel.run.study.loop import Execution
from eyelevel.sites.contents import MOSTLY, make_secure
from eyelevel.sites.recorded import list_shipped, matching, open_site, site_info
from eyelevel.store.disk import folder_beside, make_folder

NETWORKS = "dsl,lte"
SITES_FOLDER = Path("sites")
"""Folder for recordings of pages given by URL."""

NAME_LENGTH_MAX = 80
QUESTION = "question"


@with_network_options("`dsl` and then `lte`")
def ask(
    site: Annotated[
        str,
        typer.Argument(help="The URL of a page, which is recorded first, or a recorded site."),
    ],
    after: Annotated[
        str | None,
        typer.Argument(help="The same page after a change: compare both over one stack."),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Load the servers at two URLs of this machine themselves, instead of recordings.",
        ),
    ] = False,
    change: Annotated[
        str | None,
        typer.Option(
            help='Without AFTER, what to change: "http3", "iw=10→32", "cc=bbr", "tcp→quic", '
            '"rtt:cdn.example=90→20", or an edit of the page: "preload:/hero.jpg", '
            '"block:third-parties", "defer:/app.js".'
        ),
    ] = None,
    networks: Annotated[
        str | None, typer.Option(help=f"Networks, separated by commas; {NETWORKS} by default.")
    ] = None,
    users: Annotated[
        Path | None,
        typer.Option(
            help="Use weighted networks like your users', from RUM or CrUX data (JSON, CSV)."
        ),
    ] = None,
    users_rate: Annotated[
        str | None,
        typer.Option(
            help='The downlink rate for all users of CrUX, which has no rates: "10 Mbit/s".'
        ),
    ] = None,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    base: Annotated[str, typer.Option(help="With --change: the stack to change.")] = DEFAULT_BASE,
    stack: Annotated[
        str, typer.Option(help="With AFTER: the stack that loads both.")
    ] = DEFAULT_STACK,
    metric: Annotated[
        str | None,
        typer.Option(
            help="The time that is compared, such as `lcp`, `inp` or `mark:hero`; Speed Index by "
            "default."
        ),
    ] = None,
    after_load: Annotated[
        list[str] | None,
        typer.Option(
            help="A step after the load, such as `click #menu`, `type #search=shoes`, `key Enter` "
            "or `scroll end`. Repeatable."
        ),
    ] = None,
    visit: Annotated[
        VisitKind | None,
        typer.Option(
            help="The visit that every load is: `repeat` has session tickets, `warm` also "
            "connections, `cached` the HTTP cache of a first one; `first` by default."
        ),
    ] = None,
    cache_age: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="With --visit cached: the time since the first visit, such as `10min` or `2d`; "
            "an hour by default.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(help="Emulate one of `eyelevel list devices`; by default as recorded."),
    ] = None,
    cpu_slowdown: Annotated[
        float | None,
        typer.Option(
            help="How many times slower the page's scripts run; by default the device's factor."
        ),
    ] = None,
    browser: Annotated[
        BrowserName | None, typer.Option(help="The browser that loads the page; `chromium`.")
    ] = None,
    blocks: Annotated[int, typer.Option(min=2, help="The largest number of blocks.")] = BLOCKS_MAX,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The time that all loads may take, such as `6min`: it limits the blocks by the "
            "estimate, and no block begins that would end later.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Directory for the results.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run.")] = False,
    host_wait_s: HostWaitOption = WAIT_S_MAX,
    _unsafe_browser: UnsafeBrowserOption = False,
    upstream_ca: Annotated[
        Path | None, typer.Option(help="With a URL: certificates (PEM) to trust when recording.")
    ] = None,
    allow: AllowOption = None,
    fail_if_slower: Annotated[
        bool,
        typer.Option(
            "--fail-if-slower",
            help="Exit 1 if the change is slower, or if fewer of its loads finish.",
        ),
    ] = False,
    inconclusive: InconclusiveOption = None,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer one question about a page, with as many loads as it takes.

    The question is about a change of the stack or an edit of the page (--change), or about the
    page after a change of its own: give its recording before and AFTER.

    The loads of a network end once its interval excludes zero or lies within the smallest effect
    of interest, or once neither can be expected; the intervals hold however often you look at
    them. The path options (--rtt,
    --down, ...) describe one network of your own, to use instead of --networks. With --users
    the last sentence weights the networks as your users have them.
    """
    pages = [site] if after is None else [site, after]
    for page in pages:
        _check_page(page)
    if live:
        _check_live(site, after)
    edit = _edit_of(change)
    is_of_pages = after is not None or edit is not None or _is_of_browser(change)
    _check_combination(after, change, base, stack, is_of_pages=is_of_pages)
    chosen, table, unusual = _networks(networks, users, users_rate, words)
    with_stack = (change or "", stack if is_of_pages else base)
    keys = {
        "primary_metric": metric,
        "device": device,
        "cpu_slowdown": cpu_slowdown,
        "browser": browser,
        "visit": visit,
        "cache_age_s": cache_age,
        "after_load": after_load or None,
    }
    load_settings = {key: value for key, value in keys.items() if value is not None}
    question = _Question(*with_stack, chosen, blocks, table, _keys(load_settings), is_live=live)
    are_recorded = [_is_url(page) and not live for page in pages]
    places = [
        str(recording_of(page)) if is_recorded else page
        for page, is_recorded in zip(pages, are_recorded, strict=True)
    ]
    plan = question.plan(places)
    for page, is_recorded in zip(pages, are_recorded, strict=True):
        if is_recorded:
            _record_where_absent(page, upstream_ca, allow or ())
    if len(places) > 1 and not live:
        _name_addresses(places)
    budget_s = None
    if budget is not None:
        budget_s = budget_seconds(budget)
        question = replace(question, blocks=_blocks_within(plan, budget, blocks))
        plan = question.plan(places)
    # Options other than the defaults are in the name, so that each question has its own folder.
    usual = DEFAULT_STACK if is_of_pages else DEFAULT_BASE
    names = "-to-".join(each.name for each in plan.variants)
    of_stack = [with_stack[1]] if with_stack[1] != usual else []
    words_of = [each if isinstance(each, list) else [str(each)] for each in load_settings.values()]
    options = [change or names, *of_stack, *unusual, *chain.from_iterable(words_of)]
    directory = out or Path("results") / _folder("live" if live else plan.sites[0], options)
    execution = Execution(host_wait_s=host_wait_s, trace_files=plan.trace_files, budget_s=budget_s)
    with run_question(
        plan, directory, execution, _print_answer, resume=resume, opens=open_, as_json=as_json
    ) as summary:
        conclude(summary, inconclusive, fails_if_slower=fail_if_slower)


@contextmanager
def run_question(
    plan: Plan,
    directory: Path,
    execution: Execution,
    print_answer: Callable[[Summary], None],
    *,
    resume: bool,
    opens: bool,
    as_json: bool,
) -> Iterator[Summary]:
    """Load what a question needs, print its answer, and provide the report's summary.

    The last line that is printed, after the block, names the report.
    """
    again = "give the same command with --resume"
    run_plan(plan, directory, resume=resume, resume_line=again, execution=execution)
    summary = make_report(directory)
    with ending_at("report", summary.path, opens=opens, as_json=as_json):
        if as_json:
            print_json(summary.as_json())
        else:
            print_answer(summary)
        yield summary


def _name_addresses(places: Sequence[str]) -> None:
    """Print the addresses of two recordings that are not of one: they may be of two pages."""
    urls = [site_info(open_site(place).path)["main_url"] for place in places]
    if urls[0] != urls[1]:
        hints.print(
            f"{places[0]} is of {urls[0]}, {places[1]} of {urls[1]}: they are compared as one page "
            "before and after its change",
            markup=False,
            soft_wrap=True,
        )


def _check_page(page: str) -> None:
    """Raise PlanError for a URL that cannot be one."""
    if page.startswith(("http:", "https:")) and not _is_url(page):
        raise PlanError(
            [f"`{page}`: a URL has two slashes; write it as `https://www.example.org/`"]
        )
    if _is_url(page) and not is_page_url(page):
        raise PlanError([f"`{page}` names no host; write it as `{EXAMPLE}`"])


def _check_live(before: str, after: str | None) -> None:
    """Raise PlanError unless both are URLs of one page."""
    if after is None or not (_is_url(before) and _is_url(after)):
        raise PlanError(
            [
                "--live compares two running servers; give both URLs, such as "
                "`http://localhost:3000/` and `http://localhost:3001/`"
            ]
        )
    old, new = (urlsplit(url) for url in (before, after))
    if (old.path or "/", old.query) != (new.path or "/", new.query):
        raise PlanError(
            [f"--live: `{before}` and `{after}` are two pages; give URLs with the same path"]
        )


def _edit_of(change: str | None) -> Edit | None:
    """Return the edit of the page that a change is; None for a change of the stack."""
    if change is None:
        return None
    try:
        edit = parse_change(change)
    except ValueError as error:
        raise PlanError([f"--change: {error}"]) from error
    kind, has_value, _ = change.partition(":")
    names = [*(each.name for each in EDITS), *BROWSER_CHANGES]
    is_unknown = edit is None and kind not in BROWSER_CHANGES
    if is_unknown and has_value and difflib.get_close_matches(kind, names):
        raise PlanError([f"--change: {unknown('change', kind, names)}"])
    return edit


def _is_of_browser(change: str | None) -> bool:
    """Return whether a change is one of the browser, such as `device:moto-g`."""
    word, has_value, _ = (change or "").partition(":")
    return bool(has_value) and word in BROWSER_CHANGES


def _check_combination(
    after: str | None, change: str | None, base: str, stack: str, *, is_of_pages: bool
) -> None:
    """Raise PlanError unless there is one question, with the options that are its own."""
    if after is not None and change is not None:
        raise PlanError(
            [
                f"`{after}` and --change are two questions; leave out --change to compare both "
                "recordings, or the second recording to change the stack"
            ]
        )
    if after is None and change is None:
        raise PlanError(
            [
                "nothing is asked; name a change of the stack, like `--change http3`, or the page "
                "after its change as a second recording"
            ]
        )
    if not is_of_pages and stack != DEFAULT_STACK:
        raise PlanError(
            ["--stack is for two recordings and edits; give --base with a change of the stack"]
        )
    if is_of_pages and base != DEFAULT_BASE:
        raise PlanError(
            ["--base is for changes of the stack; give --stack with two recordings or an edit"]
        )


def _blocks_within(plan: Plan, budget: str, blocks_max: int) -> int:
    """Return the largest number of blocks whose loads fit into a time, by the estimate.

    Raises PlanError for a text that is no time and where too few blocks fit for a verdict.
    """
    budget_s = budget_seconds(budget)
    each_s = repetition_s(plan, open_pages(plan))
    blocks = int(budget_s / each_s)
    if blocks < BLOCKS_MIN:
        raise PlanError(
            [
                f"--budget {budget}: a verdict takes at least {BLOCKS_MIN} blocks, which take "
                f"{math.ceil(BLOCKS_MIN * each_s)} s by the estimate; give at least that, or fewer "
                "--networks"
            ]
        )
    return min(blocks, blocks_max)


def _keys(values: Mapping[str, str | float | list[str]]) -> str:
    """Return the lines of a plan for settings of its loads."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())


def _toml(value: str | float | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(toml_text, value))}]"
    return toml_text(value) if isinstance(value, str) else f"{value:g}"


def conclude(
    summary: Summary, inconclusive: Inconclusive | None = None, *, fails_if_slower: bool = False
) -> None:
    """Exit like a gate: with a failed condition if a change may not be slower and is, with an
    inconclusive one if a comparison has no verdict."""
    if fails_if_slower and (worse := find_worse(summary.study)):
        found = ", ".join(f"{gain.stack} on {gain.network}: {how}" for gain, how in worse)
        complain(f"failed: {found}; the report has the reasons")
        raise typer.Exit(EXIT_CODES["failed"])
    opened = find_undecided(summary.study)
    has_blocks = summary.study.blocks.kept.height > 0
    if inconclusive == "pass" or (has_blocks and not opened):
        return
    where = ", ".join(dict.fromkeys(gain.network for gain in opened))
    complain(
        f"inconclusive: no verdict{' on ' + where if where else ''}; the report has the reasons"
    )
    raise typer.Exit(EXIT_CODES["failed" if inconclusive == "fail" else "inconclusive"])


def _networks(
    networks: str | None, users: Path | None, users_rate: str | None, words: NetworkWords
) -> tuple[list[str], str, list[str]]:
    """Return the networks' names, or the text of a plan's `networks`, and a name for the choice.

    Raises `PlanError` if two options select networks, and `NetworkError` for invalid options.
    """
    options = {"--networks": networks, "--users": users}
    given = [option for option, value in options.items() if value is not None] + [*words.given()][
        :1
    ]
    if len(given) > 1:
        raise PlanError([f"{given[0]} and {given[1]} both choose networks; give only one of them"])
    if users_rate is not None and users is None:
        raise PlanError(["--users-rate sets the rate for --users; give both or neither"])
    if users is not None:
        return (
            [],
            toml_of(read_users(users, users_rate)),
            [users.stem, *([users_rate] if users_rate else [])],
        )
    if words.given():
        composed = compose(words, read_stages)
        return [], plan_table(words, composed), [composed.network.name]
    named = NETWORKS if networks is None else networks
    chosen = list(dict.fromkeys(name.strip() for name in named.split(",") if name.strip()))
    return chosen, "", chosen if networks else []


@dataclass(frozen=True)
class _Question:
    """The question about a page, or about two recordings of it, which has no `change`; `table` has
    the text of a plan's `networks`, instead of names."""

    change: str
    stack: str
    networks: list[str]
    blocks: int
    table: str
    keys: str
    """Further keys of the plan, each in a line."""
    is_live: bool = False

    def _text(self, places: Sequence[str]) -> str:
        question = self._comparison_text(places)
        if "\nvisit = " in question and "visit = " in self.keys:
            raise PlanError(
                ["--visit: early data goes out on a repeat visit, which --change asks for; drop it"]
            )
        return self.keys + question

    def _comparison_text(self, places: Sequence[str]) -> str:
        how = self.networks, self.blocks, self.table
        if self.is_live:
            return live_plan(places[0], places[1], self.stack, *how)
        if len(places) > 1:
            return pages_plan(places[0], places[1], self.stack, *how)
        if (edit := _edit_of(self.change)) is not None:
            return edit_plan(places[0], edit, self.stack, *how)
        if _is_of_browser(self.change):
            return browser_plan(places[0], self.change, self.stack, *how)
        networks, blocks, table = how
        return question_plan(places, self.change, networks, self.stack, blocks, table)

    def plan(self, places: Sequence[str]) -> Plan:
        """Return the plan of a question. Raises `PlanError` in terms of the question."""
        try:
            return parse_plan(
                self._text(places),
                QUESTION,
                site_names=list_shipped(),
                metric_names=PRIMARY_METRICS,
                matching=matching,
                readers=Readers(read_trace_file, read_stages, find_recorded_pair),
            )
        except PlanError as error:  # its line numbers are of a generated plan
            problems = [re.sub(rf"^{QUESTION}:\d+: ", "", problem) for problem in error.problems]
            # Both stacks may have the same mistake.
            of = f"asking `{self.change}` of `{places[0]}`"
            if len(places) > 1:
                of = f"comparing `{places[1]}` with `{places[0]}`"
            messages = [
                f"{of}: {problem}{_or_a_page(places, problem)}"
                for problem in dict.fromkeys(problems)
            ]
            raise PlanError(messages) from error


def _or_a_page(places: Sequence[str], problem: str) -> str:
    """Return a hint that an unknown site may be given as a page's URL or a file."""
    if not problem.startswith("unknown site"):
        return ""
    place = next((each for each in places if f"`{each}`" in problem), places[0])
    url = f"https://{place}/" if "." in place else EXAMPLE
    head = " Or" if problem.endswith("?") else "; or"
    return f"{head} give a page's URL, like `{url}`, or a WACZ or WARC file"


def _print_answer(summary: Summary) -> None:
    findings = summary_of(summary.study)
    first = [f"{head} {text}" for head, text in first_warnings(summary.study)]
    others = (warning for warning in findings["warnings"] if warning not in first)
    pages = changed(summary.study).sentences
    why = explain_causes(summary.study)
    noise = noise_sentences(summary.study.against_itself)
    for sentence in (*pages, *first, *findings["answer"], *noise, *others, *why):
        results.print(sentence, markup=False)


def recording_of(url: str) -> Path:
    """Return the path of a page's recording, named after its host and path."""
    parts = urlsplit(url)
    words = f"{parts.netloc.rpartition('@')[2]}{parts.path}-{parts.query}"
    name = re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-.")[:NAME_LENGTH_MAX].lower()
    return SITES_FOLDER / f"{name}.wacz"


def _is_url(site: str) -> bool:
    return site.startswith(("http://", "https://"))


def _record_where_absent(url: str, upstream_ca: Path | None, allow: Sequence[str]) -> None:
    """Record a page unless its recording exists: resumed runs and further questions reuse it."""
    kept = recording_of(url)
    if kept.exists():
        hints.print(
            f"{kept} exists already and is used; remove it to record the page again", markup=False
        )
        return
    make_folder(kept.parent)
    try:
        # Renamed when it is complete, since an existing recording is reused.
        with folder_beside(kept) as folder:
            recorded = folder / kept.name
            info = record_page(url, recorded, upstream_ca, allow)
            if info["secure_share"] < MOSTLY:
                secured = folder / f"secure-{kept.name}"
                make_secure(recorded, secured)
                recorded = secured
            recorded.rename(kept)
    except BaseException:
        with contextlib.suppress(OSError):  # unless it has other recordings
            kept.parent.rmdir()
        raise
    hints.print(
        f"recorded {info['objects']} exchanges of {len(info['origins'])} origins in {kept}",
        markup=False,
        soft_wrap=True,
    )
    if info["secure_share"] < MOSTLY:
        hints.print(
            "the page came over http, so an https copy is kept: TLS is part of every stack",
            markup=False,
            soft_wrap=True,
        )
    elif info["secure_share"] < 1:
        hints.print(
            f"{1 - info['secure_share']:.0%} of its objects came over http and are loaded in "
            "cleartext with every stack",
            markup=False,
            soft_wrap=True,
        )


def _folder(site: str, words: Sequence[str]) -> str:
    stem = Path(site).stem
    parts = [] if words[0].startswith(f"{stem}-to-") else [stem]
    name = "-".join([*parts, *words]).lower()
    return "".join(sign if sign.isalnum() or sign in "+-." else "-" for sign in name)
