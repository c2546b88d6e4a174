from dataclasses import fields

import pytest

from eyelevel.base.errors import PlanError
from eyelevel.plan.browser import Browser
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.steps import parse_step
from eyelevel.plan.trials import Site, expand

PLAIN = """\
sites = ["a"]
networks = ["dsl"]
stacks = ["tcp"]
reference = "tcp"
blocks = 1
"""


def browser_of(keys: str = "") -> dict:
    (trial,) = expand(parse_plan(PLAIN + keys, "plan.toml"), [Site("a", "0" * 64)])
    return trial.browser.stated()


def test_everything_is_in_the_identity_whether_said_or_not():
    assert set(browser_of()) == {field.name for field in fields(Browser)}
    same = 'color_scheme = "light"\njavascript = true\nblocked_hosts = []\ncpu_slowdown = 1\n'
    assert browser_of(same) == browser_of()


def test_a_device_stands_in_the_identity_with_its_numbers():
    browser = browser_of('device = "moto-g"\n')
    assert browser["device"]["viewport_px"] == [412, 823]
    assert browser["device"]["device_scale"] == 1.75 and browser["device"]["mobile"]
    assert browser["cpu_slowdown"] == 4
    assert browser_of('device = "moto-g"\ncpu_slowdown = 1\n')["cpu_slowdown"] == 1


def test_firefox_does_not_report_what_it_did_with_early_hints():
    stack = '{ name = "hinted", base = "tcp+", early_hints = "auto" }'
    hinted = PLAIN.replace('["tcp"]', f"[{stack}]").replace('"tcp"', '"hinted"')
    parse_plan(hinted, "plan.toml")
    with pytest.raises(PlanError, match="only Chromium reports what it did with `early_hints`"):
        parse_plan(hinted + 'browser = "firefox"\n', "plan.toml")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            'device = "motog"',
            "plan.toml:6: `device`: unknown device `motog`; did you mean `moto-g`?",
        ),
        ("dark = true", "plan.toml:6: unknown key `dark`; did you mean `color_scheme`?"),
        ('blocked_host = ["a.b"]', "did you mean `blocked_hosts`?"),
        ('blocked_hosts = ["https://Ads.example/x"]', "write `ads.example`"),
        (
            'browser = "firefox"\ndevice = "moto-g"',
            "Firefox cannot slow down a page's scripts",
        ),
        (
            'browser = "firefox"\nnetlog = true',
            "plan.toml:7: `netlog`: this is a log of Chromium's",
        ),
        (
            'browser = "firefox"\neffective_connection_type = "3g"',
            (
                "plan.toml:7: `effective_connection_type`: only Chromium has it; leave it out, "
                "since Firefox"
            ),
        ),
        (
            'effective_connection_type = "5g"',
            "plan.toml:6: `effective_connection_type`: Input should be 'network', 'measured', "
            "'slow-2g', '2g', '3g' or '4g'",
        ),
        ("cpu_slowdown = 21", "plan.toml:6: `cpu_slowdown`"),
        ('color_scheme = "blue"', "plan.toml:6: `color_scheme`: Input should be 'light' or 'dark'"),
    ],
)
def test_mistakes_are_named_with_their_line(line: str, said: str):
    with pytest.raises(PlanError) as found:
        parse_plan(PLAIN + line + "\n", "plan.toml")
    assert said in str(found.value)


@pytest.mark.parametrize("visit", ["", 'visit = "warm"\n'])
def test_early_data_without_a_visit_that_has_it_is_refused(visit: str):
    plain = PLAIN.replace('["tcp"]', '["tcp", "tcp+0rtt"]')
    with pytest.raises(PlanError, match=r'plan.toml:3: `tcp\+0rtt`: .* write `visit = "repeat"`'):
        parse_plan(plain + visit, "plan.toml")
    assert parse_plan(plain + 'visit = "repeat"\n', "plan.toml").browser.visit == "repeat"


def test_a_repeat_visit_without_tickets_is_refused():
    own = '{ name = "x", base = "tcp", session_tickets = false }'
    plain = PLAIN.replace('["tcp"]', f'["tcp", {own}]')
    assert parse_plan(plain, "plan.toml").stacks[1].session_tickets is False
    with pytest.raises(PlanError, match=r"plan.toml:3: `x`: a repeat visit resumes with"):
        parse_plan(plain + 'visit = "repeat"\n', "plan.toml")


def test_a_cached_visit_has_an_age_and_other_visits_have_none():
    assert browser_of('visit = "cached"\n')["cache_age_s"] == 3600
    aged = browser_of('visit = "cached"\ncache_age_s = "2 d"\n')
    assert (aged["cache_age_s"], aged["visitor"]) == (172_800, "known")
    assert browser_of()["cache_age_s"] is None
    with pytest.raises(PlanError, match="`cache_age_s` is a cached visit's, and this is a first"):
        parse_plan(PLAIN + "cache_age_s = 60\n", "plan.toml")
    with pytest.raises(PlanError, match="`cache_age_s`"):
        parse_plan(PLAIN + 'visit = "cached"\ncache_age_s = "367 d"\n', "plan.toml")
    with pytest.raises(PlanError, match="a cached visit needs Chromium"):
        parse_plan(PLAIN + 'browser = "firefox"\nvisit = "cached"\n', "plan.toml")
    # A stack's own visit needs an age as well, and has the plan's.
    own = PLAIN.replace('["tcp"]', '["tcp", { name = "c", base = "tcp", visit = "cached" }]')
    trials = expand(parse_plan(own, "plan.toml"), [Site("a", "0" * 64)])
    assert {trial.stack: trial.browser.cache_age_s for trial in trials} == {"tcp": None, "c": 3600}


def test_the_longest_prefix_is_a_rule_that_a_plan_allows():
    assert browser_of("longest_prefix = true\n")["longest_prefix"] is True
    assert browser_of()["longest_prefix"] is False
    own = (
        '{ base = "tcp", name = "ours", external_server = { command = ["x"], protocols = ["h2"] } }'
    )
    own = PLAIN.replace('["tcp"]', f'["tcp", {own}]')
    with pytest.raises(PlanError, match="only our servers have `longest_prefix`"):
        parse_plan(own + "longest_prefix = true\n", "plan.toml")


def test_steps_are_checked_and_stand_in_the_identity():
    browser = browser_of('after_load = ["scroll end", " click  a.next "]\n')
    assert browser["after_load"] == ["scroll end", "click  a.next"]
    for step, said in (
        ("scrol end", "unknown step `scrol`; did you mean `scroll`?"),
        ("scroll far", "`scroll far` is not a step; write `scroll end` or `scroll 800`"),
        ("click", "write `click SELECTOR`"),
        ("key enter", "unknown key `enter`; did you mean `Enter`?"),
        ("type #search", "write `type SELECTOR=TEXT`"),
        ("type #search=" + "x" * 51, "a text of 1 to 50 characters"),
    ):
        with pytest.raises(PlanError, match=r"plan\.toml:6:") as found:
            parse_plan(PLAIN + f'after_load = ["{step}"]\n', "plan.toml")
        assert said in str(found.value)


def test_a_text_is_typed_key_by_key_behind_the_first_equals_sign_outside_brackets():
    step = parse_step("type form input[name=q] = a=1")
    assert (step.selector, [key.text for key in step.keys]) == (
        "form input[name=q]",
        [" ", "a", "=", "1"],
    )
    assert [(key.code, key.number) for key in step.keys] == [
        ("Space", 32),
        ("KeyA", 65),
        ("", 0),
        ("Digit1", 49),
    ]
    (enter,) = parse_step("key Enter").keys
    assert (enter.name, enter.text, enter.number) == ("Enter", "\r", 13)
    assert parse_step("click a[href='#menu=1']").selector == "a[href='#menu=1']"


def test_interaction_to_next_paint_needs_an_interaction_in_chromium():
    asked = 'primary_metric = "inp"\n'
    with pytest.raises(PlanError, match=r"plan\.toml:6: .* needs an interaction after the load"):
        parse_plan(PLAIN + asked + 'after_load = ["scroll end"]\n', "plan.toml")
    plan = parse_plan(PLAIN + asked + 'after_load = ["key Enter"]\n', "plan.toml")
    assert plan.primary_metric == "interaction_to_next_paint_ms"
    for line, said in (
        ('browser = "firefox"\n', "plan.toml:6: .* is read in Chromium"),
        ("javascript = false\n", "plan.toml:6: .* is read in Chromium"),
    ):
        with pytest.raises(PlanError, match=said):
            parse_plan(PLAIN + asked + 'after_load = ["click a"]\n' + line, "plan.toml")
    with pytest.raises(
        PlanError, match=r"plan\.toml:6: `after_load`: keys are pressed in Chromium"
    ):
        parse_plan(PLAIN + 'after_load = ["key a"]\nbrowser = "firefox"\n', "plan.toml")


def test_firefox_takes_what_it_can_do():
    """A phone but for its slow-down, and repeat visits but for QUIC without early data."""
    line = 'browser = "firefox"\ndevice = "moto-g"\ncpu_slowdown = 1\nblocked_hosts = ["a.b"]\n'
    found = browser_of(line + 'javascript = false\nvisit = "warm"\nafter_load = ["scroll end"]\n')
    assert found["device"]["mobile"] and found["visit"] == "warm"
    quic = PLAIN.replace('"tcp"', '"quic"')
    assert quic != PLAIN
    with pytest.raises(PlanError, match="Firefox resumes a QUIC session only where"):
        parse_plan(quic + 'browser = "firefox"\nvisit = "repeat"\n', "plan.toml")


@pytest.mark.parametrize(
    ("network", "said"), [("dsl", "4g"), ("da2gc", "4g"), ("mss", "3g"), ("lte", "4g")]
)
def test_the_connection_type_is_the_networks_of_each_trial(network: str, said: str):
    plain = PLAIN.replace('"dsl"', f'"{network}"')
    (trial,) = expand(parse_plan(plain, "plan.toml"), [Site("a", "0" * 64)])
    assert trial.browser.effective_connection_type == said


def test_the_connection_type_and_the_visitor_are_a_plans_or_a_stacks_own():
    measured = 'effective_connection_type = "measured"\nvisitor = "known"\n'
    assert browser_of(measured)["effective_connection_type"] == "measured"
    assert browser_of(measured)["visitor"] == "known"
    own = '{ name = "x", base = "tcp", effective_connection_type = "2g", visitor = "known" }'
    plain = PLAIN.replace('["tcp"]', f'["tcp", {own}]')
    trials = expand(parse_plan(plain, "plan.toml"), [Site("a", "0" * 64)])
    found = {each.stack: each.browser for each in trials}
    assert (found["tcp"].effective_connection_type, found["tcp"].visitor) == ("4g", "first")
    assert (found["x"].effective_connection_type, found["x"].visitor) == ("2g", "known")
    assert len({each.hash for each in trials}) == 2


def test_whoever_comes_again_is_known():
    assert browser_of('visit = "repeat"\n')["visitor"] == "known"
    own = '{ name = "x", base = "tcp", visit = "warm", visitor = "first" }'
    with pytest.raises(PlanError, match="`x`: a warm visit is not a first visitor's"):
        parse_plan(PLAIN.replace('["tcp"]', f'["tcp", {own}]'), "plan.toml")


def test_firefox_has_a_visitor_and_no_connection_type():
    browser = browser_of('browser = "firefox"\n')
    assert browser["visitor"] == "first" and browser["effective_connection_type"] == "measured"
    own = '{ name = "x", base = "tcp", effective_connection_type = "2g" }'
    plain = PLAIN.replace('["tcp"]', f'["tcp", {own}]') + 'browser = "firefox"\n'
    with pytest.raises(PlanError, match="Firefox neither estimates a network"):
        parse_plan(plain, "plan.toml")
