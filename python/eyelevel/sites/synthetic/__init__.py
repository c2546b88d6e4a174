"""Generate sites from a few numbers, or from published distributions.

`by_name` makes the site that a plan names, such as `synthetic:objects=20`
(`eyelevel.plan.synthetic_site`): the same name gives the same bytes. `published` has distributions
of what websites consist of, `shapes` draws sites from them, seeded and without bytes, and `write`
turns shapes into bodies that a browser asks for.

All become ordinary recordings, which the data plane packs; nothing that replays them knows that
they are made.
"""
