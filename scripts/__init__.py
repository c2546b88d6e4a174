"""The commands of `make` and continuous integration, run from the repository's root.

Here stands what is typed: `scripts/test`, `scripts/release` and the like. The rooms hold the rest,
and `python -m scripts.ROOM.FILE` runs one of them; `--help` says what it takes.

    checks    each reads the repository and says what is wrong with it, a line of `scripts/check`
    docs      what writes the documentation: its site, pages of the command, drawings, pictures
    testing   runs tests: lanes beside one another, or what a path names
    shipping  what makes and checks what is published: wheels, source, image, bills, notices

A room uses the others by their whole names, `scripts.checks.licences`; nothing is imported by its
folder. What only a test needs stands in `tests/helpers`.
"""
