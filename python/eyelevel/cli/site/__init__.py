"""Commands on recorded sites: `site info`, `check`, `synth`, `import`, `export`, and `record`.

`commands` is the group. `record` drives a browser through a live page behind the recorder; `check`
loads a recording over every protocol and says what of the page is not there; `synth` makes sites
whose shapes follow published distributions; the others read, bring in and take out.

Finding and opening sites, and what their check looks at, is the business of `eyelevel.sites`.
"""
