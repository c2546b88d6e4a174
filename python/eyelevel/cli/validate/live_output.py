"""Print the results of `eyelevel validate live`: both sides, the bias, and its likely causes."""

from collections.abc import Sequence

from eyelevel.base.json_types import JsonMapping
from eyelevel.cli.output import results, table
from eyelevel.run.live.comparison import PARTS, PUBLISHED, SIDES
from eyelevel.store.outcomes import COUNTED

TITLES = {
    "page_load_time_ms": "PLT, ms",
    "time_to_first_byte_ms": "TTFB, ms",
    "first_contentful_paint_ms": "FCP, ms",
    "largest_contentful_paint_ms": "LCP, ms",
    "speed_index_ms": "SI, ms",
    "object_count": "objects",
    "received_bytes": "bytes",
}
WORDS = dict(zip(PARTS, ("name", "connect", "wait"), strict=True))


def print_study(found: JsonMapping) -> None:
    """Print the results of a study, given as JSON."""
    results.print(f"{found['url']}: {found['verdict']}", markup=False, soft_wrap=True)
    results.print()
    _print_metrics(found["metrics"])
    _print_origins(found["origins"])
    for side, counts in found["outcomes"].items():
        bad = [f"{count} {name}" for name, count in counts.items() if name not in COUNTED]
        if bad:
            results.print(f"{side} loads that do not count: {', '.join(bad)}", markup=False)
    for detail in found["details"]:
        results.print(f"  {detail}", markup=False, soft_wrap=True)
    over = [
        f"{side}: {', '.join(f'{count} over {name}' for name, count in counts.items())}"
        for side, counts in found["protocols"].items()
    ]
    results.print(f"objects, {'; '.join(over)}", markup=False, soft_wrap=True)
    published = [
        f"{side} {mean:.0f} ± {spread:.0f} ms ({spread / mean:.1%})"
        for side, (mean, spread) in PUBLISHED.items()
    ]
    results.print(f"published, 100 loads of another page (Das 2014): {', '.join(published)}")


def _print_metrics(metrics: JsonMapping) -> None:
    columns = ("live", "varies", "replay", "varies ", "bias", "95 % interval", "blocks")
    shown = table("", *columns, right=columns)
    for name, compared in metrics.items():
        cells = []
        for side in SIDES:
            summary = compared[side]
            mean, spread = summary["mean"], summary["standard_deviation"]
            share = summary["coefficient_of_variation"]
            around = "" if spread is None else f" ± {spread:.0f}"
            cells += [
                "-" if mean is None else f"{mean:.0f}{around}",
                "-" if share is None else f"{share:.1%}",
            ]
        bias = compared["bias"]
        known = bias["low"] is not None
        interval = f"{bias['low']:+.0f} to {bias['high']:+.0f}" if known else "-"
        value = "-" if bias["value"] is None else f"{bias['value']:+.0f}"
        shown.add_row(TITLES[name], *cells, value, interval, str(compared["blocks"]))
    results.print(shown)
    results.print("mean ± standard deviation; bias is replay - live within blocks")
    results.print()


def _print_origins(origins: Sequence[JsonMapping]) -> None:
    columns = tuple(WORDS.values())
    shown = table("medians in ms, live / replay", *columns, right=columns)
    for origin in origins:
        pairs = (" / ".join(_ms(origin[side][part]) for side in SIDES) for part in WORDS)
        shown.add_row(origin["host"], *pairs)
    results.print(shown)


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
