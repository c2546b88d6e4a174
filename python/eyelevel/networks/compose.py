"""A network of the words of `eyelevel path`: a preset, or a round trip and traces, and stages.

The shell itself composes in Rust (`crates/lab/src/shell/arguments.rs`); vectors/path_words
holds both to the same paths and the same refusals.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from eyelevel.errors import NetworkError
from eyelevel.networks.network import Network, as_stages, lab_path, trace_stage
from eyelevel.networks.presets import find_network
from eyelevel.networks.recorded_links import recorded_pair
from eyelevel.networks.stages import MADE, Stage, StagesRead, at_mean_rates, with_files

DEFAULT_NETWORK = "dsl"
"""Where no word is given."""

NAME_LENGTH_MAX = 64
_PLAIN = re.compile(r"[A-Za-z0-9 .,:%+_/-]+")
_NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9 ._+@-]+")
"""What a plan's names have not (`eyelevel.plan.file.model`)."""

ReadStages = Callable[[str], StagesRead]
"""One direction's stages by their text; ValueError where they make no sense."""


@dataclass(frozen=True)
class NetworkWords:
    """What a command line says of a network."""

    network: str | None = None
    traces: str | None = None
    rtt: str | None = None
    down: str | None = None
    up: str | None = None
    trace_down: str | None = None
    trace_up: str | None = None

    def given(self) -> dict[str, str]:
        """What is said, by its option, in the order in which a packet from afar meets it."""
        said = {
            "--network": self.network,
            "--traces": self.traces,
            "--rtt": self.rtt,
            "--trace-down": self.trace_down,
            "--trace-up": self.trace_up,
            "--down": self.down,
            "--up": self.up,
        }
        return {option: text for option, text in said.items() if text is not None}


@dataclass(frozen=True)
class Composed:
    """A network and the files of its stages by their digests."""

    network: Network
    files: Mapping[str, str] = field(default_factory=dict)


def compose(words: NetworkWords, read: ReadStages, default: str = DEFAULT_NETWORK) -> Composed:
    """The network of these words; NetworkError names the option and the way out.

    `--traces` puts recordings of a folder in the place of a preset's model.
    Down consists of the preset's stages, or the delay of half a round trip and the trace, then of
    the stages of the words; seen from the client, up is the mirror image. Without a word for the
    path the network is the preset itself, and without one at all that of the name `default`.
    """
    given = words.given()
    if given.keys() <= {"--network"}:
        return Composed(find_network(words.network or default))
    refuse_what_is_unclear(words)
    files: dict[str, str] = {}
    preset = find_network(words.network) if words.network is not None else None
    if preset is not None and words.traces is not None:
        pair = pair_of(preset, words.traces)
        given["--traces"] = PurePath(pair[0]).stem
        preset = _recorded(preset, pair, _name(given), read, files)
        if given.keys() == {"--network", "--traces"}:
            return Composed(preset, files)
    of_preset = as_stages(preset) if preset else {"down": [], "up": []}
    delay = _half_of(words.rtt, read)
    trace_down = _trace("--trace-down", words.trace_down, read, files)
    trace_up = _trace("--trace-up", words.trace_up, read, files)
    own_down = _stages("--down", words.down, read, files)
    own_up = _stages("--up", words.up, read, files)
    down = _as_one("--down", [*of_preset["down"], *delay, *trace_down, *own_down], read, files)
    up = _as_one("--up", [*own_up, *trace_up, *delay, *of_preset["up"]], read, files)
    return Composed(Network.of_stages(_name(given), down, up), files)


def plan_table(composed: Composed) -> str:
    """The network as a plan's `networks`, in its text: by name, or spelled out with its files.

    Raises NetworkError for a made course with stages beside it, which a plan's text cannot have.
    """
    network = composed.network
    if not network.is_staged and not composed.files:
        return f"networks = [{_quoted(network.name)}]"
    if any(MADE in stage for stages in as_stages(network).values() for stage in stages):
        raise NetworkError(
            f"`{network.name}`: a made course cannot be spelled out in a plan; leave --down and "
            "--up out, or write one as a file (eyelevel trace synth) for --trace-down"
        )
    path = {way: json.dumps(stages) for way, stages in lab_path(network, composed.files).items()}
    plain = network.name.replace(",", "").replace("%", " percent")
    keys = {"name": _NOT_OF_NAMES.sub("-", plain)[:NAME_LENGTH_MAX], **path}
    return f"networks = [{{ {', '.join(f'{key} = {_quoted(keys[key])}' for key in keys)} }}]"


def _quoted(text: str) -> str:
    """As TOML has it: literally where it may, so that people can read JSON in it."""
    literal = '"' in text and "'" not in text and text.isprintable()
    return f"'{text}'" if literal else json.dumps(text, ensure_ascii=False)


def refuse_what_is_unclear(words: NetworkWords) -> None:
    """Raises NetworkError for words that say one thing twice, or not of what."""
    if words.network is None:
        if words.traces is not None:
            raise NetworkError(
                f"--traces {words.traces}: say whose recordings are meant, as --network att-lte"
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


def pair_of(preset: Network, folder: str) -> tuple[str, str]:
    """The files down and up that the folder has of the preset's link; NetworkError without them."""
    try:
        return recorded_pair(folder, preset.name)
    except ValueError as error:
        raise NetworkError(f"--traces: {error}") from error


def _recorded(
    preset: Network, pair: tuple[str, str], name: str, read: ReadStages, files: dict[str, str]
) -> Network:
    """The preset with the courses of these files."""
    found = [_read("--traces", json.dumps([trace_stage(file)]), read) for file in pair]
    for each in found:
        files.update(each.files)
    down, up = found
    (down_digest,), (up_digest,) = down.files, up.files
    return preset.recorded(name, (down_digest, up_digest), (down.rate_bit_s, up.rate_bit_s))


def _half_of(rtt: str | None, read: ReadStages) -> list[Stage]:
    if rtt is None:
        return []
    stages = _read("--rtt", f"delay {rtt}", read).stages
    if len(stages) != 1 or set(stages[0]) != {"stage", "delay_ms"}:
        raise NetworkError(f"--rtt: {rtt} is no time; use 40ms")
    return [{**stages[0], "delay_ms": stages[0]["delay_ms"] / 2}]


def _trace(
    option: str, file: str | None, read: ReadStages, files: dict[str, str]
) -> Sequence[Stage]:
    # As JSON, since a file's name may hold what separates clauses of the text form.
    text = None if file is None else json.dumps([trace_stage(file)])
    return _stages(option, text, read, files)


def _stages(option: str, text: str | None, read: ReadStages, files: dict[str, str]) -> list[Stage]:
    if text is None:
        return []
    found = _read(option, text, read)
    files.update(found.files)
    return list(found.stages)


def _as_one(
    option: str, stages: Sequence[Stage], read: ReadStages, files: Mapping[str, str]
) -> StagesRead:
    """A direction, and what its stages come to together."""
    played = with_files(at_mean_rates(stages), files.__getitem__)
    return replace(_read(option, json.dumps(played), read), stages=tuple(stages))


def _read(option: str, text: str, read: ReadStages) -> StagesRead:
    try:
        return read(text)
    except ValueError as error:
        raise NetworkError(f"{option}: {error}") from error


def _name(given: Mapping[str, str]) -> str:
    """What the network was made of; where that is too long for a name, or no plain text, the
    longest words by their options alone."""
    said = {
        option: f"{option[2:]} {PurePath(text).name if '--trace' in option else text}"
        for option, text in given.items()
    }
    if "--network" in given:
        said["--network"] = given["--network"]
    rank = {
        option: (_PLAIN.fullmatch(text) is not None, -len(text)) for option, text in said.items()
    }
    for option in sorted(rank, key=rank.__getitem__):
        name = " + ".join(said.values())
        if len(name) <= NAME_LENGTH_MAX and _PLAIN.fullmatch(name):
            return name
        said[option] = option[2:]
    return " + ".join(said.values())
