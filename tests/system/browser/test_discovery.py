"""How the browser gets to HTTP/3: forced from the start, or found by Alt-Svc over HTTP/2."""

from pathlib import Path
from typing import Any

import pytest
from pages import image
from planned_load import load_planned
from small_site import PAGE_URL, pack_small_site

from eyelevel.analysis.metrics.catalogue import metrics_of

LATE = 4
"""Pictures that a script asks for one after another once the page is loaded: by then the browser
has long had the answer in which the server names HTTP/3."""
PAGE = (
    b"""<!doctype html><title>found</title><link rel=icon href=data:,><h1>A heading</h1>
<script>
const next = (number) => {
  if (number == %d) return;
  const picture = new Image();
  picture.onload = () => next(number + 1);
  picture.src = `/late-${number}.png`;
};
addEventListener("load", () => next(0));
</script>"""
    % LATE
)
BODIES = {
    "": ("text/html", PAGE),
    **{f"late-{number}.png": ("image/png", image(100 + number)) for number in range(LATE)},
}

pytestmark = pytest.mark.usefixtures("labs")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack_small_site(tmp_path_factory.mktemp("found"), BODIES)


def _found(discovery: str) -> str:
    return f'{{ name = "asked", base = "quic", discovery = "{discovery}" }}'


def load(site: Path, discovery: str) -> dict[str, Any]:
    stack = '"quic"' if discovery == "known" else _found(discovery)
    text = (
        f'sites = ["{site}"]\nnetworks = ["dsl"]\nblocks = 1\ncapture = false\nstacks = [{stack}]\n'
        f'reference = "{"quic" if discovery == "known" else "asked"}"\n'
    )
    return load_planned(text, site)


def test_a_first_answer_over_http2_leads_to_http3(site: Path) -> None:
    record = load(site, "alt-svc")
    protocols = {each["url"]: each["protocol"] for each in record["objects"]}
    assert protocols.pop(PAGE_URL) == "h2"
    assert protocols[f"{PAGE_URL}late-{LATE - 1}.png"] == "h3"
    # Both listeners served: each request over the connection that the browser reports.
    over = {each["connection"]: each["protocol"] for each in record["connections"]}
    served = {each["url"]: over[each["connection"]] for each in record["requests"]}
    assert served == protocols | {PAGE_URL: "h2"}
    found = metrics_of(record, [])
    assert found["http3_object_count"] == sum(each == "h3" for each in protocols.values()) > 0
    assert 0 < (found["http3_received_bytes"] or 0) < (found["received_bytes"] or 0)


def test_known_http3_is_used_from_the_first_request_on(site: Path) -> None:
    record = load(site, "known")
    assert {each["protocol"] for each in record["objects"]} == {"h3"}
    assert {each["protocol"] for each in record["connections"]} == {"h3"}
