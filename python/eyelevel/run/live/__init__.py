"""Live loads: a real page from its real servers, alone or alternating with replays of its
recording.

A live load is a trial like any other: it has the browser, the settings, the capture and the record
of a replay. Its network is called `live`; its settings say that nothing is emulated. The browser
stands in a network namespace from which public servers alone are reached
(`eyelevel.lab.live_network`) and speaks with them itself: no proxy ends its connections.

`trials.py` makes the trials, `load.py` runs one, `study.py` runs live loads and replays in turns,
`comparison.py` says by how much they differ. What no server of ours answered cannot be judged by
what it did, so the outcomes of live loads are those of the browser and the machine alone.
"""
