"""A synthetic site is what its shape says, and a browser asks for all of it."""

from eyelevel.sites.check import check_page
from eyelevel.sites.recorded import site_info
from eyelevel.sites.synthetic.published import PUBLISHED
from eyelevel.sites.synthetic.shapes import SiteShape, site_shapes
from eyelevel.sites.synthetic.write import urls_of, write_site


def of_some_size(like: str) -> SiteShape:
    shapes = site_shapes(PUBLISHED[like], 50, 1)
    kinds = {"document", "image", "script", "style", "font", "data"}
    fit = (
        each
        for each in shapes
        if 40 <= len(each.objects) <= 90 and kinds == {one.kind for one in each.objects}
    )
    return max(fit, key=lambda each: max(one.depth for one in each.objects))


def test_a_browser_asks_for_every_object(labs: None, tmp_path):
    shape = of_some_size("httparchive2025")
    out = tmp_path / "site.wacz"
    info = write_site(shape, "site", out)
    assert info["objects"] == len(shape.objects) and len(info["origins"]) == shape.origins
    assert info["body_bytes"] == shape.total_bytes
    assert info["dependency_depth"] == max(each.depth for each in shape.objects) == 4
    assert site_info(out)["provenance"]["source"] == "synth"
    found = check_page(out, 1)
    assert found.failure() == "" and found.misses == ()
    assert found.loads[0].requested == set(urls_of(shape))
