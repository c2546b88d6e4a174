"""The data plane's limits, kinds of stages and capabilities, as the build wrote them.

`lab_tables.json` beside this file is what `eyelevel-lab tables` prints (`scripts/lab-tables`); a
test says when it is stale. So plans and networks have the data plane's bounds without starting it.
"""

import json
from pathlib import Path
from typing import NamedTuple

from eyelevel.json_types import JsonObject

TABLES: JsonObject = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


class Limit(NamedTuple):
    """The least and the most that the data plane takes of a setting, in the setting's unit."""

    min: float
    max: float


LIMITS: dict[str, Limit] = {name: Limit(**limit) for name, limit in TABLES["limits"].items()}
"""The limits by the setting's name in plans and in the lab's configuration."""

STAGES: list[JsonObject] = TABLES["stages"]
"""Each kind of stage: `name`, what it `does`, what `follows` in the text form, its `keys`, and
whether it `is_link`."""

CAPABILITIES: dict[str, int] = {
    str(each["name"]): int(each["number"]) for each in TABLES["capabilities"]
}
"""Those that a lab is made with where the process has them all, by name: the number of the bit."""

LINKS = frozenset(str(stage["name"]) for stage in STAGES if stage["is_link"])
"""Stages that send one packet after the other and have a queue."""
