"""Networks: one table of presets, and how a network becomes the lab's path; pure.

`network.Network` is what a plan calls a network; `presets` are those that come with the project,
in groups with their source; `network.lab_path` makes of one the stages of both directions, as the
data plane takes them. `stages` has those that a plan spells out, `cross_traffic` what shares
the path, `from_csv` makes weighted networks of what a site's users have, `compose` one of the words
of a command line or a plan, which `plan_text` writes.

`operators` are models of cellular links, in whose place `recorded_links` finds recordings: it lists
a folder, which nothing else here does.

`python -m eyelevel.networks` answers the shell of `eyelevel path`, so importing stays light: no
statistics, and arithmetic on traces only where a network has one. How stages work is the data
plane's business (`crates/link`).
"""
