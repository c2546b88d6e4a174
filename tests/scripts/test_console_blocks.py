"""What a page's console blocks say is read as its writer meant it, and a wrong block is found."""

import subprocess
from pathlib import Path

import pytest
from console_blocks import Command, blocks, is_shown, script_of, stray_commands

PAGE = """
<!-- file: of/plan.toml -->
```toml
blocks = 1
```

<!-- where: SITE => plain; 10 => 2 -->
<!-- run with: --blocks 2 -->
<!-- ends: 1 3 -->
```console
$ eyelevel ask SITE --count 10    # a remark
on lte by 5 ms
$ cat <<'END'
two
END
two
$ echo one \\
    two
```

  <!-- not run: needs a desktop -->
  ```console
  $ wireshark
  ```
"""


def test_commands_go_on_while_the_shell_wants_more_and_the_rest_is_what_they_print():
    file, block, skipped = blocks(PAGE)
    assert (file.file, file.content) == ("of/plan.toml", "blocks = 1\n")
    assert block.commands == (
        Command("eyelevel ask SITE --count 10    # a remark", "on lte by 5 ms"),
        Command("cat <<'END'\ntwo\nEND", "two"),
        Command("echo one \\\n    two", ""),
    )
    assert (block.ends, block.run_with, block.not_run) == ((1, 3), "--blocks 2", "")
    assert skipped.not_run == "needs a desktop" and skipped.commands == (Command("wireshark", ""),)


def test_a_script_runs_each_command_in_one_shell_and_keeps_what_it_said(tmp_path: Path):
    page = "<!-- prepare: mkdir in -->\n```console\n$ cd in\n$ pwd\n$ false\n```\n"
    (block,) = blocks(page)
    subprocess.run(["bash", "-c", script_of(block, tmp_path)], check=True, cwd=tmp_path)
    assert (tmp_path / "1").read_text() == f"{tmp_path}/in\n"
    statuses = [(tmp_path / f"{number}.status").read_text() for number in range(3)]
    assert statuses == ["0\n", "0\n", "1\n"]


def test_what_a_test_adds_stands_before_a_remark(tmp_path: Path):
    script = script_of(blocks(PAGE)[1], tmp_path)
    assert "eyelevel ask plain --count 2 --blocks 2  # a remark" in script
    assert "echo one \\\n    two\n" in script


@pytest.mark.parametrize(
    ("shown", "printed", "is_right"),
    [
        ("", "anything", True),
        ("by 108 ms or 13.9 %", "On lte it was by 5 ms\nor 1 %.", True),
        ("first ... last", "first\nmiddle\nlast", True),
        ("faster", "slower", False),
        ("by 108 ms", "by many ms", False),
        ("last ... first", "first\nmiddle\nlast", False),
    ],
)
def test_shown_output_is_compared_but_for_its_numbers(shown, printed, is_right):
    assert is_shown(shown, printed) == is_right


@pytest.mark.parametrize(
    "text",
    ["    $ ls\n", "    eyelevel doctor\n", "    sudo eyelevel load\n", "```bash\nls\n```\n"],
)
def test_a_command_outside_of_console_blocks_is_found(text):
    assert stray_commands(text) and not stray_commands("```console\n$ ls\n```\n    printed\n")
