"""A page from its file in Chromium or Firefox, and what the browser had to say against it."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opened_page import chromium_of_playwright
from timeouts import TEST_TIMEOUT_S
from websockets.sync.client import connect

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.firefox.process import COMMON_PREFERENCES, find_firefox
from eyelevel.browser.processes import new_profile

_WATCH = """
  window.refused = [];
  document.addEventListener("securitypolicyviolation", (event) =>
    window.refused.push(event.effectiveDirective));
"""
REFUSAL = "Content-Security-Policy: "
"""Firefox logs what a policy refuses as it logs a script that ended badly, and may do so before it
tells the page of it."""
_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

Value = Callable[[str], Any]
Logged = list[tuple[bool, str]]
"""Whether it was thrown, and the text."""


class Visits:
    """Opens pages one after the other; what was logged and thrown is of the page that is open."""

    def __init__(self, go: Callable[[str], Any], value: Value, logged: Logged) -> None:
        self._go = go
        self.value = value
        self.logged = logged

    def open(self, page: Path, until: str) -> None:
        """Open the page and wait until an expression is true of it."""
        self.logged.clear()
        self._go(page.as_uri())
        self.wait(until)

    def wait(self, until: str) -> None:
        """Wait, a frame at a time, until an expression is true; a script that ended badly fails."""
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while not self.value(until):
            thrown = [text for is_thrown, text in self.logged if is_thrown]
            assert all(text.startswith(REFUSAL) for text in thrown), thrown
            assert time.monotonic() < deadline, f"never: {until}"
            self.value(_FRAMES)

    def refused(self) -> list[str]:
        """The directives of the page's policy that refused something, in order."""
        self.value(_FRAMES)
        return list(self.value("window.refused"))


@contextmanager
def chromium() -> Iterator[Visits]:
    """Visit pages in Debian's Chromium; skip if it is absent."""
    with chromium_of_playwright() as browser:
        page = browser.new_page(viewport={"width": 1366, "height": 844})
        page.set_default_timeout(TEST_TIMEOUT_S * 1e3)
        page.add_init_script(_WATCH)
        logged: Logged = []
        page.on("console", lambda message: logged.append((False, message.text)))
        page.on("pageerror", lambda error: logged.append((True, str(error))))
        yield Visits(page.goto, page.evaluate, logged)


@contextmanager
def firefox() -> Iterator[Visits]:
    """Visit pages in Firefox ESR, by WebDriver BiDi; skip if it is absent."""
    try:
        executable = find_firefox()
    except BrowserStartError as error:
        pytest.skip(str(error))
    with new_profile() as profile:
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in COMMON_PREFERENCES.items()
        ]
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")
        command = [executable, "--headless", "--no-remote", "--profile", str(profile)]
        process = subprocess.Popen(
            [*command, "--remote-debugging-port=0"], stderr=subprocess.PIPE, text=True
        )
        try:
            with connect(_listening(process) + "/session", max_size=None) as socket:
                logged: Logged = []
                yield _firefox_visits(_caller(socket, logged), logged)
        finally:
            process.terminate()
            process.communicate(timeout=TEST_TIMEOUT_S)


def _firefox_visits(call: Callable[..., Any], logged: Logged) -> Visits:
    call("session.new", capabilities={})
    context = call("browsingContext.getTree")["contexts"][0]["context"]
    call("session.subscribe", events=["log.entryAdded"])
    call("script.addPreloadScript", functionDeclaration=f"() => {{{_WATCH}}}")

    def go(url: str) -> None:
        call("browsingContext.navigate", context=context, url=url, wait="complete")

    def value(expression: str) -> Any:
        # Text, since the protocol's own form of values is another one.
        expression_text = f"(async () => JSON.stringify(await ({expression}) ?? null))()"
        answer = call(
            "script.evaluate",
            expression=expression_text,
            target={"context": context},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])

    return Visits(go, value, logged)


def _caller(socket: Any, logged: Logged) -> Callable[..., Any]:
    """Sends a command and waits for its result; what the page logs meanwhile goes to the list."""
    number = 0

    def call(method: str, **parameters: Any) -> Any:
        nonlocal number
        number += 1
        socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(socket.recv(timeout=TEST_TIMEOUT_S))
            if message.get("method") == "log.entryAdded":
                entry = message["params"]
                logged.append((entry["type"] == "javascript", str(entry["text"])))
            elif message.get("id") == number:
                assert message["type"] == "success", message
                return message["result"]

    return call


def _listening(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if "WebDriver BiDi listening on " in line:
            return line.rpartition(" ")[2].strip()
    raise AssertionError("Firefox ended before it listened")


BROWSERS = {"chromium": chromium, "firefox": firefox}
