"""No text that we write into a CSV file is a formula to a spreadsheet, and no number is changed."""

import csv
import io
import random

import polars as pl
import pytest

from eyelevel.store.cells import guard_cell, to_csv, unguard_cell

SEED = 20261128
FORMULAS = [
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=", "+", "@x", "-a",
    "'=1", "''-x", "-1e", "+1_000", "-inf", "--1", "-1 ", "-1\n=2", "-\u0661",
]  # fmt: skip
HARMLESS = [
    "",
    "a",
    "a=b",
    "'",
    "'a",
    "-",
    "-1",
    "+1.5",
    "-2e-05",
    "+3E+7",
    "1",
    "https://x/=1",
    " =1",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_begins_a_formula_is_guarded(text):
    assert guard_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_other_texts_stay(text):
    assert guard_cell(text) == text


def test_what_was_guarded_comes_back():
    rng = random.Random(SEED)
    made = ["".join(rng.choices("=+-@\t\r\n'1.ea ", k=rng.randrange(6))) for _ in range(20_000)]
    for text in made + FORMULAS + HARMLESS:
        assert unguard_cell(guard_cell(text)) == text, (SEED, text)
    assert unguard_cell("'-1") == "'-1" and unguard_cell("'tis") == "'tis", (
        "of others, as they wrote it"
    )


def test_a_table_is_guarded_as_its_texts_are():
    texts = FORMULAS + HARMLESS[1:] + [None]
    numbers = [-1.5 - number for number in range(len(texts))]
    table = pl.DataFrame(
        {"=text": texts, "number": numbers, "kind": texts},
        schema_overrides={"kind": pl.Categorical},
    )
    head, *rows = csv.reader(io.StringIO(to_csv(table), newline=""))
    assert head == ["'=text", "number", "kind"]
    assert [float(number) for _, number, _ in rows] == numbers
    wanted = ["" if text is None else guard_cell(text) for text in texts]
    assert [text for text, _, _ in rows] == wanted
    assert [kind for _, _, kind in rows] == wanted
