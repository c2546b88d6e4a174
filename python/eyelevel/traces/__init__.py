"""Packet-delivery traces: read, describe, convert and make them; pure, text and arrays only.

A trace is an array of int64, ascending: at each of these milliseconds one opportunity of 1500
bytes. Its last value is also its length, after which it begins again (Netravali et al. 2015,
section 4). `mahimahi` and `rate_csv` are its formats, `rates` turns opportunities into rates and
back, `info` describes; `synth` makes traces by one of the `models`, the same numbers for the same
`spec` on every machine.

`imported` tells other tools' recordings by their content and makes what the stages replay of them:
`light` is CellReplay's, `delay_rate` series of delay and rate, `campaigns` the tables of FCC and
MONROE.

`spec` is light on purpose: a network's identity without the arithmetic. Callers open files.
"""
