"""Verdicts as JUnit's XML, which continuous integration reads."""

from collections.abc import Sequence
from xml.etree import ElementTree

from eyelevel.analysis.gate import Verdict


def junit(suite: str, verdicts: Sequence[Verdict]) -> str:
    """One test case a verdict; an undetermined one is an error, which is not a pass."""
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(verdicts)),
        failures=str(sum(each.status == "failed" for each in verdicts)),
        errors=str(sum(each.status == "undetermined" for each in verdicts)),
    )
    for each in verdicts:
        case = ElementTree.SubElement(root, "testcase", classname="eyelevel", name=each.name)
        if each.status == "failed":
            ElementTree.SubElement(case, "failure", message=each.message)
        elif each.status == "undetermined":
            ElementTree.SubElement(case, "error", message=each.message)
        else:
            ElementTree.SubElement(case, "system-out").text = each.message
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
