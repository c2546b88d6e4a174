"""Synthetic sites have the published distributions."""

from statistics import median, quantiles

import pytest

from eyelevel.plan.published import PUBLISHED, quantile
from eyelevel.plan.site_shapes import OBJECT_BYTES_MIN, PAGE, site_shapes

COUNT = 500


@pytest.fixture(scope="module", params=PUBLISHED)
def made(request):
    published = PUBLISHED[request.param]
    return published, site_shapes(published, COUNT, 1)


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


def test_das_s_sites_have_his_least_and_his_median_object():
    # Not his largest: 43 MB is one object of one site, beyond what fits the median.
    sizes = [
        each.bytes for site in site_shapes(PUBLISHED["das2014"], COUNT, 1) for each in site.objects
    ]
    assert min(sizes) == OBJECT_BYTES_MIN
    assert median(sizes) == pytest.approx(3.0e3, rel=0.1)


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
