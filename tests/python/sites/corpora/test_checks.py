"""What is kept of checks: read back as it was, and only of the very recording."""

import json
import shutil

import pytest
from labs import CORPUS

from eyelevel.base.errors import BrowserError, CorpusError
from eyelevel.cli.corpus.record import check_member
from eyelevel.sites.check import RULES
from eyelevel.sites.corpora.attributes import read_attributes
from eyelevel.sites.corpora.checks import (
    LOADS_MIN,
    Check,
    fit_alone,
    folder_of,
    keep_check,
    read_check,
)
from eyelevel.sites.corpora.members import members

FIT = Check("plain", "ab", 3, 0, "")


def test_a_check_is_kept_and_read(tmp_path):
    assert read_check(tmp_path, "plain") is None
    for check in (FIT, Check("plain", "ab", 3, 0, "it is blank"), Check("plain", "ab", 0, 2, "")):
        keep_check(tmp_path / "checks", check, {"page": {}})
        assert read_check(tmp_path / "checks", "plain") == check
    assert FIT.rules == RULES
    assert "2 exchanges did not come back as recorded" in Check("plain", "ab", 0, 2, "x").reason


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"version": 1}', '{"version": 1, "digest": 3, "loads": 1}']
)
def test_a_check_that_is_none_is_refused(tmp_path, text):
    (tmp_path / "plain.json").write_text(text)
    with pytest.raises(CorpusError, match=r"plain\.json"):
        read_check(tmp_path, "plain")


def test_fit_are_those_whose_check_is_of_this_recording(tmp_path):
    for name in ("plain", "blog", "api", "admin"):
        shutil.copy(CORPUS / f"{name}.wacz", tmp_path)
    sites = list(read_attributes(members(str(tmp_path))))
    with pytest.raises(CorpusError, match="nothing in"):
        fit_alone(str(tmp_path), sites)
    digests = {site.name: site.digest for site in sites}
    folder = folder_of(str(tmp_path))
    folder.mkdir()  # of a check that was killed in its first load
    with pytest.raises(CorpusError, match="nothing in"):
        fit_alone(str(tmp_path), sites)
    keep_check(folder, Check("plain", digests["plain"], 3, 0, ""), {})
    keep_check(folder, Check("blog", digests["blog"], 3, 0, "it is blank"), {})
    keep_check(folder, Check("api", "another's", 3, 0, ""), {})
    assert [site.name for site in fit_alone(str(tmp_path), sites)] == ["plain"]


def test_a_verdict_of_other_rules_is_none(tmp_path):
    """It is not drawn by, and a check goes on with it as with one that is not there."""
    shutil.copy(CORPUS / "plain.wacz", tmp_path)
    (member,) = members(str(tmp_path))
    (site,) = read_attributes([member])
    folder = folder_of(str(tmp_path))
    for rules in ("0: as it was", ""):
        keep_check(folder, Check("plain", site.digest, 0, 0, "it was not fit", rules), {})
        with pytest.raises(CorpusError, match="1 of 1 recordings were checked by older rules"):
            fit_alone(str(tmp_path), [site])
        check, is_kept = check_member(member, folder, 0)
        assert (check.rules, check.reason, is_kept) == (RULES, "", False)
        assert check_member(member, folder, 0) == (check, True)


@pytest.mark.parametrize("rules", [RULES, "0: as it was"])
def test_a_recording_that_fails_now_loses_its_verdict(rules, tmp_path, monkeypatch):
    """Of these rules or of others: what a browser cannot load is not drawn by what was."""
    shutil.copy(CORPUS / "plain.wacz", tmp_path)
    (member,) = members(str(tmp_path))
    (site,) = read_attributes([member])
    folder = folder_of(str(tmp_path))
    keep_check(folder, Check("plain", site.digest, 10, 0, "", rules), {})

    def crashed(*_):
        raise BrowserError("the browser crashed")

    monkeypatch.setattr("eyelevel.cli.corpus.record.check_page", crashed)
    check, is_kept = check_member(member, folder, 3, again=rules == RULES)
    assert (check.reason, is_kept) == ("the browser crashed", False)
    assert read_check(folder, "plain") == check
    assert fit_alone(str(tmp_path), [site]) == []
    _, is_kept = check_member(member, folder, 3)
    assert not is_kept, "the next call tries it again"


@pytest.mark.parametrize("loads", range(LOADS_MIN))
def test_too_few_loads_make_nothing_fit(loads, tmp_path):
    """Bytes alone, or a load or two, leave a protocol out: nobody draws by them."""
    shutil.copy(CORPUS / "plain.wacz", tmp_path)
    (site,) = read_attributes(members(str(tmp_path)))
    folder = folder_of(str(tmp_path))
    check = Check("plain", site.digest, loads, 0, "")
    assert check.is_open and not check.is_fit
    keep_check(folder, check, {})
    with pytest.raises(CorpusError, match="1 of 1 recordings, such as plain, were loaded less"):
        fit_alone(str(tmp_path), [site])
    # Of what is not fit whatever its loads say, no more are asked for.
    keep_check(folder, Check("plain", site.digest, loads, 2, ""), {})
    assert fit_alone(str(tmp_path), [site]) == []


def test_a_check_from_before_rules_were_kept_is_of_other_rules(tmp_path):
    keep_check(tmp_path, FIT, {})
    file = tmp_path / "plain.json"
    said = json.loads(file.read_text())
    del said["rules"]
    file.write_text(json.dumps(said))
    kept = read_check(tmp_path, "plain")
    assert kept is not None
    assert kept.rules == ""
