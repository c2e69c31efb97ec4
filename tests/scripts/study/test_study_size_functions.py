"""The benchmark of size functions."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("scipy")

from scripts.study import size_functions


def test_the_table_counts_calls_and_evaluations(capsys):
    assert size_functions.main(["--finest", "0.01", "--device", "cpu", "--threads", "1"]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert list(rows) == ["function", "sampled", "grid", "length"]
    calls = {name: int(re.search(r"calls (\d+)", row)[1]) for name, row in rows.items()}
    assert calls["grid"] == 1 and calls["length"] == 0 and 1 < calls["sampled"] < calls["function"] < 20
