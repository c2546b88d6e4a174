"""Write a Firefox extension that blocks all requests to some hosts.

WebDriver BiDi's intercepts support no host with a `*`, and hold each matching request until the
client answers. Firefox evaluates the extension's rules itself (`declarativeNetRequest`), at once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from eyelevel.base.json_types import JsonObject

EXTENSION = "blocked-hosts"
"""Name of the extension's folder in a profile."""

KINDS = [
    "main_frame",
    "sub_frame",
    "stylesheet",
    "script",
    "image",
    "imageset",
    "font",
    "object",
    "object_subrequest",
    "media",
    "xmlhttprequest",
    "websocket",
    "ping",
    "beacon",
    "csp_report",
    "web_manifest",
    "xml_dtd",
    "xslt",
    "speculative",
    "other",
]

_MANIFEST = {
    "manifest_version": 3,
    "name": "blocked hosts",
    "version": "1",
    "permissions": ["declarativeNetRequest"],
    "declarative_net_request": {
        "rule_resources": [{"id": "hosts", "enabled": True, "path": "hosts.json"}]
    },
    "browser_specific_settings": {"gecko": {"id": "blocked-hosts@eyelevel.invalid"}},
}


def host_expression(host: str) -> str:
    """Return a regular expression for the URLs of a host, or of all hosts below `*.HOST`."""
    below = r"[^/?#@]+\." if host.startswith("*.") else ""
    name = host.removeprefix("*.").replace(".", r"\.")
    return rf"^[a-z]+://{below}{name}(:[0-9]+)?/"


def write_extension(folder: Path, hosts: Sequence[str]) -> None:
    """Write the extension that blocks `hosts` to a new folder."""
    rules: list[JsonObject] = [
        {
            "id": number,
            "action": {"type": "block"},
            "condition": {"regexFilter": host_expression(host), "resourceTypes": KINDS},
        }
        for number, host in enumerate(hosts, start=1)
    ]
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(_MANIFEST), encoding="utf-8")
    (folder / "hosts.json").write_text(json.dumps(rules), encoding="utf-8")
