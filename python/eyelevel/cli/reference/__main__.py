"""Write every page and file that is generated from tables: `python -m eyelevel.cli.reference`."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from eyelevel.cli.completion import written
from eyelevel.cli.reference import edits, level, metrics, outcomes, probe_rows, stages
from eyelevel.cli.reference.plan_schema import plan_schema
from eyelevel.cli.reference.presets import presets_page

FILES: Mapping[str, Callable[[], str]] = {
    "docs/reference/edits.md": edits.reference_page,
    "docs/reference/level.md": level.reference_page,
    "docs/reference/metrics.md": metrics.reference_page,
    "docs/reference/outcomes.md": outcomes.reference_page,
    "docs/reference/presets.md": presets_page,
    "docs/reference/probe-rows.md": probe_rows.reference_page,
    "docs/reference/stages.md": stages.reference_page,
    "python/eyelevel/cli/completion/words.json": written.text,
    "spec/plan.schema.json": lambda: json.dumps(plan_schema(), indent=2, ensure_ascii=False) + "\n",
}
"""The functions that return the files' texts, by path from the repository's root."""

if __name__ == "__main__":
    for name, text in FILES.items():
        Path(name).write_text(text(), encoding="utf-8")
