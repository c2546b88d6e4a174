"""What a bundle's servers would see is said path by path, and homes and dot folders stay closed."""

from pathlib import Path

import pytest

from eyelevel.plan.file.parse import parse_plan
from eyelevel.run.bundle.unpack import describe_access, describe_refusals, why_private

PLAN = """\
sites = ["startup"]
networks = ["dsl"]
stacks = ["tcp", {{ name = "x", base = "quic", external_server = {server} }}]
reference = "tcp"
blocks = 2
"""


def plan_of(command, paths=()):
    server = f'{{ command = {list(command)}, protocols = ["h3"], paths = {list(paths)} }}'
    return parse_plan(PLAN.format(server=server), "plan.toml")


@pytest.fixture
def home(tmp_path, monkeypatch):
    made = tmp_path / "people" / "me"
    (made / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(made))
    return made


def test_each_path_is_said_where_it_lies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h3.py").write_text("")
    asked = describe_access(plan_of(["python3", "./h3.py", "a b"], ["/srv/h3", "data"]))
    assert asked == [
        "starts: python3 ./h3.py 'a b'",
        f"opens to it: {tmp_path}/h3.py (`./h3.py`)",
        "opens to it: /srv/h3",
        f"opens to it: {tmp_path}/data (`data`)",
    ]
    assert describe_refusals(plan_of(["python3", "./h3.py"], ["/srv/h3", "data"])) == []


@pytest.mark.parametrize(
    "path",
    [
        "~/.ssh", "~", "~/", "~/work", "~root", "~nobody-like-this/x", "/root/.aws", "/home", "/",
        "/home/somebody/notes", "/srv/../root", "/srv/.git/x", "/srv/x/.env", "link", "people",
        "people/me/work/../../me", "/proc/self/cwd/people/me", "/proc/self/root/root/.ssh",
    ],
)  # fmt: skip
def test_homes_and_dot_folders_are_refused_in_every_form(home, tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(home / ".ssh")
    (said,) = describe_refusals(plan_of(["sh"], [path]))
    assert said.startswith(f"`{path}` is ")


def test_nor_does_a_word_of_the_command_open_one(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    secret = home / "work" / "key"
    secret.write_text("secret")
    for word in (str(secret), "people/me/work/key"):
        (said,) = describe_refusals(plan_of(["cat", word]))
        assert said == f"`{word}` is in the home {home}"
    # Nor as the program, which it is none: a virtual environment's Python is one.
    assert describe_refusals(plan_of([str(secret)]))
    secret.chmod(0o755)
    assert describe_refusals(plan_of([str(secret)])) == []


def test_what_is_no_secret_stays_open(home):
    for path in ("/srv/site", "/usr/share", "/opt/nginx", "/var/www/html", "/data/a.b/c~"):
        assert not why_private(Path(path))
    assert why_private(home.parent.parent), "it has a home in it"
