"""Load one page once in a real browser: settings in, raw observations out.

`browsers.load_page` picks the browser by name. `chromium` and `firefox` hold what is specific to
one browser; the modules next to them hold what both share: the observations and their types, the
steps after a load, the rule that ends a load (`waiting`), the page's own timings, and the programs,
processes and profiles that must be gone after a load, however it ends.

A load begins in a fresh profile, waits until the browser is idle, opens the page, and observes
until the page is quiet or the time limit is reached. Nothing is derived here: times are
milliseconds from navigation start, and `eyelevel.analysis.metrics` defines what they mean. This
package starts no lab and decides no outcome (`eyelevel.load` does).
"""
