"""Names of synthetic sites that are like published ones."""

import pytest

from eyelevel.plan.synthetic_site import LikeSite, list_like_sites, parse_synthetic


def test_a_name_says_which_of_how_many_and_is_read_back():
    usual = parse_synthetic("synthetic:like=das2014,site=17")
    assert usual == LikeSite("das2014", 17, 500, 1) and usual.name == "das2014-1-017"
    assert usual.in_plan == "synthetic:like=das2014,site=17"
    other = LikeSite("httparchive2025", 3, 12, 9)
    assert other.name == "httparchive2025-9-03of12"
    assert parse_synthetic(other.in_plan) == other


def test_all_sites_of_a_drawing_have_names_of_their_own():
    names = list_like_sites("das2014")
    assert len({parse_synthetic(name).name for name in names}) == 500


@pytest.mark.parametrize(
    ("site", "said"),
    [
        ("synthetic:like=das2014", "say which one"),
        ("synthetic:like=das2014,site=501", "there are 500 sites, so there is no 501"),
        ("synthetic:like=das2014,site=0", "from 1 to 10000"),
        ("synthetic:like=das2015,site=1", "did you mean `das2014`"),
        ("synthetic:like=das2014,site=1,objects=3", "unknown key `objects`"),
        (f"synthetic:like=das2014,site={'9' * 5000}", "from 1 to 10000"),
    ],
)
def test_what_is_no_site_is_refused(site, said):
    with pytest.raises(ValueError, match=said) as refused:
        parse_synthetic(site)
    assert len(str(refused.value)) < 400
