"""Run one trial: build its lab, load the page, tear down, write exactly one outcome.

Describe in a trial's record the transfers that shared the path with its page.
"""

import logging
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

import numpy as np

from eyelevel.base.errors import BrowserStartError, LabError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import RawLoad
from eyelevel.lab.client import LabConfig, LabSummary, Ready
from eyelevel.load.coding import (
    Coding,
    Observed,
    Pictures,
    after_load_record,
    all_objects,
    all_pictures_match,
    coding,
    find_failed_step,
)
from eyelevel.load.external_server import start_served_lab
from eyelevel.load.host import HostSample
from eyelevel.load.judge import judge
from eyelevel.load.live_build import LiveBuild, describe_load
from eyelevel.load.load_settings import load_settings
from eyelevel.load.quiet_host import HostWait, remember
from eyelevel.load.recorded_answers import RecordedAnswers, measure_bodies, read_answers
from eyelevel.load.traces import check_recording, check_trace_files
from eyelevel.plan.networks.origin_rtt import Place, places_of
from eyelevel.plan.trials import Trial
from eyelevel.sites.recorded import site_info
from eyelevel.store.directory import LOGS
from eyelevel.store.disk import temporary_folder
from eyelevel.store.frames import Frames
from eyelevel.store.packed import MESSAGES_FILE, pack_messages
from eyelevel.store.schema import RECORD_VERSION

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrialResult:
    """A trial's record in the store's form, and its frames."""

    record: JsonObject
    frames: Frames
    step_frames: tuple[Frames, ...] = ()
    """The frames of each step after the load."""
    logs: Mapping[str, bytes] = field(default_factory=dict)
    """The logs of browser, connections and packets, and the messages, by file name."""


@dataclass(frozen=True)
class Watched:
    """The logs of a lab: its `connection_logs`, and a folder for its path's log."""

    connections: JsonMapping | None
    path: str | None


def run_trial(
    trial: Trial,
    archive: str,
    url: str | None = None,
    trace_files: Mapping[str, str] = MappingProxyType({}),
    path_log: str | None = None,
    host_wait: HostWait | None = None,
    live: LiveBuild | None = None,
) -> TrialResult:
    """Load the site of `archive` once as `trial` specifies; every failure is an outcome.

    `url`: the page to open, by default the recording's own. `trace_files`: the network's recorded
    traces by digest. `path_log`: a folder for the path's logs. `host_wait`: the rules by which it
    waits for the machine; None: no wait. `live`: the server that answers for the page's own
    origin. An interruption (KeyboardInterrupt, WaitInterruptedError) passes through, with nothing
    left behind. Raises InputChangedError if recording or traces are not those of the plan.
    """
    named = f"trial {trial.hash} ({trial.site}, {trial.network}, {trial.stack})"
    waited_ms = host_wait.wait() * 1e3 if host_wait else 0.0
    logger.info("%s: begins after waiting %.0f ms for the machine", named, waited_ms)
    with connection_logs(trial.browser.logs) as logs, coding() as pictures:
        settings = Watched(logs.config, path_log)
        result = _run_trial(trial, archive, url, trace_files, settings, pictures, live)
    outcome, detail = (result.record[key] for key in ("outcome", "outcome_detail"))
    logger.info("%s: %s", named, f"{outcome} ({detail})" if detail else outcome)
    host = result.record["host"]
    host["waited_for_host_ms"] = round(waited_ms, 3)
    host["wall_ms"] += host["waited_for_host_ms"]
    return replace(result, logs={**result.logs, **logs.files})


def _run_trial(
    trial: Trial,
    archive: str,
    url: str | None,
    trace_files: Mapping[str, str],
    watched: Watched,
    pictures: Coding,
    live: LiveBuild | None,
) -> TrialResult:
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    started_s = time.monotonic()
    before = HostSample.take(started_s)
    raw: RawLoad | None = None
    load_ended: HostSample | None = None
    summary, ready, answers = LabSummary(), None, RecordedAnswers()
    cpu_before_s, cpu_s = live.cpu_s() if live else None, None
    try:
        check_trace_files(trace_files, trial.network_settings)
        if not trial.stack_settings.is_ours:
            answers = read_answers(archive, trial.site_digest)
        path = trial.lab_path(trace_files, _places(trial, archive))
        config = LabConfig(
            path,
            trial.seed,
            archive,
            trial.lab_stack(),
            cross_traffic=trial.lab_cross_traffic(),
            connection_logs=watched.connections,
            log=watched.path,
            longest_prefix=trial.browser.longest_prefix,
            cache_age_s=trial.browser.cache_age_s,
            live=live.lab_setting() if live else None,
        )
        with start_served_lab(trial.stack_settings, archive, config) as lab:
            ready = lab.ready
            check_recording(archive, str(ready.site_digest), trial.site_digest)
            _let_settle(trial)

            def begin_measured_visit() -> None:
                nonlocal before, cpu_before_s
                lab.revisit(connections_stay=trial.browser.visit == "warm")
                before = HostSample.take(time.monotonic())
                cpu_before_s = live.cpu_s() if live else None

            def end_measured_visit(over: RawLoad) -> None:
                nonlocal load_ended, cpu_s
                if live and cpu_before_s is not None:
                    cpu_s = round((live.cpu_s() or 0.0) - cpu_before_s, 3)
                load_ended = HostSample.take(time.monotonic())
                remember(load_ended)
                pictures.begin(over)

            settings = load_settings(trial, lab, archive, url)
            raw = load_page(
                replace(
                    settings,
                    between_visits=begin_measured_visit,
                    when_over=end_measured_visit,
                )
            )
            summary = lab.stop()
        reason = (
            next(iter(summary.errors), "")
            or _silent_flow(summary.cross_traffic)
            or _find_live_failure(trial, live, summary)
        )
        failure = ("lab-failed", reason) if reason else None
    except LabError as error:
        failure = ("lab-failed", str(error))
    except BrowserStartError as error:
        failure = ("browser-crashed", str(error))
    load_ended = load_ended or HostSample.take(time.monotonic())
    wall_ms = (time.monotonic() - started_s) * 1e3
    host = {**before.until(load_ended), "wall_ms": round(wall_ms, 3), **_lab_facts(ready)}
    if summary.server_cpu_s is not None and trial.stack_settings.is_ours:
        host["server_cpu_s"] = summary.server_cpu_s
    host["suspended"] = list_suspended(raw, summary)
    is_alone = ready is not None and len(ready.origins) == 1
    outcome, detail = failure or _judge(
        trial, answers, raw, summary, host, are_others_blocked=live is not None and is_alone
    )
    found, outcome, detail = pictures.judged(outcome, detail)
    result = trial_result(trial, started_at, outcome, detail, raw, found, summary, host)
    if ready is not None and ready.early_hints is not None:
        result.record["early_hints"] = {
            "hinted": ready.early_hints["hinted"],
            "left_out": ready.early_hints["left_out"],
            "received": raw is not None and raw.has_early_hints,
        }
    if live and summary.live is not None:
        result.record["live"] = describe_load(
            live, summary.live, cpu_s, are_others_blocked=is_alone
        )
    return result


def _find_live_failure(trial: Trial, live: LiveBuild | None, summary: LabSummary) -> str:
    """Return why the live build left a request without its answer, as a sentence; else ""."""
    if live is None or not (seen := summary.live) or not seen["failed"]:
        return ""
    return live.find_end() or f"the live build `{trial.variant}`: {seen['failure']}"


def list_suspended(raw: RawLoad | None, summary: LabSummary) -> list[JsonMapping] | None:
    """Return the record's `host.suspended`; programs outside of the lab have no durations."""
    names = raw.suspended if raw else ()
    outside: list[JsonMapping] = [{"process": name, "at_ns": None, "ms": None} for name in names]
    if summary.suspended is None:
        return outside or None
    return [*summary.suspended, *outside]


def _places(trial: Trial, archive: str) -> tuple[Place, ...]:
    """Return the places of hosts with their own round trips.

    Raises InputChangedError if the recording has been replaced, LabError if it cannot be read.
    """
    if not trial.own_rtts_ms:
        return ()
    info = site_info(Path(archive))
    check_recording(archive, info["digest"], trial.site_digest)
    return places_of(info["origins"])


def _let_settle(trial: Trial) -> None:
    """Wait until the cross traffic, if there is any, has filled the path."""
    time.sleep(trial.network_settings.settling_s)


def _judge(
    trial: Trial,
    answers: RecordedAnswers,
    raw: RawLoad | None,
    summary: LabSummary,
    host: JsonMapping,
    *,
    are_others_blocked: bool,
) -> tuple[str, str]:
    assert raw is not None and summary.path is not None
    observed = observe(trial, raw, summary, host)
    if not trial.stack_settings.is_ours:
        loaded = (*raw.objects, *(item for step in raw.after_load for item in step.objects))
        observed = replace(observed, bodies=measure_bodies(loaded), answers=answers)
    return judge(replace(observed, are_others_blocked=are_others_blocked))


def observe(trial: Trial, raw: RawLoad, summary: LabSummary, host: JsonMapping) -> Observed:
    """Return one load's observations for its judge; without a lab `summary` is empty."""
    return Observed(
        ended=raw.ended,
        detail=raw.detail,
        objects=all_objects(raw),
        frames=len(raw.frames) if trial.browser.capture else None,
        frames_lost=raw.frames_lost,
        first_contentful_paint_ms=raw.navigation.first_contentful_paint_ms,
        page_load_time_ms=raw.navigation.page_load_time_ms,
        final_picture_matches=all_pictures_match(raw),
        failed_step=find_failed_step(raw),
        requests=summary.requests,
        connections=summary.connections,
        path=summary.path or {},
        host=host,
        stack=trial.stack_settings,
        network=trial.network_settings,
        browser=trial.browser,
        requests_lost=raw.requests_lost,
        ended_on=raw.ended_on,
        timings_refused=raw.timings_refused,
        connection_type=raw.effective_connection_type,
        kernel=platform.release(),
        navigation_start_ns=raw.navigation_start_ns,
    )


def trial_result(
    trial: Trial,
    started_at: str,
    outcome: str,
    detail: str,
    raw: RawLoad | None,
    pictures: Pictures,
    summary: LabSummary,
    host: JsonMapping,
) -> TrialResult:
    """Return the record of one load with its frames and logs; `host` is the record's."""
    frames, steps = pictures.frames, pictures.steps
    observed = raw.as_record() if raw else {"navigation": None, "objects": [], "browser": {}}
    browser = {**observed["browser"], "final_picture": pictures.final}
    record = {
        "version": RECORD_VERSION,
        "trial": trial.record_key(),
        "outcome": outcome,
        "outcome_detail": detail,
        "started_at": started_at,
        "navigation": observed["navigation"],
        "objects": observed["objects"],
        "requests": list(summary.requests),
        "connections": list(summary.connections),
        "path": summary.path,
        "cross_traffic": summary.cross_traffic
        and _cross_traffic_record(
            summary.cross_traffic,
            raw.navigation_start_ns if raw else None,
            raw.navigation.page_load_time_ms if raw else None,
            observed["objects"],
        ),
        "host": dict(host),
        "browser": browser,
        "versions": versions(raw.browser_version if raw else ""),
        "frames": [{"at_ms": at_ms, "index": index} for index, at_ms in enumerate(frames.at_ms)],
    }
    if raw and raw.after_load:
        record["after_load"] = after_load_record(raw.after_load, steps)
    logs = dict(raw.logs) if raw else {}
    if raw and raw.objects:
        messages = [item.message for item in raw.objects]
        logs[MESSAGES_FILE] = pack_messages(each.as_json() if each else None for each in messages)
    return TrialResult(record, frames, steps, logs)


def versions(browser: str) -> dict[str, str]:
    """Return the versions of eyelevel, browser and kernel for a record."""
    return {"eyelevel": _eyelevel_version(), "browser": browser, "kernel": platform.release()}


@cache
def _eyelevel_version() -> str:
    return version("eyelevel")


def _lab_facts(ready: Ready | None) -> JsonObject:
    if ready is None:
        return {}
    names = ("realtime_priority", "server_realtime_priority", "queueing_discipline")
    facts = {**{name: getattr(ready, name) for name in names}, "lab_startup_ms": ready.startup_ms}
    if (cores := ready.client_cores) is not None:
        facts["browser_cores"] = len(cores)
    return facts


@dataclass
class CollectedLogs:
    """The lab's `connection_logs`, and at the end its log files, by their names in the trial's
    folder."""

    config: JsonMapping | None = None
    files: dict[str, bytes] = field(default_factory=dict)


@contextmanager
def connection_logs(kinds: Sequence[str]) -> Iterator[CollectedLogs]:
    """Provide a folder for the lab's logs, which are read when the block ends.

    There is none if no kind is requested.
    """
    if not kinds:
        yield CollectedLogs()
        return
    with temporary_folder("logs") as folder:
        logs = CollectedLogs({"folder": str(folder), "kinds": list(kinds)})
        yield logs
        for file in sorted(folder.iterdir()):
            if content := file.read_bytes():  # no qlog over TCP, no TCP_INFO over QUIC
                logs.files[f"{LOGS}/{file.name}"] = content


def _cross_traffic_record(
    summary: JsonMapping,
    navigation_start_ns: int | None = None,
    load_ms: float | None = None,
    objects: Sequence[JsonMapping] = (),
) -> JsonObject:
    """Return the record's `cross_traffic` (spec/run-record.md).

    `summary` is the lab's; `load_ms` the time from `navigation_start_ns` (CLOCK_MONOTONIC) to the
    page's load event, None without one.
    """
    flows = [dict(flow) for flow in summary["flows"]]
    record = {
        "flows": flows,
        "fairness_index": dict(summary["fairness_index"]),
        "sampled_at_ns": list(summary["sampled_at_ns"]),
        "load": None,
    }
    if navigation_start_ns is not None and load_ms:
        record["load"] = _during_load(record, navigation_start_ns, load_ms, objects)
    return record


def _silent_flow(summary: JsonMapping | None) -> str:
    """Return a sentence on the first flow of the cross traffic without any bytes; empty if none."""
    for number, flow in enumerate((summary or {}).get("flows", ()), start=1):
        if not flow["bytes"]:
            return (
                f"cross traffic: flow {number} ({flow['congestion_control']} {flow['direction']}) "
                "brought nothing"
            )
    return ""


def _during_load(
    found: JsonMapping,
    start_ns: int,
    load_ms: float,
    objects: Sequence[JsonMapping],
) -> JsonObject:
    """Return the goodputs from the navigation to the load event: the page's and the flows'."""
    window_ns = [start_ns, start_ns + load_ms * 1e6]
    seconds = load_ms / 1e3
    goodputs = []
    for flow in found["flows"]:
        before, after = np.interp(window_ns, found["sampled_at_ns"], flow["sampled_bytes"])
        goodputs.append(round(float(after - before) * 8 / seconds, 1))
    page_bytes = sum(
        item["encoded_bytes"] or 0
        for item in objects
        if item["from"] == "network" and (item["finished_ms"] or np.inf) <= load_ms
    )
    page_bit_s = page_bytes * 8 / seconds
    down = [
        goodput
        for goodput, flow in zip(goodputs, found["flows"], strict=True)
        if flow["direction"] == "down"
    ]
    total = page_bit_s + sum(down)
    return {
        "duration_ms": load_ms,
        "flow_goodput_bit_s": goodputs,
        "page_bytes": page_bytes,
        "page_goodput_bit_s": round(page_bit_s, 1),
        "page_share": round(page_bit_s / total, 6) if total else None,
    }
