"""Generate sites from a few parameters, or from published distributions.

`by_name` makes the site that a plan names, such as `synthetic:objects=20`
(`eyelevel.plan.synthetic_site`): the same name gives the same bytes. `published` has distributions
of websites' properties, `shapes` draws sites from them, seeded and without bytes, and `write` turns
shapes into bodies that make a browser request them.

All become ordinary recordings, packed by the data plane; replay does not treat them differently.
"""
