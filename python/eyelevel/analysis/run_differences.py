"""Find the differences between two runs: parts that only one has, and the loads' conditions."""

from collections.abc import Mapping, Sequence

from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonMapping

NAMED_MAX = 8  # per line: a corpus that was recorded anew has hundreds of sites

# Keys of the environment that can change a gain by themselves.
_COMPARED = ("cpu", "cores", "machine", "versions", "data_plane", "realtime_allowed", "confined")


def run_differences(old: StudyResults, new: StudyResults) -> list[str]:
    """Return the differences between two runs, one line each.

    Parts that only one run has, and that are not compared, come first, then conditions that may
    change a gain.
    """
    return [
        *_list_left_out(old.plan, new.plan),
        *_conditions(old.plan["browser"], new.plan["browser"]),
        *_settings(old.plan, new.plan),
        *_environments(old.environment, new.environment),
    ]


def _list_left_out(old: JsonMapping, new: JsonMapping) -> list[str]:
    lines = []
    for kind in ("sites", "networks", "stacks"):
        before, after = ({part["name"]: part for part in plan[kind]} for plan in (old, new))
        if kind == "sites":
            both = [name for name in before if name in after]
            anew = [name for name in both if before[name]["digest"] != after[name]["digest"]]
            lines += _line("sites whose recording is different now", anew)
        lines += _line(f"{kind} only in the earlier run", [n for n in before if n not in after])
        lines += _line(f"{kind} only in the later run", [n for n in after if n not in before])
    return lines


def _line(what: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names[:NAMED_MAX])
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return [f"{what}, not compared: {listed}{more}"]


def _conditions(old: JsonMapping, new: JsonMapping) -> list[str]:
    """Return the differences between the plans' `browser` settings."""
    lines = []
    for key, after in new.items():
        before = old[key]
        if before == after:
            continue
        names = [_describe_condition(value) for value in (before, after)]
        if names[0] == names[1]:
            lines.append(f"the settings of the {key} `{names[0]}` differ")
        else:
            lines.append(f"`{key}`: {names[0]} before, {names[1]} now")
    return lines


def _describe_condition(value: object) -> str:
    if value is None:
        return "not given"
    if isinstance(value, Mapping):
        return str(value["name"])
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _settings(old: JsonMapping, new: JsonMapping) -> list[str]:
    lines = []
    for kind in ("networks", "stacks"):
        known = {part["name"]: part for part in old[kind]}
        for part in new[kind]:
            if part["name"] in known and known[part["name"]] != part:
                lines.append(f"the settings of `{part['name']}` differ")
    return lines


def _environments(old: JsonMapping, new: JsonMapping) -> list[str]:
    lines = []
    for key in _COMPARED:
        before, after = old.get(key), new.get(key)
        if before != after:
            lines.append(
                f"{key.replace('_', ' ')}: {_describe_value(before)} before, "
                f"{_describe_value(after)} now"
            )
    return lines


def _describe_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return str(value)
