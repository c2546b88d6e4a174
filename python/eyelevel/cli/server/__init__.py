"""The commands on external servers: `eyelevel server compare` and `eyelevel server recipe`."""
