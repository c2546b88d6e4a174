"""The devices that a browser can pose as: one table."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Device:
    """What the page finds: the screen, touch, and how fast its scripts run."""

    name: str
    title: str
    viewport_px: tuple[int, int]
    """Width and height, CSS pixels."""
    device_scale: float
    """Device pixels a CSS pixel."""
    mobile: bool
    """Touch, a mobile viewport and user agent."""
    model: str
    """What client hints name, where a server asks for them; empty: nothing."""
    cpu_slowdown: float
    """How many times slower than this machine; `cpu_slowdown` of a plan replaces it."""
    source: str

    def settings(self) -> dict[str, Any]:
        """What stands in a trial's `browser.device`: what determines the load."""
        return {
            "name": self.name,
            "viewport_px": list(self.viewport_px),
            "device_scale": self.device_scale,
            "mobile": self.mobile,
            "model": self.model,
        }


DEVICES: tuple[Device, ...] = (
    Device(
        "desktop",
        "a laptop's window",
        (1366, 768),
        1.0,
        False,
        "",
        1.0,
        "the viewport that `eyelevel record` has by default",
    ),
    Device(
        "moto-g",
        "Moto G Power, a phone of the middle class",
        (412, 823),
        1.75,
        True,
        "moto g power (2022)",
        4.0,
        "the phone of Lighthouse and WebPageTest, and Lighthouse's slow-down",
    ),
)

DEVICES_BY_NAME: dict[str, Device] = {device.name: device for device in DEVICES}
