"""Make one run of one scenario of the level with one stack: from a lab to values by name."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import Literal

from eyelevel.analysis.metrics.catalogue import metrics_of
from eyelevel.analysis.pathlog import Arrivals, read_arrivals
from eyelevel.analysis.trials.starvation import disturbance
from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.browser.chromium.logs import NETLOG_FILE
from eyelevel.browser.chromium.request_scheduling import (
    DELAYABLE,
    Scheduling,
    read_network_log,
    request_scheduling,
)
from eyelevel.calibration.level.classes import FAR, Scenario, Value
from eyelevel.calibration.level.generated_page import ADDRESSES, HOST, URL, Item, items
from eyelevel.calibration.level.page_values import (
    Scheduled,
    Waited,
    bulk_values,
    find_arrival_ns,
    is_intended_loss,
    late_values,
    packet_to_lose,
    page_values,
    read_arrival_ns,
    repair_values,
    unsent_bytes_max,
)
from eyelevel.calibration.validation.bulk import LATE_URL, bulk_site, transfer_with_report
from eyelevel.lab.client import LabSummary
from eyelevel.load.host import HostSample
from eyelevel.load.rules import find_starvation
from eyelevel.load.trial import run_trial
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stacks import Stack, Visit
from eyelevel.plan.trials import Site, expand
from eyelevel.sites.pack import SyntheticExchange, pack_site
from eyelevel.store.disk import temporary_folder

DURATION_MS = 20_000
"""The duration limit of a transfer; the longest takes three seconds."""
SLOWEST = 10
"""A transfer may take so many times what its bytes take at the network's rate."""
LOAD_S = 60.0
BEFORE_NAVIGATION_NS = 1_000_000
"""The tolerance for a load's start: network logs have whole milliseconds, so it may seem early."""
LATE_BYTES = 1000
"""The size of the urgent response: one packet."""
LATE_AFTER_BYTES = 60_000
"""The bytes before the urgent request: the window is open by then, and the kernel's buffers have
grown."""
TRIED_BYTES = 20_000
INCOMPLETE = "{} did not send a body of {:,} bytes whole; check its command and its own log"
MOVED = {"speed_index_ms": "Speed Index", "page_load_time_ms": "load time"}
"""The metrics that an aspect may change."""
TRIES = 4
"""The most attempts to lose the intended packet."""


@dataclass(frozen=True)
class Recordings:
    """The recordings that are served: the generated page, and one body per size."""

    page: Path
    page_digest: str
    bodies: Mapping[int, tuple[Path, str]]

    @classmethod
    def write(cls, folder: Path, sizes: set[int]) -> "Recordings":
        """Write the recordings into `folder`. Raises LabError."""
        page = write_generated_page(folder / "level.wacz")
        with page.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        sites_by_size = {size: bulk_site(folder, size, late_bytes=LATE_BYTES) for size in sizes}
        return cls(page, digest, sites_by_size)


class RunError(LabError):
    """A run without a result: a load that was not `ok`, a starved transfer, or a wrong loss."""


def run_scenario(
    scenario: Scenario, stack: Stack, recordings: Recordings, seed: int
) -> dict[str, Value]:
    """Return the values of one run. Raises LabError if there are none."""
    if scenario.kind == "page":
        return _page(scenario, stack, recordings, seed)
    if scenario.kind == "bulk":
        network, size = scenario.network, scenario.body_bytes
        transfer_, (down, _), summary = transfer(network, stack, recordings, size, seed)
        in_force = summary.connections[-1]["in_force"] if stack.is_ours else {}
        return bulk_values(transfer_, in_force, down, network.rtt_ms_min)
    if scenario.kind == "late":
        return _late(scenario, stack, recordings, seed)
    return _repair(scenario, stack, recordings, seed)


def try_transfer(stack: Stack) -> None:
    """Transfer a small body once. Raises LabError if it does not come whole."""
    with temporary_folder("level") as folder:
        recordings = Recordings.write(folder, {TRIED_BYTES})
        transfer_, _, _ = transfer(FAR, stack, recordings, TRIED_BYTES, 1)
    if not transfer_["complete"]:
        raise LabError(INCOMPLETE.format(stack.name, TRIED_BYTES))


def _page(scenario: Scenario, stack: Stack, recordings: Recordings, seed: int) -> dict[str, Value]:
    # Only a repeat visit sends early data.
    visit: Visit = "repeat" if stack.early_data else "first"
    settings = Browser(netlog=True, timeout_s=LOAD_S, visit=visit)
    plan = one_cell("level", [scenario.network], stack, 1, seed, settings)
    (trial,) = expand(plan, [Site("level", recordings.page_digest)])
    with temporary_folder("level") as folder:
        result = run_trial(trial, str(recordings.page), path_log=str(folder))
        if result.record["outcome"] != "ok":
            text = f"{result.record['outcome']}: {result.record['outcome_detail']}"
            if result.record["outcome"] in ("starved", "late-packets"):
                text += "; run it again when the machine is quiet"
            raise RunError(text)
        if reason := disturbance(0.0, result.record["host"]["cpu_steal_share"]):
            raise RunError(f"starved: {reason}; run it again when the machine is quiet")
        logs = _logs(folder)
    values = _of_load(result.record, result.logs[NETLOG_FILE], *logs)
    moved = metrics_of(result.record, result.frames)
    return values | {name: ms for name in MOVED if (ms := moved[name]) is not None}


def _of_load(
    record: JsonMapping, network_log: bytes, down: Arrivals, up: Arrivals
) -> dict[str, Value]:
    """Return the values of the measured load alone; all logs include an earlier visit."""
    since_ns = record["browser"]["navigation_start_ns"] - BEFORE_NAVIGATION_NS
    urls = {item["url"] for item in record["objects"]}
    scheduling = request_scheduling(read_network_log(network_log), urls, since_ns / 1e6)
    return page_values(
        record, _scheduling_values(scheduling), down.since(since_ns), up.since(since_ns)
    )


def _scheduling_values(found: Scheduling) -> Scheduled:
    waits = [(request, found.waits_ms(request)) for request in found.requests]
    waited = [Waited(request.priority in DELAYABLE, ms.after_ms) for request, ms in waits if ms]
    hosts = {request.host for request in found.requests}
    most = {host: count for host, count in found.in_flight_max().items() if host in hosts}
    return Scheduled(waited, len(found.held_back()), max(most.values(), default=0))


def _late(scenario: Scenario, stack: Stack, recordings: Recordings, seed: int) -> dict[str, Value]:
    if not stack.schedules_responses:
        return {}  # one response per connection at a time: none is sent before another
    late = (LATE_URL, LATE_AFTER_BYTES)
    transfer_, (down, up), summary = transfer(
        scenario.network, stack, recordings, scenario.body_bytes, seed, late=late
    )
    if stack.is_ours:
        requests = (request for request in summary.requests if request["url"] == LATE_URL)
        came_ns = next(map(read_arrival_ns, requests), None)
    else:
        came_ns = find_arrival_ns(transfer_["late"], up)
    if came_ns is None:
        raise RunError(f"{scenario.name}: the servers saw no urgent request; run it again")
    values = late_values(transfer_["late"], came_ns, down)
    unsent = unsent_bytes_max(summary.connections)
    return values if unsent is None else {**values, "unsent_bytes_max": unsent}


def _repair(
    scenario: Scenario, stack: Stack, recordings: Recordings, seed: int
) -> dict[str, Value]:
    """Compare a transfer that loses one packet with a lossless one, which selects the packet."""
    network, size = scenario.network, scenario.body_bytes
    rtt_ms = network.rtt_ms_min
    whole, (seen, _), _ = transfer(network, stack, recordings, size, seed)
    # A handshake may take a packet more or less, and then another packet is lost.
    for _ in range(TRIES):
        lost = packet_to_lose(seen, scenario.kind, rtt_ms)
        if lost is None:
            break
        broken, (with_loss, _), _ = transfer(network, stack, recordings, size, seed, lost)
        if is_intended_loss(with_loss, scenario.kind, rtt_ms) and broken["complete"]:
            return repair_values(whole, broken)
        if not len(with_loss.dropped):
            seen = with_loss
    raise RunError(
        f"{scenario.name}: in {TRIES} tries packets other than the intended ones were lost; "
        "run it again when the machine is quiet"
    )


def transfer(
    network: Network,
    stack: Stack,
    recordings: Recordings,
    body_bytes: int,
    seed: int,
    lost: int | None = None,
    late: tuple[str, int] | None = None,
) -> tuple[JsonObject, tuple[Arrivals, Arrivals], LabSummary]:
    """Transfer a body once; return the client's report, the arrivals down and up, the summary.

    Raises LabError if it failed, RunError if the machine starved it.
    """
    path = lab_path(network)
    own_ms = 8e3 * body_bytes / network.rate_down_bit_s
    if lost is not None:
        stage = {"stage": "recorded_loss", "positions": [lost]}
        path = {**path, "down": [*path["down"], stage]}
    site, url = recordings.bodies[body_bytes]
    if not stack.over_tls:
        url = url.replace("https:", "http:", 1)
    with temporary_folder("level") as folder:
        before = HostSample.take(time.monotonic())
        transfer_, summary = transfer_with_report(
            path,
            # As on a first visit: tickets only if the stack requests them.
            lab_stack(replace(stack, session_tickets=bool(stack.session_tickets)), network),
            site,
            url,
            seed=seed,
            bytes_max=body_bytes,
            duration_ms=max(DURATION_MS, round(SLOWEST * own_ms)),
            logs=folder,
            late=late,
            served_by=None if stack.is_ours else stack,
        )
        host = before.until(HostSample.take(time.monotonic()))
        if summary.path and (reason := find_starvation(summary.path, host, network.rtt_ms_min)):
            raise RunError(f"starved: {reason}; run it again when the machine is quiet")
        logs = _logs(folder)
    return transfer_, logs, summary


def _logs(folder: Path) -> tuple[Arrivals, Arrivals]:
    down, up = (
        read_arrivals((folder / f"{name}.log").read_bytes(), f"{name}.log")
        for name in ("down", "up")
    )
    return down, up


ImagesHost = Literal["page", "own", "coalesced"]

IMAGES_HOST, IMAGES_ADDRESS = "images.level.example", "192.0.2.22"


def write_generated_page(out: Path, images_host: ImagesHost = "page") -> Path:
    """Write the generated page's recording to `out`. Raises LabError.

    `images_host`: `page`, the page's own host; `own`, another host with a connection of its own;
    `coalesced`, another host with the page's address and certificate, so that its images come over
    the page's connection.
    """
    coalesced = images_host == "coalesced"
    entries = items() if images_host == "page" else tuple(map(_with_images_elsewhere, items()))
    addresses = {**ADDRESSES, IMAGES_HOST: ADDRESSES[HOST] if coalesced else IMAGES_ADDRESS}
    exchanges = [SyntheticExchange(item.url, item.content_type, item.body) for item in entries]
    names = [HOST, IMAGES_HOST]
    pack_site(
        out,
        exchanges,
        title="made for the level",
        description="Made: 60 images, 4 style sheets, 6 fonts, a late script",
        addresses=addresses,
        **({"certificate_names": dict.fromkeys(names, names)} if coalesced else {}),
    )
    return out


def _with_images_elsewhere(item: Item) -> Item:
    if item.url == URL:
        page = item.body.decode()
        page = page.replace("src=/image-", f"src=https://{IMAGES_HOST}/image-")
        return replace(item, body=page.encode())
    return replace(item, url=item.url.replace(f"{URL}image-", f"https://{IMAGES_HOST}/image-"))
