"""The tables of the pages, and the pages of the studies, are made from the records."""

from __future__ import annotations

import re

import pytest

from scripts.make.tables import __main__ as make
from scripts.make.tables import engine, lists, pages, records, refinement, traversal
from scripts.make.tables.records import RESULTS, find, significant, study
from scripts.study.components import report as components_report
from scripts.study.lists import report as lists_report
from scripts.study.pagerank import report as pagerank_report
from scripts.study.refinement import tables as refinement_tables
from scripts.study.traversal import tables as traversal_tables

STUDIES = {
    refinement.STUDY: (
        lambda record, _: refinement_tables.to_markdown(record, record["name"]),
        lambda record: refinement_tables.to_csv(refinement_tables.lines(record)),
    ),
    "2026-11-23-h200-pagerank": (pagerank_report.to_markdown, pagerank_report.to_csv),
    engine.STUDY: (components_report.to_markdown, components_report.to_csv),
    lists.STUDY: (lists_report.to_markdown, lists_report.to_csv),
    **dict.fromkeys(traversal.STUDIES, (traversal_tables.to_markdown, traversal_tables.to_csv)),
}


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: str(page.relative_to(pages.ROOT)))
def test_the_tables_of_a_page_are_those_of_the_records(page):
    text = page.read_text(encoding="utf-8")
    for old, new in zip(pages.MARKED.finditer(text), pages.MARKED.finditer(pages.filled(text)), strict=True):
        assert old[0] == new[0], old["name"]


def test_every_table_is_on_one_page():
    names = [found["name"] for page in pages.pages() for found in pages.MARKED.finditer(page.read_text("utf-8"))]
    assert sorted(names) == sorted(pages.TABLES)


def test_a_changed_figure_is_noticed(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    right = pages.filled("Before.\n\n<!-- table: thesis-6.3 -->\n<!-- end of table -->\n\nAfter.\n")
    assert "| only atomic | 14,661.88 | 47.14% | 18,737.62 | 33.42% |" in right
    page.write_text(right.replace("14,661.88", "14,661.89"))
    monkeypatch.setattr(make, "pages", lambda: [page])
    monkeypatch.setattr(make, "ROOT", tmp_path)
    assert make.main(["--check"]) == 1 and page.read_text() != right
    assert make.main([]) == 0 and page.read_text() == right
    assert make.main(["--check"]) == 0
    assert capsys.readouterr().out == "page.md: out of date\npage.md: rewritten\n"


def test_an_unknown_table_is_an_error():
    with pytest.raises(KeyError, match="no-such-table"):
        pages.filled("<!-- table: no-such-table -->\n<!-- end of table -->\n")


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_of_a_study_is_that_of_its_record(name):
    to_markdown, to_csv = STUDIES[name]
    folder, record = find(f"{name}.json").parent, study(name)
    assert record["name"] == name
    page = (folder / f"{name}.md").read_text(encoding="utf-8")
    pictures = re.findall(r"^!\[[^]]*\]\((\S+)\)$", page, re.MULTILINE)
    assert page == to_markdown(record, pictures)
    assert (folder / f"{name}.csv").read_text(encoding="utf-8") == to_csv(record)
    assert all((folder / picture).exists() for picture in pictures)


def test_every_record_is_linked_by_a_page():
    everything = [pages.ROOT / "README.md", *pages.ROOT.glob("docs/**/*.md")]
    linked = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in everything
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    }
    files = {path for path in RESULTS.glob("**/*") if path.is_file() and path.name != "index.md"}
    assert {str(path.relative_to(RESULTS)) for path in files - linked} == set()


def test_no_folder_of_records_has_more_than_16_entries():
    for folder in (RESULTS, *(path for path in RESULTS.glob("**/*") if path.is_dir())):
        assert len([*folder.iterdir()]) <= 16, folder


def test_missing_and_ambiguous_records_are_errors(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"a\.jsonl"):
        find("a.jsonl")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.jsonl").touch()
    with pytest.raises(ValueError, match="2 folders"):
        find("a.jsonl")


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.00336, 2, "0.0034"), (0.0202, 2, "0.020"), (0.0999, 2, "0.100"), (1.706, 3, "1.71"), (1234.5, 2, "1,234")],
)
def test_significant_digits(value, digits, text):
    assert significant(value, digits) == text
