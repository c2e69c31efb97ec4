"""Labels of triangles as rows of tables without repetitions."""

from __future__ import annotations

import numpy as np
import pytest

from dmr.distributed.tiles.result.few_labels import MOST, SAMPLE, few_labels, rows_of_labels


def test_rows_are_those_of_the_first_occurrences():
    regions = np.array([[7.0, 1.0], [8.0, 1.0], [7.0, 1.0], [7.0, 2.0], [8.0, 1.0]])
    bounds = np.array([0.5, 0.5, 0.5, np.nan, 0.25])
    labels = few_labels({"triangle_attributes": regions, "area_bounds": bounds})
    assert labels.rows.dtype == np.uint8
    assert labels.rows.tolist() == [0, 1, 0, 2, 3]
    np.testing.assert_array_equal(labels.tables["triangle_attributes"][labels.rows], regions)
    np.testing.assert_array_equal(labels.tables["area_bounds"][labels.rows], bounds)


def test_labels_are_equal_where_their_bits_are():
    labels = few_labels({"area_bounds": np.array([0.0, -0.0, 0.0, np.nan, np.nan])})
    assert labels.rows.tolist() == [0, 1, 0, 2, 2]


def test_many_labels_have_no_table():
    values = np.arange(3.0 * SAMPLE) % MOST
    assert len(few_labels({"area_bounds": values}).tables["area_bounds"]) == MOST
    values[2 * SAMPLE] = -1.0
    assert few_labels({"area_bounds": values}) is None
    assert few_labels({"area_bounds": np.arange(3.0 * SAMPLE)}) is None


@pytest.mark.parametrize("threads", [1, 4])
def test_labels_beyond_the_sample_follow_in_order(threads):
    values = np.zeros(40 * SAMPLE)
    values[10 * SAMPLE :] = 3.0
    values[30 * SAMPLE :: 2] = -2.0
    labels = few_labels({"area_bounds": values}, threads)
    assert labels.tables["area_bounds"].tolist() == [0.0, 3.0, -2.0]
    np.testing.assert_array_equal(labels.tables["area_bounds"][labels.rows], values)


def test_labels_are_found_in_tables_unless_they_have_others():
    regions, bounds = np.array([[7.0], [8.0], [7.0]]), np.array([0.5, 0.5, np.nan])
    tables = few_labels({"triangle_attributes": regions, "area_bounds": bounds}).tables
    further = {"area_bounds": bounds[[2, 0, 2]], "triangle_attributes": regions[[2, 0, 2]]}
    assert rows_of_labels(tables, further).tolist() == [2, 0, 2]
    assert rows_of_labels(tables, {**further, "area_bounds": np.array([np.nan, -0.5, np.nan])}) is None
