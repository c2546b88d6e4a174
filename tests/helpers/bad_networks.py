"""Bad measurements of users, traces and logs of paths: by name, what reads each."""

from bad_changes import Kind, flipped, of_json
from bad_samples import CRUX, FCC, MONROE, corpus, delays_and_rates, texts

KINDS: dict[str, Kind] = {
    "users": Kind(
        ("network", "from-csv", "FILE"),
        texts(
            "percentile,rtt_ms,down_mbit_s\n25,20,50\n50,40,20\n75,90,5\n",
            "name;weight;rtt_ms;down_mbit_s;loss_two_way\na;2;20;50;0\nb;1;90;5;0.01\n",
        ),
        flipped, "users.csv",
    ),
    "users of CrUX": Kind(("network", "from-csv", "FILE"), texts(CRUX), of_json, "crux.json"),
    "bins of CrUX": Kind(
        ("network", "from-csv", "FILE"),
        texts("form_factor,start,end,density\nphone,0,75,0.4\nphone,75,275,0.5\nphone,275,,0.1\n"),
        flipped, "crux.csv",
    ),
    "trace": Kind(("trace", "info", "FILE"), texts("1\n5\n5\n90\n"), flipped, "a.trace"),
    "rates": Kind(
        ("trace", "info", "FILE"), texts("time_ms;kbps\n0;5000\n90;8000\n"), flipped, "a.csv"
    ),
    "trace imported": Kind(
        ("trace", "import", "FILE", "--out", "OUT"), texts("1\n5\n5\n90\n"), flipped, "a.trace"
    ),
    "delay and rate": Kind(
        ("trace", "import", "FILE", "--out", "OUT"), delays_and_rates, flipped, "a.csv"
    ),
    "FCC": Kind(("trace", "import", "FILE", "--out", "OUT"), texts(FCC), flipped, "a.csv"),
    "MONROE": Kind(("trace", "import", "FILE", "--out", "OUT"), texts(MONROE), flipped, "a.csv"),
    "light recording": Kind(
        ("trace", "import", "FILE", "FILE.heavy", "--out", "OUT"),
        texts("0 20 0 0 1.5\n500 25.5 0 1\n1000 20 0\n"), flipped, "a.light",
        lambda: {"a.light.heavy": b"1\n9\n"},
    ),
    "path log": Kind(("path", "fates", "FILE", "OUT"), corpus("path_log"), flipped, "down.log"),
}  # fmt: skip
