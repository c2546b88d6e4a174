"""What a live load reaches: public servers, and what the command line names, whatever it tries."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import live_tries
import names_of
import pytest
from escape_target_machine import METADATA, machine, read_report, touch
from labs import run_in
from needed_browser import needs
from raw_lab import once_ready
from timeouts import TEST_TIMEOUT_S

PUBLIC, PAGE_PORT = "198.41.0.4", 8000
PRIVATE = "10.9.9.9"
RESOLVER = "127.0.0.53"
OWN_PUBLIC = "198.41.0.9"
"""An address of the machine that loads: public, and all the same nobody's business."""
OWN_PUBLIC6, PRIVATE6 = "2001:500:9f::42", "fd00:9::9"
FORWARD_IPV6 = "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding"
NAMES = {"tempting.example": METADATA, "inside.example": PRIVATE, "loop.example": "127.0.0.1"}


@dataclass(frozen=True)
class World:
    """A machine that loads, and the Internet and another network behind its path."""

    lab: Any
    near: Any
    far: Any
    own: list[tuple[str, int]]
    beyond: list[tuple[str, int]]

    def hits(self) -> dict[str, int]:
        """How often each listener was reached."""
        hits: dict[str, int] = read_report(self.near)["hits"] | read_report(self.far)["hits"]
        return hits


@contextmanager
def world(new_lab: Any, ask: list[str]) -> Iterator[World]:
    """Whose listeners are each touched once, and which serves a page that asks for all of `ask`."""
    with new_lab(site=None) as lab, ExitStack() as stack:
        near, far = lab.ready.client_address, lab.ready.server_address
        for prefix, addresses in (
            (lab.command_prefix, (METADATA, OWN_PUBLIC, OWN_PUBLIC6)),
            (lab.server_command_prefix, (PUBLIC, PRIVATE, PRIVATE6)),
        ):
            for address in addresses:
                whole = 128 if ":" in address else 32
                words = ["ip", "address", "add", f"{address}/{whole}", "dev", "lo"]
                subprocess.run([*prefix, *words], check=True, timeout=TEST_TIMEOUT_S)
        told_names = f"echo nameserver {RESOLVER} > /etc/resolv.conf"
        for shell in (told_names, FORWARD_IPV6):
            assert run_in(lab, "sh", "-c", shell).returncode == 0
        own = [("127.0.0.1", 9001), ("::1", 9002), (METADATA, 80), (near, 9005)]
        own += [(lab.ready.client_address6, 9007), (OWN_PUBLIC, 9009), ("0.0.0.0", 9010)]
        own += [(OWN_PUBLIC6, 9012)]
        beyond = [(far, 9004), (PRIVATE, 9006), (lab.ready.server_address6, 9011)]
        beyond += [(PRIVATE6, 9013)]
        resolver = [*lab.command_prefix, sys.executable, names_of.__file__, RESOLVER]
        stack.enter_context(once_ready([*resolver, json.dumps(NAMES)]))
        here = stack.enter_context(machine(lab.command_prefix, page=None, listen=own, ask=[]))
        there = stack.enter_context(
            machine(lab.server_command_prefix, at=PUBLIC, page=PAGE_PORT, listen=beyond, ask=ask)
        )
        touch(lab.command_prefix, [(a, p) for a, p in (*own, *beyond) if a != "0.0.0.0"])
        touch(lab.command_prefix, [("127.0.0.1", 9010)])
        yield World(lab, here, there, own, beyond)


@pytest.mark.parametrize("name", ["chromium", pytest.param("firefox", marks=pytest.mark.full)])
def test_a_live_page_reaches_nothing_that_is_not_public(new_lab, name):
    needs(name)
    ask = ["127.0.0.1:9001", "[::ffff:127.0.0.1]:9001", "2130706433:9001", "[::1]:9002"]
    ask += [f"{METADATA}:80", f"[::ffff:{METADATA}]:80", f"{OWN_PUBLIC}:9009", f"{PRIVATE}:9006"]
    ask += [f"[{OWN_PUBLIC6}]:9012", f"[{PRIVATE6}]:9013"]
    ask += ["tempting.example:80", "inside.example:9006", "loop.example:9001", "localhost:9001"]
    with world(new_lab, ask) as found:
        command = [*found.lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "load"]
        command += [f"http://{PUBLIC}:{PAGE_PORT}/", "--live", "--json", "--no-capture"]
        command += ["--browser", name, "--timeout", "20s"]
        done = subprocess.run(
            command, cwd="/", capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
        )
        hits = found.hits()
        said = read_report(found.far)["said"]
    (load,) = json.loads(done.stdout)
    tried = {item["url"] for item in load["objects"]}
    assert f"http://{METADATA}/fetched" in {url.replace(":80/", "/") for url in tried}, done.stderr
    assert hits == dict.fromkeys(hits, 1), (hits, load["outcome_detail"])
    # What it reached is nothing, if it came to say so at all.
    assert all(reached == [] for reached in map(json.loads, said)), said


def test_nor_does_a_program_in_the_browsers_place(new_lab):
    with world(new_lab, []) as found:
        refused = [*found.own, *found.beyond]
        for router_alone in (False, True):
            assert _tries(found, refused, [], router_alone=router_alone) == 0
            hits = found.hits()
            assert hits == dict.fromkeys(hits, 1)
        # The tries are real: what the command line names is reached by each of them.
        allowed = [f"{PRIVATE}/31", OWN_PUBLIC, f"{PRIVATE6}/64", OWN_PUBLIC6]
        assert _tries(found, refused, allowed) == 0
        hits = found.hits()
    # By the routes and bound to the device, after the first touch.
    expected = {
        f"{kind} {address} {port}": 3
        for kind in ("tcp", "udp")
        for address, port in (
            (PRIVATE, 9006),
            (OWN_PUBLIC, 9009),
            (PRIVATE6, 9013),
            (OWN_PUBLIC6, 9012),
        )
    }
    assert {place: count for place, count in hits.items() if count > 1} == expected


def _tries(
    found: World, places: list[tuple[str, int]], allow: list[str], *, router_alone: bool = False
) -> int:
    ports = sorted({port for _, port in found.own})
    about = json.dumps(
        {
            "places": places,
            "gateway_ports": ports,
            "allow": allow,
            "router_alone": router_alone,
        }
    )
    done = run_in(found.lab, sys.executable, live_tries.__file__, about)
    assert "tried" in done.stdout, done.stderr + done.stdout
    return done.returncode
