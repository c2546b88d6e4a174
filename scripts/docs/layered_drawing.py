"""Draws what uses what: a graph without circles in, rows of boxes with arrows downwards out (SVG).

The way of Sugiyama, Tagawa and Toda (1981): rows by how far down a box must lie, bends where an
arrow passes a row, an order in each row that crosses few arrows, then places. No chance, no clock:
the same graph is the same drawing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

Graph = Mapping[str, set[str]]
Node = str | tuple[str, str, int]
"""A box by its name, or the bend of an arrow in a row: from, to, row."""

BOX, BEND, GAP = 116, 6, 14
HEIGHT, ROW = 38, 88
BOXES_MAX = 4
"""The most boxes in a row: more would be too small to read on a telephone."""
SWEEPS = 24


def reduced(uses: Graph) -> dict[str, set[str]]:
    """Return the graph without the arrows that follow from two or more others."""

    def below(name: str) -> set[str]:
        return uses[name].union(*(below(used) for used in uses[name]))

    further = {name: set().union(*(below(used) for used in uses[name])) for name in uses}
    return {name: uses[name] - further[name] for name in uses}


@dataclass
class Layout:
    """The places of boxes and bends: `rows` top first, `x` of their middles."""

    uses: Graph
    rows: list[list[Node]] = field(default_factory=list)
    x: dict[Node, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        row_of = self._row_of()
        self.rows = [[] for _ in range(max(row_of.values()) + 1)]
        for name in sorted(self.uses):
            self.rows[row_of[name]].append(name)
        self._links: list[tuple[Node, Node]] = []
        for user, used in sorted((name, used) for name in self.uses for used in self.uses[name]):
            bends: list[Node] = [(user, used, row) for row in range(row_of[user] + 1, row_of[used])]
            for bend in bends:
                self.rows[bend[2]].append(bend)
            self._links += pairwise([user, *bends, used])
        self._order()
        self._place()

    def line(self, user: str, used: str) -> list[tuple[float, int]]:
        """The arrow's points: x and row."""
        at = {node: number for number, row in enumerate(self.rows) for node in row}
        nodes = [user, *((user, used, row) for row in range(at[user] + 1, at[used])), used]
        return [(self.x[node], at[node]) for node in nodes]

    def _row_of(self) -> dict[str, int]:
        depth: dict[str, int] = {}

        def height(name: str) -> int:
            if name not in depth:
                depth[name] = max((height(used) + 1 for used in self.uses[name]), default=0)
            return depth[name]

        level: dict[str, int] = {}
        for name in sorted(self.uses, key=lambda name: (height(name), name)):
            level[name] = max((level[used] + 1 for used in self.uses[name]), default=0)
            while [*level.values()].count(level[name]) > BOXES_MAX:
                level[name] += 1
        top = max(level.values())
        return {name: top - level[name] for name in self.uses}

    def _order(self) -> None:
        """Each row by the mean place of its neighbours, the best of many sweeps."""
        best, fewest = [[*row] for row in self.rows], self._crossings()
        for sweep in range(SWEEPS):
            downwards = sweep % 2 == 0
            numbers = range(len(self.rows)) if downwards else range(len(self.rows))[::-1]
            for number in numbers:
                place = {node: at for row in self.rows for at, node in enumerate(row)}
                means = {
                    node: self._mean(node, place, above=downwards) for node in self.rows[number]
                }
                self.rows[number].sort(key=lambda node: means[node])
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [[*row] for row in self.rows], crossings
        self.rows = best

    def _mean(self, node: Node, place: Mapping[Node, float], *, above: bool) -> float:
        ends = [(lower, upper) if above else (upper, lower) for upper, lower in self._links]
        near = [place[other] for own, other in ends if own == node]
        return sum(near) / len(near) if near else place[node]

    def _crossings(self) -> int:
        rows = enumerate(self.rows)
        place = {node: (row, at) for row, nodes in rows for at, node in enumerate(nodes)}
        ends = [(place[upper], place[lower]) for upper, lower in self._links]
        return sum(
            (one[0][1] - other[0][1]) * (one[1][1] - other[1][1]) < 0
            for at, one in enumerate(ends)
            for other in ends[:at]
            if one[0][0] == other[0][0]
        )

    def _place(self) -> None:
        """Near the neighbours, no two nearer than their widths."""
        for row in self.rows:
            self._set(row, [float(at) for at in range(len(row))])
        for sweep in range(SWEEPS):
            rows = self.rows if sweep % 2 == 0 else self.rows[::-1]
            for row in rows:
                self._set(row, [self._mean(node, self.x, above=sweep % 2 == 0) for node in row])
        left = min(self.x[node] - width(node) / 2 for node in self.x)
        self.x = {node: round(at - left, 1) for node, at in self.x.items()}

    def _set(self, row: list[Node], wanted: list[float]) -> None:
        """Place a row as near to `wanted` as the order allows, moving those that are too close
        together."""
        offsets, end = [], 0.0
        for before, node in pairwise([None, *row]):
            end += (width(before) + width(node)) / 2 + GAP if before is not None else 0.0
            offsets.append(end)
        blocks: list[tuple[float, int]] = []
        for target in (want - offset for want, offset in zip(wanted, offsets, strict=True)):
            mean, count = target, 1
            while blocks and blocks[-1][0] > mean:
                other, size = blocks.pop()
                mean = (mean * count + other * size) / (count + size)
                count += size
            blocks.append((mean, count))
        starts = [mean for mean, count in blocks for _ in range(count)]
        self.x.update(zip(row, map(sum, zip(starts, offsets, strict=True)), strict=True))


def width(node: Node) -> float:
    """Return the width of a box or a bend, in pixels."""
    return BOX if isinstance(node, str) else BEND


def drawn(layout: Layout, left: float, top: float, pure: set[str]) -> list[str]:
    """The elements of one graph, its upper left corner at these pixels."""

    def y(row: int) -> float:
        return top + row * ROW

    found = []
    for user in sorted(layout.uses):
        for used in sorted(layout.uses[user]):
            points = [(left + x, y(row)) for x, row in layout.line(user, used)]
            start = points[0][0], points[0][1] + HEIGHT
            parts = [f"M{start[0]:.0f} {start[1]:.0f}"]
            leaves = [start, *((x, at + HEIGHT) for x, at in points[1:-1])]
            for (x, at), (next_x, next_at) in zip(leaves, points[1:], strict=True):
                last = (next_x, next_at) == points[-1]
                arrives = next_at - 7 if last else next_at
                bow = (arrives - at) / 2
                end = f"{next_x:.0f} {arrives:.0f}"
                parts.append(f"C{x:.0f} {at + bow:.0f} {next_x:.0f} {arrives - bow:.0f} {end}")
                if not last:  # straight past the boxes of its row
                    parts.append(f"V{arrives + HEIGHT:.0f}")
            found.append(f'<path class="arrow" d="{"".join(parts)}"/>')
    for row, nodes in enumerate(layout.rows):
        for name in (node for node in nodes if isinstance(node, str)):
            x = left + layout.x[name]
            kind = "box pure" if name in pure else "box"
            found += [
                f'<rect class="{kind}" x="{x - BOX / 2:.0f}" y="{y(row):.0f}" width="{BOX}" '
                f'height="{HEIGHT}" rx="6"/>',
                f'<text class="name" x="{x:.0f}" y="{y(row) + 25:.0f}">{escape(name)}</text>',
            ]
    return found


def size(layout: Layout) -> tuple[float, float]:
    """Return width and height of its drawing, in pixels."""
    right = max(at + width(node) / 2 for node, at in layout.x.items())
    return right, (len(layout.rows) - 1) * ROW + HEIGHT
