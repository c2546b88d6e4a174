"""Copy a run to a bucket, with progress in the run's bar (`run --copy-to`)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eyelevel.cli.output import hints, say
from eyelevel.plan.trials import Trial

if TYPE_CHECKING:
    from eyelevel.run.bucket.copies import Copies


class CopyTo:
    """The copying of one run to a bucket; does nothing if `url` is "".

    Raises `BucketError` for an invalid URL, and for a bucket that does not answer.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._copies: Copies | None = None
        if url:
            # Imported here: few runs need it.
            from eyelevel.run.bucket.objects import check_url

            check_url(url)

    @contextmanager
    def of(
        self, directory: Path, trials: Sequence[Trial], *, are_beside_loads: bool
    ) -> Iterator[None]:
        """Begin copying, first what was committed before, and stop in order on exit.

        Raises `BucketError` if the bucket does not answer, and `DifferentError` if it has another
        run.
        """
        if not self._url:
            yield
            return
        from eyelevel.run.bucket.copies import Copies
        from eyelevel.run.bucket.layout import blocks_of
        from eyelevel.run.bucket.objects import open_objects

        self._copies = Copies(
            open_objects(self._url, is_new=True),
            self._url,
            directory,
            blocks_of((trial.block, trial.hash) for trial in trials),
            is_beside_loads=are_beside_loads,
            told=lambda line: say(hints, line),
        )
        try:
            with hints.waiting(f"copying to {self._url}") as status:
                self._copies.begin(status.update)
            yield
        finally:
            self._copies.close()

    def committed(self, names: Sequence[str]) -> None:
        """Queue newly committed trials."""
        if self._copies is not None:
            self._copies.committed(names)

    def finish(self, *, is_interrupted: bool) -> None:
        """Upload what is left. Raises `CopiesUnfinishedError` if the bucket does not answer."""
        if self._copies is None:
            return
        from eyelevel.run.bucket.copies import END_S_MAX

        with hints.waiting(f"copying to {self._url}") as status:
            self._copies.finish(0.0 if is_interrupted else END_S_MAX, status.update)
