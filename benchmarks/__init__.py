"""Measurements for docs/benchmarks.md, run from the repository's root; never asserted in a test.

A room a part of the product. `python -m benchmarks.ROOM` measures a room's bounds, `python -m
benchmarks.ROOM.FILE` one question, and `--help` says what either asks and prints; a `.toml` is a
plan for `eyelevel run`. All print their figures and change nothing.

    run      a whole run: the lab's start, what a trial costs, waiting for a quiet machine, one
             stack under two names, the report of 150,000 trials
    path     the emulated path beside Mahimahi and rattan
    replay   the servers beside nginx, waits inside them, recorded sites
    stacks   kernel TCP beside our QUIC: flights, pacing, ECN, heads, urgent requests
    browser  what a load and its pictures cost, how much loads vary, Browsertime beside ours
    level    what each setting is worth, held-back requests, every shipped site
    probe    the prober's rates, overhead, memory
    results  what was measured: bounds.csv, and tables with their command, date, machine and load
    shared   what the rooms share
"""
