"""Live loads: a real page from its real servers, alone or alternating with replays.

A live load is a trial like any other: it has the browser, the settings, the capture and the record
of a replay. Its network is called `live`; its settings emulate nothing. The browser is in a network
namespace from which only public servers are reachable (`eyelevel.lab.client`) and connects to
them itself: no proxy ends its connections.

`trials.py` makes the trials, `load.py` runs one, `study.py` alternates live loads and replays,
`comparison.py` computes their differences. The rules for our own servers do not apply, so the
outcomes of live loads are those of the browser and the machine alone.
"""
