"""Make the visit before a measured one, which leaves session tickets, or a cache.

The page is loaded in a tab of its own, in the browser context of the measured load. Then what the
page stored (cookies, storage, service workers) and the HTTP cache are cleared, and the browser
itself closes every connection, which works even if packets are lost. What remains is what a browser
remembers about a server: TLS sessions, QUIC's server settings and address tokens, HSTS, and its
protocols (HTTP/2, HTTP/3 by Alt-Svc). Before a warm visit the connections stay open too, before a
cached one the HTTP cache stays, with the compiled code that belongs to it.

For a first visit of a known visitor the servers issue no tickets, so that only the known protocols
remain. Chromium does not learn these for a host whose requests went over another host's connection;
such a host gets a request over a connection of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from eyelevel.base.errors import BrowserGoneError, CommandError, DeadlineError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.chromium.devtools import DevTools, navigation_error
from eyelevel.browser.chromium.network_log import NetworkLog
from eyelevel.browser.observations import LoadEnd, LoadSettings
from eyelevel.browser.waiting import QuietRule, rule_from_now, wait_for_load

SOCKETS_PAGE = "chrome://net-internals/#sockets"
"""Chromium's page of its socket pools, the only access to them; DevTools has none."""

CLOSE_CONNECTIONS = "chrome.send('flushSocketPools'); chrome.send('closeIdleSockets'); true"

CLEAR_CACHE = "chrome.benchmarking.clearCache(); true"
"""Script that clears the HTTP cache only; needs `CLEAR_BETWEEN_VISITS`. The DevTools command
also clears what the browser knows about servers, which over HTTP/2 it learns from new
connections only.
"""

STEP_TIMEOUT_S = 15.0
"""Time limit for each step of the clean-up; all of them take a tenth of a second."""

Observe = Callable[[DevTools, str], None]


class FirstVisit:
    """Makes one visit and cleans up after it; call `run` once."""

    def __init__(
        self, devtools: DevTools, settings: LoadSettings, context: str, observe: Observe
    ) -> None:
        self._devtools = devtools
        self._settings = settings
        self._context = context
        self._observe = observe
        self._network = NetworkLog()
        self._rule: QuietRule | None = None
        self._page = ""
        self._error = ""

    def run(self, prepare: Callable[[str], None]) -> tuple[LoadEnd, str]:
        """Visit the page and clean up; returns how the visit ended, and why it failed or "".

        `prepare` sets up the tab of the given session as it will set up the measured one. Raises
        the errors of `DevTools.call`.
        """
        before, self._devtools.on_event = self._devtools.on_event, self._handle_event
        try:
            target = self._open("about:blank")
            self._observe(self._devtools, self._page)
            prepare(self._page)
            ended, detail = self._load()
            unknown = ""
            if ended == "complete":
                if (
                    self._settings.browser.visitor == "known"
                    and self._settings.browser.visit == "first"
                ):
                    unknown = self._reach_all(target, self._page)
                self._call("Target.closeTarget", {"targetId": target}, "")
                self._clear()
            return ("navigation-failed", unknown) if unknown else (ended, detail)
        finally:
            self._devtools.on_event = before

    def _load(self) -> tuple[LoadEnd, str]:
        self._rule = rule = rule_from_now(self._settings)
        parameters = {"url": self._settings.url}
        self._devtools.send("Page.navigate", parameters, self._page, self._handle_reply)
        waits, failed = lambda: self._network.waits, lambda: self._error or self._network.page_error
        return wait_for_load(self._settings, rule, self._devtools.pump, waits, failed)[:2]

    def _clear(self) -> None:
        """Clear everything but the tickets; the HTTP cache last, when nothing can refill it.

        A cached visit keeps that.
        """
        warm = self._settings.browser.visit == "warm"
        target = self._open("about:blank" if warm else SOCKETS_PAGE)
        for origin in sorted(self._origins()):
            self._call("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self._call("Network.clearBrowserCookies", None)
        if not warm:
            self._close_connections()
        keeps_cache = self._settings.browser.visit == "cached"
        if not keeps_cache and not self._evaluate(CLEAR_CACHE):
            raise CommandError("this Chromium has no chrome.benchmarking to clear its cache with")
        self._call("Target.closeTarget", {"targetId": target}, "")

    def _reach_all(self, target: str, page: str) -> str:
        """Send a request to each host without a connection, as from the page in `target`.

        Returns "" if all hosts responded; otherwise why one did not, so that it stays unknown.
        """
        unreached, failed = self._find_unreached(), ""
        if not unreached:
            return ""
        sockets = self._open(SOCKETS_PAGE)
        options = {"disableCache": True, "includeCredentials": True}
        for url in unreached:
            # Otherwise the request would reuse another host's connection.
            self._close_connections()
            parameters = {"frameId": target, "url": url, "options": options}
            timeout_s = self._settings.browser.limit_s
            answer = self._call("Network.loadNetworkResource", parameters, page, timeout_s)[
                "resource"
            ]
            if not answer["success"] and "httpStatusCode" not in answer:
                failed = f"{url} had no answer: {answer.get('netErrorName', 'no reason given')}"
        self._call("Target.closeTarget", {"targetId": sockets}, "")
        return failed

    def _find_unreached(self) -> list[str]:
        """Return one URL of each https host to which the visit opened no connection of its own."""
        hosts: dict[str, str] = {}
        for item in self._network.objects(0.0):
            if item.source == "network" and item.url.startswith("https://") and not item.failed:
                hosts.setdefault(_host(item.url), item.url)
        reached = {
            _host(item.url) for item in self._network.objects(0.0) if item.connect_ms is not None
        }
        return [url for host, url in hosts.items() if host not in reached]

    def _close_connections(self) -> None:
        deadline = time.monotonic() + STEP_TIMEOUT_S
        while not self._evaluate(CLOSE_CONNECTIONS):
            if time.monotonic() > deadline:
                raise DeadlineError(f"{SOCKETS_PAGE} did not open, so connections stay open")

    def _origins(self) -> set[str]:
        urls = [item.url for item in self._network.objects(0.0)]
        return {"/".join(url.split("/", 3)[:3]) for url in urls if url.startswith("http")}

    def _evaluate(self, expression: str) -> bool:
        answer = self._call("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        return answer["result"].get("value") is True

    def _open(self, url: str) -> str:
        parameters = {"url": url, "browserContextId": self._context}
        target: str = self._call("Target.createTarget", parameters, "")["targetId"]
        attach = {"targetId": target, "flatten": True}
        self._page = self._call("Target.attachToTarget", attach, "")["sessionId"]
        return target

    def _call(
        self,
        method: str,
        parameters: JsonObject | None,
        session: str | None = None,
        timeout_s: float = STEP_TIMEOUT_S,
    ) -> JsonObject:
        session_id = self._page if session is None else session
        deadline = time.monotonic() + timeout_s
        return self._devtools.call(method, parameters, session_id, deadline)

    def _handle_event(self, method: str, parameters: JsonObject, session_id: str) -> None:
        now_s = time.monotonic()
        if method == "Target.attachedToTarget" and session_id:
            self._observe(self._devtools, parameters["sessionId"])
        active = self._network.handle_event(method, parameters)
        if session_id == self._page:
            self._handle_page_event(method, parameters, now_s)
        if active and self._rule is not None:
            self._rule.handle_activity(now_s)

    def _handle_page_event(self, method: str, parameters: JsonObject, now_s: float) -> None:
        if method == "Inspector.targetCrashed":
            raise BrowserGoneError("the first visit's renderer process crashed")
        if method == "Page.javascriptDialogOpening":
            self._devtools.send("Page.handleJavaScriptDialog", {"accept": True}, self._page)
        if self._rule is None:
            return
        if method == "Page.loadEventFired":
            self._rule.handle_load_event(now_s)
        elif method == "Page.frameNavigated" and "parentId" not in parameters["frame"]:
            self._rule.handle_new_document(now_s)

    def _handle_reply(self, reply: JsonObject) -> None:
        self._error = navigation_error(reply)


def _host(url: str) -> str:
    return url.split("/", 3)[2]


def observe_with(scripts: Sequence[tuple[str, JsonObject]]) -> Observe:
    """Return a function that enables events of a page, frame or worker and its child targets.

    Child targets wait until they are observed, so that no request of an out-of-process frame is
    missed. This delays such a frame by about a millisecond, equally on every stack.
    """
    children = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
    commands: tuple[tuple[str, JsonObject], ...] = (
        # Keep no bodies: nothing reads them, and they cost the browser memory.
        ("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
        ("Log.enable", {}),
        ("Runtime.enable", {}),
        ("Inspector.enable", {}),
        *scripts,
        ("Target.setAutoAttach", children),
        ("Runtime.runIfWaitingForDebugger", {}),
    )

    def observe(devtools: DevTools, session_id: str) -> None:
        for method, parameters in commands:
            devtools.send(method, parameters, session_id)

    return observe
