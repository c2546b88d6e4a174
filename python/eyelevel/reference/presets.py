"""The presets' reference page; `python -m eyelevel.reference.presets` writes it."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from eyelevel.networks.network import Network
from eyelevel.networks.presets import DAS_RATES_MBIT_S, DAS_RTTS_MS, GROUPS, NetworkGroup
from eyelevel.plan.devices import DEVICES, Device
from eyelevel.plan.presets import PRESETS
from eyelevel.plan.stack_presets import REFUSED_PRESETS, STACKS
from eyelevel.plan.stacks import Stack, congestion_control_said

DEVICE_COLUMNS = ("device", "viewport", "device scale", "touch", "CPU slow-down", "what and whence")


def presets_page() -> str:
    """The text of `docs/reference/presets.md`."""
    stacks = [
        (
            f"`{stack.name}`",
            stack.http_version,
            stack.tls_version,
            congestion_control_said(asdict(stack)),
            str(stack.initial_window_packets),
            "yes" if stack.pacing else "no",
            "yes" if stack.slow_start_after_idle else "no",
            _window(stack),
        )
        for stack in STACKS
    ]
    plans = [(f"`{preset.name}`", preset.purpose) for preset in PRESETS]
    tuning = ["stack", "HTTP", "TLS", "congestion control", "initial window in packets", "pacing"]
    lines = [
        "# Presets",
        "",
        "## Networks",
        "",
        "The queue is drop-tail, in each direction. Loss is of each direction: the chance p that a",
        "request packet or its response packet is lost gives 1 - sqrt(1 - p). Where the rate has a",
        "course, it is the mean of a made packet-delivery trace (`eyelevel trace synth`).",
        "",
        *(line for group in GROUPS for line in _group(group)),
        "",
        "## Stacks",
        "",
        *_table([*tuning, "slow start after idle", "TCP's first window"], stacks),
        "",
        "`tcp+0rtt` and `quic+0rtt` also take requests in a resumed connection's first flight:",
        'that needs `visit = "repeat"`, and plans refuse them on other visits.',
        "`http1-plain` serves an https recording as its cleartext twin: scheme and links to its",
        "hosts are moved to http, nothing else.",
        "",
        *[f"`{name}` is refused. {reason}.\n" for name, reason in REFUSED_PRESETS.items()],
        "## Devices",
        "",
        *_table(DEVICE_COLUMNS, [_device(device) for device in DEVICES]),
        "",
        "A device's user agent is what Chromium of the same version says on Android; its screen is",
        "that of the table whatever the recording had.",
        "",
        "## Plans",
        "",
        *_table(["plan", "what it asks"], plans),
        "",
        "Written by `python -m eyelevel.reference.presets`; a test compares the two.",
        "",
    ]
    return "\n".join(lines)


def _group(group: NetworkGroup) -> list[str]:
    columns = ["network", "down", "up", "minimum RTT", "queue", "loss", "course"]
    rows = [] if group.name == "das" else [_row(network) for network in group.networks]
    lines = [f"### {group.name}", "", f"Source: {group.source}.", ""]
    if not rows:
        rates = ", ".join(f"{rate:g}" for rate in DAS_RATES_MBIT_S)
        rtts = ", ".join(f"{rtt}" for rtt in DAS_RTTS_MS)
        return [*lines, f"Rates: {rates}. Minimum RTTs: {rtts}. Such as `das-1.7-150`.", ""]
    return [*lines, *_table(columns, rows), ""]


def _row(network: Network) -> tuple[str, ...]:
    return (
        f"`{network.name}`",
        f"{network.rate_down_bit_s / 1e6:g} Mbit/s",
        f"{network.rate_up_bit_s / 1e6:g} Mbit/s",
        f"{network.rtt_ms_min:g} ms",
        f"{network.queue_ms:g} ms",
        f"{network.loss_down * 100:.3g} %",
        network.course(),
    )


def _device(device: Device) -> tuple[str, ...]:
    return (
        f"`{device.name}`",
        "{} x {}".format(*device.viewport_px),
        f"{device.device_scale:g}",
        "yes" if device.mobile else "no",
        f"{device.cpu_slowdown:g} times",
        f"{device.title}: {device.source}",
    )


def _window(stack: Stack) -> str:
    if stack.http_version == "h3":
        return "the browser's"
    if stack.receive_window_bytes is None:
        return "the kernel's"
    return f"{stack.receive_window_bytes / 2**20:g} MiB"


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    names = list(columns)
    divider = ["---"] * len(names)
    return [f"| {' | '.join(row)} |" for row in (names, divider, *rows)]


if __name__ == "__main__":
    Path("docs/reference/presets.md").write_text(presets_page(), encoding="utf-8")
