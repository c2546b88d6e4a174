"""Snapshots of the main screens, so that a review sees each change of their words.

`pytest --inline-snapshot=fix FILE` writes the screens anew.
"""

import pytest
from in_process import run_command
from inline_snapshot import snapshot
from repository import ROOT
from synthetic_run import write_run


@pytest.fixture(autouse=True)
def screen_of_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(ROOT)


def show(*arguments, status=0):
    """Return what a command prints, without blanks at the ends of lines."""
    done = run_command(*arguments)
    assert done.returncode == status, done.stderr
    # Blanks that break no line look like others here.
    text = (done.stdout + done.stderr).replace("\N{NO-BREAK SPACE}", " ")
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_help():
    assert show("--help") == snapshot("""\
Usage: eyelevel [OPTIONS] COMMAND [ARGS]...

Compare web protocol stacks fairly: load recorded sites in a real browser over
an emulated network.

Options:
  --version      Print the versions of eyelevel, its build and the browser.
  --cite         Print how to cite eyelevel, in BibTeX.
  -v, --verbose  Print the steps of each load; -vv: every message between
                 processes, too.
  -h, --help     Show this message and exit.

First steps:
  demo        Run a first comparison: two recorded sites, two networks, three
              stacks, three minutes.
  doctor      Check whether this machine can run eyelevel, and say how to get
              what is missing.
  list        List the available networks, stacks, sites, plan presets, devices
              or corpora.
  completion  Print a shell-completion script for commands, options, networks,
              stacks, sites and plans.

Recorded sites:
  record      Record a page, or what any client requests through a proxy, as a
              site to replay.
  site        Inspect, check, edit, import and export recorded sites, or make
              synthetic ones.
  corpus      Build, check and describe corpora of many recordings, and select
              sites from them.

Questions and studies:
  ask         Answer one question about a page, with as many loads as it takes.
  server      Tell a protocol's difference from a server's own.
  run         Load every site of a plan over every network and stack, then write
              the report.
  plan        Check a plan, list its trials, or predict what it costs.
  replicate   Put the claims of a text to the test, and write a page with a
              verdict on each.
  status      Show how far a run is and whether it still runs, from its
              directory alone.
  worker      Load blocks for a run on another machine, until its scheduler says
              to stop.
  fetch       Rebuild a run from its copy in a bucket, checking every block.

Results:
  report      Rebuild the report of a run from its records, and print its table.
  figures     Write the papers' figures and tables for a run, each with its data
              as CSV.
  metrics     Compute metrics from a run's records (`eyelevel metrics DIR`) or
              from a video.
  explain     Explain why results can differ, between loads (explain TRIAL
              [TRIAL]) or between stacks.
  compare     Compare two runs that could not be one plan, and say how each gain
              changed.
  export      Write loads in the formats of other tools; without an option, in
              all of them.
  bundle      Pack a run into one file for `eyelevel rerun`: plan, recordings,
              traces, records and report.
  rerun       Run a bundle's plan again on its own recordings, and check that
              each gain agrees.

Single loads and networks:
  load        Load a recorded site in a real browser and print when a person
              would have seen what.
  replay      Serve a recorded site over an emulated network and run a command
              against it.
  path        Run a command behind an emulated path, or plot what a path logged.
  network     Make networks from measurements, or show the network that a set of
              options describes.
  trace       Describe, import, convert or generate packet-delivery traces.

Measuring servers and this machine:
  probe       Time connections over each protocol (`eyelevel probe HOST`), and
              report on them.
  scan        Find out which protocols the hosts of a list support, with one row
              per name and a summary.
  validate    Measure whether this machine emulates what it should.\
""")


def test_stacks_and_how_they_differ():
    assert show("explain", "stacks", "tcp+", "quic") == snapshot("""\
DIFFERENT SETTINGS
  time in the browser's scheduler  tcp+: a first visitor
                                   quic: a first visitor; responses name HTTP/3
  head bytes down                  tcp+: tables of 4,096 bytes
                                   quic: tables of 4,096 bytes, 100 streams may
                                     wait
  client's first window            tcp+: 15,728,640 bytes   quic: the browser's
  packet size                      tcp+: the kernel's   quic: 1,452 bytes of UDP
  first usable byte                tcp+: records of 4,096 bytes   quic: a packet

SAME SETTINGS
  visit                    first
  server                   eyelevel's
  congestion control       cubic
  slow start after idle    no
  scheduler                urgency, then order (RFC 9218)
  server think time        none
  Early Hints              none
  round trips by origin    none
  certificate names        as recorded
  connection type          from the network
  unsent bytes             at most 16,384 bytes
  recorded http origins    HTTP/1.1 in cleartext, cubic, 32 packets, paced
  ECN bits                 off
  initial window           32 packets
  pacing                   on
  certificate chain        ECDSA, not padded
  cipher and key exchange  TLS 1.3, hybrid key exchange
  session tickets          as the visit needs
  resumed sessions         no early data
in force on dsl: 25 Mbit/s down, 5 up, 24 ms round trip, 12 ms queue, no random loss
not measured on this machine: tcp+, quic; eyelevel validate level --stacks tcp+,quic measures tcp+ and quic\
""")


def test_a_plans_size_and_its_smallest_effect():
    assert show("plan", "check", "examples/users.toml") == snapshot("""\
examples/users.toml: 120 loads: 1 site x 3 networks x 2 stacks x 20 blocks; a load that takes longer than 180 s ends as `timeout`
smallest effect of interest: 5.0 % (the default: the plan gives no smallest effect of its own)\
""")


def test_a_network_of_ones_own():
    words = ("--rtt", "40ms", "--down", "rate 10 Mbit/s, queue droptail 50ms")
    assert show("network", "show", *words) == snapshot("""\
networks = [{ name = "rtt 40ms + down rate 10 Mbit-s queue droptail 50ms", rtt = "40ms", down = "rate 10 Mbit/s, queue droptail 50ms" }]
rtt 40ms + down rate 10 Mbit/s, queue droptail 50ms: down: delay delay_ms 20, rate rate_bit_s 10000000 queue droptail limit_ms 50.0; up: delay delay_ms 20\
""")


def test_a_finished_runs_answers(tmp_path):
    write_run(tmp_path / "run")
    text = show("report", str(tmp_path / "run"))
    assert text.replace(str(tmp_path), "DIR") == snapshot("""\
dsl: gain [95 % interval]; negative is faster
metric                    tcp+ against tcp  quic against tcp
Speed Index                 −7 % [−11, −4]  −16 % [−19, −12]
First Visual Change         −7 % [−11, −4]  −16 % [−19, −12]
Visually Complete 85 %      −7 % [−11, −4]  −16 % [−19, −12]
Last Visual Change          −7 % [−11, −4]  −16 % [−19, −12]
Page Load Time              −7 % [−11, −4]  −16 % [−19, −12]
First Contentful Paint      −7 % [−11, −4]  −16 % [−19, −12]
Time To First Byte          −7 % [−11, −4]  −16 % [−19, −12]
Largest Contentful Paint               0 %               0 %
Cumulative Layout Shift              0.000             0.000

lte: gain [95 % interval]; negative is faster
metric                    tcp+ against tcp  quic against tcp
Speed Index                 −5 % [−10, −1]   −13 % [−17, −9]
First Visual Change         −5 % [−10, −1]   −13 % [−17, −9]
Visually Complete 85 %      −5 % [−10, −1]   −13 % [−17, −9]
Last Visual Change          −5 % [−10, −1]   −13 % [−17, −9]
Page Load Time              −5 % [−10, −1]   −13 % [−17, −9]
First Contentful Paint      −5 % [−10, −1]   −13 % [−17, −9]
Time To First Byte          −5 % [−10, −1]   −13 % [−17, −9]
Largest Contentful Paint               0 %               0 %
Cumulative Layout Shift              0.000             0.000

On dsl, tcp+ was faster than tcp by 28 ms or 7.2 % (95 % interval 3.7 % to
10.6 %); Speed Index, 2 sites, 6 loads per stack; a first look.
On lte, tcp+ was faster than tcp by 67 ms or 5.5 % (95 % interval 0.8 % to
9.9 %); Speed Index, 2 sites, 6 loads per stack; a first look.
On dsl, quic was faster than tcp by 61 ms or 15.5 % (95 % interval 12.3 % to
18.6 %); Speed Index, 2 sites, 6 loads per stack; a first look.
On lte, quic was faster than tcp by 159 ms or 13.3 % (95 % interval 9.1 % to
17.4 %); Speed Index, 2 sites, 6 loads per stack; a first look.
Only 3 blocks per site and network. Differences smaller than about 7.2 % (dsl)
to 9.1 % (lte) would often be missed; of so few blocks, that is itself an
estimate. A first look finds only gains that look large, and so overstates them.
Level: not measured on this machine. This concerns tcp and tcp+; tcp and quic.
To measure the first, run eyelevel validate level --stacks tcp,tcp+. Runs that
begin after that will have it.
On lte, of dashboard's picture, 47 % came at once with the first paint, 54 ms
(37 to 72 ms) earlier with tcp+ than with tcp: all of it less time of the
browser itself.
On dsl, the average visible part came 61 ms (47 to 75 ms) earlier with quic than
with tcp: all of it less time of the browser itself. Of startup's picture, 47 %
came at once with the first paint, 37 ms (32 to 42 ms) earlier: all of it less
time of the browser itself.
On lte, the average visible part came 159 ms (109 to 210 ms) earlier with quic
than with tcp: all of it less time of the browser itself. Of dashboard's
picture, 47 % came at once with the first paint, 111 ms (10 to 212 ms) earlier:
all of it less time of the browser itself.
tcp: 12 ok
tcp+: 12 ok
quic: 12 ok
report: DIR/run/report.html\
""")


def test_mistakes():
    mistakes = [
        ("plan", "check", "quikstart"),
        ("load", "agencyy"),
        ("ask", "agency", "--change", "htp3"),
    ]
    assert "\n".join(show(*words, status=2) for words in mistakes) == snapshot("""\
eyelevel: there is no plan file `quikstart` and no preset of that name (did you mean `quickstart`?); see `eyelevel list plans`
eyelevel: there is no recorded site `agencyy`; shipped: admin, agency, api, article, blog, creative, dashboard, flags, formulas, gallery, japanese, landing, modules, plain, slides; or give a WACZ or WARC file
eyelevel: asking `htp3` of `agency`: --change: unknown change or stack `htp3`; did you mean `http3`?\
""")
