"""Devices that a browser can emulate, as one table."""

from dataclasses import dataclass
from typing import Annotated

from eyelevel.base.errors import unknown
from eyelevel.base.settings import LISTED, Checked, Settings


@dataclass(frozen=True)
class Device(Settings):
    """A device as seen by a page: screen, touch, and the speed of scripts."""

    name: str
    viewport_px: Annotated[tuple[int, int], LISTED]
    """Width and height, CSS pixels."""
    device_scale: float
    """Device pixels per CSS pixel."""
    mobile: bool
    """Whether it has touch, a mobile viewport and a mobile user agent."""
    model: str
    """Model in client hints, if a server requests them; "" for none."""
    slowdown: float
    """Factor by which scripts are slower than on this machine; a plan's `cpu_slowdown`
    overrides it.
    """

    def cells(self) -> dict[str, str]:
        """Return the device's row in tables, by heading."""
        return {
            "name": self.name,
            "viewport": "{} x {}".format(*self.viewport_px),
            "device scale": f"{self.device_scale:g}",
            "touch": "yes" if self.mobile else "no",
            "CPU slow-down": f"{self.slowdown:g} times",
        }


@dataclass(frozen=True)
class DevicePreset:
    """A device with its description and the source of its values."""

    title: str
    device: Device
    source: str


@dataclass(frozen=True)
class DeviceName:
    """Parses a device's name to the device; a name that no longer exists stays a text."""

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
