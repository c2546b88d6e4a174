"""Limits of each kind of untrusted input, as one table with reasons.

They are far above real inputs and far below a machine's memory. Depth is limited for all: for JSON
by its parser (`pydantic_core`) to 200, for TOML by `TOML_DEPTH_MAX`.
"""

from dataclasses import dataclass

MB = 10**6
TOML_DEPTH_MAX = 20
"""Maximum depth of TOML: a plan has three levels, a network's stage five."""
INTEGER_MAX = 2**63 - 1
"""Maximum integer in a table's column; seeds have 63 bits."""


@dataclass(frozen=True)
class Limit:
    """Limits of one kind of input, and the remedy for exceeding them."""

    name: str
    bytes_max: int
    """Maximum bytes of a file, or of what is unpacked from one."""
    reason: str
    remedy: str
    values_max: int = 0
    """Maximum number of JSON values, lines of a text, or members of an archive; 0 for no limit.
    A value takes about a hundred bytes of memory, even if it takes fewer in the file.
    """


_AGAIN = "get it again from where it came from"
_RESTORE = "restore it, or remove its directory and run the plan again with --resume"

PLAN = Limit("plan", 2 * MB, "the largest grid takes 50 kB", "correct it, or split the plan")
PLAN_DOCUMENT = Limit(
    "plan.json",
    400 * MB,
    "a plan has at most a million trials, a trial 300 bytes and 8 values",
    "restore it from where the run was copied from",
    10_000_000,
)
DOCUMENT = Limit(
    "document of a run",
    32 * MB,
    "`environment.json` takes 50 kB, `stop.json` 1 kB",
    "restore it from where the run was copied from",
    500_000,
)
RECORD = Limit(
    "record",
    64 * MB,
    "a page of 50,000 objects takes 50 MB and 1,500,000 values",
    _RESTORE,
    2_000_000,
)
FRAMES = Limit("frames", 256 * MB, "a page with a video takes 60 MB", _RESTORE, 200_000)
PICTURE = Limit(
    "picture", 64 * MB, "8,192 pixels square; a large screen has 8 million pixels", _AGAIN, 8192**2
)
MANIFEST = Limit(
    "list of a bundle's files", 200 * MB, "a million files of 150 bytes", _AGAIN, 1_100_000
)
BUNDLE = Limit(
    "bundle",
    100_000 * MB,
    "150,000 trials take 20 GB; it is written to the disk piece by piece",
    _AGAIN,
    1_000_000,
)
BLOCK = Limit(
    "block of a run",
    2_000 * MB,
    "a worker returns 1 GiB at most; most blocks take 200 kB",
    "remove that object, and run the plan again with --resume and --copy-to where its directory is",
    100_000,
)
LOG = Limit(
    "log of a load", 2_000 * MB, "qlog of a load of minutes takes 500 MB", _RESTORE, 5_000_000
)
PATH_LOG = Limit(
    "log of a path",
    2_000 * MB,
    "ten minutes at 100 Mbit/s take 500 MB",
    "log a shorter time",
)
TRACE = Limit(
    "packet trace",
    256 * MB,
    "an hour at 100 Mbit/s takes 240 MB",
    "cut it: a trace repeats from its end",
)
TABLE = Limit("table", 16 * MB, "a row a class of users, some hundreds", "export fewer rows")
LEDGER = Limit(
    "table of a corpus",
    64 * MB,
    "100,000 recordings of 300 bytes",
    "correct it; without it the recordings beside it are nobody's, and are imported once more",
)
PAGES = Limit("list of pages", 8 * MB, "10,000 pages of 200 bytes", "split it", 100_000)
CHECKED = Limit(
    "file of a check",
    64 * MB,
    "ten loads that miss a thousand objects each take 3 MB",
    "remove it: the recording is then checked again",
    1_000_000,
)
TARGETS = Limit(
    "list of hosts to probe", 8 * MB, "100,000 hosts of 80 bytes", "split the list", 100_000
)
CDN_MARKS = Limit("table of CDNs", 1 * MB, "5,000 lines of 200 bytes", "drop lines", 10_000)
NAMES = Limit(
    "list of names",
    1_000 * MB,
    "ten million names; it is read line by line",
    "split the list",
    20_000_000,
)
OPT_OUT = Limit(
    "opt-out list", 64 * MB, "a million names, which are kept in memory", "drop lines", 2_000_000
)
PROBES = Limit(
    "rows of probes", 4_000 * MB, "a month of probes; read line by line", "split it", 20_000_000
)
PARQUET = Limit(
    "table of probes",
    1_000 * MB,
    "a month of probes takes 50 MB",
    "write it again, or split it",
    20_000_000,
)
SCRIPT = Limit("script", 1 * MB, "100 steps", "shorten it")
CERTIFICATES = Limit(
    "file of certificates", 4 * MB, "a system's own takes 250 kB", "name fewer of them", 1_000
)
KEPT = Limit(
    "file of a cache", 64 * MB, "runs of a pair of stacks take 1 MB", "remove it", 1_000_000
)
LINE_BYTES_MAX = 1 * MB
"""Maximum length of a line of JSON; a row of a probe takes 2 kB, an event of a qlog less."""
WORD_LINE_BYTES_MAX = 4096
"""Maximum length of a line with a name: DNS allows 253 characters."""

LIMITS: tuple[Limit, ...] = (
    *(PLAN, PLAN_DOCUMENT, DOCUMENT, RECORD, FRAMES, PICTURE, MANIFEST, BUNDLE, BLOCK, LOG),
    *(PATH_LOG, TRACE, TABLE, NAMES, OPT_OUT, PROBES, PARQUET, SCRIPT, CERTIFICATES, KEPT),
    *(LEDGER, PAGES, CHECKED, TARGETS, CDN_MARKS),
)
