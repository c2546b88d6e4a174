import pytest
from made_up_run import SITES, metrics_of, write_run

from eyelevel.analysis.study import read_contents
from eyelevel.analysis.two_runs import compare_runs
from eyelevel.plan.presets import preset_text

TEXT = preset_text("quickstart", SITES)
METRIC = "page_load_time_ms"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What reads a run of a plan's text."""

    def read(text):
        directory = tmp_path_factory.mktemp("run")
        write_run(directory, text=text)
        return read_contents(directory, metrics_of)

    return read


@pytest.fixture(scope="module")
def old(runs):
    return runs(TEXT)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (
            'device = "moto-g"\ncpu_slowdown = 1',
            ["`device`: not given before, moto-g now", "`cpu_slowdown`: not given before, 1 now"],
        ),
        (
            'device = "moto-g"',
            ["`device`: not given before, moto-g now"],
        ),
        ('visit = "warm"', ["`visit`: first before, warm now"]),
        ("capture = false", ["`capture`: true before, false now"]),
        ("timeout_s = 30", ["`timeout_s`: not given before, 30 now"]),
        (
            'blocked_hosts = ["a.example", "b.example"]',
            ["`blocked_hosts`: none before, a.example, b.example now"],
        ),
    ],
)
def test_what_the_pages_were_shown_in_is_named_where_it_changed(runs, old, key, said):
    new = runs(f"{key}\n{TEXT}")
    assert list(compare_runs(old, new, METRIC, 0.05).differences) == said
    back = compare_runs(new, old, METRIC, 0.05).differences
    assert len(back) == len(said) and back != tuple(said)


def test_what_only_one_run_has_is_named(runs, old):
    new = runs(
        TEXT.replace('"dashboard"', '"agency", "blog"')
        .replace('"quic"', '{ name = "quic-new", base = "quic" }')
        .replace('"lte"', '"mss"')
    )
    found = compare_runs(old, new, METRIC, 0.05)
    assert [each.name for each in found.verdicts] == [
        "tcp.page_load_time_ms on dsl",
        "tcp+.page_load_time_ms on dsl",
    ]
    assert found.differences == (
        "sites only in the earlier run, not compared: `dashboard`",
        "sites only in the later run, not compared: `agency`, `blog`",
        "networks only in the earlier run, not compared: `lte`",
        "networks only in the later run, not compared: `mss`",
        "stacks only in the earlier run, not compared: `quic`",
        "stacks only in the later run, not compared: `quic-new`",
    )


def test_a_site_that_was_recorded_anew_is_named(runs, old):
    new = runs(TEXT)
    new.plan["sites"][1]["digest"] = "sha256:other"
    found = compare_runs(old, new, METRIC, 0.05)
    assert found.differences == ("sites of another recording now, not compared: `dashboard`",)


def test_of_many_sites_the_first_are_named(runs, old):
    many = "".join(f', "site{number}"' for number in range(1, 13))
    text = TEXT.replace('"dashboard"', f'"dashboard"{many}').replace("blocks = 3", "blocks = 1")
    (said,) = compare_runs(old, runs(text), METRIC, 0.05).differences
    assert said.startswith("sites only in the later run, not compared: `site1`, ")
    assert said.endswith("`site8` and 4 more")
