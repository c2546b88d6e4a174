"""Early Hints in a report, from synthetic records."""

import json

import pytest
from sample_record import sample_object, sample_request
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.study import read_results
from eyelevel.report.first_screen.changed_pages import changed
from eyelevel.report.page import page, summary_of

TEXT = """\
sites = ["startup"]
networks = ["dsl"]
stacks = [
    { name = "slow", base = "quic", think_time = "400 ms" },
    { name = "hinted", base = "quic", think_time = "400 ms", early_hints = "auto" },
]
reference = "slow"
blocks = 6
"""
PAGE, STYLE = "https://a.example/", "https://a.example/style.css"


@pytest.fixture
def results(tmp_path):
    """A run whose first hinted load fetched the style sheet twice, and whose second got no 103."""

    def add_hints(record):
        key = record["trial"]
        if key["stack"] != "hinted":
            return {}
        sent = 2 if key["repetition"] == 1 else 1
        requests = [sample_request(think_ms=400.0, early_hints=True)]
        requests += [sample_request(url=STYLE, think_ms=400.0)] * sent
        left_out = [{"url": f"{PAGE}never.css", "reason": "is `no-store`"}]
        hints = {"hinted": [STYLE], "left_out": left_out}
        hints["received"] = key["repetition"] != 2
        style = {"from_early_hints": True} if key["repetition"] > 2 else {}
        objects = [sample_object(), sample_object(url=STYLE, **style)]
        return {"early_hints": hints, "requests": requests, "objects": objects}

    write_run(tmp_path, text=TEXT, change=add_hints)
    return read_results(tmp_path, metrics_of)


def test_the_report_has_what_became_of_each_hint(results):
    (found,) = json.loads(json.dumps(summary_of(results)))["early_hints"]
    assert found == {
        "stack": "hinted",
        "site": "startup",
        "loads": 6,
        "received": 5,
        "wait_ms": 400.0,
        "uses": {STYLE: {"fetched twice": 1, "not fetched early": 1, "used": 4}},
        "left_out": [{"url": f"{PAGE}never.css", "reason": "is `no-store`"}],
    }
    (sentence,) = changed(results).sentences
    assert sentence == (
        "Early Hints of hinted in startup: the 103 was 400 ms ahead of the page; "
        f"{STYLE} was fetched twice in 1 load, not fetched early in 1 load, used in 4 loads; "
        f"the browser took in 5 of 6; left out: {PAGE}never.css is `no-store`."
    )
    assert "the 103 was 400 ms ahead" in page(results)
