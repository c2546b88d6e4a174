"""Recorded sites: finding, opening and checking them; and generated sites.

`recorded` finds a site by its path or by the name of one that ships with the project, and says
what is in it. `check` loads a site without shaping over every protocol and lists what of the page
is not there; `contents` reads a recording whole, `use` says how much of it loads ask for, `misses`
why a request has no recorded answer, `rendering` which requests hold a page's rendering;
`cleartext` says how much of a site came over http, on which no stack with TLS is in force.
`synthetic` makes sites, and `pack` makes a recording of a made one. `shipped` holds the project's
own recordings.

The archive itself is read, verified and written by the data plane (`crates/archive`), which is
asked through `eyelevel.lab`. Recording a live page is `eyelevel.cli.site.record`.
"""
