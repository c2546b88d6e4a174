"""A bundle from a stranger: nothing in it runs unasked, is believed, or passes for ours."""

import json
import re
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from synthetic_run import write_run

from eyelevel.base.errors import ExpectedError, PlanError, StoreError
from eyelevel.cli import main
from eyelevel.run.bundle.bundle import Member, RunInputs, kind_of, write_bundle
from eyelevel.run.bundle.unpack import describe_access, open_bundle
from eyelevel.sites.recorded import RecordedSite
from eyelevel.store.directory import PLAN_FILE, read_document

SHELL = {"command": ["sh", "-c", "touch owned"], "protocols": ["h1", "h2", "h3"]}
PLAN = """\
sites = ["startup"]
networks = ["dsl", { name = "odd", base = "lte", queue_ms = 100 }]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""
SERVED = PLAN.replace(
    '"quic"',
    '{ name = "x", base = "quic", external_server = '
    '{ command = ["sh", "-c", "touch owned"], protocols = ["h3"] } }',
)
DIGEST = "ab" * 32


MADE: dict[str, bytes] = {}


def bundled(tmp_path, text=PLAN):
    """A bundle of a made-up run of the plan's `text`."""
    file = tmp_path / "run.zip"
    if text not in MADE:
        MADE[text] = packed(tmp_path, text).read_bytes()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(MADE[text])
    return file


def packed(tmp_path, text=PLAN):
    """The same, made anew of `made`, beside it."""
    run = tmp_path / "made"
    write_run(run, text=text)
    sites = {}
    for site in read_document(run, PLAN_FILE)["sites"]:
        path = tmp_path / f"{site['name']}.wacz"
        path.write_bytes(site["name"].encode())
        sites[site["name"]] = RecordedSite(site["name"], path, site["digest"])
    (run / "report.html").write_text("<script>theirs</script>")
    (run / "trials.parquet").write_bytes(b"theirs")
    (run / "exports").mkdir()
    (run / "exports" / "x.html").write_text("theirs")
    file = tmp_path / "run.zip"
    write_bundle(run, RunInputs(sites, {}), file)
    return file


def forged(file, change):
    """The bundle with a changed `plan.json`, whose digest is right."""
    members, manifest = members_of(file)
    document = json.loads(members["run/plan.json"])
    change(document)
    members["run/plan.json"] = json.dumps(document).encode()
    manifest["files"]["run/plan.json"] = sha256(members["run/plan.json"]).hexdigest()
    return rewritten(file, members, manifest)


def members_of(file):
    with zipfile.ZipFile(file) as pack:
        members = {name: pack.read(name) for name in pack.namelist()}
    return members, json.loads(members["bundle.json"])


def rewritten(file, members, manifest):
    members["bundle.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(file, "w") as pack:
        for name, content in members.items():
            pack.writestr(name, content)
    return file


def refused(file, tmp_path, kind=ExpectedError):
    with pytest.raises(kind) as error:
        open_bundle(file, tmp_path / "unpacked")
    text = str(error.value)
    assert text.startswith(f"{file}: ") and text.isprintable() and len(text) < 600
    assert not list((tmp_path / "unpacked").rglob("*")), "nothing was unpacked"
    return text.removeprefix(f"{file}: ")


def test_the_senders_pages_and_tables_are_left_in_the_bundle(tmp_path):
    file = bundled(tmp_path)
    found = open_bundle(file, tmp_path / "unpacked")
    assert set(found.left) == {"run/report.html", "run/exports/x.html"}
    assert not [path for path in found.run.rglob("*") if path.suffix in (".html", ".parquet")]
    assert describe_access(found.plan) == []


def test_a_table_of_theirs_is_left_too(tmp_path):
    members, manifest = members_of(bundled(tmp_path))
    members["run/trials.parquet"] = b"forged"
    manifest["files"]["run/trials.parquet"] = sha256(b"forged").hexdigest()
    file = rewritten(tmp_path / "run.zip", members, manifest)
    found = open_bundle(file, tmp_path / "unpacked")
    assert "run/trials.parquet" in found.left
    assert not (found.run / "trials.parquet").exists()


@pytest.mark.parametrize("allowed", [False, True])
def test_rerun_prints_commands_and_runs_them_if_asked(tmp_path, monkeypatch, capsys, allowed):
    file = bundled(tmp_path, SERVED)
    ran = []
    monkeypatch.setattr("eyelevel.cli.run.rerun.check_sites", lambda *_: None)
    monkeypatch.setattr("eyelevel.cli.run.rerun.run_plan", lambda plan, *_, **__: ran.append(plan))
    option = ["--allow-commands"] if allowed else []
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["eyelevel", "rerun", str(file), "--out", str(out), *option])
    assert main.main() == 2  # with it, since no plan was run
    said = capsys.readouterr().err
    assert f"{file} starts: sh -c 'touch owned'" in said
    assert bool(ran) == allowed == out.exists()
    assert ("give --allow-commands to let them run" in said) != allowed


@pytest.mark.parametrize("allowed", [False, True])
def test_rerun_refuses_what_may_hold_secrets_whatever_is_allowed(
    tmp_path, monkeypatch, capsys, allowed
):
    served = SERVED.replace('protocols = ["h3"]', 'protocols = ["h3"], paths = ["~/.ssh", "/srv"]')
    file, out = bundled(tmp_path, served), tmp_path / "out"
    option = ["--allow-commands"] if allowed else []
    monkeypatch.setattr(sys, "argv", ["eyelevel", "rerun", str(file), "--out", str(out), *option])
    assert main.main() == 2
    said = capsys.readouterr().err
    home = Path.home()
    assert f"{file} opens to it: {home}/.ssh (`~/.ssh`)\n{file} opens to it: /srv\n" in said
    assert f"`~/.ssh` is in the home {home}; ask its sender" in said and not out.exists()


def server(document):
    document["stacks"][1]["external_server"] = SHELL
    document["stacks"][1]["name"] = "quic@external"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["stacks"][1].update(external_server=SHELL), "`stacks.1.external_server` is "),
        (lambda d: d["stacks"][0].update(pacing=not d["stacks"][0]["pacing"]), "`stacks.0.pacing`"),
        (lambda d: d["networks"][1].update(queue_ms=5), "`networks.1.queue_ms` is 5"),
        (lambda d: d["networks"][0].update(name="other"), ".network`: the plan has no dsl"),
        (lambda d: d.update(blocks=3), "`blocks` is 3, and by the plan's text in it 2"),
        (lambda d: d["browser"].update(netlog=True), "`browser.netlog` is True"),
        (lambda d: d.update(smallest_effect_of_interest=0.9), "`smallest_effect_of_interest`"),
        (lambda d: d.update(source=d["source"] + "seed = 9"), "`seed` is 1, and by the plan's "),
        (lambda d: d.update(source="a = ["), "the plan's text:1: not TOML"),
        (
            lambda d: d.update(source="a=" + "[" * 9000),
            "the plan's text: its arrays or tables are nested",
        ),
    ],
)
def test_a_document_that_says_otherwise_than_its_text_is_refused(tmp_path, change, said):
    text = refused(forged(bundled(tmp_path), change), tmp_path, PlanError)
    assert text.startswith("run/plan.json") and said in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (server, "`comparisons.0`: a comparison is of a stack that"),
        (lambda d: d.update(blocks=10**6), "`blocks`"),
        (lambda d: d.update(seed=-1), "`seed`"),
        (lambda d: d.update(sites=[]), "`sites`"),
        (lambda d: d["sites"][0].update(name="../x"), "`sites`: ../x is not the name"),
        (lambda d: d["sites"][0].update(name="a\x1b"), "`sites.0`: its name has a character"),
        (lambda d: d["stacks"][0].update(name="[/b]\n"), "stacks.0.name"),
        (lambda d: d["stacks"][0].update(initial_window_packets=-1), "stacks.0.initial_window"),
        (lambda d: d["stacks"].append(d["stacks"][0]), "`stacks.2.name`: the name is used twice"),
        (lambda d: d["networks"][0].update(rate_down_bit_s=0), "`networks.0`: its rates must"),
        (lambda d: d["networks"][0].update(queue_ms=0), "`networks.0`: `queue_ms` must"),
        (
            lambda d: d["networks"][0].update(
                stages_up=[], stages_down=[{"stage": "trace", "trace": "/etc/passwd"}]
            ),
            "the stages name `/etc/passwd`; files are named by their digests",
        ),
        (lambda d: d["networks"][0].update(stages_up=[]), "stages in only one direction"),
        (lambda d: d["networks"][0].update(trace_up_sha256="/etc/passwd"), "named by no digest"),
        (lambda d: d.update(weights={"no": 1.0}), "`weights`: they are of other networks"),
        (lambda d: d.update(comparisons=[{"stack": "a", "reference": "b"}]), "`comparisons.0`"),
        (lambda d: d["browser"].update(browser="firefox", netlog=True), "`browser.netlog`"),
        (lambda d: d["trials"][0].update(hash="../x"), "`trials.0`: it has no hash"),
        (lambda d: d["trials"][0].update(stack="x"), "`trials.0.stack`: the plan has no x"),
        (lambda d: d["trials"][0].pop("seed"), "it lacks 'seed'"),
        (lambda d: d.update(trials={}), "`trials` is not a list"),
        (lambda d: d.update(more=1), "more"),
        (lambda d: d.update(primary_metric="[/b]"), "its metric `[/b]` is not known here"),
    ],
)
def test_every_value_of_the_document_passes_what_a_plan_files_do(tmp_path, change, said):
    text = refused(forged(bundled(tmp_path), change), tmp_path, PlanError)
    assert text.startswith("run/plan.json") and said in text


def test_a_plan_of_a_trace_and_of_stages_is_what_its_text_says(tmp_path):
    """By what the document has of them: the sender's files are not here."""
    text = SERVED + (
        '[[networks]]\nname = "traced"\nbase = "dsl"\ntrace_down = "/nowhere/cell.down"\n'
        '[[networks]]\nname = "folder"\nbase = "att-lte-30"\ntraces = "/nowhere"\n'
        '[[networks]]\nname = "staged"\ndown = "rate 1 Mbit/s, queue droptail 10ms"\nup = "none"\n'
    )
    text = text.replace('networks = ["dsl", { name = "odd", base = "lte", queue_ms = 100 }]\n', "")
    from eyelevel.plan.file import from_document
    from eyelevel.plan.file.parse import parse_plan
    from eyelevel.plan.file.tables import Readers, StagesRead, TraceFile

    stages = ({"stage": "rate", "rate_bit_s": 10**6, "queue": {"discipline": "droptail"}},)
    plan = parse_plan(
        text,
        "plan.toml",
        readers=Readers(
            lambda name: TraceFile(name, DIGEST, 5_000_000),
            lambda said: StagesRead(stages if "rate" in said else (), {}, 10**6, 7.0, 9.0),
            lambda folder, link: (f"{folder}/{link}.down", f"{folder}/{link}.up"),
        ),
    )
    asked = []
    from_document.check_text(plan, "plan.json", lambda digest: asked.append(digest) or 5_000_000)
    assert asked == [DIGEST] * 3
    with pytest.raises(PlanError, match=r"`networks\.0\.rate_down_bit_s` is 5000000, and by the"):
        from_document.check_text(plan, "plan.json", lambda digest: 1)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("run/plan.json", Member.TAKEN),
        ("run/trials/ab12/record.json.gz", Member.TAKEN),
        ("run/trials/ab12/after-load-1.npz", Member.TAKEN),
        ("run/trials/ab12/logs/connection-1.sqlog", Member.TAKEN),
        (f"run/pictures/{'ab' * 10}.webp", Member.TAKEN),
        ("sites/a b.wacz", Member.TAKEN),
        (f"files/{DIGEST}", Member.TAKEN),
        ("locks/installed.txt", Member.TAKEN),
        ("run/report.html", Member.LEFT),
        ("run/trials/ab12/logs/.x", Member.LEFT),
        ("run/trials/.writing-x/record.json.gz", Member.LEFT),
        ("run/environment.json.html", Member.LEFT),
        *((name, Member.ASTRAY) for name in ("", "/etc/passwd", "run", "run/", "x/y", "run/../x")),
        *((name, Member.ASTRAY) for name in ("run//plan.json", "./run/plan.json", "files/x")),
        *(
            (name, Member.ASTRAY)
            for name in ("sites/.x", "sites/a/b", "run\\x", "run/a\x1b", "//x")
        ),
    ],
)
def test_what_lies_where_is_told_by_its_name(name, kind):
    assert kind_of(name) is kind


def test_a_plan_in_a_bundle_that_is_deep_or_none_names_the_bundle(tmp_path):
    for content in (b"[" * 9000, b"\xff", b"", b'{"version": 1}', b'{"version": NaN}'):
        members, manifest = members_of(bundled(tmp_path / sha256(content).hexdigest()[:5]))
        members["run/plan.json"] = content
        manifest["files"]["run/plan.json"] = sha256(content).hexdigest()
        file = rewritten(tmp_path / "forged.zip", members, manifest)
        assert refused(file, tmp_path).startswith("run/plan.json")


def test_a_bundle_is_made_of_records_that_were_checked(tmp_path):
    run = tmp_path / "made"
    write_run(run, text=PLAN)
    record = next((run / "trials").iterdir()) / "record.json.gz"
    record.write_bytes(record.read_bytes()[:-9])
    sites = {"startup": RecordedSite("startup", record, "sha256:" + ("startup" * 8)[:64])}
    with pytest.raises(StoreError, match=f"{re.escape(str(record))}.*not whole gzip data"):
        write_bundle(run, RunInputs(sites, {}), tmp_path / "x.zip")
    assert not list(tmp_path.glob("*.zip"))


def test_a_link_in_a_run_is_not_packed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("mine")
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "notes.txt").symlink_to(secret)
    members, _ = members_of(packed(tmp_path))
    assert "run/notes.txt" not in members and b"mine" not in members.values()
