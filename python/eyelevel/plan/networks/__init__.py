"""Networks: one table of presets, and how a network becomes the lab's path; pure.

`network.Network` is a network of a plan; `presets` has those that are shipped, in groups with their
source; `network.lab_path` converts one to the stages of both directions, as the data plane takes
them. `stages` handles stages that a plan spells out, `cross_traffic` the transfers that share the
path. `from_csv` makes weighted networks from measurements of a site's users. `compose` makes a
network from the options of a command line or a plan, and `plan_text` writes it as a plan's text.

`presets` also has models of cellular links, for which it can substitute recordings: it lists a
folder, the only file access here.

`python -m eyelevel.plan.networks` answers the shell of `eyelevel path`, so importing stays cheap:
no statistics, and arithmetic on traces only where a network has one. Stages are implemented by the
data plane (`crates/link`).
"""
