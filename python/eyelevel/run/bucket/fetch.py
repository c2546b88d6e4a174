"""Rebuild a run's directory from its copy, validating each object; files appear atomically.

`plan.json` is written last: until then the directory is not a run, so that a partial fetch is never
mistaken for a complete one. A repeated fetch continues, and later adds what was uploaded meanwhile.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from eyelevel.analysis.run_files import check_environment, check_stopped, parse_stored_plan
from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import BLOCK, DOCUMENT, PICTURE, PLAN_DOCUMENT, Limit
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.run.bucket.layout import (
    BLOCKS,
    Known,
    block_number,
    block_object,
    blocks_of,
    is_machine_file,
    picture_object,
    picture_of,
    pictures_in,
    unpack_block,
)
from eyelevel.run.bucket.objects import Objects
from eyelevel.store.claim import claim
from eyelevel.store.commit import recover, write_block
from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    FETCH_FILE,
    PLAN_FILE,
    STOP_FILE,
    list_committed,
    read_document,
    refusals,
    write_document,
)
from eyelevel.store.disk import write_whole
from eyelevel.store.machines import MACHINES, MACHINES_MAX, parse_machine
from eyelevel.store.packed import PackedTrial
from eyelevel.store.pictures import PICTURES, has_picture, is_picture, keep_picture

AT_ONCE = 8
REMEDY = "give the URL that --copy-to had, or copy the run again"
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Fetched:
    """Number of blocks in the directory now, and in the plan."""

    blocks: int
    total: int


def fetch_run(
    objects: Objects, url: str, directory: Path, on_progress: OnProgress = lambda done, total: None
) -> Fetched:
    """Rebuild a run in `directory` from `objects`; `on_progress` gets the blocks done and in total.

    Raises `StoreError` for damaged objects, for a bucket without a run, and if `directory` has
    anything else; `PlanError` for the plan of another version; `BucketError` if the bucket does not
    answer.
    """
    copy = _Copy(objects, url)
    _take(directory, copy)
    listed = sorted(copy.blocks_there())
    # After the list of blocks: a block is uploaded after its images.
    copy.fetch_pictures(directory)
    there = list_committed(directory)
    absent = [number for number in listed if not there.issuperset(copy.blocks[number])]
    done = len(listed) - len(absent)
    on_progress(done, len(listed))
    known = Known(directory, url)  # if the run is continued here, no block is read back
    for number, trials in copy.fetch_blocks(absent, directory):
        write_block(directory, trials)
        known.add(number)
        done += 1
        on_progress(done, len(listed))
    copy.fetch_documents(directory)
    return Fetched(done, len(copy.blocks))


def _take(directory: Path, copy: "_Copy") -> None:
    """Mark the directory as the target of this fetch.

    Raises `StoreError` if it is anything else.
    """
    attempt = f"fetching {copy.url}"
    is_there = directory.exists() and any(directory.iterdir())
    if is_there and not (directory / FETCH_FILE).exists():
        what = "a run that was not fetched" if (directory / PLAN_FILE).exists() else "other files"
        raise StoreError(f"{attempt}: {directory} holds {what}; choose another directory")
    if is_there and read_document(directory, FETCH_FILE).get("of") != copy.identity:
        raise StoreError(f"{attempt}: {directory} holds another run; choose another directory")
    claim(directory)
    write_document(directory, FETCH_FILE, {"url": copy.url, "of": copy.identity})
    recover(directory)


class _Copy:
    """An untrusted run in a bucket."""

    def __init__(self, objects: Objects, url: str) -> None:
        self.url = excerpt(url)
        self._objects = objects
        self._plan = self._get_required(PLAN_FILE, PLAN_DOCUMENT)
        self._environment = self._get_required(ENVIRONMENT_FILE, DOCUMENT)
        where = self._source(ENVIRONMENT_FILE, DOCUMENT)
        check_environment(parse_object(self._environment, where), where.name)
        where = self._source(PLAN_FILE, PLAN_DOCUMENT)
        trials = parse_stored_plan(parse_object(self._plan, where), where.name).trials
        self.blocks = blocks_of((each.block, each.hash) for each in trials)
        self.identity = sha256(self._plan + self._environment).hexdigest()

    def blocks_there(self) -> Iterator[int]:
        """Yield the numbers of the plan's blocks that the bucket has."""
        for name in self._objects.names(BLOCKS):
            number = block_number(name)
            if number is not None and number < len(self.blocks):
                yield number

    def fetch_pictures(self, directory: Path) -> None:
        """Fetch all images that the directory lacks."""
        folder = directory / PICTURES
        names = [name for file in self._objects.names(PICTURES) if (name := picture_of(file))]
        absent = {picture_object(name): name for name in names if not has_picture(folder, name)}
        for place, content in self._fetch_each(absent, PICTURE):
            if not is_picture(content, absent[place]):
                raise self._source(place, PICTURE).refusal("damaged, not the picture of its name")
            with refusals(directory / place):
                keep_picture(folder, absent[place], content)

    def fetch_blocks(
        self, numbers: Iterable[int], directory: Path
    ) -> Iterator[tuple[int, list[PackedTrial]]]:
        """Fetch blocks.

        Yields each number with its validated trials, after their images are stored.
        """
        known: set[str] = set()
        places = {block_object(number): number for number in numbers}
        for place, content in self._fetch_each(places, BLOCK):
            source = self._source(place, BLOCK)
            trials = unpack_block(content, self.blocks[places[place]], source)
            for trial in trials:
                for name in pictures_in(trial.files, f"{source.name}: {trial.name}") - known:
                    if not has_picture(directory / PICTURES, name):
                        raise source.refusal(f"it needs {picture_object(name)}, which is not there")
                    known.add(name)
            yield places[place], trials

    def fetch_documents(self, directory: Path) -> None:
        """Fetch the documents that describe the run.

        The plan is fetched last, since it marks a complete run.
        """
        if (stopped := self._objects.get(STOP_FILE, DOCUMENT.bytes_max)) is not None:
            where = self._source(STOP_FILE, DOCUMENT)
            check_stopped(parse_object(stopped, where), where.name)
            _keep(directory / STOP_FILE, stopped)
        files = [name for name in self._objects.names(MACHINES) if is_machine_file(name)]
        if len(files) > MACHINES_MAX:
            raise StoreError(f"fetching {self.url}: it has more machines than any run; {REMEDY}")
        for place, content in self._fetch_each([f"{MACHINES}/{name}" for name in files], DOCUMENT):
            parse_machine(content, Path(place).stem, self._source(place, DOCUMENT).name)
            _keep(directory / place, content)
        _keep(directory / ENVIRONMENT_FILE, self._environment)
        _keep(directory / PLAN_FILE, self._plan)

    def _fetch_each(self, names: Iterable[str], limit: Limit) -> Iterator[tuple[str, bytes]]:
        """Yield the objects of these names in order, fetching `AT_ONCE` at a time."""
        coming: deque[tuple[str, Future[bytes]]] = deque()
        pool = ThreadPoolExecutor(AT_ONCE, "fetch")
        try:
            for name in names:
                coming.append((name, pool.submit(self._get_required, name, limit)))
                if len(coming) == AT_ONCE:
                    first, future = coming.popleft()
                    yield first, future.result()
            for name, future in coming:
                yield name, future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _get_required(self, name: str, limit: Limit) -> bytes:
        content = self._objects.get(name, limit.bytes_max)
        if content is None:
            raise StoreError(f"fetching {self.url}: it has no {name}; {REMEDY}")
        if len(content) > limit.bytes_max:
            raise self._source(name, limit).too_long()
        return content

    def _source(self, name: str, limit: Limit) -> Source:
        return Source(f"{self.url.rstrip('/')}/{name}", limit, StoreError)


def _keep(file: Path, content: bytes) -> None:
    with refusals(file):
        file.parent.mkdir(exist_ok=True)
        write_whole(file, content)
