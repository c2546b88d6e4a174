"""Print what `eyelevel` without arguments shows: five lines on what to do next on this machine.

It looks at files and starts nothing, so that it answers at once; `eyelevel doctor` looks closer.
"""

import os
from itertools import islice
from pathlib import Path

from eyelevel.base.errors import ExpectedError
from eyelevel.browser.chromium.process import find_executable
from eyelevel.cli.output import results, say
from eyelevel.lab.binary import find_binary

RESULTS = Path("results")
RUNS_SEEN_MAX = 1000
"""Folders that are looked at: an answer at once is worth more than the newest of all."""
COMMAND_WIDTH_MAX = 47
"""The widest command beside which some words fit on 80 columns."""

PLAN, REPORT = "plan.json", "report.html"
"""The files of a run at its beginning and at its end."""

HEAD = "eyelevel: which web protocol stack loads pages faster, and how sure is that?"
DEMO = ("eyelevel demo", "a first comparison, 3 min")
OWN = ("eyelevel ask https://example.org --change http3", "your own page")
DOCTOR = ("eyelevel doctor", "what this machine lacks")
HELP = ("eyelevel --help", "all commands")
LACKING = ("eyelevel doctor --fix", "{lack} is missing")

Step = tuple[str, str]
"""A command, and what it is good for."""


def welcome() -> None:
    """Print it."""
    steps = _steps()
    width = min(max(len(command) for command, _ in steps), COMMAND_WIDTH_MAX)
    say(results, HEAD)
    for number, (command, use) in enumerate(steps):
        say(results, f"{'' if number else 'next:':5} {command:{width}}  {use}")


def _steps() -> list[Step]:
    """Four, the next one first."""
    if lack := _lack():
        command, use = LACKING
        return [(command, use.format(lack=lack)), DEMO, OWN, HELP]
    run = _newest_run()
    if run is None:
        return [DEMO, OWN, DOCTOR, HELP]
    if (run / REPORT).exists():
        return [(f"eyelevel report {run} --open", "what it found"), OWN, DEMO, HELP]
    return [(f"eyelevel status {run}", "how far it is"), OWN, DEMO, HELP]


def _lack() -> str:
    """Return what no run could do without, if its absence is obvious."""
    for name, find in (("eyelevel-lab", find_binary), ("Chromium", find_executable)):
        try:
            find()
        except ExpectedError:
            return name
    return ""


def _newest_run() -> Path | None:
    """Return the folder of results that was written last."""
    try:
        with os.scandir(RESULTS) as found:
            folders = [Path(each.path) for each in islice(found, RUNS_SEEN_MAX)]
        runs = {each: (each / PLAN).stat().st_mtime for each in folders if (each / PLAN).is_file()}
    except OSError:  # there are none, or not for us
        return None
    return max(runs, key=lambda run: runs[run], default=None)
