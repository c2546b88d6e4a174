"""The line on a study before its first load: its time, and the effect that it can find."""

import re

from eyelevel.cli.run.plan import foretell, open_pages
from eyelevel.plan.edits import parse_change
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.two_pages import edit_plan, pages_plan

PAGES = ("synthetic:objects=2", "synthetic:objects=3")


def test_a_study_that_may_stop_is_foretold():
    plan = parse_plan(pages_plan(*PAGES, "quic", ["dsl"], blocks_max=40), "question")
    sites = open_pages(plan)
    assert sites[0].name != sites[0].variants[plan.variants[1].name].name
    said = re.fullmatch(
        r"at most 80 loads in .+; about (\d+) of 40 blocks if nothing differs, (\d+) at a "
        r"difference of (\d+\.\d)%, which four of five studies find \(an assumed scatter .+\)",
        foretell(plan, sites),
    )
    assert said and 6 <= int(said[1]) <= 40 and 0 < float(said[3]) < 20


def test_a_variants_edits_are_applied_to_its_recording(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    edit = parse_change("insert_head:<!-- changed -->")
    plan = parse_plan(edit_plan("plain", edit, "quic", ["dsl"]), "question")
    (site,) = open_pages(plan)
    edited = site.variants[plan.variants[1].name]
    assert edited.name == site.name and edited.digest != site.digest
    assert "plain: insert_head:<!-- changed --> matched once" in capsys.readouterr().err
