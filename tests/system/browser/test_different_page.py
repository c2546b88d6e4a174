"""Loads that show another page than the site's other loads do, judged by their real pictures."""

import pytest
from judged import judge_all
from pages import decoded
from sample_record import sample_record

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.browsers import load_page
from eyelevel.browser.chromium.process import find_executable
from eyelevel.browser.observations import LoadSettings
from eyelevel.load.coding import final_picture
from eyelevel.plan.stack_presets import STACKS_BY_NAME

HTTP1 = STACKS_BY_NAME["http1"]

try:
    find_executable()
except BrowserStartError as error:
    pytest.skip(str(error), allow_module_level=True)


def test_a_missing_hero_and_an_error_page_are_told_from_the_other_loads(origin: str) -> None:
    records = []
    paths = ["/hero"] * 4 + ["/hero-missing", "/error-page"]
    for number, path in enumerate(paths, start=1):
        raw = load_page(LoadSettings(origin + path, HTTP1, quiet_s=0.2))
        assert raw.ended == "complete"
        record = sample_record(repetition=number)
        record["browser"]["final_picture"] = final_picture(decoded(raw)[-1][1])
        records.append(record)
    judged = judge_all(records)
    outcomes = [judged[record["trial"]["hash"]] for record in records]
    assert [outcome for outcome, _ in outcomes] == ["ok"] * 4 + ["different-page"] * 2
    for _, detail in outcomes[4:]:
        assert "from this site's other loads" in detail
