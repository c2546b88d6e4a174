"""Expressions of licences are read as SPDX has them, and what ships is held to the list."""

from email.message import Message

import pytest

from scripts.checks import licences
from scripts.checks.licences import is_allowed, package_licence, pinned

ALLOWED = {"MIT", "Apache-2.0", "ISC"}


@pytest.mark.parametrize(
    ("expression", "is_met"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0 OR MIT", True),
        ("MIT/GPL-3.0", True),
        ("MIT AND GPL-3.0", False),
        ("GPL-3.0 AND MIT OR ISC", True),
        ("GPL-3.0 AND (MIT OR ISC)", False),
        ("(GPL-3.0 OR MIT) AND ISC", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0 WITH Classpath-exception-2.0", False),
    ],
)
def test_an_expression_is_met_by_what_is_allowed(expression, is_met):
    assert is_allowed(expression, ALLOWED) is is_met


@pytest.mark.parametrize("expression", ["", "MIT AND", "(MIT", "MIT ISC", "OR MIT", "MIT)"])
def test_an_expression_that_cannot_be_read_is_refused(expression):
    with pytest.raises(ValueError):
        is_allowed(expression, ALLOWED)


def test_a_lock_pins_what_this_interpreter_gets():
    lock = (
        "# comment\nrich==15.0.0 \\\n    --hash=sha256:00\n    # via eyelevel\n"
        "colorama==0.4.6 ; sys_platform == 'win32' \\\n    --hash=sha256:00\n"
        "numpy==2.5.5 ; python_full_version >= '3.11' \\\n    --hash=sha256:00\n"
    )
    assert pinned(lock) == {"rich", "numpy"}


def metadata(**fields):
    message = Message()
    for name, value in fields.items():
        message[name.replace("_", "-")] = value
    return message


def test_a_package_says_its_licence_in_one_of_three_ways():
    classifier = "License :: OSI Approved :: MIT License"
    assert package_licence(metadata(Name="a", License_Expression="ISC", License="BSD")) == "ISC"
    assert package_licence(metadata(Name="a", License="Apache 2.0")) == "Apache-2.0"
    assert package_licence(metadata(Name="a", License="All\nof it", Classifier=classifier)) == "MIT"
    assert package_licence(metadata(Name="a")) == ""


def of_locks(shipped, tools):
    """In the place of `packages`: what each lock pins."""
    found = {"requirements.lock": shipped, "requirements-dev.lock": [*shipped, *tools]}
    return lambda root, lock: found[lock]


def test_a_dependency_whose_licence_is_not_listed_is_a_fault(monkeypatch, capsys):
    tools = [("tool 1.0.0", "GPL-3.0"), ("other 1.0.0", "SSPL-1.0")]
    shipped = [("a 1.0.0", "MIT"), ("b 2.0.0", ""), ("c 3.0.0", "GPL-3.0")]
    monkeypatch.setattr(licences, "packages", of_locks(shipped, tools))
    assert licences.main(licences.Path()) == 1
    assert capsys.readouterr().out.splitlines() == [
        "b 2.0.0: its licence is ''",
        "c 3.0.0: GPL-3.0 is not allowed",
        "other 1.0.0: SSPL-1.0 is not allowed",
    ]


def test_all_are_printed_when_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(licences, "packages", of_locks([("a 1.0.0", "ISC")], []))
    assert licences.main(licences.Path(), as_list=True) == 0
    assert "a 1.0.0\tISC\tships\n" in capsys.readouterr().out
