"""Every aspect in which stacks may differ: one literal table, in rooms by where they are.

Its rows are measured by `eyelevel validate level`, said by `eyelevel explain stacks`, and written
into `docs/reference/level.md`. An aspect is a setting, or is measured, or both; nothing is said of
it that is neither.
"""

from eyelevel.level import settings_said as said
from eyelevel.level.aspect import Aspect
from eyelevel.level.aspects_of_browser import OF_BROWSER
from eyelevel.level.aspects_of_handshake import OF_HANDSHAKE
from eyelevel.level.aspects_of_wire import OF_WIRE

SETTINGS: tuple[Aspect, ...] = (
    Aspect("visit", said.visit, ("visit",)),
    Aspect("server", said.server, ("server",)),
    Aspect("congestion control", said.congestion_control, ("congestion_control",)),
    Aspect("slow start after idle", said.idle, ("slow_start_after_idle",)),
    Aspect("scheduler", said.scheduler, ("priorities",)),
    Aspect("server think time", said.think_time, ("think_time",)),
    Aspect("certificate names", said.names, ("coalescing",)),
)
"""Settings that only say themselves: those of congestion control are read back on every load."""

ASPECTS: tuple[Aspect, ...] = (*SETTINGS, *OF_BROWSER, *OF_WIRE, *OF_HANDSHAKE)
"""In the order of the tables."""
