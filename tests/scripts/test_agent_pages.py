"""The instructions for coding agents name each verdict that a report can have."""

import re

from eyelevel.analysis.answers import FINDINGS
from scripts.arguments import ROOT


def test_the_skill_explains_every_verdict_that_answers_have() -> None:
    page = (ROOT / "docs" / "agents" / "SKILL.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = {word for row in rows for word in re.findall(r"`([^`]+)`", row)}
    assert set(FINDINGS) <= named
