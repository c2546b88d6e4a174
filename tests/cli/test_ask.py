"""`eyelevel ask URL`: the page is recorded once, and that recording is what is asked about."""

from pathlib import Path

import pytest

from eyelevel.base.errors import PlanError
from eyelevel.cli.run import ask as module


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What was recorded and run, without a browser; each run ends before its report."""
    recorded, ran, allowed = [], [], []
    monkeypatch.chdir(tmp_path)

    def record_page(url, out, upstream_ca, allow):
        recorded.append(url)
        allowed.extend(allow)
        out.write_bytes(b"a recording")
        share = 1.0 if url.startswith("https") else 0.0
        return {"objects": 3, "origins": ["https://a.example"], "secure_share": share}

    def make_secure(recording, out):
        out.write_bytes(recording.read_bytes() + b", secure")

    def run_plan(plan, out, *, resume, resume_line, execution):
        ran.append((plan, out))
        raise SystemExit

    monkeypatch.setattr(module, "record_page", record_page)
    monkeypatch.setattr(module, "make_secure", make_secure)
    monkeypatch.setattr(module, "run_plan", run_plan)

    def ask(site, **options):
        said = {"networks": None, "users": None, "base": "tcp+", "blocks": 6, "out": None}
        said |= {
            "resume": False,
            "upstream_ca": None,
            "allow": None,
            "as_json": False,
            "change": "http3",
        }
        with pytest.raises(SystemExit):
            module.ask(site=site, **(said | options))
        return ran[-1]

    ask.allowed = allowed
    return ask, recorded


def test_a_url_is_recorded_once_and_kept(asked):
    ask, recorded = asked
    url = "https://User@Shop.example:8443/a/b?c=1"
    plan, out = ask(url)
    assert plan.sites == ("sites/shop.example-8443-a-b-c-1.wacz",)
    assert [each.name for each in plan.networks] == ["dsl", "lte"]
    assert out.name == "shop.example-8443-a-b-c-1-http3"
    _, second = ask(url, networks="lte", base="tcp", change="cc=bbr")
    assert recorded == [url]
    assert second.name == "shop.example-8443-a-b-c-1-cc-bbr-tcp-lte"


@pytest.mark.parametrize(
    ("site", "change", "said"),
    [
        ("agnecy", "http3", "did you mean `agency`"),
        ("agency", "cc=bbrr", "congestion_control"),
        ("agency", "iw=10→320000", "initial_window_packets"),
    ],
)
def test_a_mistake_has_no_line_of_a_plan_that_nobody_wrote(asked, site, change, said):
    ask, _ = asked
    with pytest.raises(PlanError) as found:
        ask(site, change=change)
    assert said in str(found.value)
    assert str(found.value).startswith(f"asking `{change}` of `{site}`: ")


def test_a_mistake_is_told_before_anything_is_recorded(asked):
    ask, recorded = asked
    with pytest.raises(PlanError, match="htp3"):
        ask("https://a.example/", change="htp3")
    assert recorded == []


def test_of_a_page_without_tls_the_twin_with_tls_is_kept(asked):
    ask, _ = asked
    ask("http://a.example:3000/")
    ask("https://b.example/")
    kept = {each.name: each.read_bytes() for each in Path("sites").iterdir()}
    assert kept == {"a.example-3000.wacz": b"a recording, secure", "b.example.wacz": b"a recording"}


def test_what_may_be_reached_is_told_to_the_recorder(asked):
    ask, _ = asked
    ask("https://a.example/", allow=["intranet.lan", "10.0.0.0/8"])
    assert ask.allowed == ["intranet.lan", "10.0.0.0/8"]


def test_a_recording_that_fails_leaves_nothing(asked, monkeypatch):
    ask, _ = asked

    def failing(url, out, upstream_ca, allow):
        out.write_bytes(b"half a recording")
        raise SystemExit

    monkeypatch.setattr(module, "record_page", failing)
    Path("other").mkdir()
    with pytest.raises(IndexError):  # nothing was run
        ask("https://a.example/")
    assert sorted(each.name for each in Path().iterdir()) == ["other"]


def test_users_become_weighted_networks(asked, tmp_path):
    ask, _ = asked
    (tmp_path / "rum.csv").write_text("percentile,rtt_ms,down_mbit_s\n25,30,40\n75,90,8\n")
    plan, out = ask("https://a.example/", users=tmp_path / "rum.csv")
    assert plan.weights == {"p25": 0.5, "p75": 0.5}
    assert out.name == "a.example-http3-rum"
