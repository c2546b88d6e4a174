"""Compare external servers with ours: each is probed in a lab over the same path, block by block.

`known` is the table of the servers that can be started here, with how to install them. Their
recipes are the files of this folder: `nginx.sh`, `caddy.sh` and `s_server.sh` write a configuration
and start the server, `aioquic_server` is a server itself. Each finds its certificate, its key and
its folder as any external server does (docs/guides/external-server.md). `visits` starts one server
in a new lab, confined, and probes it.

`eyelevel.probes.servers` summarises the rows.
"""
