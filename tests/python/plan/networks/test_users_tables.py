"""One table of users in the forms in which tools and spreadsheets save it: the same networks."""

import json
import random
import re

import pytest

from eyelevel.base.errors import NetworkError
from eyelevel.cli.path.network import read_users
from eyelevel.plan.networks.from_crux import networks_from_crux
from eyelevel.plan.networks.from_csv import ZERO_RTT_MS, networks_from_csv, toml_of


def of(text: str, encoding: str = "utf-8", *, tmp_path) -> list[tuple[str, float, float, float]]:
    """Name, round trip, rate down and share of each network of a file."""
    file = tmp_path / "users"
    file.write_bytes(text.encode(encoding))
    return [
        (each.network.name, each.network.rtt_ms_min, each.network.down_mbit_s, each.share)
        for each in read_users(file)
    ]


FIBER = [("Fiber", 12, 94.5, 0.6), ("Mobile", 85, 7.25, 0.4)]
EXCEL = "name;rtt_ms;down_mbit_s;weight\r\nFiber;12;94,5;60\r\nMobile;85;7,25;40\r\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("\ufeff" + EXCEL, "utf-8"),
        (EXCEL, "utf-16"),
        (EXCEL, "utf-16-le"),
        (EXCEL, "utf-16-be"),
        ("sep=;\r\n" + EXCEL, "utf-8"),
        ("\ufeff" + '"SEP=;"\r\n# made\r\n' + EXCEL, "utf-16-le"),
        ("sep=|\n" + EXCEL.replace(";", "|"), "utf-8"),
        ("sep=\t\n" + EXCEL.replace(";", "\t"), "utf-8"),
        (EXCEL.replace(";", "\t"), "utf-8"),
        (EXCEL.replace("60", "1.200").replace("40", "800"), "utf-8"),
        (EXCEL.replace("60", "1\u202f200").replace("40", "800"), "utf-8"),
        (EXCEL.replace("60", "60 %").replace("40", "40%").replace("weight", "share"), "utf-8"),
        (EXCEL.replace("rtt_ms;down_mbit_s", "RTT (ms);Downlink [Mbps]"), "utf-8"),
        ("# made by us\n#" + EXCEL, "utf-8"),
        (EXCEL.replace("\r\n", ";;\r\n") + ";;;;;\r\n;;;\r\n", "utf-8"),
        (EXCEL.replace("\r\nMobile", "\r\n;;;\r\nMobile"), "utf-8"),
        (EXCEL.replace(";weight", ";Users (%)"), "utf-8"),
        (EXCEL.replace(";weight", ";users_pct"), "utf-8"),
        (EXCEL.replace("Fiber", "\u2028Fiber\x0c").replace("85", "85\x0b\u0085"), "utf-8"),
        ("sep=;\r\n# " + EXCEL.replace("name;", "name, ").replace(";", ", ", 2), "utf-16"),
    ],
)
def test_a_spreadsheets_table_has_the_values_that_it_shows(text, encoding, tmp_path):
    assert of(text, encoding, tmp_path=tmp_path) == FIBER


@pytest.mark.parametrize(
    "text",
    [
        '{"name":"Fiber","rtt_ms":12,"down_mbit_s":94.5,"weight":60}\n'
        '{"name":"Mobile","rtt_ms":"85","down_mbit_s":"7.25","weight":4e1}\n',
        '[\n {"weight": 60, "name": "Fiber", "rtt_ms": 12, "down_mbit_s": 94.5},\n'
        ' {"weight": 40, "name": "Mobile", "rtt_ms": 85, "down_mbit_s": 7.25}\n]\n',
        '{"data": [{"weight": 60, "name": "Fiber", "rtt_ms": 12, "down_mbit_s": 94.5},\n'
        ' {"weight": 40, "name": "Mobile", "rtt_ms": 85, "down_mbit_s": 7.25}]}\n',
    ],
)
def test_rows_of_json_are_those_of_csv(text, tmp_path):
    assert of(text, tmp_path=tmp_path) == FIBER


BINS = [("0", "75", "0.5"), ("75", "275", "0.4"), ("275", None, "0.1")]
BIN_NAMES = ("start", "end", "density")
CRUX_CSV = "start,end,density\n0,75,0.5\n75,275,0.4\n275,,0.1\n"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(json.dumps(dict(zip(BIN_NAMES, row, strict=True))) for row in BINS),
        json.dumps([dict(zip(BIN_NAMES, row, strict=True)) for row in BINS], indent=1),
        "\n".join(json.dumps({"bin": dict(zip(BIN_NAMES, row, strict=True))}) for row in BINS),
        json.dumps(
            [{"origin": "o", "bin": [dict(zip(BIN_NAMES, row, strict=True)) for row in BINS]}]
        ),
        json.dumps({"bin": [dict(zip(BIN_NAMES, row, strict=True)) for row in BINS]}),
        "sep=;\nstart;end;density\n0;75;0,5\n75;275;0,4\n275;;0,1\n",
        "start\tend\tdensity\n0\t75\t50%\n75\t275\t40 %\n275\t\t10%\n",
        "start,end,density (%)\n0,75,50\n75,275,40\n275,,10\n",
        "# of May\n# " + CRUX_CSV,
        "start (s),end_s,density\n0,0.075,0.5\n0.075,0.275,0.4\n0.275,,0.1\n",
        "bin_start_ms,bin_end_us,bin_density\n0,75000,0.5\n75,275000,0.4\n275,,0.1\n",
    ],
)
def test_cruxs_bins_are_the_same_in_all_forms(text, tmp_path, capsys):
    file = tmp_path / "bins"
    file.write_text(text)
    assert toml_of(read_users(file)) == toml_of(networks_from_crux(CRUX_CSV, "f"))


@pytest.mark.parametrize("text", ["start,end,density\n0,75,0.5\n", '{"error": {"message": "x"}}'])
def test_what_is_refused_has_no_note_before_it(text, tmp_path, capsys):
    file = tmp_path / "bins"
    file.write_text(text)
    with pytest.raises(NetworkError):
        read_users(file)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"data": [{"rtt_ms": "x", "down_mbit_s": 20}]}', "users:1.data[0]: rtt_ms is `x`"),
        ('[{"data": [{"rtt_ms": 4, "down_mbit_s": ""}]}]', "users:[0].data[0]: down_mbit_s is ``"),
        ('{"rtt_ms": [40, 60], "down_mbit_s": [20, 10]}', "users:1: `rtt_ms` is [40, 60], no numb"),
        ('{"rows": [{"rtt_ms": 4, "down_mbit_s": 2}], "total": 1}', "users:1: unknown column `tot"),
        ('{"data": []}', "users:1: `data` is [], no number"),
        (
            '{"a": {"b": {"c": 1}}}',
            "users: neither rows nor an answer of the CrUX API; write an ob",
        ),
    ],
)
def test_a_users_object_is_no_answer_of_the_api(text, said, tmp_path):
    file = tmp_path / "users"
    file.write_text(text)
    with pytest.raises(NetworkError) as error:
        read_users(file)
    assert str(error.value).removeprefix(f"{tmp_path}/").startswith(said)


def test_a_browsers_rounded_zero_is_the_middle_of_what_it_stands_for(tmp_path, capsys):
    found = of("rtt,downlink,count\n0,10,500\n50,10,900\n100,5.5,90\n", tmp_path=tmp_path)
    # Browsers round to 50 ms: theirs is 0 below 25 ms.
    assert [rtt_ms for _, rtt_ms, _, _ in found] == [ZERO_RTT_MS, 50, 100] == [12.5, 50, 100]
    assert "their 0 is taken as 12.5 ms" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "text",
    [
        "rtt,downlink\n0,10\n30,10\n",  # measured: no multiples of 50
        "rtt_ms,downlink\n0,10\n50,10\n",
        "rtt (ms),downlink\n0,10\n",
    ],
)
def test_a_zero_that_is_not_the_browsers_is_refused(text):
    with pytest.raises(NetworkError, match=r"f:2: rtt_ms is 0; it must be .*; write what was meas"):
        networks_from_csv(text, "f")


HEAD = "name,rtt_ms,down_mbit_s,users\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + 'Fiber,12,94.5,"1,200"\n', "f:2: `1,200` may be 1.200 or 1200"),
        (HEAD + "Fiber,12,94,5,60\n", "f:2: 5 cells, and the heading has 4"),
        (HEAD + 'Fiber,12,"94,5",60\n', "f:2: `94,5` is not written with a decimal point"),
        (HEAD + "Fiber,12,94.5,60\nTotal,,,60\n", "f:3: rtt_ms is ``, which is not a number"),
        ("rtt_ms,down_mbit_s,share\n1,2,60%\n1,2,40\n", "f:3: weight is `40`, and in other rows"),
        (
            HEAD + "a,40,20,6\nb,50,20,4\nTotal,44,20,10\n",
            "f:4: `Total` has the weight of all others",
        ),
        (
            HEAD + "Grand total,44,20,10\na,40,20,6\nb,50,20,4\n",
            "f:2: `Grand total` has the weight",
        ),
        (HEAD + "a,40,20,333\nb,50,20,334\nSumme,4,20,668\n", "f:4: `Summe` has the weight of all"),
        (HEAD + "a,40,20,7\nall,40,20,7\n", "f:3: `all` has the weight of all others together"),
        (
            HEAD + "a,4,20,60%\nb,5,2,42.1%\n",
            "f: the shares of 2 rows add up to 102.1 %; remove rows",
        ),
        (
            "rtt_ms,down_mbit_s,share (%)\n4,2,60\n4,2,40\n4,2,100\n",
            "f: the shares of 3 rows add up to",
        ),
        (HEAD + "a,40,20,12.345\n", "f:2: `12.345` may be 12345 or 12.345; write 12345, or name"),
        (
            HEAD.replace(",", ";") + "a;40;20;12,345\n",
            "f:2: `12,345` may be 12345 or 12.345; write 1",
        ),
        (
            HEAD.replace(",", "\t") + "a\t40\t20\t12.345\n",
            "f:2: `12.345` may be 12345 or 12.345; wri",
        ),
        (
            "rtt_ms\tdown_mbit_s\tCount\n40\t20\t1.200\n",
            "f:2: `1.200` may be 1200 or 1.200; write 1",
        ),
        (
            "My users\n" + HEAD + "a,40,20,1\n",
            "f:1: one column, `My users`; begin with the heading",
        ),
        (
            "My users,,,\n" + HEAD + "a,40,20,1\n",
            "f:1: one column, `My users`; begin with the head",
        ),
        ("rtt_ms|down_mbit_s\n40|20\n", "f:1: one column, `rtt_ms|down_mbit_s`; begin with the h"),
        (
            HEAD + "K\u00f6ln,40,20,1\n",
            "f:2: the name `K\u00f6ln`; use up to 64 ASCII letters, digits",
        ),
        ("rtt_ms,down_MBps\n1,2\n", "f:1: column `down_MBps`: the unit `MBps` is not known"),
        ("rtt_ms,down_mbit_s,country\n1,2,DE\n", "f:1: unknown column `country`; remove it"),
        ("sep=x\nrtt_ms,down_mbit_s\n", "f:1: `sep=x` states a separator that is not known"),
        ("rtt_ms;down_mbit_s;users\n40;20;1.200\n50;9;800\n", "f:2: `1.200` may be"),
        ('{"rtt_ms":40,"down_mbit_s":20}\n{"rtt_ms":4', "f:2:11: damaged, not JSON"),
        ('[{"rtt_ms":40,"down_mbit_s":20},[40]]', "f:[1]: `[40]` is no object"),
        ('[{"rtt_ms":[40],"down_mbit_s":20}]', "f:[0]: `rtt_ms` is [40], no number and no text"),
        ('[{"rtt_ms":true,"down_mbit_s":20}]', "f:[0]: `rtt_ms` is True, no number"),
        ('[{"rtt_ms":"1,234","down_mbit_s":20}]', "f:[0]: `1,234` may be"),
        ("[]", "f: no rows; write"),
        (
            "percentile,rtt_ms,down_mbit_s\n0.25,30,50\n0.5,60,20\n0.75,120,5\n",
            "f:2: percentiles from 0.25 to 0.75 are shares of 1; write 75 for 0.75",
        ),
        ("p,rtt_ms,down_mbit_s\np0.5,30,50\np1,60,20\n", "f:2: percentiles from 0.5 to 1 are"),
        (HEAD + "4g,40,20,1\n4g,50,20,1\n", "f:3: the name `4g` is used twice; rename one"),
        (
            HEAD + "4g,40,20,1\nusers-4g,50,20,1\n",
            "f:3: the name `users-4g` is the one that `4g` gets beside the preset; rename one",
        ),
        ('{"rtt_ms":[40,60],"down_mbit_s":[20,10]}', "f:1: `rtt_ms` is [40, 60], no number and no"),
    ],
)
def test_what_is_refused_has_a_place_and_a_remedy_of_its_own(text, said):
    with pytest.raises(NetworkError) as error:
        networks_from_csv(text, "f")
    message = str(error.value)
    assert message.startswith(said) and "; " in message and "\n" not in message
    assert "export fewer rows" not in message


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        (HEAD + "a,40,20,6\nall,50,20,4\n", [0.6, 0.4]),
        (HEAD + "a,40,20,3\nb,40,20,3\nall others,50,20,6\n", [0.25, 0.25, 0.5]),
        (HEAD + "a,40,20,51%\nb,50,20,51%\n", [0.5, 0.5]),
        (HEAD.replace(",", "\t") + "a\t40\t20,5\t3.000\nb\t50\t9\t1000\n", [0.75, 0.25]),
        (HEAD.replace("users", "weight") + "a,40,20,1.125\nb,50,20,3.375\n", [0.25, 0.75]),
        ('[{"rtt_ms":4,"down_mbit_s":2,"users":1.125}]', [1]),
        ("rtt_ms,down_mbit_s,users (%)\n40,20,1.125\n50,20,3.375\n", [0.25, 0.75]),
        ("P,rtt_ms,down_mbit_s\nP25,30,50\np75,120,5\n", [0.5, 0.5]),
    ],
)
def test_what_is_like_a_total_or_a_wrong_number_is_read(text, shares):
    found = networks_from_csv(text, "f")
    assert [each.share for each in found] == pytest.approx(shares)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start,end,density\n0,0.075,0.5\n0.075,,0.5\n", "f: all bins end at 0.075 ms, as in sec"),
        (
            "start (h),end,density\n0,75,1\n",
            "f:1: column `start (h)`: the unit `h` is not known; con",
        ),
        ('{"start":0}\n{"start":1,', "f:2:11: damaged, not JSON"),
        ('{"record":{}}\n{"record":{}}', "f: 2 answers of the API; save each"),
        ("start,end,density\n0,75,50%\n75,,0.5\n", "f:1: some densities have a percent sign"),
        ('start,end,density\n0,75,"0,5"\n75,,"0,5"\n', "f:2: `0,5` is not written with"),
        ("start,end,density\n0,75,50\n75,,50\n", "f:2: `50` is not a number from 0 to 1"),
        ('{"error": {"code": 404, "message": "no data"}}', "f:error: an error of the API: no data"),
    ],
)
def test_what_crux_has_not_is_refused_with_a_remedy_of_its_own(text, said):
    with pytest.raises(NetworkError) as error:
        networks_from_crux(text, "f")
    message = str(error.value)
    assert message.startswith(said) and "; " in message and "\n" not in message
    assert "export fewer rows" not in message and "ask it again" not in message


def saved(rng: random.Random, rows: list[tuple[str, float, float, int]]) -> tuple[str, str]:
    """The rows in a form that some tool writes, and its encoding."""
    encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
    names = ["name", "rtt_ms", "down_mbit_s", "users"]
    if rng.random() < 0.3:
        records = [dict(zip(names, row, strict=True)) for row in rows]
        if rng.random() < 0.5:
            records = [{key: str(value) for key, value in each.items()} for each in records]
        lines = [json.dumps(each) for each in records]
        wrapped = json.dumps({rng.choice(["data", "rows"]): records})
        return rng.choice(["\n".join(lines), json.dumps(records, indent=2), wrapped]), encoding
    separator = rng.choice([",", ";", "\t", "|"])
    decimal = "." if separator == "," else rng.choice(".,")
    thousands = rng.choice(["", "\u00a0", "'", "\u202f"])
    heading = [
        "name",
        rng.choice(["rtt_ms", "RTT (ms)", "RTT_MS"]),
        rng.choice(["down_mbit_s", "Downlink (Mbps)", "bandwidth_mbps", "throughput [Mbit/s]"]),
        rng.choice(["users", "Count", "weight"]),
    ]
    lines = [separator.join(heading)]
    for name, rtt_ms, down, users in rows:
        # Four decimals, so that the decimal sign is plain.
        cells = [name, f"{rtt_ms:.4f}", f"{down:.4f}", f"{users:,}"]
        cells = [cell.replace(".", decimal) for cell in cells[:3]] + [cells[3]]
        cells[3] = cells[3].replace(",", thousands)
        if rng.random() < 0.3:
            cells = [f'"{cell}"' for cell in cells]
        lines.append(separator.join(cells))
    stated = separator == "|" or rng.random() < 0.3
    end = rng.choice(["\n", "\r\n"])
    return end.join([f"sep={separator}"] * stated + lines) + end, encoding


@pytest.mark.parametrize("seed", range(150))
def test_a_table_in_any_form_is_the_same_table(seed, tmp_path):
    rng = random.Random(seed)
    rows = [
        (
            f"class-{number}",
            round(rng.uniform(1, 900), 4),
            round(10 ** rng.uniform(-1, 3), 4),
            rng.randrange(1, 2_000_000),
        )
        for number in range(rng.randrange(1, 6))
    ]
    total = sum(users for *_, users in rows)
    text, encoding = saved(rng, rows)
    found = of(text, encoding, tmp_path=tmp_path)
    expected = [(n, rtt, round(down * 1e6) / 1e6, users / total) for n, rtt, down, users in rows]
    assert found == [
        (n, pytest.approx(rtt), pytest.approx(down), pytest.approx(share))
        for n, rtt, down, share in expected
    ]


def test_the_remedy_for_a_rounded_zero_works():
    text = "rtt_ms,downlink\n0,10\n50,10\n"
    with pytest.raises(NetworkError) as error:
        networks_from_csv(text, "f")
    proposed = re.search(r"or ([0-9.]+) for a browser's", str(error.value))
    networks_from_csv(text.replace("\n0,", f"\n{proposed[1]},"), "f")
