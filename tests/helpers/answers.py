"""Return a recording's answers, to compare two recordings."""

import json
from typing import Any

from eyelevel.lab.binary import run_tool


def answers(archive, tmp_path) -> dict[str, tuple[Any, ...]]:
    """Status, fields in their order and decoded body by URL."""
    har = tmp_path / f"{archive.stem}.har"
    run_tool(["archive", "export", str(archive), "--har", str(har)])
    found = {}
    for entry in json.loads(har.read_text(encoding="utf-8"))["log"]["entries"]:
        response = entry["response"]
        fields = tuple((each["name"].lower(), each["value"]) for each in response["headers"])
        found[entry["request"]["url"]] = (
            response["status"],
            fields,
            response["content"].get("text"),
        )
    return found
