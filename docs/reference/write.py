"""Print the table of primitives into primitives.md: ``python docs/reference/write.py``."""

import pathlib

from logspace._rules.ledger import ledger

PAGE = pathlib.Path(__file__).with_name("primitives.md")
HEAD = """# Primitives

What becomes of every primitive of JAX when it meets a LogArray. A *rule* computes in log space (or
returns a plain array of order one; the families are the files of `logspace/_rules`). *Control flow*
carries LogArrays. *Refused* primitives raise `logspace.MaterialiseError`, or are computed on plain
values under `quaxify(f, on_materialise="allow")`.

| primitive | | |
|---|---|---|
"""


def table() -> dict[str, str]:
    """The row of every primitive of the installed JAX."""
    return {name: f"| `{name}` | {entry.kind} | {entry.note} |" for name, entry in ledger().items()}


def rows_of_page() -> dict[str, str]:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {row.split("`")[1]: row for row in rows}


if __name__ == "__main__":
    # rows of primitives that another supported JAX has stay
    rows = {**(rows_of_page() if PAGE.exists() else {}), **table()}
    PAGE.write_text(HEAD + "\n".join(rows[name] for name in sorted(rows)) + "\n")
