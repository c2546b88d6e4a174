"""What the package's folder may hold."""

from repository import ROOT

PACKAGE = ROOT / "python" / "eyelevel"


def test_the_wheel_has_no_tests():
    assert not list(PACKAGE.rglob("test_*")) + list(PACKAGE.rglob("conftest.py"))
