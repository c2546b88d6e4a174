"""Generate the reference page of stages."""

from eyelevel.base.lab_tables import STAGES, TABLES


def reference_page() -> str:
    """Return the text of `docs/reference/stages.md`."""
    lines = [
        "# Stages",
        "",
        "These are the stages that a packet can meet on its way, in the text form (`delay 20ms, "
        "rate 10.5 Mbit/s,",
        "queue droptail 200ms, loss 1%`) and as JSON objects whose `stage` is the name. Defaults "
        "are in parentheses. A value",
        '"or a file" is a list, or a string that names a file with one value per line. '
        "`spec/lab-events.md` describes",
        "`distribution` and `queue` as JSON, and [queues.md](queues.md) how each queue differs "
        "from its RFC.",
        "",
        "| stage | what it does | text form: after the name | JSON: keys |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{stage['name']}` | {stage['does']} | {stage['follows']} | {stage['keys']} |"
        for stage in STAGES
    ]
    links = ", ".join(f"`{stage['name']}`" for stage in STAGES if stage["is_link"])
    lines += [
        "",
        f"A link ({links}) has a queue, given by the clause `queue` right after it or before it.",
        f"It is {TABLES['queue_follows']}. Without one the queue is `infinite`.",
        "",
        "Written by `python -m eyelevel.cli.reference`; a test compares the two.",
        "",
    ]
    return "\n".join(lines)
