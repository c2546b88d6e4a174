"""One line of the path's benchmark."""

from dataclasses import dataclass

HEADING = f"{'':66} {'asked':>10} {'measured':>10}   {'Mahimahi':14} {'rattan':8}"


@dataclass(frozen=True)
class Figure:
    """A number against what is asked. `mahimahi`, `rattan`: what they gave, as published."""

    what: str
    asked: str
    measured: str
    mahimahi: str = ""
    rattan: str = ""

    def line(self) -> str:
        """The row that is printed."""
        peers = f"{self.mahimahi:14} {self.rattan:8}"
        return f"{self.what:66} {self.asked:>10} {self.measured:>10}   {peers}".rstrip()
