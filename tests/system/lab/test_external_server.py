"""Servers that are not ours, each loading a shipped page where its program is installed."""

import gzip
import json
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from loads import GOOD
from pages import image
from repository import ROOT
from small_site import CAPITAL_BYTES, PAGE_URL, QUERIES, Answer, pack_answers, pack_small_site

from eyelevel.base.errors import LabError
from eyelevel.browser.chromium.request_scheduling import read_network_log, request_scheduling
from eyelevel.calibration.level.classes import SCENARIOS_BY_NAME, Scenario
from eyelevel.calibration.measuring.runs import (
    Recordings,
    RunError,
    run_scenario,
    try_transfer,
    write_generated_page,
)
from eyelevel.load.external_server import with_server
from eyelevel.load.servers.known import (
    INTEROP,
    PROGRAMS,
    Start,
    find_start,
    make_interop_command,
    parse_servers,
)
from eyelevel.load.servers.recipes import RECIPES
from eyelevel.load.trial import TrialResult, run_trial
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import ExternalServer, Stack
from eyelevel.plan.trials import Site, expand
from eyelevel.run.block.attempts import RETRIES_MAX, with_retries
from eyelevel.sites.recorded import open_site
from eyelevel.store.packed import MESSAGES_FILE

PLAN = """
sites = ["{site}"]
networks = ["lte"]
stacks = [{{ name = "theirs", base = "{base}", external_server = {{ command = {command}, \
protocols = ["h1", "h2", "h3"], paths = {paths} }} }}]
reference = "theirs"
blocks = 1
capture = false
"""


@pytest.fixture(scope="module")
def queries_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose every URL has a query."""
    return pack_small_site(tmp_path_factory.mktemp("queries"), QUERIES, "?view=all")


def outcome(site: Path, base: str, start: Start) -> dict:
    return result(site, base, start).record


def shell(script: str) -> Start:
    return Start(("/bin/sh", "-c", script))


def result(site: Path, base: str, start: Start, more: str = "") -> TrialResult:
    command, paths = json.dumps(start.command), json.dumps(start.paths)
    text = PLAN.format(site=site, base=base, command=command, paths=paths) + more
    plan = parse_plan(text, "plan.toml")
    assert [stack.name for stack in plan.stacks] == ["theirs@external"]
    site = open_site(plan.sites[0])
    (trial,) = expand(plan, [Site(site.name, site.of_plan().digest)])
    return with_retries(lambda: run_trial(trial, str(site.path.resolve())), RETRIES_MAX)


def start_of(recipe: str, base: str = "tcp+") -> Start:
    """Skips where the program of the recipe is not there, or has no HTTP/3."""
    start = find_start(PROGRAMS[recipe], RECIPES[recipe].file)
    if start is None:
        pytest.skip(f"{recipe} is not installed: {PROGRAMS[recipe].get}")
    served, _ = parse_servers(recipe)
    if base == "quic" and "quic" not in served[0].protocols:
        pytest.skip(f"this {recipe} has no HTTP/3; {PROGRAMS[recipe].variable} may name another")
    return start


BASES = {
    "nginx": ("http1", "tcp+", "quic"),
    "caddy": ("http1", "tcp+", "quic"),
    "envoy": ("http1", "tcp+", "quic"),
    "aioquic": ("quic",),
    "hypercorn": ("http1", "tcp+", "quic"),
}
"""The stacks of each recipe, in whose place it serves."""
EVERY = [(base, recipe) for recipe, bases in BASES.items() for base in bases]


def test_every_recipe_of_a_program_is_tried() -> None:
    assert set(BASES) == set(RECIPES) - {INTEROP}


@pytest.mark.full
@pytest.mark.parametrize(("base", "recipe"), EVERY)
def test_a_recipe_answers_every_query_as_recorded(
    base: str, recipe: str, queries_site: Path, labs: None
) -> None:
    record = outcome(queries_site, base, start_of(recipe, base))
    # A busy machine starves a load; the server has served it all the same.
    assert record["outcome"] in GOOD, record["outcome_detail"]
    objects = {item["url"].removeprefix(PAGE_URL): item for item in record["objects"]}
    assert {path.replace("now=2", "now=1") for path in objects} == set(QUERIES)
    assert {item["status"] for item in objects.values()} == {200}
    types = {QUERIES[path.replace("now=2", "now=1")][0].partition(";")[0] for path in objects}
    assert {item["mime_type"] for item in objects.values()} == types
    # Which of two bodies whose URLs differ in case alone.
    least = objects["code?id=a"]["encoded_bytes"]
    assert objects["code?id=A"]["encoded_bytes"] > least + CAPITAL_BYTES / 2
    assert {item["protocol"] for item in record["objects"]} == {
        {"http1": "http/1.1", "tcp+": "h2", "quic": "h3"}[base]
    }
    assert record["connections"] == []


@pytest.mark.full
@pytest.mark.parametrize("recipe", [recipe for base, recipe in EVERY if base == "quic"])
def test_over_http3_a_recipe_names_it_so_that_the_browser_holds_nothing_back(
    recipe: str, tmp_path: Path, labs: None
) -> None:
    page = write_generated_page(tmp_path / "level.wacz")
    loaded = result(page, "quic", start_of(recipe, "quic"), "netlog = true\n")
    assert loaded.record["outcome"] in GOOD, loaded.record["outcome_detail"]
    urls = {item["url"] for item in loaded.record["objects"]}
    found = request_scheduling(read_network_log(loaded.logs["netlog.json.gz"]), urls)
    assert {each.url for each in found.requests} == urls
    assert found.held_back() == ()


CODED_PAGE = (
    b"<!doctype html><title>coded</title><link rel=stylesheet href='/style.css'>"
    b"<link rel=icon href=data:,><h1>A heading</h1><img src='/gone.png'><img src='/moved.png'>"
    + b"<p>The same words over and over, which compress well.</p>"
    * 200
)
CODED_BODY = gzip.compress(CODED_PAGE, mtime=0)
CODED_CSS = b"h1 { color: rgb(1, 2, 3) }\n" * 100


@pytest.fixture(scope="module")
def compressed_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with compressed bodies, an error, a redirect and fields that need quotes."""
    coded = [("content-encoding", "gzip"), ("vary", "accept-encoding")]
    odd = [("x-odd", 'a "b" $c {d} \\'), ("set-cookie", "a=1"), ("set-cookie", "b=2")]
    text = [("content-type", "text/plain")]
    answers = [
        Answer("", CODED_BODY, [("content-type", "text/html"), *coded, *odd]),
        Answer("style.css", gzip.compress(CODED_CSS), [("content-type", "text/css"), *coded]),
        Answer("gone.png", b"it is gone", text, 404),
        Answer("moved.png", b"", [("location", "/picture.png")], 302),
        Answer("picture.png", image(120), [("content-type", "image/png")]),
    ]
    return pack_answers(tmp_path_factory.mktemp("coded"), answers)


IN_EVERY_RUN = [("tcp+", "nginx"), ("quic", "caddy")]


@pytest.mark.parametrize(
    ("base", "recipe"),
    [pytest.param(*each, marks=() if each in IN_EVERY_RUN else pytest.mark.full) for each in EVERY],
)
def test_a_recipe_sends_bodies_status_and_fields_as_recorded(
    base: str, recipe: str, compressed_site: Path, labs: None
) -> None:
    loaded = result(compressed_site, base, start_of(recipe, base))
    record = loaded.record
    assert record["outcome"] in GOOD, record["outcome_detail"]
    packed = json.loads(gzip.decompress(loaded.logs[MESSAGES_FILE]))["objects"]
    found = {}
    for item, message in zip(record["objects"], packed, strict=True):
        fields = [(name.lower(), value) for name, value in message["response_fields"]]
        found[item["url"].removeprefix(PAGE_URL)] = item["status"], fields
    assert {path: status for path, (status, _) in found.items()} == {
        "": 200, "style.css": 200, "gone.png": 404, "moved.png": 302, "picture.png": 200,
    }  # fmt: skip
    fields = found[""][1]
    for field in [
        ("content-encoding", "gzip"),
        ("vary", "accept-encoding"),
        ("x-odd", 'a "b" $c {d} \\'),
        ("content-type", "text/html"),
        ("content-length", str(len(CODED_BODY))),
    ]:
        assert field in fields
    assert not {"last-modified", "etag"} & {name for name, _ in fields}
    assert ("alt-svc" in dict(fields)) == (base == "quic")


def test_a_server_that_does_not_compress_is_not_compared(compressed_site: Path, labs: None) -> None:
    script = (
        'cd "$EYELEVEL_FOLDER"; cp -r "$EYELEVEL_FILES" plain; '
        "find plain -type f | while read -r file; do "
        'if gzip -dc <"$file" >body 2>/dev/null; then cp body "$file"; fi; done; '
        'grep -vi content-encoding "$EYELEVEL_FIELDS" >fields.tsv; '
        'export EYELEVEL_FILES="$PWD/plain" EYELEVEL_FIELDS="$PWD/fields.tsv"; exec'
    )
    nginx = start_of("nginx")
    command = ("/bin/sh", "-c", f'{script} "$@"', "sh", *nginx.command)
    record = outcome(compressed_site, "tcp+", Start(command, nginx.paths))
    assert record["outcome"] == "different-page"
    assert record["outcome_detail"].startswith(
        f"the external server sent {PAGE_URL} with {len(CODED_PAGE)} bytes, ours sends "
        f"{len(CODED_BODY)}"
    )


def test_a_server_that_ends_at_once_says_why(queries_site: Path, labs: None) -> None:
    record = outcome(queries_site, "tcp+", shell("echo no certificate >&2; exit 3"))
    assert record["outcome"] == "lab-failed"
    assert "ended by itself; it said: no certificate; correct" in record["outcome_detail"]


def test_a_server_sees_the_system_its_folder_and_what_is_named(
    queries_site: Path, labs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells what it finds in the line that it is quoted with."""
    monkeypatch.setenv("SECRET", "of the caller")
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    script = (
        f"id -u; cat {secret} || echo hidden; ls /run /home; env | grep SECRET; "
        "touch /usr/changed 2>&1; touch own && echo writable; "
        'head -c 10 "$EYELEVEL_KEY"; [ "$PWD" = "$EYELEVEL_FOLDER" ] && echo; exit 3'
    )
    record = outcome(queries_site, "tcp+", shell(script))
    said = record["outcome_detail"].split("it said: ")[1]
    assert said == (
        f"1000 cat: {secret}: No such file or directory hidden "
        "ls: cannot access '/home': No such file or directory /run: "
        "touch: cannot touch '/usr/changed': Read-only file system writable -----BEGIN"
        "; correct its command"
    )


def test_files_and_certificate_are_also_where_the_interop_runner_has_them(
    queries_site: Path, labs: None
) -> None:
    script = (
        'cmp /certs/cert.pem "$EYELEVEL_CERTIFICATE"; cmp /certs/priv.key "$EYELEVEL_KEY"; '
        'diff -r /www "$EYELEVEL_FILES/small.example"; ls "$EYELEVEL_FILES" | wc -l; '
        "touch /www/changed 2>&1; touch /certs/changed 2>&1; exit 3"
    )
    said = outcome(queries_site, "tcp+", shell(script))["outcome_detail"].split("it said: ")[1]
    assert said == (
        "1 touch: cannot touch '/www/changed': Read-only file system "
        "touch: cannot touch '/certs/changed': Read-only file system; correct its command"
    )


def start_endpoint(name: str) -> Start:
    """Skips where it is not installed."""
    if name == "aioquic":
        python = start_of("aioquic")
        return Start(
            (python.command[0], str(ROOT / "tests/helpers/interop_endpoint.py")), python.paths
        )
    found = shutil.which(name)
    if found is None:
        pytest.skip(
            f"{name} is not on the PATH: docs/guides/external-server.md has how to build it"
        )
    return Start((found,), (found,))


@pytest.mark.parametrize("name", ["aioquic", "quiche-server"])
def test_a_server_of_the_interop_runner_sends_bodies(name: str, labs: None) -> None:
    endpoint = start_endpoint(name)
    command = make_interop_command(endpoint.command)
    stack = with_server(
        STACKS_BY_NAME["quic"], "theirs", ExternalServer(command, ("h3",), endpoint.paths)
    )
    for _ in range(RETRIES_MAX):
        with suppress(RunError):  # whole, but of a busy machine
            try_transfer(stack)
            return
    pytest.skip("the machine is too busy for every try")


def test_a_path_that_is_not_there_is_named(queries_site: Path, labs: None) -> None:
    start = Start(("/bin/sh", "-c", "exit 3"), ("/nowhere/at/all",))
    record = outcome(queries_site, "tcp+", start)
    assert record["outcome"] == "lab-failed"
    assert "showing /nowhere/at/all to an external server" in record["outcome_detail"]


def test_a_program_outside_of_the_system_wants_its_path(
    queries_site: Path, tmp_path: Path, labs: None
) -> None:
    script = tmp_path / "server"
    script.write_text(f"#!{sys.executable}\n", "utf-8")
    script.chmod(0o755)
    record = outcome(queries_site, "tcp+", Start((str(script),)))
    assert "cannot run" in record["outcome_detail"]
    assert "`paths`" in record["outcome_detail"]


def test_the_levels_transfers_are_the_external_servers(labs: None) -> None:
    server = ExternalServer(command=("/bin/false",), protocols=("h3",))
    stack = with_server(STACKS_BY_NAME["quic"], "theirs", server)
    with pytest.raises(LabError, match="the server `/bin/false` ended by itself"):
        try_transfer(stack)


@pytest.mark.full
def test_the_path_shows_the_traits_of_caddy(tmp_path: Path, labs: None) -> None:
    """Its first packets have 1,280 bytes, and an urgent response does not wait for the others."""
    start = start_of("caddy", "quic")
    server = ExternalServer(start.command, ("h3",), start.paths)
    caddy = with_server(STACKS_BY_NAME["quic"], "caddy", server)
    bulk, late = (SCENARIOS_BY_NAME[name] for name in ("bulk on far", "late on slow"))
    recordings = Recordings.write(tmp_path, {bulk.body_bytes, late.body_bytes})

    def measure(scenario: Scenario, stack: Stack) -> dict:
        for seed in range(RETRIES_MAX):
            with suppress(RunError):
                return run_scenario(scenario, stack, recordings, seed)
        pytest.skip("the machine is too busy for every try")

    assert measure(bulk, caddy)["tickets"] >= 1
    level = measure(late, STACKS_BY_NAME["quic"])["late_bytes"]
    assert measure(late, caddy)["late_bytes"] < level / 2
