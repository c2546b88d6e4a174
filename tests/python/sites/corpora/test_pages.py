"""Lists of pages: what a line may be, and what the texts name of their sites."""

from pathlib import Path

import pytest
from repository import ROOT

from eyelevel.base.errors import CorpusError
from eyelevel.sites.corpora.pages import (
    DAS_2014,
    PUBLISHED_LISTS,
    WOLSING_2019,
    name_of_page,
    read_pages,
)

PAPERS = ROOT.parent / "shared" / "papers"
TEXTS = {
    "wolsing-2019": ("wolsing-2019-paper.txt", "wolsing-2019-slides.txt"),
    "das-2014": ("das-2014-thesis.txt",),
}


def listed(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "list.txt"
    file.write_text(text, encoding="utf-8")
    return read_pages(str(file))


def test_urls_hosts_and_ranked_hosts_are_pages_each_once(tmp_path):
    assert listed(
        tmp_path,
        "# comment\nhttps://a.example/x?y=1\n\nexample.org\n1,ranked.example\nexample.org/\n"
        "http://plain.example:8080/\nmünchen.example\n",
    ) == [
        "https://a.example/x?y=1", "https://example.org/", "https://ranked.example/",
        "http://plain.example:8080/", "https://xn--mnchen-3ya.example/",
    ]  # fmt: skip


def test_a_page_has_one_spelling_and_keeps_its_fragment(tmp_path):
    assert listed(
        tmp_path,
        "\ufeffA.example\nhttps://a.example:443 # the same\nHTTPS://a.example./\n"
        "https://u:p@a.example/#/route\na.example:8443/x?q#y\n2001:DB8::1\nhttp://a.example:80\n",
    ) == [
        "https://a.example/", "https://u:p@a.example/#/route", "https://a.example:8443/x?q#y",
        "https://[2001:db8::1]/", "http://a.example/",
    ]  # fmt: skip


def test_of_a_table_the_column_of_urls_counts(tmp_path):
    assert listed(tmp_path, "domain,url,rank\na.example,https://www.a.example/x,1\n") == [
        "https://www.a.example/x"
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        "ftp://a.example/",
        "a b",
        "a..example",
        "\ufffd.example",
        "192.2",
        "a%62.example",
        "https://",
        "http://[::1/",
        "https://a.example:99999/",
        "\x1b[2J",
    ],
)
def test_what_is_no_page_is_refused_with_its_line(tmp_path, wrong):
    with pytest.raises(CorpusError) as refused:
        listed(tmp_path, f"example.org\n{wrong}\n")
    said = str(refused.value)
    assert "list.txt:2: " in said and "is neither a URL nor a host" in said
    assert said.isprintable()


def test_an_empty_or_missing_list_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="names no page"):
        listed(tmp_path, "# nothing\n")
    with pytest.raises(CorpusError, match="did you mean `wolsing-2019`"):
        read_pages("wolsing-2018")


def test_names_of_pages_are_told_apart():
    taken: set[str] = set()
    for url, name in (
        ("https://www.a.example/", "www.a.example"),
        ("https://www.a.example/x?q=1", "www.a.example-x-q-1"),
        ("http://www.a.example/", "www.a.example-2"),
        ("https://user:secret@b.example:8/", "b.example-8"),
    ):
        assert name_of_page(url, taken) == name
        taken.add(name)


def test_the_lists_are_as_long_as_the_studies_and_their_names_stand_in_the_texts():
    assert (WOLSING_2019.count, WOLSING_2019.unknown) == (38, 34)
    assert (DAS_2014.count, DAS_2014.unknown) == (500, 477)
    assert read_pages("wolsing-2019") == [site.url for site in WOLSING_2019.named]
    if not PAPERS.is_dir():
        pytest.skip(f"the texts are not in {PAPERS}")
    for name, files in TEXTS.items():
        text = " ".join(" ".join((PAPERS / file).read_text().split()) for file in files)
        for site in PUBLISHED_LISTS[name].named:
            # A table's cell breaks a name into lines.
            assert site.name.split()[0] in text, site.name
    thesis = (PAPERS / "das-2014-thesis.txt").read_text()
    assert all(url in thesis for url in DAS_2014.urls)
