"""Put every text's claims to the test, and write the pages of docs/replications.

    scripts/evidence --budget 3h --data FOLDER

Each text is replicated with the installed browser and kernel within --budget, by the sites and
networks in NARROWED. The runs are below --out, in a folder for this browser and kernel that later
calls continue. Pages, figures, numbers, plans and environments are written to docs/replications
once all texts are done, and verdicts that changed are printed and added to its `changes.md`. A page
is not replaced by one of fewer measured claims. The runs themselves are kept there in any case, so
that another checkout with the same browser and kernel continues, and the networks of a text may be
loaded on several days (`--networks`). `--no-load` makes the pages of the runs that are there, those
with the installed browser and kernel if there are several.
"""

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from eyelevel.base.errors import StoreError
from eyelevel.cli.main import EXIT_REFUSED
from eyelevel.plan.file.narrow import Narrowing, narrow_plan
from eyelevel.replication.claims import list_texts, read_claims
from eyelevel.replication.figures import FOLDER
from eyelevel.replication.verdicts import word_verdict
from scripts.arguments import ROOT, parser_of
from scripts.docs.kept_runs import keep_runs, restore_runs

PAGES = ROOT / "docs" / "replications"
KEPT = PAGES / "runs"
START = ROOT / "docs" / "index.md"
BEGIN, END = "<!-- claims: begin -->", "<!-- claims: end -->"
DECIDED = ("agrees", "disagrees")
NARROWED = {
    # His 500 sites on 100 networks would take weeks: every fortieth site, on 16 of the networks
    # and those of the operators.
    "das-2014": [
        "--networks",
        "das-0.3-*0,das-1-30,das-1-300,das-5-30,das-5-300,das-25-30,das-25-300,*-lte*",
        *(f"--site=synthetic:like=das2014,site={site}" for site in range(20, 500, 40)),
        "--follow-up",
    ],
}
"""Options of texts whose plans are too large for a budget of hours."""
Numbers = Mapping[str, Any]


def main() -> int:
    """Replicate all texts and write the pages."""
    parser = parser_of(__doc__, "scripts/evidence")
    parser.add_argument("texts", nargs="*", help="only these texts")
    parser.add_argument("--budget", default="3h", help="the time for the loads of each text")
    parser.add_argument("--networks", help="load only these networks, by commas")
    parser.add_argument("--data", type=Path, help="the folder of the authors' data sets")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "replications")
    parser.add_argument("--no-load", action="store_true", help="only read what was loaded")
    asked = parser.parse_args()
    names = asked.texts or list_texts()
    found: dict[str, Numbers] = {}
    folders: dict[str, Path] = {}
    for name in names:
        machine = name_machine()
        if asked.no_load:
            machine = choose_machine(name, machine, [asked.out, KEPT])
        out = folders[name] = asked.out / machine / name
        try:
            restore_runs(KEPT / machine / name, out)
        except StoreError as error:
            print(error)
            return 1
        numbers = _replicate(name, out, asked)
        if numbers is None:
            return 1
        if not asked.no_load:
            keep_runs(out, KEPT / machine / name)
        before = _read(PAGES / f"{name}.json")
        if numbers["asked"] < before.get("asked", 0):
            print(
                f"{name}: {before['asked']} claims were measured before and {numbers['asked']} "
                "now, so nothing is written; give --data, or a longer --budget"
            )
            return 1
        found[name] = numbers
    changes = [
        change
        for name, numbers in found.items()
        for change in describe_changes(name, _read(PAGES / f"{name}.json"), numbers)
    ]
    for name, numbers in found.items():
        _write_page(name, numbers, folders[name])
        # What is kept with another browser or kernel was of the page before.
        for other in set(KEPT.glob(f"*/{name}")) - {KEPT / folders[name].parent.name / name}:
            shutil.rmtree(other)
    print("\n".join(changes) or "no verdict changed")
    if changes:
        _add_changes(changes)
    every = read_numbers()
    (PAGES / "index.md").write_text(index_page(every), encoding="utf-8")
    START.write_text(with_table(START.read_text(encoding="utf-8"), every), encoding="utf-8")
    return 0


def choose_machine(name: str, installed: str, folders: Sequence[Path]) -> str:
    """Return the machine whose runs of a text are read without loads.

    It is the installed browser and kernel, or the first other one in `folders` if that has none.
    """
    there = [each.parent.name for folder in folders for each in sorted(folder.glob(f"*/{name}"))]
    return installed if installed in there or not there else there[0]


def _write_page(name: str, numbers: Numbers, out: Path) -> None:
    PAGES.mkdir(exist_ok=True)
    text = json.dumps(numbers, indent=1, ensure_ascii=False)
    (PAGES / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    page = (out / "claims.md").read_text(encoding="utf-8")
    (PAGES / f"{name}.md").write_text(page, encoding="utf-8")
    copy_figures(name, page, out, PAGES)
    _copy_plans(name, out)


def copy_figures(name: str, page: str, out: Path, pages: Path) -> None:
    """Copy the figures that a text's page shows from `out`, and remove those of its earlier one."""
    for file in (pages / FOLDER).glob(f"{name}-*.svg"):
        file.unlink()
    for file in re.findall(rf"\]\(({FOLDER}/[^)/]+\.svg)\)", page):
        (pages / FOLDER).mkdir(exist_ok=True)
        shutil.copyfile(out / file, pages / file)


def _add_changes(changes: Sequence[str]) -> None:
    """Add the verdicts that changed today to `changes.md`."""
    file = PAGES / "changes.md"
    head = "# Verdicts that changed\n"
    before = file.read_text(encoding="utf-8").removeprefix(head) if file.exists() else ""
    today = "\n".join(["", f"## {date.today()}", "", *(f"- {each}" for each in changes), ""])
    file.write_text(f"{head}{today}{before}", encoding="utf-8")


def name_machine() -> str:
    """Return a folder's name for the installed browser and kernel."""
    command = [sys.executable, "-m", "eyelevel", "--version"]
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    lines = dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)
    words = f"{lines['browser']}-{platform.release()}"
    return re.sub(r"[^A-Za-z0-9.]+", "-", words).lower()


def read_numbers() -> dict[str, Numbers]:
    """Return the numbers of each text that has a page."""
    found = ((name, _read(PAGES / f"{name}.json")) for name in list_texts())
    return {name: numbers for name, numbers in found if numbers}


def describe_changes(name: str, before: Numbers, now: Numbers) -> list[str]:
    """Return a line for each claim that was measured before and has another verdict now."""
    earlier = {each["id"]: each["verdict"] for each in before.get("claims", ()) if each["rows"]}
    return [
        f"{name} {each['id']}: {earlier[each['id']]} before, {each['verdict']} now"
        for each in now["claims"]
        if each["id"] in earlier and earlier[each["id"]] != each["verdict"]
    ]


def index_page(found: Mapping[str, Numbers]) -> str:
    """Return the page that lists the texts."""
    has_changes = (PAGES / "changes.md").exists()
    return "\n".join(
        [
            "# Claims put to the test",
            "",
            "What the founding texts claim, asked again here: each claim with its number, ours",
            "with an interval, and a verdict by [rules](../reference/replicate.md#verdicts).",
            "`scripts/evidence` makes these pages anew.",
            "",
            *_counts(found, ""),
            "",
            "The numbers of each page are in a file of its name, `.json`; `figures/` has what the",
            "pages show, and `plans/` the plans as TOML and the environments of their loads.",
            "",
            *(
                [
                    "`runs/` has runs of these texts, from which `scripts/evidence --no-load`",
                    "computes their pages.",
                    "",
                ]
                if any(KEPT.glob("*/*"))
                else []
            ),
            *(
                ["Verdicts that changed are in [changes.md](changes.md).", ""]
                if has_changes
                else []
            ),
        ]
    )


def with_table(start: str, found: Mapping[str, Numbers]) -> str:
    """Return the start page's text with the table of claims between its marks."""
    before, _, rest = start.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = "\n".join([*_counts(found, "replications/"), "", *_verdicts(found)])
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


def _counts(found: Mapping[str, Numbers], folder: str) -> Iterator[str]:
    yield "| text | claims | measured | agree | disagree | cannot be told |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, numbers in found.items():
        short = read_claims(name).text.short
        counts = (numbers[key] for key in ("asked", "agrees", "disagrees", "cannot_tell"))
        cells = [f"[{short}]({folder}{name}.md)", len(numbers["claims"]), *counts]
        yield f"| {' | '.join(map(str, cells))} |"


def _verdicts(found: Mapping[str, Numbers]) -> Iterator[str]:
    yield "<details>"
    yield "<summary>The claims with a verdict</summary>"
    yield ""
    yield "| claim | text | verdict |"
    yield "| --- | --- | --- |"
    for name, numbers in found.items():
        claims = {each.id: each for each in read_claims(name).claims}
        for each in numbers["claims"]:
            if each["verdict"] in DECIDED and each["id"] in claims:
                words = word_verdict(claims[each["id"]], each["verdict"])
                yield f"| {each['claim']} | [{each['id']}](replications/{name}.md) | {words} |"
    yield ""
    yield "</details>"


def _replicate(name: str, out: Path, asked: argparse.Namespace) -> Numbers | None:
    words = [sys.executable, "-m", "eyelevel", "replicate", name, "--out", str(out), "--json"]
    words += ["--no-load"] if asked.no_load else ["--budget", asked.budget]
    words += ["--data", str(asked.data)] if asked.data else []
    words += [] if asked.no_load else NARROWED.get(name, [])
    words += ["--networks", asked.networks] if asked.networks and not asked.no_load else []
    done = subprocess.run(words, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode:
        # A refusal has its remedy in the command's own message.
        remedy = "" if done.returncode == EXIT_REFUSED else "; the same command continues"
        print(f"{name}: it ended with status {done.returncode}{remedy}")
        return None
    numbers: Numbers = json.loads(done.stdout)
    return numbers


def _copy_plans(name: str, out: Path) -> None:
    """Keep each run's plan as TOML with its number of blocks, and each distinct environment."""
    plans = PAGES / "plans" / name
    shutil.rmtree(plans, ignore_errors=True)
    if not any(out.glob("*/plan.json")):
        return
    plans.mkdir(parents=True)
    environments: dict[str, str] = {}
    for file in sorted(out.glob("*/plan.json")):
        plan = json.loads(file.read_text(encoding="utf-8"))
        narrowing = Narrowing(blocks=plan["blocks"])
        text = narrow_plan(plan["source"], file.parent.name, narrowing)
        text = text.replace(f"{ROOT}/", "")  # a follow-up's server: its program and recipe
        (plans / f"{file.parent.name}.toml").write_text(text, encoding="utf-8")
        environment = json.loads((file.parent / "environment.json").read_text(encoding="utf-8"))
        key = json.dumps(environment.get("versions"), sort_keys=True)
        environments.setdefault(key, json.dumps(environment, indent=1, ensure_ascii=False))
    for number, environment_text in enumerate(environments.values(), 1):
        (plans / f"environment-{number}.json").write_text(f"{environment_text}\n", "utf-8")


def _read(file: Path) -> Numbers:
    if not file.exists():
        return {}
    numbers: Numbers = json.loads(file.read_text(encoding="utf-8"))
    return numbers


if __name__ == "__main__":
    sys.exit(main())
