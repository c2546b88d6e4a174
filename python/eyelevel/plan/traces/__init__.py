"""Packet-delivery traces: read, describe, convert and generate them; pure, text and arrays only.

A trace is an ascending array of int64: at each of these milliseconds there is one opportunity to
deliver 1500 bytes. Its last value is also its length, after which it repeats (Netravali et al.
2015, section 4). `mahimahi` and `delay_rate` are its formats, `rates` converts between
opportunities and rates, `info` describes a trace; `models` generates traces, the same numbers for
the same `spec` on every machine.

`imported` recognises other tools' recordings by their content and converts them for the stages:
CellReplay's format and the tables of FCC and MONROE; `delay_rate` reads series of delay and rate.

`spec` is cheap to import: a network's identity without the arithmetic. Callers open files.
"""
