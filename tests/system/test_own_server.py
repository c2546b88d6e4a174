"""Servers that are not ours, each loading a shipped page where its program is installed."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eyelevel.plan import Site, expand, parse_plan
from eyelevel.run import open_site, run_trial

RECIPES = Path(__file__).parents[2] / "docs/guides/servers"
PLAN = """
sites = ["synthetic:objects=3,object_bytes=4000,origins=2"]
networks = ["lte"]
stacks = [{{ name = "theirs", base = "{base}", server = {{ command = {command}, \
protocols = ["h1", "h2", "h3"] }} }}]
reference = "theirs"
blocks = 1
capture = false
"""


def outcome(base: str, command: list[str]) -> dict:
    text = PLAN.format(base=base, command=str(command).replace("'", '"'))
    plan = parse_plan(text, "plan.toml")
    assert plan.reference == "theirs@own"
    site = open_site(plan.sites[0])
    (trial,) = expand(plan, [Site(site.name, site.of_plan().digest)])
    return run_trial(trial, str(site.path.resolve())).record


def nginx_has_http3() -> bool:
    """Of the binary that the recipe starts."""
    command = [os.environ.get("NGINX", "nginx"), "-V"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "http_v3_module" in done.stderr


@pytest.mark.parametrize(
    ("base", "recipe", "program"),
    [
        ("http1", "nginx", "nginx"),
        ("tcp+", "nginx", "nginx"),
        ("quic", "nginx", "nginx"),
        ("tcp+", "caddy", "caddy"),
        ("quic", "caddy", "caddy"),
        ("quic", "h3_aioquic.py", "aioquic"),
    ],
)
def test_a_recipe_serves_every_object(base: str, recipe: str, program: str, labs: None) -> None:
    if not shutil.which(program) and not importlib.util.find_spec(program):
        pytest.skip(f"{program} is not installed")
    if (base, program) == ("quic", "nginx") and not nginx_has_http3():
        pytest.skip("this nginx has no HTTP/3; NGINX may name another")
    command = [str(RECIPES / recipe)]
    record = outcome(base, [sys.executable, *command] if recipe.endswith(".py") else command)
    # A busy machine starves a load; the server has served it all the same.
    assert record["outcome"] in ("ok", "starved"), record["outcome_detail"]
    assert [item["status"] for item in record["objects"]] == [200, 200, 200]
    assert {item["protocol"] for item in record["objects"]} == {
        {"http1": "http/1.1", "tcp+": "h2", "quic": "h3"}[base]
    }
    assert record["connections"] == []


def test_a_server_that_ends_at_once_says_why(labs: None) -> None:
    record = outcome("tcp+", ["/bin/sh", "-c", "echo no certificate >&2; exit 3"])
    assert record["outcome"] == "lab-failed"
    assert "ended by itself; it said: no certificate" in record["outcome_detail"]
