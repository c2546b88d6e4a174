"""Untrusted input is read through `eyelevel.base.from_outside` alone."""

import ast

from repository import ROOT

PACKAGE = ROOT / "python" / "eyelevel"

READING = {
    *("json.load", "json.loads", "from_json", "validate_json"),
    *("tomllib.load", "tomllib.loads", "csv.reader", "csv.DictReader"),
    *("gzip.open", "gzip.decompress", "zlib.decompress", "zlib.decompressobj"),
    *("zipfile.ZipFile", "tarfile.open", "np.load", "numpy.load", "Image.open"),
    *("read_text", "read_bytes", "pl.read_parquet", "pl.scan_parquet", "pl.read_csv"),
    *("pickle.load", "pickle.loads"),
}
"""By module and function, or by method; `validate_json` is pydantic's."""

OURS = "our own binary wrote it, a line or a document of known keys"
KERNEL = "the kernel wrote it"
CODE = "it is a part of this package"
BROWSER = "the browser wrote it, up to a bound; who reads it checks it"

ELSEWHERE = {
    "analysis/cross_traffic.py": "a column that `facts` wrote of a checked record",
    "analysis/trials/user_timings.py": "a column that `facts` wrote of a checked record",
    "analysis/run_files.py": CODE,
    "lab/binary.py": OURS,
    "run/bucket/layout.py": "it is written, not read",
    "browser/chromium/logs.py": BROWSER,
    "browser/chromium/request_scheduling.py": "the netlog of a load of this very command",
    "browser/firefox/screen.py": BROWSER,
    "browser/firefox/tab.py": BROWSER,
    "browser/messages.py": "the browser wrote it, up to a bound, and here it is checked",
    "browser/page_timings.py": "the page's answer, by its schema",
    "browser/interactions.py": "the page's answer, by its schema",
    "browser/processes.py": BROWSER,
    "cli/completion/answer.py": CODE,
    "cli/realtime.py": KERNEL,
    "cli/doctor.py": "the system's installer wrote it",
    "cli/list_presets.py": CODE,
    "cli/main.py": CODE,
    "cli/site/check.py": "a picture that our own binary wrote, which `pictures.beside` opens",
    "cluster/trust.py": "the run that started this process wrote it",
    "cluster/names.py": "the system's installer wrote it",
    "lab/confinement.py": KERNEL,
    "sites/corpora/recorded_page.py": OURS,
    "analysis/connections.py": "a line of a log, read by its bounds, by its schema",
    "store/disk.py": KERNEL,
    "report/charts/chart.py": "a picture that this package has drawn",
    "report/charts/distribution.py": "a chart that this package has made",
    "lab/client.py": OURS,
    "lab/prober.py": OURS,
    "base/lab_tables.py": CODE,
    "report/shell.py": CODE,
    "report/html.py": CODE,
    "run/block/inputs.py": "it is sent as it is, to where its digest is checked",
    "run/bundle/bundle.py": "it is written, not read",
    "calibration/level/report_card.py": OURS,
    "calibration/measuring/cache.py": CODE,
    "calibration/measuring/runs.py": OURS,
    "run/machines/evidence.py": CODE,
    "run/machines/slot_cgroup.py": KERNEL,
    "run/study/cores.py": KERNEL,
    "run/study/prepare.py": KERNEL,
    "load/external_server.py": "the kernel's tables, and a server's last words",
    "load/host.py": KERNEL,
    "load/live_build.py": KERNEL,
    "load/recipes/asgi_hypercorn.py": "a server of its own process: it reads what our export wrote",
    "load/recipes/h3_aioquic.py": "a server of its own process, which reads what our export wrote",
    "load/recorded_answers.py": OURS,
    "cli/server/commands.py": "it is a part of this package",
    "replication/claims.py": CODE,
    "replication/figures.py": CODE,
    "replication/parts.py": CODE,
    "load/trial.py": "our own servers wrote it during this load",
    "base/settings.py": "what was parsed before, as pydantic wants it",
    "sites/contents.py": OURS,
    "sites/served_folder.py": KERNEL,
    "store/directory.py": "a record that was unpacked by its bounds, by its schema",
    "store/packed.py": "the same",
    "calibration/validation/bulk.py": OURS,
    "calibration/validation/fine_grid.py": OURS,
    "calibration/validation/path.py": OURS,
}
"""Files that read by themselves, each with what it is that they read."""


def calls(source: str) -> set[str]:
    """What of READING is called: by its whole name, or by the method's."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = ast.unparse(node.func)
            found |= {called, called.rpartition(".")[2]} & READING
    return found


def test_nothing_is_read_beside_the_readers():
    reading = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        if file.relative_to(PACKAGE).parts[:2] != ("base", "from_outside")
        and calls(file.read_text(encoding="utf-8"))
    }
    assert not reading - ELSEWHERE.keys(), "read it by `eyelevel.base.from_outside`"
    assert not ELSEWHERE.keys() - reading, "drop the entry"


def test_calls_are_seen():
    assert calls("import json\njson.loads(x)") == {"json.loads"}
    assert calls("Path(x).read_text()") == {"read_text"}
    assert calls("with zipfile.ZipFile(x) as y: pass") == {"zipfile.ZipFile"}
    assert calls("RECORD.validate_json(x)") == {"validate_json"}
    assert calls("self.load(x); y.reader(z)") == set()
