"""The BibTeX entry of eyelevel itself."""

RELEASED = "2026-11-28"
"""The release date of this version, as in `CITATION.cff`, which installed packages lack."""


def own_bibtex(version: str) -> str:
    """Return the entry for a version; `@misc`, which both BibTeX and biblatex support."""
    return f"""\
@misc{{eyelevel,
  author = {{{{The eyelevel authors}}}},
  title = {{eyelevel: an eye-level comparison of web protocol stacks}},
  year = {{{RELEASED[:4]}}},
  note = {{Version {version}, {RELEASED}}}
}}"""
