"""Commands on recorded sites: `site info`, `check`, `synth`, `import`, `export`, and `record`.

`commands` is the group. `record` drives a browser through a live page behind the recorder; `check`
loads a recording over every protocol and reports missing requests; `synth` generates sites that
follow published distributions; the others describe, import and export.

`eyelevel.sites` finds and opens sites, and has the logic of the check.
"""
