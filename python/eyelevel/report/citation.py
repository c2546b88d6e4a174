"""How to cite eyelevel itself, in BibTeX."""

RELEASED = "2026-11-28"
"""Of this version, as `CITATION.cff` has it, which is not part of an installed package."""


def own_bibtex(version: str) -> str:
    """Return the entry for a version; `@misc`, which BibTeX and biblatex both know."""
    return f"""\
@misc{{eyelevel,
  author = {{{{The eyelevel authors}}}},
  title = {{eyelevel: an eye-level comparison of web protocol stacks}},
  year = {{{RELEASED[:4]}}},
  note = {{Version {version}, {RELEASED}}}
}}"""
