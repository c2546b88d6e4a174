"""What made corpora have in common with the texts: their numbers, and how far off they are."""

import pytest
from repository import ROOT

from eyelevel.plan.presets import MANY_SMALL, PRESETS_BY_NAME, SINGLE_ORIGIN
from eyelevel.plan.synthetic_site import LIKE, SyntheticSite, parse_synthetic
from eyelevel.sites.corpora.table import DAS_2014, Spread
from eyelevel.sites.synthetic.published import PUBLISHED
from eyelevel.sites.synthetic.shapes import site_shapes


@pytest.fixture(scope="module")
def das():
    """The spreads of the 500 sites of `das2014`, without their bytes."""
    shapes = site_shapes(PUBLISHED["das2014"], 500, 1)

    def spread(values):
        ranked = sorted(values)
        middle = (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2
        return Spread("", ranked[0], middle, ranked[-1])

    return {
        "server_addresses": spread([shape.origins for shape in shapes]),
        "objects": spread([len(shape.objects) for shape in shapes]),
        "object_bytes": spread([one.bytes for shape in shapes for one in shape.objects]),
        "body_bytes": spread([shape.total_bytes for shape in shapes]),
    }


# How far off, as shares of his values: least, median, largest.
OFF = {
    "server_addresses": (0, 0, 0),
    "objects": (0, 0, 0),
    "object_bytes": (0, 0.06, 0.01),
    "body_bytes": (0.01, 0.01, 0.01),
}


@pytest.mark.parametrize("name", DAS_2014)
def test_500_sites_have_the_ranges_and_medians_of_table_4_1(das, name):
    asked, made = DAS_2014[name], das[name]
    pairs = ((made.least, asked.least), (made.median, asked.median), (made.largest, asked.largest))
    for (value, his), off in zip(pairs, OFF[name], strict=True):
        assert value == pytest.approx(his, rel=max(off, 1e-9)), (name, value, his)


def test_the_values_of_table_4_1_are_those_of_the_text():
    thesis = ROOT.parent / "shared" / "papers" / "das-2014-thesis.txt"
    if not thesis.is_file():
        pytest.skip(f"the thesis is not there: {thesis}")
    rows = {
        "server_addresses": "Number of server addresses 1 - 66 22",
        "objects": "Number of objects 2 - 680 100",
        "object_bytes": "Object size 53 bytes - 43 MB 3.0 kB",
        "body_bytes": "Total size 15 kB – 51 MB 1.2 MB",
    }
    units = {"bytes": 1, "kB": 1e3, "MB": 1e6}
    text = " ".join(thesis.read_text().split())
    for name, row in rows.items():
        assert row in text
        words = [word for word in row.split() if word in units or word[0].isdigit()]
        values = [
            float(word) * units.get(after, 1)
            for word, after in zip(words, [*words[1:], ""], strict=True)
            if word not in units
        ]
        das = DAS_2014[name]
        assert values == [das.least, das.largest, das.median]


def test_the_preset_has_his_500_sites_and_his_grid():
    preset = PRESETS_BY_NAME["das-2014"]
    assert len(preset.sites) == 500
    assert {parse_synthetic(site).like for site in preset.sites} == {"das2014"}


def test_whose_sites_can_be_named_are_those_that_can_be_made():
    assert set(LIKE) == set(PUBLISHED)


def test_six_pages_of_one_origin_and_six_of_many_small_objects():
    single, many = (
        [site for each in sites if isinstance(site := parse_synthetic(each), SyntheticSite)]
        for sites in (SINGLE_ORIGIN, MANY_SMALL)
    )
    assert len(set(single)) >= 6 and {site.origins for site in single} == {1}
    assert len(set(many)) >= 6
    assert min(site.objects for site in many) >= 100
    assert max(site.object_bytes for site in many) <= 3000
