"""One load of one page in a real browser: settings in, raw observations out.

`browsers.load_page` picks the browser by its name. `chromium` and `firefox` have what only one of
them has; the modules beside them are what both share: the observations and their types, the steps
after a load, when a load is over (`waiting`), the page's own clock readings, and the programs,
processes and profiles that must be gone after a load, however it ends.

A load begins in a fresh profile, waits until the browser has nothing left to do, opens the page,
and observes until it is quiet or its limit is over. Nothing is derived here: times are
milliseconds from navigation start, and `eyelevel.metrics` says what they mean. No
lab is started and no outcome is decided (`eyelevel.run.trial`).
"""
