"""Copy a run while it is running: each complete block, and the documents that describe the run.

A bucket that does not answer stops no load: uploads are queued, one of them is retried after a
pause, and all of them at the end. A bucket with other content under a name of this run stops it.

Create an object exactly once; an existing one is read back and compared.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from eyelevel.base.errors import ExpectedError, LaterError, StoreError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.limits import DOCUMENT, PICTURE, PLAN_DOCUMENT, Limit
from eyelevel.base.from_outside.source import Source
from eyelevel.run.bucket.layout import (
    BLOCKS,
    Known,
    block_number,
    block_object,
    is_machine_file,
    pack_block,
    picture_object,
    pictures_in,
    read_block,
    same_block,
)
from eyelevel.run.bucket.objects import BucketError, ExistsError, Objects
from eyelevel.store.directory import ENVIRONMENT_FILE, PLAN_FILE, STOP_FILE, list_committed
from eyelevel.store.machines import MACHINES
from eyelevel.store.pictures import PICTURES, is_picture, picture_file

TRIES = 6
_ONCE_PAUSE_S = 0.1
"""Pause after the first attempt, s; it doubles."""
EXTRA_BYTES = 1 << 20
"""Bytes by which an existing object may be longer and still be compared."""

Same = Callable[[bytes, bytes], bool]


class DifferentError(ExpectedError):
    """A bucket has other content under a name of this run."""


def put_once(
    objects: Objects,
    name: str,
    content: bytes,
    same: Same = bytes.__eq__,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Create the object, or verify that it exists with the same content.

    An object that is reported to exist and does not was never stored: another writer's concurrent
    attempt failed, so this one is repeated. Raises `DifferentError` for other content, and
    `BucketError` if the bucket does not answer or keeps reporting so.
    """
    for number in range(TRIES):
        try:
            objects.create(name, content)
        except ExistsError:
            found = objects.get(name, len(content) + EXTRA_BYTES)
            if found is not None and same(content, found):
                return
            if found is not None:
                raise DifferentError(
                    f"{name} is there already and differs: two runs are being copied to the "
                    "same place; give another --copy-to"
                ) from None
            pause(_ONCE_PAUSE_S * 2**number)
        else:
            return
    raise BucketError(
        f"creating {name}: {TRIES} times it was said to exist, but it does not; check whether "
        "something removes objects there"
    )


AT_ONCE = 8
PAUSE_S, PAUSE_S_MAX = 15.0, 240.0
"""First and longest pause before retrying a bucket that did not answer, s; the pause doubles."""
END_S_MAX = 600.0
"""Seconds for which a run waits for the bucket at its end."""


Shown = Callable[[str], None]


def _show_nobody(message: str) -> None:
    pass


class CopiesUnfinishedError(LaterError):
    """A run is not completely copied to its bucket."""


class Copies:
    """Copies one run to a bucket; this process must have claimed its `directory`."""

    def __init__(
        self,
        objects: Objects,
        url: str,
        directory: Path,
        blocks: Sequence[Sequence[str]],
        *,
        is_beside_loads: bool,
        on_message: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare the copies.

        `blocks`: hashes of each block's trials, in the plan's order. `is_beside_loads`: whether
        loads go on during copying. `on_message`: called with a line if a bucket does not answer.
        """
        self._objects, self._url, self._directory = objects, url, directory
        self._on_message, self._is_beside_loads = on_message, is_beside_loads
        self._clock, self._sleep = clock, sleep
        self._blocks, self._left = blocks, [set(names) for names in blocks]
        self._number_of = {name: n for n, names in enumerate(blocks) for name in names}
        self._known = Known(directory, url)
        self._waiting: deque[int | Path] = deque()
        """Queued uploads: block numbers, and documents that changed."""
        self._on_its_way: dict[Future[None], int | Path] = {}
        self._pool = ThreadPoolExecutor(AT_ONCE, "copies")
        self._documents: dict[Path, tuple[int, int]] = {}
        self._pictures: set[str] = set()
        self._fault = ""
        self._shown: Shown = _show_nobody
        self._since_s, self._count = 0.0, 0
        self._pause_s = self._again_s = 0.0

    def begin(self, show: Shown = _show_nobody) -> None:
        """Check that the bucket is this run's, and upload what was committed before.

        `show` is called with the number of remaining uploads. Raises `BucketError` if the bucket
        does not answer, and `DifferentError` if it has another run.
        """
        self._show_in(show)
        whose = {PLAN_FILE: "another plan's run", ENVIRONMENT_FILE: "another run of this plan"}
        for name, other in whose.items():
            limit = PLAN_DOCUMENT if name == PLAN_FILE else DOCUMENT
            try:
                self._put_once(name, _read(self._directory / name, limit))
            except DifferentError:
                raise DifferentError(
                    f"copying to {self._url}: {other} is there; choose another --copy-to"
                ) from None
        there = {block_number(file) for file in self._objects.names(BLOCKS)}
        known = self._known.read() & there
        for name in list_committed(self._directory) & self._number_of.keys():
            self._left[self._number_of[name]].discard(name)
        self._waiting += [n for n, left in enumerate(self._left) if not left and n not in known]
        self._advance()

    def committed(self, names: Iterable[str]) -> None:
        """Queue complete blocks of newly committed trials.

        Raises `DifferentError` once a conflict is known.
        """
        for name in names:
            number = self._number_of[name]
            if name in self._left[number]:
                self._left[number].discard(name)
                self._waiting += [] if self._left[number] else [number]
        self._advance()

    def finish(self, wait_s: float = END_S_MAX, show: Shown = _show_nobody) -> None:
        """Upload everything that is left, waiting up to `wait_s` for a bucket that does not answer.

        `show` is called with the number of remaining uploads. Raises `CopiesUnfinishedError` and
        `DifferentError`.
        """
        self._is_beside_loads = False
        self._show_in(show)
        until_s, self._again_s = self._clock() + wait_s, 0.0
        while True:
            self._advance()
            if not self._waiting:
                return
            if (left_s := until_s - self._clock()) <= 0:
                raise CopiesUnfinishedError(
                    f"copying to {self._url}: {len(self._waiting)} objects are not there yet "
                    f"({self._fault}); {self._directory} has them, and --resume uploads them; "
                    "run it again"
                )
            self._sleep(min(left_s, max(0.0, self._again_s - self._clock())))

    def close(self) -> None:
        """Start no further upload."""
        self._pool.shutdown(cancel_futures=True)

    def _advance(self) -> None:
        """Start queued uploads.

        Without concurrent loads it continues until none is left or the bucket fails.
        """
        self._waiting.extendleft(self._find_changed())
        while True:
            for future in [each for each in self._on_its_way if each.done()]:
                self._on_done(future, self._on_its_way.pop(future))
            at_once = 1 if self._fault else 2 * AT_ONCE
            while self._waiting and len(self._on_its_way) < at_once and self._may_try():
                what = self._waiting.popleft()
                self._on_its_way[self._pool.submit(self._put, what)] = what
            if not self._on_its_way or self._is_beside_loads:
                return
            self._shown(self._describe_backlog())
            wait(self._on_its_way, return_when=FIRST_COMPLETED)

    def _show_in(self, show: Shown) -> None:
        self._shown, self._since_s, self._count = show, self._clock(), 0

    def _describe_backlog(self) -> str:
        left = len(self._waiting) + len(self._on_its_way)
        message = f"copying to {self._url}: {left} objects left"
        if not self._count:
            return message
        left_s = (self._clock() - self._since_s) / self._count * left
        return f"{message}, {left_s:.0f} s"

    def _may_try(self) -> bool:
        return self._clock() >= self._again_s

    def _on_done(self, future: Future[None], what: int | Path) -> None:
        try:
            future.result()
        except BucketError as error:
            self._waiting.appendleft(what)
            if not self._fault:
                self._on_message(f"{error}; the run continues, and this will be tried again")
            if self._may_try():  # of several concurrent failures the first one counts
                self._pause_s = min(2 * self._pause_s or PAUSE_S, PAUSE_S_MAX)
                self._again_s = self._clock() + self._pause_s
            self._fault = str(error)
        else:
            self._fault, self._pause_s, self._again_s = "", 0.0, 0.0
            self._count += 1
            if isinstance(what, int):
                self._known.add(what)

    def _put(self, what: int | Path) -> None:
        if isinstance(what, int):
            self._put_block(what)
        else:
            name = what.relative_to(self._directory).as_posix()
            self._objects.replace(name, _read(what, DOCUMENT))

    def _put_block(self, number: int) -> None:
        files = read_block(self._directory, self._blocks[number])
        for name in pictures_in(files, str(self._directory)) - self._pictures:
            content = _read(picture_file(self._directory / PICTURES, name), PICTURE)
            self._put_once(picture_object(name), content, _same_picture(name))
            self._pictures.add(name)
        self._put_once(block_object(number), pack_block(files), same_block)

    def _put_once(self, name: str, content: bytes, same: Same = bytes.__eq__) -> None:
        put_once(self._objects, name, content, same, self._sleep)

    def _find_changed(self) -> list[Path]:
        """Return the documents that changed since they were queued."""
        machines = (self._directory / MACHINES).glob("*.json")
        files = [file for file in machines if is_machine_file(file.name)]
        changed = []
        for file in (self._directory / STOP_FILE, *files):
            try:
                status = file.stat()
            except FileNotFoundError:
                continue
            stamp = status.st_mtime_ns, status.st_size
            if self._documents.get(file) != stamp:
                self._documents[file] = stamp
                changed.append(file)
        return changed


def _same_picture(name: str) -> Same:
    """Return a comparison of images by pixels: other encoders write other bytes."""
    return lambda _, found: is_picture(found, name)


def _read(file: Path, limit: Limit) -> bytes:
    return read_bytes(file, Source(str(file), limit, StoreError))
