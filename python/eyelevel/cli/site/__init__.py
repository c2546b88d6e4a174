"""Commands on recorded sites: `site info`, `check`, `commands`, `import`, `export`, and `record`.

`commands` is the group; it also imports and exports recordings, and generates sites that follow
published distributions. `record` drives a browser through a live page behind the recorder; `check`
loads a recording over every protocol and reports missing requests.

`eyelevel.sites` finds and opens sites, and has the logic of the check.
"""
