"""Every console block of the tutorial and the guides is run, in its order, a folder a page.

What names hosts of the Internet is run where these names lead to servers of this machine. What
cannot be run says why, by a reason of a closed list.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from console_blocks import REASONS, blocks, is_shown, script_of, stray_commands
from emulated_internet import EXAMPLES, emulated_internet, needs_programs
from repository import ROOT
from timeouts import TEST_TIMEOUT_S

DOCS = ROOT / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "guides").glob("*.md"))]
FOUND = {page: blocks(page.read_text(encoding="utf-8")) for page in PAGES}
RUN = [page for page, found in FOUND.items() if any(not each.not_run for each in found)]
AS_ROOT = 'sudo() { "$@"; }'
"""Tests with labs of the made Internet are root's, and a machine need not have sudo."""
TOOLS = {
    "ping ": "ping",
    "iperf3 ": "iperf3",
    "curl ": "curl",
    "tshark ": "tshark",
    "node server.js": "node",
    "--browser firefox": "firefox-esr",
}
"""Programs that a machine need not have, by what a command has that starts them."""
BUSY = "starved"
"""The outcome of a load that had too little of a processor: of the machine, not of the page."""
TRIES_MAX = 30
"""Of a block whose loads it starves: with two, two pages of one run of CI failed by that alone.
With ten, a block of two loads would fail once in 18 where half of all loads are starved."""
SAID_MOST = 4000
NOT_RUN_MOST = 36
"""Blocks that no test runs: a new one wants a reason, and this number."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_to_type_stands_in_a_console_block(page):
    assert stray_commands(page.read_text(encoding="utf-8")) == []


def test_what_is_not_run_says_why_by_one_of_few_reasons():
    skipped = [each for found in FOUND.values() for each in found if each.not_run]
    reasons = Counter(each.not_run for each in skipped)
    print(f"{len(skipped)} console blocks are not run: {dict(reasons)}")
    assert set(reasons) <= set(REASONS)
    assert len(skipped) <= NOT_RUN_MOST


@pytest.mark.full
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run_in_their_order(page, labs, tmp_path):
    found = [each for each in FOUND[page] if not each.not_run]
    lacking = {each.line: tools for each in found if (tools := _tools_lacking(each))}
    found = [each for each in found if each.line not in lacking]
    folder = tmp_path / "reader"
    # Copies: what writes pages writes them here.
    for name in ("docs/guides", "docs/reference", "spec", "python/eyelevel/cli/completion"):
        shutil.copytree(ROOT / name, folder / name)
    environment = os.environ | {"HOME": str(folder), "REPOSITORY": str(ROOT)}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    with contextlib.ExitStack() as stack:
        prefix = ()
        if any(host in _words(each) for each in found for host in EXAMPLES):
            needs_programs()
            if os.geteuid() != 0:
                pytest.skip("needs root, to stand between the page and the Internet")
            (tmp_path / "internet").mkdir()
            made = emulated_internet(tmp_path / "internet", also=EXAMPLES, ipv6=True)
            internet = stack.enter_context(made)
            prefix = internet.lab.command_prefix
            environment |= dict.fromkeys(("SSL_CERT_FILE", "MADE_CA"), str(internet.authority))
        faults = [fault for each in found for fault in _faults(each, folder, prefix, environment)]
    assert faults == [], "\n".join(["", *faults])
    if lacking:
        pytest.skip(f"all ran but those that need what is not installed (by line): {lacking}")


def _tools_lacking(block):
    words = _words(block)
    return [tool for sign, tool in TOOLS.items() if sign in words and not shutil.which(tool)]


def _words(block):
    return " ".join([block.prepare, *(each.words for each in block.commands)])


def _faults(block, folder, prefix, environment):
    """Write the file, or run the commands and say what did not end or print as the page has it."""
    if block.file:
        (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
        (folder / block.file).write_text(block.content, encoding="utf-8")
        return
    before = set(folder.iterdir())
    for attempt in range(TRIES_MAX):
        faults = list(_run(block, folder, f"line-{block.line}-{attempt}", prefix, environment))
        if attempt == TRIES_MAX - 1 or not any(BUSY in each for each in faults):
            break
        for made in set(folder.iterdir()) - before:  # a load that is kept is not made again
            shutil.rmtree(made) if made.is_dir() else made.unlink()
    yield from faults


def _run(block, folder, name, prefix, environment):
    said = folder.with_name(name)
    said.mkdir()
    words = [*prefix, "bash", "-c", f"{AS_ROOT}\ncd {folder}\n{script_of(block, said)}"]
    subprocess.run(words, env=environment, timeout=TEST_TIMEOUT_S, check=True)
    for number, command in enumerate(block.commands):
        printed = (said / str(number)).read_text(encoding="utf-8", errors="replace")
        status = int((said / f"{number}.status").read_text())
        told = f"line {block.line}: $ {command.words}\n{printed[-SAID_MOST:]}"
        if status not in (block.ends if command is block.commands[-1] else (0,)):
            yield f"{told}\nended with {status}"
        elif not (block.is_shown_of_another or is_shown(command.shown, printed)):
            yield f"{told}\nis not what is shown:\n{command.shown}"
