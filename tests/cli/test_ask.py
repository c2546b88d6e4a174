"""`eyelevel ask URL`: the page is recorded once, and that recording is what is asked about."""

import pytest

from eyelevel.cli import ask as module
from eyelevel.plan import PlanError


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What was recorded and run, without a browser; each run ends before its report."""
    recorded, ran = [], []
    monkeypatch.chdir(tmp_path)

    def record_page(url, out, upstream_ca):
        recorded.append(url)
        out.write_bytes(b"a recording")
        return {"objects": 3, "origins": ["https://a.example"]}

    def run_plan(plan, out, *, resume, how_to_resume):
        ran.append((plan, out))
        raise SystemExit

    monkeypatch.setattr(module, "record_page", record_page)
    monkeypatch.setattr(module, "run_plan", run_plan)

    def ask(site, **options):
        said = {"networks": None, "users": None, "base": "tcp+", "blocks": 6, "out": None}
        said |= {"resume": False, "upstream_ca": None, "as_json": False, "change": "http3"}
        with pytest.raises(SystemExit):
            module.ask(site, **(said | options))
        return ran[-1]

    return ask, recorded


def test_a_url_is_recorded_once_and_kept(asked):
    ask, recorded = asked
    url = "https://User@Shop.example:8443/a/b?c=1"
    plan, out = ask(url)
    assert plan.sites == ("sites/shop.example-8443-a-b-c-1.wacz",)
    assert [each.name for each in plan.networks] == ["dsl", "lte"]
    assert out.name == "shop.example-8443-a-b-c-1-http3"
    ask(url, networks="lte")
    assert recorded == [url]


def test_a_mistake_is_told_before_anything_is_recorded(asked):
    ask, recorded = asked
    with pytest.raises(PlanError, match="htp3"):
        ask("https://a.example/", change="htp3")
    assert recorded == []


def test_users_become_weighted_networks(asked, tmp_path):
    ask, _ = asked
    (tmp_path / "rum.csv").write_text("percentile,rtt_ms,down_mbit_s\n25,30,40\n75,90,8\n")
    plan, _ = ask("https://a.example/", users=tmp_path / "rum.csv")
    assert plan.weights == {"p25": 0.5, "p75": 0.5}
