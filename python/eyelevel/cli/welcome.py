"""Print five lines on what to do next, for `eyelevel` without arguments.

It only looks at files, so that it answers at once; `eyelevel doctor` examines more.
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
"""Maximum number of folders examined: a quick answer matters more than the newest run."""
COMMAND_WIDTH_MAX = 47
"""Maximum width of a command with text beside it in 80 columns."""

PLAN, REPORT = "plan.json", "report.html"
"""Files that a run has from its beginning and at its end."""

HEAD = "eyelevel: which web protocol stack loads pages faster, and how sure is that?"
DEMO = ("eyelevel demo", "a first comparison, 3 min")
OWN = ("eyelevel ask https://example.org --change http3", "your own page")
DOCTOR = ("eyelevel doctor", "what this machine lacks")
HELP = ("eyelevel --help", "all commands")
LACKING = ("eyelevel doctor --fix", "{lack} is missing")

Step = tuple[str, str]
"""A command, and its purpose."""


def welcome() -> None:
    """Print the next steps for this machine."""
    steps = _steps()
    width = min(max(len(command) for command, _ in steps), COMMAND_WIDTH_MAX)
    say(results, HEAD)
    for number, (command, use) in enumerate(steps):
        say(results, f"{'' if number else 'next:':5} {command:{width}}  {use}")


def _steps() -> list[Step]:
    """Return four commands, the next one to use first."""
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
    """Return a missing requirement of every run, if its absence is obvious."""
    for name, find in (("eyelevel-lab", find_binary), ("Chromium", find_executable)):
        try:
            find()
        except ExpectedError:
            return name
    return ""


def _newest_run() -> Path | None:
    """Return the most recently written folder of results, or None."""
    try:
        with os.scandir(RESULTS) as found:
            folders = [Path(each.path) for each in islice(found, RUNS_SEEN_MAX)]
        runs = {each: (each / PLAN).stat().st_mtime for each in folders if (each / PLAN).is_file()}
    except OSError:  # there are none, or they are unreadable
        return None
    return max(runs, key=lambda run: runs[run], default=None)
