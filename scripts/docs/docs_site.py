"""Builds the documentation's site into `out/docs`: `make docs`. Strict: a warning fails.

Its example report is made here, from the records of `results/quickstart` if a whole run lies there,
else of the run in `docs/site`.
"""

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from scripts.arguments import ROOT, parser_of
from scripts.docs.site_pages import add_made_pages, add_navigation, lay_pages

SITE = ROOT / "out" / "docs"
OWN_RUN = ROOT / "results" / "quickstart"
SHIPPED_RUN = ROOT / "docs" / "site" / "quickstart.tar.xz"
"""The records of one real `eyelevel demo`, without what is made from them."""


def build(site: Path) -> None:
    """Write the site into a new folder `site`; CalledProcessError after what was wrong was said."""
    with tempfile.TemporaryDirectory() as folder:
        source, extra = Path(folder, "source"), Path(folder, "extra")
        lay_pages(ROOT, source)
        add_made_pages(source)
        example_report(extra / "examples")
        add_navigation(source)
        run_sphinx(source, extra, site)
    (site / ".buildinfo").unlink(missing_ok=True)


def run_sphinx(source: Path, extra: Path, site: Path) -> None:
    """Make pages of Markdown; `extra` has files that stand in the site as they are."""
    words = ["--builder", "html", "--fail-on-warning", "--keep-going", "--quiet"]
    words += ["--conf-dir", str(ROOT / "docs" / "site"), "--define", f"html_extra_path={extra}"]
    words += ["--doctree-dir", str(source.with_name("doctrees")), str(source), str(site)]
    shutil.rmtree(site, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "sphinx", *words], check=True)


def example_report(out: Path) -> None:
    """The report of a real run, made anew from its records."""
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "quickstart")
        if _is_whole(OWN_RUN):
            shutil.copytree(OWN_RUN, run)
        else:
            unpack_example(run.parent)
        words = ["-m", "eyelevel.cli.main", "report", str(run)]
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
        shutil.copyfile(run / "report.html", out / "report.html")


def unpack_example(folder: Path) -> None:
    """Lay the run that is shipped into `folder`/quickstart."""
    # Python 3.11.2 of Debian 12 knows no filter, 3.14 wants one.
    safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(SHIPPED_RUN) as records:
        records.extractall(folder, **safely)


def _is_whole(run: Path) -> bool:
    try:
        return bool(json.loads((run / "status.json").read_text())["ending"] == "ended")
    except (OSError, ValueError, LookupError):
        return False


def main() -> int:
    """Build, say how long it took and where the site is."""
    parser = parser_of(__doc__)
    parser.add_argument("--out", type=Path, default=SITE, help="a folder that is made anew")
    site = parser.parse_args().out.resolve()
    began_s = time.monotonic()
    try:
        build(site)
    except subprocess.CalledProcessError as error:
        print(f"the site was not built: {error}", file=sys.stderr)
        return 1
    print(f"{site / 'index.html'}: built in {time.monotonic() - began_s:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
