"""`eyelevel ask` says why, though its study may stop."""

from synthetic_run import TWO_STACKS, read_run

from eyelevel.cli.results.report import Summary
from eyelevel.cli.run.ask import _print_answer
from eyelevel.report.sections.why import explain_causes


def test_the_answer_ends_with_why(tmp_path, capsys):
    results = read_run(tmp_path, text=TWO_STACKS + "stop = { }\n")
    _print_answer(Summary(results, tmp_path / "report.html"))
    printed = " ".join(capsys.readouterr().out.split())
    assert explain_causes(results)
    for sentence in explain_causes(results):
        assert " ".join(sentence.split()) in printed
