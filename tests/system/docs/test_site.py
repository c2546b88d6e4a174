"""The documentation's site: whole, offline, and for everyone, from the files of `make docs`."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from opened_page import READERS, chromium_of_playwright, opened
from repository import ROOT

from scripts.docs import docs_site

pytest.importorskip("sphinx", reason="the extra `docs` is not installed")

pytestmark = pytest.mark.full

KINDS = (
    "index.html",
    "tutorial.html",
    "examples.html",
    "guides/index.html",
    "guides/asking-and-gating.html",
    "guides/many-machines.html",
    "reference/metrics.html",
    "reference/commands/ask.html",
    "reference/python.html",
    "reference/formats/plan.html",
    "explanation.html",
    "ARCHITECTURE.html",
    "search.html?q=bandwidth",
)
"""One page of each kind, and those with the widest blocks and tables."""
FETCHED = {"link": "href", "script": "src", "img": "src", "source": "srcset", "iframe": "src"}


class Page(HTMLParser):
    """What a page links to, what it fetches by itself, and where it can be linked to."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.update(filter(None, (given.get("id"), given.get("name"))))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get(FETCHED.get(tag, "")):
            self.fetched.append(given[FETCHED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "docs"
    docs_site.build(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Each page but the example report, which is no page of the site's making."""
    files = [each for each in site.rglob("*.html") if each.parent.name != "examples"]
    return {file: Page(file) for file in files}


def test_every_link_leads_to_a_page_of_the_site_and_to_its_heading(pages):
    dead = []
    for file, page in pages.items():
        for link in page.links + page.fetched:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                continue
            target = (file.parent / unquote(to.path)).resolve() if to.path else file
            anchors = pages[target].anchors if target in pages else None
            if not target.is_file() or (to.fragment and anchors and to.fragment not in anchors):
                dead.append(f"{file.name}: {link}")
    assert len(pages) > 60 and dead == []


def test_no_page_fetches_anything_from_elsewhere(pages, site):
    away = [(file.name, each) for file, page in pages.items() for each in page.fetched]
    assert [each for each in away if urlsplit(each[1]).netloc] == []
    styles = "".join(each.read_text(encoding="utf-8") for each in site.rglob("*.css"))
    assert "url(http" not in styles and "@import" not in styles and "@font-face" not in styles


@pytest.fixture(scope="module")
def chromium():
    with chromium_of_playwright() as browser:
        yield browser


@pytest.mark.parametrize(("width_px", "scheme"), READERS)
def test_pages_of_each_kind_are_for_everyone_and_ask_nobody(chromium, site, width_px, scheme):
    wrong = {}
    for kind in KINDS:
        with opened(chromium, f"{site.as_uri()}/{kind}", width_px, scheme) as it:
            if "?" in kind:
                it.page.wait_for_selector("#search-results li a")
            wrong[kind] = it.faults()
    assert not any(wrong.values()), wrong


def test_the_answer_in_the_readme_is_what_the_example_prints(tmp_path):
    docs_site.unpack_example(tmp_path)
    words = [sys.executable, "-m", "eyelevel.cli.main", "report", str(tmp_path / "quickstart")]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    answer = readme.partition("```text\n")[2].partition("```")[0]
    assert "faster" in answer and " ".join(answer.split()) in " ".join(printed.split())


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path, capfd):
    source, extra = tmp_path / "source", tmp_path / "extra"
    source.mkdir()
    extra.mkdir()
    text = "# First\n\n```{toctree}\nsecond\n```\n[there](second.md#its-heading)\n"
    (source / "second.md").write_text("# Its heading\n")
    (source / "index.md").write_text(text)
    docs_site.run_sphinx(source, extra, tmp_path / "site")
    for dead in ("none.md", "second.md#none"):
        (source / "index.md").write_text(f"{text}[gone]({dead})\n")
        with pytest.raises(subprocess.CalledProcessError):
            docs_site.run_sphinx(source, extra, tmp_path / "site")
        assert "none" in capfd.readouterr().err
