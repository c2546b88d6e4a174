"""Plans with variants: what they resolve to, which blocks they have, what is refused."""

import json
import re
from dataclasses import replace
from itertools import groupby

import pytest
from sample_record import sample_record

from eyelevel.analysis.metrics.catalogue import PRIMARY_METRICS
from eyelevel.base.errors import PlanError, StoreError
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.edits import parse_change
from eyelevel.plan.file.from_document import check_text
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.two_pages import browser_plan, edit_plan, name_variants, pages_plan
from eyelevel.plan.networks.origin_rtt import Place
from eyelevel.plan.plan_json import parse_plan_document
from eyelevel.plan.trials import Site, expand, plan_document, plan_hash
from eyelevel.run.bundle.bundle import refuse_builds
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import read_trial
from eyelevel.store.schema import hash_of_key

TEXT = """\
sites = ["shop.wacz", "news.wacz"]
networks = ["dsl", "lte"]
stacks = ["quic", "tcp+"]
variants = [{ name = "main" }, { name = "pr", recordings = ["pr/shop.wacz", "pr/news.wacz"] }]
reference = "main"
blocks = 5
"""
PLAN = parse_plan(TEXT, "plan.toml")
SITES = [
    Site(name, f"sha256:{name}", 1e6, variants={"pr": Site(name, f"sha256:{name}-pr", 9e7)})
    for name in ("shop", "news")
]
TRIALS = expand(PLAN, SITES)


def test_every_stack_loads_every_variant_and_variants_are_compared_over_each():
    assert [stack.name for stack in PLAN.stacks] == ["main/quic", "main/tcp+", "pr/quic", "pr/tcp+"]
    assert PLAN.comparisons == (
        Comparison("pr/quic", "main/quic"),
        Comparison("pr/tcp+", "main/tcp+"),
    )
    crossed = parse_plan(
        TEXT.replace('reference = "main"', 'comparisons = [["pr/quic", "main/tcp+"]]'), "plan.toml"
    )
    assert crossed.comparisons == (Comparison("pr/quic", "main/tcp+"),)


def test_both_variants_are_in_each_block_of_their_page_with_one_seed():
    for name, block in groupby(TRIALS, lambda trial: trial.block):
        loads = {trial.stack: trial for trial in block}
        assert sorted(loads) == sorted(stack.name for stack in PLAN.stacks)
        page = name.split("/")[0]
        for stack in ("quic", "tcp+"):
            main, pr = loads[f"main/{stack}"], loads[f"pr/{stack}"]
            assert main.seed == pr.seed and main.hash != pr.hash
            assert (main.variant, pr.variant) == ("main", "pr")
            assert (main.site_digest, pr.site_digest) == (f"sha256:{page}", f"sha256:{page}-pr")
            assert main.browser == pr.browser  # and so one time limit, of the larger page
        assert loads["main/quic"].seed != loads["main/tcp+"].seed
        assert {trial.recording for trial in loads.values()} == {f"main/{page}", f"pr/{page}"}


def test_a_plan_without_variants_has_the_seeds_that_it_had():
    """The seed of a variant's load is that of its page's loads without variants."""
    plain = parse_plan(re.sub("variants = .*\n", "", TEXT).replace('"main"', '"tcp+"'), "plan.toml")
    seeds = {(t.block, t.stack): t.seed for t in expand(plain, SITES)}
    assert seeds == {(t.block, t.stack.split("/")[1]): t.seed for t in TRIALS}
    assert "variants" not in plan_document(plain, SITES, [])
    assert all("variant" not in trial.record_key() for trial in expand(plain, SITES))


def test_first_places_are_shared_alike():
    first = [trial.stack for trial in expand(parse_plan(TEXT.replace("5", "99"), "p"), SITES)][::4]
    counts = [first.count(stack.name) for stack in PLAN.stacks]
    assert len(first) == 396 and all(70 <= count <= 130 for count in counts)  # 99 and 8.6


def test_each_record_names_its_variant_and_keeps_its_hash(tmp_path):
    trial = next(trial for trial in TRIALS if trial.variant == "pr")
    write_trial(tmp_path, sample_record() | {"trial": trial.record_key()})
    record = read_trial(tmp_path, trial.hash).record
    assert record["trial"]["variant"] == "pr"
    assert hash_of_key(record["trial"]) == trial.hash


def test_the_document_gives_the_plan_back_and_agrees_with_its_text():
    document = json.loads(json.dumps(plan_document(PLAN, SITES, TRIALS)))
    assert document["variants"] == [
        {"name": "main", "recordings": [], "edits": []},
        {
            "name": "pr",
            "recordings": [
                {"name": name, "digest": f"sha256:{name}-pr"} for name in ("shop", "news")
            ],
            "edits": [],
        },
    ]
    read = parse_plan_document(document).plan
    assert expand(read, SITES) == TRIALS
    check_text(read, "plan.json", lambda digest: 0)
    document["variants"][1]["name"] = "other"
    with pytest.raises(PlanError, match="variant that the plan has not"):
        parse_plan_document(document)


def test_a_variant_whose_recording_changes_is_another_plan():
    other = [SITES[0], Site("news", "sha256:news", variants={"pr": Site("news", "sha256:third")})]
    hashes = {plan_document(PLAN, sites, [])["hash"] for sites in (SITES, other)}
    assert len(hashes) == 2


def test_round_trips_are_those_of_the_hosts_that_a_variant_has():
    text = TEXT.replace('"news.wacz"', "").replace(', "pr/news.wacz"', "").replace(", ]", "]")
    text = f'origin_rtt = {{ "b.example" = "9ms", "*" = "20ms" }}\n{text}'
    near, far = (Place(host, "192.0.2.1") for host in ("a.example", "b.example"))
    site = Site("shop", "sha256:a", places=(near,), variants={"pr": Site("shop", "x", 0, (far,))})
    found = {t.variant: t.own_rtts_ms for t in expand(parse_plan(text, "p"), [site])}
    assert found == {"main": {"a.example": 20}, "pr": {"b.example": 9}}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "pr"', 'name = "main"', "plan.toml:4: the variant `main` is named twice"),
        ('= "main"\nb', '= "man"\nb', "plan.toml:5: unknown variant `man`; did you mean `main`?"),
        (
            'reference = "main"',
            'comparisons = [["pr/quic", "main/quik"]]',
            "plan.toml:5: unknown VARIANT/STACK `main/quik`; did you mean `main/quic`?",
        ),
        (
            'reference = "main"',
            'comparisons = [["pr", "main/quic"]]',
            "plan.toml:5: unknown VARIANT/STACK `pr`",
        ),
        (', "pr/news.wacz"', "", "plan.toml:4: the variant `pr` has 1 recordings and the plan 2"),
        ('"pr/shop.wacz"', '"agnecy"', "plan.toml:4: unknown site `agnecy`; did you mean `agency`"),
        ("recordings =", "recording =", "plan.toml:4: unknown key `recording`; did you mean"),
        ("blocks", 'causes = ["window"]\nblocks', "plan.toml:6: `causes` explains differences"),
        ('"pr", ', '"pr/2", ', "plan.toml:4: `name`"),
    ],
)
def test_a_mistake_is_named_in_one_line(old, new, said):
    assert old in TEXT
    with pytest.raises(PlanError) as found:
        parse_plan(TEXT.replace(old, new), "plan.toml", site_names=["agency"])
    assert found.value.problems[0].startswith(said), found.value
    assert len(found.value.problems) == 1


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ("before.wacz", "after.wacz", ("before", "after")),
        ("main/shop.wacz", "pr-12/shop.wacz", ("main", "pr-12")),
        ("shop.warc.gz", "builds/shop.wacz", ("before", "after")),
        ("shop.wacz", "shop.wacz", ("before", "after")),
        ("a/shop (old).wacz", "a/shop (new).wacz", ("shop-old", "shop-new")),
        ("synthetic:objects=2", "synthetic:objects=3", None),
    ],
)
def test_two_recordings_get_names_that_tell_them_apart(before, after, names):
    found = name_variants(before, after)
    assert found == names if names else found[0] != found[1]
    plan = parse_plan(pages_plan(before, after, "quic", ["dsl"]), "question")
    assert plan.comparisons == (Comparison(f"{found[1]}/quic", f"{found[0]}/quic"),)
    assert plan.stop is not None and plan.sites == (before,)


@pytest.mark.parametrize(
    ("stack", "networks", "said"),
    [
        ("quick", ["dsl"], "--stack: .*did you mean `quic`"),
        ("quic", ["dls"], "--networks: .*`dsl`"),
    ],
)
def test_an_unknown_name_in_a_question_is_told(stack, networks, said):
    with pytest.raises(PlanError, match=said):
        pages_plan("a.wacz", "b.wacz", stack, networks)


EDITED = TEXT.replace(
    'recordings = ["pr/shop.wacz", "pr/news.wacz"]',
    'edits = ["defer:/app.js", { preload = "/hero.jpg", in = "/b.html" }]',
)


def test_edits_of_a_variant_are_kept_in_their_short_form_and_come_back_from_a_document():
    plan = parse_plan(EDITED, "plan.toml")
    assert [variant.edits for variant in plan.variants] == [
        (),
        ("defer:/app.js", "preload:/hero.jpg in /b.html"),
    ]
    document = plan_document(plan, SITES, expand(plan, SITES))
    found = parse_plan_document(json.loads(json.dumps(document))).plan.variants
    assert [variant.edits for variant in found] == [variant.edits for variant in plan.variants]
    # What an edit makes is part of the plan: an edit's file may change.
    names = tuple(site.name for site in SITES)
    assert [variant.recordings for variant in found] == [(), names]
    made = replace(SITES[0], variants={plan.variants[1].name: replace(SITES[0], digest="made")})
    sites = [made, *SITES[1:]]
    assert plan_hash(plan, sites) != document["hash"] == plan_hash(plan, SITES)
    assert plan_document(plan, sites, [])["variants"][1]["recordings"][0]["digest"] == "made"


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ('"defr:/app.js"', "unknown edit `defr`; did you mean `defer`?"),
        ('"/app.js"', "unknown edit"),
        ('"preload:"', "lacks an object"),
        ("{ preload = 3 }", "preload"),
        ('{ preload = "/a", defer = "/b" }', "an edit has one of"),
        ('{ replace = "a" }', "lacks `with`"),
    ],
)
def test_an_edit_that_is_none_is_refused_at_its_place(edit, reason):
    with pytest.raises(PlanError, match=re.escape(reason)) as refused:
        parse_plan(TEXT.replace("recordings = [", f"edits = [{edit}], recordings = ["), "plan.toml")
    assert refused.value.problems[0].startswith("plan.toml:4: ")


def test_a_question_about_an_edit_compares_the_recording_with_its_edited_copy():
    edit = parse_change("block:third-parties")
    plan = parse_plan(edit_plan("shop.wacz", edit, "quic", ["dsl"]), "question")
    assert [(each.name, each.recordings, each.edits) for each in plan.variants] == [
        ("recorded", (), ()),
        ("block-third-parties", (), ("block:third-parties",)),
    ]
    assert plan.comparisons == (Comparison("block-third-parties/quic", "recorded/quic"),)


LIVE = """\
sites = ["live:https://shop.test/cart"]
networks = ["dsl"]
stacks = ["quic"]
variants = [
    { name = "main", live = { url = "http://localhost:3000" } },
    { name = "pr", live = { command = ["node", "server.js"] } },
]
reference = "main"
blocks = 5
"""


def test_a_live_build_is_in_the_plan_and_absent_from_others():
    plan = parse_plan(LIVE, "plan.toml")
    main, pr = plan.settings()["variants"]
    assert main["live"] == {"url": "http://localhost:3000", "command": []}
    assert pr["live"] == {"url": None, "command": ["node", "server.js"]}
    assert all("live" not in each for each in PLAN.settings()["variants"])
    site = Site("live-shop.test", "sha256:0", 100)
    document = json.loads(json.dumps(plan_document(plan, [site], expand(plan, [site]))))
    assert parse_plan_document(document).plan.variants == plan.variants
    with pytest.raises(StoreError, match="the variant `main` is a live build"):
        refuse_builds(plan, "bundling out")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('url = "http://localhost:3000"', "", "neither `url` nor `command`"),
        ("http://localhost:3000", "https://localhost:3000", "reached without TLS"),
        ("http://localhost:3000", "http://shop.example", "is not on this machine"),
        ("http://localhost:3000", "http://localhost:3000/cart", "path is that of `sites`"),
        ("http://localhost:3000", "http://localhost:x", "is no URL"),
        ("live:https://shop.test/cart", "live:http://shop.test/", "no page's https URL"),
        ("{ url =", "{ urls =", "unknown key `urls`; did you mean `url`?"),
        (', live = { command = ["node", "server.js"] }', "", "the variant `pr` has no server"),
        (
            'stacks = ["quic"]',
            'stacks = [{ name = "x", base = "quic", external_server = '
            '{ command = ["caddy"], protocols = ["h3"] } }]',
            "reaches no live build",
        ),
        (
            'stacks = ["quic"]',
            'stacks = [{ name = "x", base = "quic", early_hints = "auto" }]',
            "`early_hints` are read from a recording",
        ),
    ],
)
def test_a_live_build_that_cannot_be_is_refused(old: str, new: str, reason: str):
    assert old in LIVE
    with pytest.raises(PlanError, match=re.escape(reason)):
        parse_plan(LIVE.replace(old, new), "plan.toml")


OWN_BROWSER = TEXT.replace(
    '{ name = "pr", recordings = ["pr/shop.wacz", "pr/news.wacz"] }',
    '{ name = "pr", browser = { device = "moto-g", chromium_flags = ["--disable-features=A"] } }',
)


def test_a_variants_browser_settings_are_in_force_in_its_loads_alone():
    plan = parse_plan(OWN_BROWSER, "plan.toml")
    trials = expand(plan, [Site(name, f"sha256:{name}", 1e6) for name in ("shop", "news")])
    for trial in trials:
        is_changed = trial.variant == "pr"
        assert (trial.browser.device is not None) is is_changed
        assert trial.browser.cpu_slowdown == (4.0 if is_changed else 1.0)
        assert trial.browser.chromium_flags == (("--disable-features=A",) if is_changed else ())
    usual = expand(parse_plan(TEXT, "plan.toml"), SITES)
    hashes = {trial.hash for trial in usual if trial.variant == "main"}
    assert {trial.hash for trial in trials if trial.variant == "main"} == hashes


def test_a_variants_browser_settings_come_back_from_the_plans_document():
    plan = parse_plan(OWN_BROWSER, "plan.toml")
    sites = [Site(name, f"{number:064x}", 1e6) for number, name in enumerate(("shop", "news"))]
    document = json.loads(json.dumps(plan_document(plan, sites, expand(plan, sites))))
    assert list(document["variants"][1]["browser"]) == ["device", "chromium_flags"]
    stored = parse_plan_document(document)
    assert stored.plan.variants == plan.variants


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ('chromium_flags = ["--renderer-cmd-prefix=sh"]', "known: --enable-features"),
        ('chromium_flags = ["--disable-features"]', "names no features"),
        ('device = "moto"', "did you mean `moto-g`?"),
        ("netlog = true", "unknown key `netlog`; known: browser, device"),
        ('devise = "moto-g"', "unknown key `devise`; did you mean `device`?"),
        ('flags = ["--disable-features=A"]', "did you mean `chromium_flags`?"),
        ('browser = "firefix"', "'firefox'; did you mean `firefox`?"),
        ('browser = "firefox", device = "moto-g"', "Firefox cannot slow down a page's scripts"),
        ('browser = "firefox", chromium = "/opt/c"', "this is Chromium's"),
    ],
)
def test_a_browser_setting_that_no_variant_may_have_is_refused(given: str, reason: str):
    text = TEXT.replace('name = "main" }', f'name = "main", browser = {{ {given} }} }}')
    with pytest.raises(PlanError) as caught:
        parse_plan(text, "plan.toml")
    assert reason in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "given", "reason"),
    [
        ('visit = "cached"', 'browser = "firefox"', "a cached visit needs Chromium"),
        (
            'primary_metric = "inp"\nafter_load = ["click h1"]',
            "javascript = false",
            "`interaction_to_next_paint_ms` is read in Chromium, by a script",
        ),
    ],
)
def test_a_variants_browser_must_be_able_to_load_all_of_the_plan(line, given, reason):
    text = TEXT.replace('name = "main" }', f'name = "main", browser = {{ {given} }} }}')
    with pytest.raises(PlanError) as caught:
        parse_plan(f"{line}\n{text}", "plan.toml", metric_names=PRIMARY_METRICS)
    assert f"the variant `main`: {reason}" in str(caught.value).replace("`quic`: ", "")


@pytest.mark.parametrize(
    ("change", "given"),
    [
        ("device:moto-g", {"device": "moto-g"}),
        ("browser:firefox", {"browser": "firefox"}),
        ("cpu-slowdown:4", {"cpu_slowdown": 4.0}),
        ("javascript:off", {"javascript": False}),
        ("flags:--disable-features=A", {"chromium_flags": ("--disable-features=A",)}),
    ],
)
def test_a_question_about_the_browser_compares_two_settings_of_it(change, given):
    plan = parse_plan(browser_plan("agency", change, "quic", ["dsl"]), "?", site_names=["agency"])
    usual, changed = plan.variants
    assert usual.browser is None
    found = changed.browser.given()
    if "device" in found:
        found["device"] = found["device"].name
    assert found == given
    assert plan.comparisons == (Comparison(f"{changed.name}/quic", f"{usual.name}/quic"),)


def test_a_browser_by_its_path_is_in_no_bundle():
    text = TEXT.replace('name = "main" }', 'name = "main", browser = { chromium = "/opt/c" } }')
    with pytest.raises(StoreError, match="names the browser /opt/c, which no bundle holds"):
        refuse_builds(parse_plan(text, "plan.toml"), "bundling run")
