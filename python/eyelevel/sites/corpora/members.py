"""The recordings of a corpus: of a folder, of a list, or of a synthetic corpus by name."""

from dataclasses import dataclass
from glob import escape
from pathlib import Path

from eyelevel.base.errors import CorpusError, nearest
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.limits import PAGES, WORD_LINE_BYTES_MAX
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.plan import is_archive_path
from eyelevel.plan.synthetic_site import is_synthetic, parse_synthetic
from eyelevel.sites.corpora.pages import PUBLISHED_LISTS
from eyelevel.sites.corpora.sources import find_sources
from eyelevel.sites.corpora.synthetic import SYNTHETIC_CORPORA_BY_NAME
from eyelevel.sites.recorded import list_shipped, matching, recording_name


@dataclass(frozen=True)
class Member:
    """One recording of a corpus."""

    name: str
    """Name in plans and tables."""
    site: str
    """A path, a shipped site's name or a synthetic one's, for `open_site`."""

    @property
    def of_plan(self) -> str:
        """Return it as an entry of a plan's `sites`, in which `[` begins a pattern."""
        return escape(self.site) if is_archive_path(self.site) else self.site


def members(corpus: str) -> list[Member]:
    """Return the recordings of a folder, a list or a synthetic corpus, in order.

    A list has one recording per line: a path, relative to the list's folder, a shipped site's name
    or a synthetic one's. Raises `CorpusError` if there is none, if two have one name, or for an
    invalid line.
    """
    path = Path(corpus)
    if path.is_dir():
        found = [_of_file(file) for file in matching(f"{path}/")]
        if not found:
            raise CorpusError(
                f"{corpus} holds no WACZ or WARC file; make recordings with `eyelevel corpus "
                f"record LIST --out {corpus}`, or `corpus import`"
            )
    elif path.is_file() and not corpus.endswith((".wacz", ".warc", ".warc.gz")):
        found = _of_list(path)
    elif corpus in SYNTHETIC_CORPORA_BY_NAME:
        found = [_synthetic(site) for site in SYNTHETIC_CORPORA_BY_NAME[corpus].sites]
    elif corpus in PUBLISHED_LISTS:
        raise CorpusError(
            f"`{corpus}` is a list of pages, and eyelevel ships no recordings of them; record "
            f"them first: eyelevel corpus record {corpus} --out FOLDER"
        )
    else:
        close = nearest(corpus, SYNTHETIC_CORPORA_BY_NAME)
        meant = (
            f"did you mean `{close}`?"
            if close
            else f"made ones: {', '.join(SYNTHETIC_CORPORA_BY_NAME)}"
        )
        raise CorpusError(
            f"there is no corpus `{excerpt(corpus)}`: no folder of recordings, no list; {meant}"
        )
    _refuse_same_names(corpus, found)
    return found


def find_other_recordings(corpus: str) -> list[str]:
    """Return other tools' recordings in a corpus's folder, as paths below it; they are not members.

    Raises `CorpusError`.
    """
    if not Path(corpus).is_dir():
        return []
    sources, _ = find_sources(Path(corpus))
    return [source.key for source in sources if not source.replays_as_it_is]


def _of_file(file: str) -> Member:
    if not file.isprintable():
        raise CorpusError(
            f"`{excerpt(file)}` has a character that is not allowed in a name; rename it"
        )
    return Member(recording_name(Path(file)), file)


def _synthetic(site: str) -> Member:
    return Member(parse_synthetic(site).name, site)


def _of_list(file: Path) -> list[Member]:
    source = Source(str(file), PAGES, CorpusError)
    found = []
    for number, line in lines_of(file, source, WORD_LINE_BYTES_MAX):
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        place = f"{file}:{number}"
        if word.startswith(("http://", "https://")):
            raise CorpusError(
                f"{place}: `{excerpt(word)}` is a page, not a recording; record the list first: "
                f"eyelevel corpus record {file} --out FOLDER"
            )
        found.append(_of_line(word, file.parent, place))
    if not found:
        raise CorpusError(f"{file} names no recording; give one per line")
    return found


def _of_line(word: str, folder: Path, place: str) -> Member:
    if is_synthetic(word):
        try:
            return _synthetic(word)
        except ValueError as error:
            raise CorpusError(f"{place}: {error}") from error
    if word in list_shipped():
        return Member(word, word)
    path = folder / word
    if is_archive_path(word) and _is_file(path):
        return _of_file(str(path) if is_archive_path(str(path)) else f"./{path}")
    raise CorpusError(
        f"{place}: `{excerpt(word)}` is not a recording: neither a WACZ or WARC file relative to "
        "the list's folder nor a shipped site; correct the line"
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the name is too long
        return False


def _refuse_same_names(corpus: str, found: list[Member]) -> None:
    first: dict[str, Member] = {}
    for member in found:
        other = first.setdefault(member.name, member)
        if other is not member:
            raise CorpusError(
                f"{corpus}: {other.site} and {member.site} have the same name, but names tell "
                "results apart; rename one"
            )
