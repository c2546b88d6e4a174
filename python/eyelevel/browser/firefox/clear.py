"""Between two visits in one Firefox: away with all but what it keeps of servers.

Cookies, storage and caches of pages are cleared, and the browser closes its connections, which
WebDriver BiDi has no command for; so the browser's own window is asked to (`moz:scope`, only with
`--remote-allow-system-access`). What remains are TLS sessions, QUIC's address tokens and HSTS.
"""

from __future__ import annotations

from eyelevel.browser.firefox.bidi import BiDi
from eyelevel.errors import CommandError

_CLEAR = """new Promise((resolve) => {
  const kinds = Ci.nsIClearDataService;
  const which = kinds.CLEAR_ALL_CACHES | kinds.CLEAR_COOKIES | kinds.CLEAR_DOM_STORAGES;
  Services.clearData.deleteData(which, { onDataDeleted: (failed) => resolve(String(failed)) });
})"""

_CLOSE_CONNECTIONS = """
Services.obs.notifyObservers(null, 'net:cancel-all-connections');
Services.obs.notifyObservers(null, 'net:prune-all-connections'); '0'"""


def clear_between_visits(bidi: BiDi, connections_stay: bool, deadline: float) -> None:
    """Clear up when the first visit's tab is closed. Raises the errors of `BiDi.call`."""
    tree = bidi.call("browsingContext.getTree", {"moz:scope": "chrome"}, deadline)
    window = tree["contexts"][0]["context"]
    for script in (_CLEAR, *(() if connections_stay else (_CLOSE_CONNECTIONS,))):
        asked = {"expression": script, "target": {"context": window}, "awaitPromise": True}
        said = bidi.call("script.evaluate", asked, deadline)
        if said["type"] != "success" or said["result"]["value"] != "0":
            reason = said.get("exceptionDetails", {}).get("text") or said["result"]["value"]
            raise CommandError(f"clearing up after the first visit failed: {reason}")
