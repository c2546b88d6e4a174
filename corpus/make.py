#!/usr/bin/env python3
"""Makes the recorded sites that ship with the project, from pinned npm packages.

    .venv/bin/python corpus/make.py [SITE ...]

For each `sites/SITE.toml` it fetches the packages (`npm pack`, digests pinned in `packages.toml`),
lays their files out under the origins that the table names, checks that every resource that the
page asks for is there, and serves them from a lab, where `eyelevel record` opens the page. It
writes `SITE.wacz`, what `eyelevel site info` says of it as `SITE.info.json`, and
`SITE.LICENSES.md`, into the package, with which they ship. Needs npm and the project's own
environment.
"""

import argparse
import hashlib
import json
import re
import tempfile
import tomllib
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from fnmatch import fnmatch
from pathlib import Path

import references
from packages import Package, Packages
from recording import record

from eyelevel.lab.binary import run_tool

HERE = Path(__file__).resolve().parent
SHIPPED = HERE.parent / "python" / "eyelevel" / "sites" / "shipped"
CONTENT_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "jpg": "image/jpeg",
    "png": "image/png",
    "ico": "image/vnd.microsoft.icon",
    "json": "application/json",
    "woff": "font/woff",
    "woff2": "font/woff2",
}
# What CDNs compress; the others are compressed formats.
COMPRESSED = {"html", "css", "js", "svg", "json"}


@dataclass
class Resource:
    """One URL's answer, before it is packed."""

    url: str
    kind: str
    body: bytes
    content_type: str


@dataclass
class Site:
    """A site under construction: its answers in order and the package files it took."""

    table: dict
    resources: dict[str, Resource] = field(default_factory=dict)
    taken: dict[str, set[str]] = field(default_factory=dict)

    def add(self, url: str, package: Package, path: str, content_type: str | None = None) -> None:
        """Answers `url` with a package's file."""
        kind = path.rsplit(".", 1)[-1]
        self.put(url, kind, package.read(path), content_type)
        self.taken.setdefault(package.name, set()).add(path)

    def put(self, url: str, kind: str, body: bytes, content_type: str | None = None) -> None:
        """Answers `url` with `body`."""
        if url in self.resources:
            raise SystemExit(f"{url} is answered twice")
        self.resources[url] = Resource(url, kind, body, content_type or CONTENT_TYPES[kind])


def main() -> None:
    """Makes the sites that the arguments name, or all."""
    names = sorted(path.stem for path in (HERE / "sites").glob("*.toml"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sites", nargs="*", metavar="SITE", help=f"of {', '.join(names)}")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder of the sites")
    parser.add_argument("--cache", type=Path, default=HERE.parent / "out" / "npm")
    arguments = parser.parse_args()
    packages = Packages(HERE / "packages.toml", arguments.cache)
    for name in arguments.sites or names:
        if name not in names:
            parser.error(f"there is no sites/{name}.toml; there are {', '.join(names)}")
        site = build(tomllib.loads((HERE / "sites" / f"{name}.toml").read_text()), packages)
        check(site)
        out = arguments.out / f"{name}.wacz"
        with tempfile.TemporaryDirectory() as folder:
            packed = Path(folder) / f"{name}.wacz"
            pack(site, packed)
            info = record(packed, out, site.table["main_url"])
        out.with_suffix(".info.json").write_text(json.dumps(info, indent=1) + "\n")
        licences = licences_of(name, site, packages)
        (arguments.out / f"{name}.LICENSES.md").write_text(licences)
        origins = len(info["origins"])
        print(f"{name}: {info['objects']} objects, {origins} origins, {info['body_bytes']} bytes")


def build(table: dict, packages: Packages) -> Site:
    """Lays the packages' files and own pages out under the site's URLs and edits them."""
    site = Site(table)
    for entry in table.get("page", []):
        kind = entry["file"].rsplit(".", 1)[-1]
        site.put(entry["url"], kind, (HERE / "pages" / entry["file"]).read_bytes())
    for entry in table.get("spread", []):
        add_spread(site, entry, packages.get(entry["package"]))
    for entry in table.get("file", []):
        package = packages.get(entry["package"])
        site.add(entry["url"], package, entry["path"], entry.get("content_type"))
    for entry in table.get("folder", []):
        package, start = packages.get(entry["package"]), entry["path"] + "/" * bool(entry["path"])
        for path in sorted(path for path in package.files if path.startswith(start)):
            relative = path.removeprefix(start)
            if any(matches(relative, pattern) for pattern in entry["include"]):
                site.add(entry["url"] + relative, package, path)
    for entry in table.get("font_css", []):
        add_font_css(site, entry, packages.get(entry["package"]))
    for edit in table.get("edit", []):
        resource = site.resources[edit["url"]]
        resource.body = edited(resource.body.decode(), edit).encode()
    return site


def matches(path: str, pattern: str) -> bool:
    """Whether the pattern, whose `*` does not reach into folders, matches."""
    return path.count("/") == pattern.count("/") and fnmatch(path, pattern)


def add_spread(site: Site, entry: dict, package: Package) -> None:
    """Adds pictures on many hosts in turn, and names them in a page where it says so."""
    hosts = entry["hosts"]
    for number in range(hosts):
        site.table["addresses"][entry["host"].format(number)] = entry["address"].format(number + 1)
    paths = [path for path in sorted(package.files) if matches(path, entry["include"])]
    images = []
    for number, path in enumerate(paths[: entry["count"]]):
        url = f"https://{entry['host'].format(number % hosts)}/{path}"
        site.add(url, package, path)
        name = path.rsplit("/", 1)[-1].partition(".")[0]
        images.append(f'<img src="{url}" alt="{name}" width="40" height="30">')
    page = site.resources[entry["page"]]
    page.body = page.body.replace(b"<!-- images -->", "\n".join(images).encode())


def add_font_css(site: Site, entry: dict, package: Package) -> None:
    """Adds a style sheet of `@font-face` rules and the font files, as a font service has them."""
    rules = []
    for face in entry["faces"]:
        path = f"latin-{face}.css"
        rule = package.read(path).decode()
        site.taken.setdefault(package.name, set()).add(path)
        file = re.search(r"url\(\./(files/[^)]+\.woff2)\) format\('woff2'\)", rule)
        if file is None:
            raise SystemExit(f"{package.name} {path} names no woff2 file")
        url = entry["files"] + file[1].removeprefix("files/")
        rules.append(re.sub(r"src: [^;]*;", f"src: url({url}) format('woff2');", rule))
        site.add(url, package, file[1])
    site.put(entry["url"], "css", "\n".join(rules).encode())


def edited(text: str, edit: dict) -> str:
    """Applies one edit; refuses it where it does not fit the file exactly as often as stated."""
    if "replace" in edit:
        count = text.count(edit["replace"])
        if count != edit["count"]:
            raise SystemExit(f"{edit['url']}: {edit['replace']!r} is there {count} times")
        return text.replace(edit["replace"], edit["by"])
    before, found_from, rest = text.partition(edit["remove_from"])
    _, found_to, after = rest.partition(edit["remove_to"])
    if not found_from or not found_to or edit["remove_from"] in rest:
        raise SystemExit(f"{edit['url']}: cannot remove from {edit['remove_from']!r}")
    return before + found_to + after


def check(site: Site) -> None:
    """Refuses a site whose HTML and CSS ask for something that is not there."""
    unneeded = site.table.get("never_requested", {}).get("urls", [])
    for resource in site.resources.values():
        find = {"html": references.in_html, "css": references.in_css}.get(resource.kind)
        wanted = find(resource.url, resource.body.decode()) if find else set()
        missing = sorted(
            url
            for url in wanted - site.resources.keys()
            if not any(fnmatch(url, pattern) for pattern in unneeded)
        )
        if missing:
            raise SystemExit(f"{resource.url} asks for what is not there: {', '.join(missing)}")


def pack(site: Site, out: Path) -> None:
    """Writes what the lab is to serve, with the project's own writer."""
    date = datetime.fromisoformat(site.table["created_at"].replace("Z", "+00:00"))
    with tempfile.TemporaryDirectory() as folder:
        exchanges = []
        for number, resource in enumerate(site.resources.values()):
            file = f"{number}.{resource.kind}"
            (Path(folder) / file).write_bytes(resource.body)
            exchanges.append(exchange(resource, file, site.table, date))
        manifest = Path(folder) / "manifest.json"
        manifest.write_text(
            json.dumps(
                {
                    "title": site.table["title"],
                    "description": f"Made by corpus/make.py; licences in {out.stem}.LICENSES.md",
                    "main_url": site.table["main_url"],
                    "created_at": site.table["created_at"],
                    "addresses": site.table["addresses"],
                    "exchanges": exchanges,
                }
            )
        )
        run_tool(["archive", "pack", str(manifest), "--out", str(out)])


def exchange(resource: Resource, file: str, table: dict, date: datetime) -> dict:
    """The manifest's entry: the file and the headers that a server of its kind sends."""
    is_page = resource.url == table["main_url"]
    cache = "max-age=600" if is_page else "public, max-age=31536000, immutable"
    headers = [
        ("date", format_datetime(date, usegmt=True)),
        ("content-type", resource.content_type),
        ("cache-control", cache),
        ("etag", f'"{hashlib.sha256(resource.body).hexdigest()[:16]}"'),
    ]
    if not is_page:
        headers += [("access-control-allow-origin", "*"), ("timing-allow-origin", "*")]
    entry = {"url": resource.url, "file": file, "reason": "OK", "headers": headers}
    if resource.kind in COMPRESSED and not table.get("uncompressed"):
        headers.append(("vary", "Accept-Encoding"))
        entry["compress"] = "gzip"
    return entry


def licences_of(name: str, site: Site, packages: Packages) -> str:
    """Whose work the site holds and under which terms, the licences' texts included."""
    parts = [
        f"# Licences of {name}.wacz\n",
        f"The page is made of files of the packages below by `corpus/make.py`. They are as "
        f"published, except for the edits that `corpus/sites/{name}.toml` lists.\n",
    ]
    if own := [entry["file"] for entry in site.table.get("page", [])]:
        files = ", ".join(f"`corpus/pages/{file}`" for file in own)
        parts.append(f"This project's own, under its licences: {files}.\n")
    for package in (packages.get(each) for each in sorted(site.taken)):
        files = "".join(f"- `{path}`\n" for path in sorted(site.taken[package.name]))
        told = (package.licence_file, *package.notices)
        text = "\n\n".join(package.read(path).decode().strip() for path in told)
        text = text.replace("\r\n", "\n")
        parts.append(
            f"## {package.name} {package.version}: {package.licence}\n\n"
            f"Source: {package.repository or package.name}\n\n{files}\n```text\n{text}\n```\n"
        )
    return "\n".join(parts)


if __name__ == "__main__":
    main()
