from eyelevel.plan.file.diagnostics import line_numbers, line_of

TEXT = '''\
# [comment]
title = "a = [1] # no comment"  # comment
sites = [
  "one",  # 1
  "two", { a = 1,
           b = [2, 3] },
]
text = """
[not.a.table]
x = 1
"""
a.b = 1
[[stacks]]
base = "tcp"
[[stacks]]
base = 'tcp'
[stacks.sub]
key = 2026-11-21 09:00:00
[table]
"quoted key" = true
'''


def test_every_key_and_element_has_its_line():
    lines = line_numbers(TEXT)
    assert lines["title",] == 2
    assert lines["sites", 0] == 4
    assert lines["sites", 2, "b"] == 6
    assert lines["sites", 2, "b", 1] == 6
    assert lines["text",] == 8
    assert lines["a", "b"] == 12
    assert lines["stacks", 0, "base"] == 14
    assert lines["stacks", 1, "base"] == 16
    assert lines["stacks", 1, "sub", "key"] == 18
    assert lines["table", "quoted key"] == 20
    assert ("x",) not in lines and ("not",) not in lines


def test_what_is_absent_has_the_line_of_its_parent():
    assert line_of(line_numbers(TEXT), ("stacks", 1, "name")) == 15
    assert line_of(line_numbers(TEXT), ("nothing",)) == 1
