"""Pages are laid out for the site: links lead where they led, commands have pages."""

from pathlib import PurePosixPath

import pytest
from repository import ROOT

from eyelevel.cli.main import SUBCOMMANDS
from scripts.docs.command_pages import command_pages
from scripts.docs.site_pages import PAGES, relinked, site_place


@pytest.mark.parametrize(
    ("page", "text", "there"),
    [
        ("docs/guides/live.md", "[a](../../spec/plan.md#x)", "[a](../reference/formats/plan.md#x)"),
        ("spec/plan.md", "[a](../docs/reference/matching.md)", "[a](../matching.md)"),
        ("docs/tutorial.md", "![a](first-screen.png)", "![a](first-screen.png)"),
        ("docs/security.md", "[a](../SECURITY.md)", "[a](reporting.md)"),
        ("docs/tutorial.md", "[code](../python/eyelevel/base/errors.py)", "code"),
        ("docs/tutorial.md", "[gone](guides/none.md)", "[gone](guides/none.md)"),
        ("docs/tutorial.md", "[out](https://a.example/b.md)", "[out](https://a.example/b.md)"),
        ("docs/tutorial.md", "`spec/plan.md`", "[`spec/plan.md`](reference/formats/plan.md)"),
        ("docs/tutorial.md", "`[a](guides/live.md)`", "`[a](guides/live.md)`"),
        ("docs/tutorial.md", "```text\n`spec/plan.md`\n```", "```text\n`spec/plan.md`\n```"),
        ("docs/tutorial.md", "# Of `spec/plan.md`\n", "# Of `spec/plan.md`\n"),
    ],
)
def test_links_lead_to_the_same_within_the_site(page, text, there):
    assert relinked(ROOT, PurePosixPath(page), text) == there


def test_what_is_no_page_has_no_place():
    assert site_place(PurePosixPath("docs/site/conf.py")) is None
    assert site_place(PurePosixPath("python/eyelevel/base/errors.py")) is None
    assert all(site_place(PurePosixPath(name)) for name in PAGES)


def test_every_command_has_a_page_with_its_options():
    pages = command_pages()
    assert set(pages) == {"index.md", *(f"{name}.md" for name in SUBCOMMANDS)}
    assert "| `--change TEXT` |" in pages["ask.md"] and "## eyelevel site check" in pages["site.md"]
    assert all(f"]({name}.md)" in pages["index.md"] for name in SUBCOMMANDS)
    assert not any("--install-completion" in text for text in pages.values())
