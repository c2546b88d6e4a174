"""Files and names in docs/internals.md and docs/guides/extending.md exist, six files a journey."""

import re
import subprocess
from pathlib import PurePath

from repository import ROOT

FILES_MAX = 6
ROW = re.compile(r"^\| `([\w./-]+\.(?:py|rs))` \| (.+?) \|", re.MULTILINE)
KEYWORDS = r"(?:def|class|fn|struct|enum|trait|type|const|static)"


def journeys() -> dict[str, list[tuple[str, list[str]]]]:
    """Return the files of each journey with the names in them, by its heading."""
    text = (ROOT / "docs" / "internals.md").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]]
    return {
        heading: [(file, re.findall(r"`(\w+)`", names)) for file, names in ROW.findall(body)]
        for heading, _, body in parts
    }


def test_each_journey_takes_at_most_six_files():
    lengths = {heading: len(files) for heading, files in journeys().items()}
    assert len(lengths) == 5 and all(0 < length <= FILES_MAX for length in lengths.values())


def test_each_name_is_defined_in_its_file():
    missing = []
    for files in journeys().values():
        for file, names in files:
            text = (ROOT / file).read_text(encoding="utf-8")
            for name in names:
                definition = rf"\b{KEYWORDS}\s+{name}\b|^{name}\s*[:=]"
                if not re.search(definition, text, re.MULTILINE):
                    missing.append(f"{file}: {name}")
            assert names, file
    assert missing == []


def test_each_file_and_module_in_the_guide_on_extending_exists():
    text = (ROOT / "docs/guides/extending.md").read_text(encoding="utf-8")
    spans = re.findall(r"`([\w./-]+)`", text)
    files = {span for span in spans if re.search(r"\.(?:py|rs|md|json|toml)$|/", span)}
    modules = {span.replace(".", "/") for span in spans if span.startswith("eyelevel.")}
    known = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tree = {f"/{file}" for file in known.stdout.splitlines()}
    tree |= {f"{parent}" for file in tree for parent in PurePath(file).parents}

    def exists(path: str, *suffixes: str) -> bool:
        return any(
            place.endswith(f"/{path.rstrip('/')}{end}") for place in tree for end in suffixes
        )

    assert files and modules
    assert [each for each in sorted(files) if not exists(each, "")] == []
    assert [each for each in sorted(modules) if not exists(each, "", ".py")] == []
