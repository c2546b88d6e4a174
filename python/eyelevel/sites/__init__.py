"""Recorded sites: find, open and check them; and generate synthetic ones.

`recorded` finds a site by path or by the name of a shipped one, and reads its description. `check`
loads a site without shaping over every protocol and lists the requests without a recorded response,
with the reason; `contents` reads all exchanges of a recording, computes how much of it loads
request, and finds sites recorded over http, on which no stack with TLS is in force; `rendering`
finds the render-blocking requests. `synthetic` generates sites, and `pack` writes the recording of
a generated one. `shipped` has the project's own recordings. `corpora` handles sets of recordings.

Archives are read, verified and written by the data plane (`crates/archive`), which is called
through `eyelevel.lab`. `eyelevel.cli.site.record` records live pages.
"""
