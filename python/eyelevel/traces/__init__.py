"""Packet-delivery traces: read, describe, convert and make them; pure, text and arrays only.

A trace is an array of int64, ascending: at each of these milliseconds one opportunity of 1500
bytes. Its last value is also its length, after which it begins again (Netravali et al. 2015,
section 4).
"""

from eyelevel.traces.errors import TraceError
from eyelevel.traces.spec import SYNTH_MODELS, SynthSpec, synthesise

__all__ = ["SYNTH_MODELS", "SynthSpec", "TraceError", "synthesise"]
