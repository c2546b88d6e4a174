"""Compose a network from the options of `eyelevel path`: preset, round trip, traces, stages.

The shell itself composes in Rust (`crates/lab/src/shell/arguments.rs`); vectors/path_words holds
both, and a plan's network tables, to the same paths and the same refusals.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from eyelevel.base.errors import NetworkError
from eyelevel.plan.networks.network import Network, as_stages, trace_stage
from eyelevel.plan.networks.presets import find_network, find_recorded_pair
from eyelevel.plan.networks.stages import NOTHING, Stage, StagesRead, at_mean_rates, with_files

DEFAULT_NETWORK = "dsl"
"""Network of a path without options."""

NAME_LENGTH_MAX = 64
_PLAIN = re.compile(r"[A-Za-z0-9 .,:%+_/-]+")

ReadStages = Callable[[str], StagesRead]
"""Parses one direction's stages; raises `ValueError` if they are invalid."""


@dataclass(frozen=True)
class NetworkWords:
    """Network options of a command line; None for absent ones."""

    network: str | None = None
    traces: str | None = None
    rtt: str | None = None
    down: str | None = None
    up: str | None = None
    trace_down: str | None = None
    trace_up: str | None = None

    def given(self) -> dict[str, str]:
        """Return the given values by option, in the order of the downstream path."""
        words = {
            "--network": self.network,
            "--traces": self.traces,
            "--rtt": self.rtt,
            "--trace-down": self.trace_down,
            "--trace-up": self.trace_up,
            "--down": self.down,
            "--up": self.up,
        }
        return {option: text for option, text in words.items() if text is not None}


class WordError(NetworkError):
    """An option is invalid: `word` is its field of `NetworkWords`, `problem` the reason."""

    def __init__(self, word: str, problem: str) -> None:
        super().__init__(f"--{word.replace('_', '-')}: {problem}")
        self.word, self.problem = word, problem


@dataclass(frozen=True)
class Composed:
    """A network, and the paths of its stages' files by digest."""

    network: Network
    files: Mapping[str, str] = field(default_factory=dict)


def compose(words: NetworkWords, read: ReadStages, default: str = DEFAULT_NETWORK) -> Composed:
    """Return the network of these options; raises `NetworkError` with option and remedy.

    `--traces` replaces a preset's model by recordings of a folder. Downstream come the preset's
    stages, or the delay of half a round trip and the trace, then the stages of `--down`; upstream
    is the mirror image, seen from the client. Without an option for the path the network is the
    preset itself; without any option it is `default`.
    """
    given = words.given()
    if given.keys() <= {"--network"}:
        return Composed(find_network(words.network or default))
    refuse_what_is_unclear(words)
    files: dict[str, str] = {}
    preset = find_network(words.network) if words.network is not None else None
    if preset is not None and words.traces is not None:
        pair = pair_of(preset.name, words.traces)
        given["--traces"] = PurePath(pair[0]).stem
        preset = _replay_recording(preset, pair, _name(given), read, files)
        if given.keys() == {"--network", "--traces"}:
            return Composed(preset, files)
    return Composed(put_together(_name(given), preset, words, read, files), files)


def put_together(
    name: str,
    preset: Network | None,
    words: NetworkWords,
    read: ReadStages,
    files: dict[str, str],
) -> Network:
    """Return a network of a preset's stages, or a round trip and traces, and the options' stages.

    The options that select the preset are ignored. Files, which include the preset's, are added to
    `files` by digest. Raises `WordError`.
    """
    of_preset = as_stages(preset) if preset else {"down": [], "up": []}
    delay = _half_of(words.rtt, read)
    trace_down = _trace("trace_down", words.trace_down, read, files)
    trace_up = _trace("trace_up", words.trace_up, read, files)
    own_down = _own("down", words.down, read, files)
    own_up = _own("up", words.up, read, files)
    before = [*of_preset["down"], *delay, *trace_down]
    behind = [*trace_up, *delay, *of_preset["up"]]
    down = _as_one("down", [*before, *own_down.stages], own_down, read, files)
    up = _as_one("up", [*own_up.stages, *behind], own_up, read, files)
    return Network.of_stages(name, down, up)


def refuse_what_is_unclear(words: NetworkWords) -> None:
    """Raise `NetworkError` for options that contradict each other, or lack what they refer to."""
    if words.network is None:
        if words.traces is not None:
            raise NetworkError(
                f"--traces {words.traces}: say whose recordings you mean, such as --network att-lte"
            )
        return
    beside = f"--network {words.network}"
    if words.rtt is not None:
        raise NetworkError(
            f"{beside} and --rtt {words.rtt}: a network has a round trip of its own, so leave one "
            'out; what comes on top of it is --down "delay 20ms" --up "delay 20ms"'
        )
    for way, trace in (("down", words.trace_down), ("up", words.trace_up)):
        if trace is not None:
            raise NetworkError(
                f"{beside} and --trace-{way} {trace}: a network has links of its own, so leave one "
                f'out; a link behind them is --{way} "trace FILE"'
            )


def pair_of(preset: str, folder: str) -> tuple[str, str]:
    """Return the recorded files (down, up) of the preset's link in a folder.

    Raises `NetworkError`.
    """
    try:
        return find_recorded_pair(folder, preset)
    except ValueError as error:
        raise WordError("traces", str(error)) from error


def _replay_recording(
    preset: Network, pair: tuple[str, str], name: str, read: ReadStages, files: dict[str, str]
) -> Network:
    """Return the preset with its traces replaced by these files (down, up)."""
    found = [_read("traces", json.dumps([trace_stage(file)]), read) for file in pair]
    for each in found:
        files.update(each.files)
    down, up = found
    (down_digest,), (up_digest,) = down.files, up.files
    return preset.recorded(name, (down_digest, up_digest), (down.rate_bit_s, up.rate_bit_s))


def _half_of(rtt: str | None, read: ReadStages) -> list[Stage]:
    if rtt is None:
        return []
    stages = _read("rtt", f"delay {rtt}", read).stages
    if len(stages) != 1 or set(stages[0]) != {"stage", "delay_ms"}:
        raise WordError("rtt", f"{rtt} is no time; use 40ms")
    return [{**stages[0], "delay_ms": stages[0]["delay_ms"] / 2}]


def _trace(word: str, file: str | None, read: ReadStages, files: dict[str, str]) -> Sequence[Stage]:
    # As JSON: a file name may contain the separators of the text form.
    text = None if file is None else json.dumps([trace_stage(file)])
    return _own(word, text, read, files).stages


def _own(word: str, text: str | None, read: ReadStages, files: dict[str, str]) -> StagesRead:
    if text is None:
        return NOTHING
    found = _read(word, text, read)
    files.update(found.files)
    return found


def _as_one(
    word: str,
    stages: Sequence[Stage],
    own: StagesRead,
    read: ReadStages,
    files: Mapping[str, str],
) -> StagesRead:
    """Return a direction's stages with their combined rate, delay and queue.

    `own` has been read.
    """
    if len(stages) == len(own.stages):
        return own
    played = with_files(at_mean_rates(stages), files.__getitem__)
    return replace(_read(word, json.dumps(played), read), stages=tuple(stages))


def _read(word: str, text: str, read: ReadStages) -> StagesRead:
    try:
        return read(text)
    except ValueError as error:
        raise WordError(word, str(error)) from error


def _name(given: Mapping[str, str]) -> str:
    """Return a name for the network from its options.

    Values that are too long or not plain text are left out.
    """
    words = {
        option: f"{option[2:]} {PurePath(text).name if '--trace' in option else text}"
        for option, text in given.items()
    }
    if "--network" in given:
        words["--network"] = given["--network"]
    rank = {
        option: (_PLAIN.fullmatch(text) is not None, -len(text)) for option, text in words.items()
    }
    for option in sorted(rank, key=rank.__getitem__):
        name = " + ".join(words.values())
        if len(name) <= NAME_LENGTH_MAX and _PLAIN.fullmatch(name):
            return name
        words[option] = option[2:]
    return " + ".join(words.values())
