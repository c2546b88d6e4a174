"""Synthetic sites have the published distributions."""

from functools import cache
from statistics import median, quantiles

import pytest

from eyelevel.sites.synthetic.published import PUBLISHED, quantile
from eyelevel.sites.synthetic.shapes import OBJECT_BYTES_MIN, PAGE, SiteShape, site_shapes

COUNT = 500


@pytest.fixture(scope="module", params=PUBLISHED)
def made(request):
    return PUBLISHED[request.param], shapes_of(request.param)


@cache
def shapes_of(name: str, seed: int = 1) -> tuple[SiteShape, ...]:
    return site_shapes(PUBLISHED[name], COUNT, seed)


def test_every_published_quantile_is_met(made):
    published, shapes = made
    seen = {
        "objects": sorted(len(each.objects) for each in shapes),
        "total_bytes": sorted(each.total_bytes for each in shapes),
        "origins": sorted(each.origins for each in shapes),
    }
    for name, values in seen.items():
        for share, wanted in getattr(published, name):
            found = values[min(COUNT - 1, int(share * COUNT))]
            # Numbers are whole, and markup needs some bytes of its own.
            assert found == pytest.approx(wanted, rel=0.08, abs=1.0), (name, share)


@pytest.mark.parametrize("seed", [1, 2])
def test_das_s_sites_have_what_table_4_1_prints(seed):
    shapes = shapes_of("das2014", seed)
    sizes = [each.bytes for site in shapes for each in site.objects]
    assert min(sizes) == OBJECT_BYTES_MIN
    assert median(sizes) == pytest.approx(3.0e3, rel=0.1)
    assert max(sizes) == pytest.approx(43e6, rel=0.01)
    printed = {
        "origins": (1, 22, 66),
        "objects": (2, 100, 680),
        "total_bytes": (15e3, 1.2e6, 51e6),
    }
    for name, wanted in printed.items():
        values = [_count(getattr(site, name)) for site in shapes]
        found = (min(values), median(values), max(values))
        # Origins are whole, and a site has no more of them than objects.
        assert found == pytest.approx(wanted, rel=0.02, abs=0.5), name


def test_the_http_archive_s_pages_have_its_percentiles():
    shapes = shapes_of("httparchive2025")
    for name, wanted in {
        "objects": (27, 46, 77, 122, 185),
        "total_bytes": (607e3, 1275e3, 2412e3, 4570e3, 9179e3),
    }.items():
        cuts = quantiles([_count(getattr(site, name)) for site in shapes], n=20)
        found = [cuts[percent // 5 - 1] for percent in (10, 25, 50, 75, 90)]
        assert found == pytest.approx(wanted, rel=0.02), name


def _count(value: object) -> int:
    return value if isinstance(value, int) else len(value)


def test_types_have_their_shares_and_depths(made):
    published, shapes = made
    kinds = [each.kind for site in shapes for each in site.objects[1:]]
    for kind, (share, _) in published.types.items():
        assert kinds.count(kind) / len(kinds) == pytest.approx(share, abs=0.01), kind
    depths = [max(each.depth for each in site.objects) for site in shapes]
    assert 3 <= quantiles(depths, n=10)[4] <= 4 and max(depths) <= 4
    for site in shapes:
        for place, each in enumerate(site.objects):
            assert each.parent < place or place == PAGE
            assert each.depth == (1 if place == PAGE else site.objects[each.parent].depth + 1)


def test_the_seed_decides_and_nothing_else():
    like = PUBLISHED["httparchive2025"]
    assert site_shapes(like, 20, 1) == site_shapes(like, 20, 1) != site_shapes(like, 20, 2)


def test_between_given_quantiles_the_value_rises():
    for published in PUBLISHED.values():
        values = [quantile(published.total_bytes, n / 1000) for n in range(1, 1000)]
        assert values == sorted(values)
