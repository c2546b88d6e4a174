"""The bill of materials: what CycloneDX asks of every document, and that nothing is missing."""

import json
import re
import tomllib

import pytest
from repository import ROOT

from scripts.checks.licences import is_allowed, pinned
from scripts.shipping import sbom

SPDX = re.compile(r"[A-Za-z0-9.-]+(?: WITH [A-Za-z0-9.-]+)?")


@pytest.fixture(scope="module")
def bill(tmp_path_factory):
    wheel = tmp_path_factory.mktemp("dist") / "eyelevel-0.1.0-py3-none-linux_x86_64.whl"
    wheel.write_bytes(b"a wheel")
    return json.loads(json.dumps(sbom.bill(ROOT, wheel)))


def of_kind(bill, kind):
    return [each for each in bill["components"] if each["purl"].startswith(f"pkg:{kind}/")]


def test_it_has_what_the_schema_requires(bill):
    """bom-1.6.schema.json: `required` of the document and its parts, patterns and closed lists."""
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert type(bill["version"]) is int and bill["version"] >= 1
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    for component in [bill["metadata"]["component"], *bill["components"]]:
        assert component["type"] in ("application", "library") and component["name"]
        (licence,) = component["licenses"]
        assert licence.keys() == {"expression"}
        said = {word.strip("()") for word in re.split(r" AND | OR ", licence["expression"])}
        assert all(SPDX.fullmatch(word) for word in said), licence
        assert is_allowed(licence["expression"], said | {it.split(" WITH ")[0] for it in said})
        references = component.get("externalReferences", [])
        assert all(each["type"] == "distribution" and each["url"] for each in references)
        for digest in (*component.get("hashes", ()), *(h for r in references for h in r["hashes"])):
            assert digest["alg"] == "SHA-256"
            assert re.fullmatch(r"[0-9a-f]{64}", digest["content"])


def test_references_are_unique_and_lead_somewhere(bill):
    known = [each["bom-ref"] for each in [bill["metadata"]["component"], *bill["components"]]]
    assert len({*known}) == len(known)
    assert sorted(each["ref"] for each in bill["dependencies"]) == sorted(known)
    named = {one for each in bill["dependencies"] for one in each.get("dependsOn", ())}
    assert named == {*known} - {bill["metadata"]["component"]["bom-ref"]}


def test_every_package_that_is_installed_is_there_with_digests(bill):
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    found = of_kind(bill, "pypi")
    assert {each["name"] for each in found} == pinned(text)
    assert all(each["externalReferences"][0]["hashes"] for each in found)


def test_every_crate_of_the_binary_is_there_with_its_digest(bill):
    found = {each["name"]: each for each in of_kind(bill, "cargo")}
    assert {"eyelevel-lab", "eyelevel-netns", "tokio", "rustls", "noq-proto", "aws-lc-sys"} <= {
        *found
    }
    assert not {"eyelevel-fuzz", "libfuzzer-sys", "proptest"} & {*found}, "not in the binary"
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    digests = {it.get("checksum") for it in lock["package"] if it["name"] == "tokio"}
    assert {each["content"] for each in found["tokio"]["hashes"]} == digests
    ours = {name for name, each in found.items() if "hashes" not in each}
    assert all(name.startswith("eyelevel-") for name in ours)


def test_the_same_wheel_has_the_same_bill(bill, tmp_path):
    wheel = tmp_path / "eyelevel-0.1.0-py3-none-linux_x86_64.whl"
    wheel.write_bytes(b"a wheel")
    assert sbom.bill(ROOT, wheel) == bill
    wheel.write_bytes(b"another wheel")
    assert sbom.bill(ROOT, wheel)["serialNumber"] != bill["serialNumber"]
