"""A plan from its `plan.json`: as it was resolved then, whatever lies where and presets are now."""

from collections.abc import Mapping, Sequence
from typing import Any

from eyelevel.errors import PlanError
from eyelevel.networks.network import Network
from eyelevel.plan.browser_settings import BrowserSettings
from eyelevel.plan.causes import Causes
from eyelevel.plan.devices import DEVICES_BY_NAME, Device
from eyelevel.plan.plan import Plan, StopRule
from eyelevel.plan.stacks import ExternalServer, Stack


def plan_of_document(
    document: Mapping[str, Any], sites: Sequence[str], trace_files: Mapping[str, str]
) -> Plan:
    """The plan whose loads a `plan.json` lists: the reverse of `plan_document`.

    `sites`: where its recordings are now, in its order; `trace_files`: where the files of its
    networks are, by digest. Raises PlanError for settings that this eyelevel does not know.
    """
    try:
        return Plan(
            title=document["title"],
            sites=tuple(sites),
            networks=tuple(_network(each) for each in document["networks"]),
            stacks=tuple(_stack(each) for each in document["stacks"]),
            reference=document["reference"],
            blocks=document["blocks"],
            seed=document["seed"],
            primary_metric=document["primary_metric"],
            smallest_effect_of_interest=document["smallest_effect_of_interest"],
            browser=_browser(document["browser"]),
            source=document["source"],
            stop=StopRule(**document["stop"]) if "stop" in document else None,
            weights=dict(document.get("weights", {})),
            trace_files=dict(trace_files),
            causes=_causes(document["causes"]) if "causes" in document else None,
        )
    except (KeyError, TypeError) as error:
        raise PlanError(
            [f"plan.json: not of this eyelevel ({error}); use the eyelevel that wrote it"]
        ) from error


def _network(settings: Mapping[str, Any]) -> Network:
    own = {key: value for key, value in settings.items() if key != "name"}
    return Network.of_settings(settings["name"], own)


def _stack(settings: Mapping[str, Any]) -> Stack:
    values = dict(settings)
    if server := values.get("server"):
        values["server"] = ExternalServer(tuple(server["command"]), tuple(server["protocols"]))
    return Stack(**values)


def _browser(settings: Mapping[str, Any]) -> BrowserSettings:
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in settings.items()}
    if device := values.get("device"):
        values["device"] = _device(device, settings.get("cpu_slowdown", 1.0))
    return BrowserSettings(**values)


def _device(settings: Mapping[str, Any], cpu_slowdown: float) -> Device:
    known = DEVICES_BY_NAME.get(settings["name"])
    if known is not None and known.settings() == dict(settings):
        return known
    values = {**settings, "viewport_px": tuple(settings["viewport_px"])}
    return Device(**values, title="", cpu_slowdown=cpu_slowdown, source="plan.json")


def _causes(document: Mapping[str, Any]) -> Causes:
    return Causes(tuple(document["names"]), document["stacks"], document["networks"])
