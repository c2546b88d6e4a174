"""The devices that a browser can pose as: one table."""

from dataclasses import dataclass
from typing import Annotated

from eyelevel.errors import unknown
from eyelevel.settings import LISTED, Checked, Settings


@dataclass(frozen=True)
class Device(Settings):
    """A device as a page sees it: the screen, touch, and the speed of its scripts."""

    name: str
    viewport_px: Annotated[tuple[int, int], LISTED]
    """The width and height in CSS pixels."""
    device_scale: float
    """Device pixels a CSS pixel."""
    mobile: bool
    """Touch, a mobile viewport and user agent."""
    model: str
    """The model in client hints, if a server requests them; empty for none."""
    slowdown: float
    """How many times slower scripts run than on this machine; a plan's own replaces it."""

    def cells(self) -> dict[str, str]:
        """Return the columns of tables of devices."""
        return {
            "name": self.name,
            "viewport": "{} x {}".format(*self.viewport_px),
            "device scale": f"{self.device_scale:g}",
            "touch": "yes" if self.mobile else "no",
            "CPU slow-down": f"{self.slowdown:g} times",
        }


@dataclass(frozen=True)
class DevicePreset:
    """A device, what it is and whence its numbers are."""

    title: str
    device: Device
    source: str


@dataclass(frozen=True)
class DeviceName:
    """Reads a device's name as the device; one that is known no more is as it was written."""

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> object:
        return Checked(_find_device).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, core: object, handler: object) -> object:
        return {"anyOf": [{"type": "string", "enum": list(DEVICES_BY_NAME)}, {"type": "null"}]}


def _find_device(value: object) -> object:
    if isinstance(value, str) and value not in DEVICES_BY_NAME:
        raise ValueError(unknown("device", value, DEVICES_BY_NAME))
    return DEVICES_BY_NAME[value].device if isinstance(value, str) else value


DEVICES: tuple[DevicePreset, ...] = (
    DevicePreset(
        "a laptop's window",
        Device("desktop", (1366, 768), 1.0, False, "", 1.0),
        "the default viewport of `eyelevel record`",
    ),
    DevicePreset(
        "Moto G Power, a mid-range phone",
        Device("moto-g", (412, 823), 1.75, True, "moto g power (2022)", 4.0),
        "the phone that Lighthouse and WebPageTest use, with Lighthouse's slow-down",
    ),
)

DEVICES_BY_NAME: dict[str, DevicePreset] = {each.device.name: each for each in DEVICES}
