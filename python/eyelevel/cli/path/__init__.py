"""Commands for emulated paths: `path`, `trace` and `network`.

`path` itself is the data plane's own shell, which starts without Python; `commands` reads the
log that it wrote. `trace` describes, imports, converts and generates packet-delivery traces;
`network` makes networks from measurements of a site's users.

Logs are read by `eyelevel.analysis.pathlog`, traces by `eyelevel.plan.traces`, networks by
`eyelevel.plan.networks`; files are opened here, since those packages are pure.
"""
