"""Sets of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dmr.common.number_arrays import distinct, first_of_each, sum_in_order

NUMBERS = st.lists(st.integers(-4, 4), max_size=12)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
@given(first=NUMBERS, second=NUMBERS)
def test_distinct_numbers_are_those_of_a_set(dtype, first, second):
    found = distinct(np.array(first, dtype), np.array(second, dtype).reshape(1, -1))
    assert found.dtype == dtype and found.tolist() == sorted({*first, *second})


@given(numbers=st.lists(st.integers(0, 5) | st.just(2**31 - 1), max_size=12))
def test_the_first_of_each_number(numbers):
    found, places = first_of_each(np.array(numbers, np.int32))
    assert found.dtype == np.int32 and found.tolist() == sorted(set(numbers))
    assert places.tolist() == [numbers.index(number) for number in found.tolist()]


@given(numbers=st.lists(st.floats(-1e6, 1e6), max_size=300))
def test_a_sum_in_order_has_the_bits_of_a_loop(numbers):
    total = 0.0
    for number in numbers:
        total += number
    assert sum_in_order(np.array(numbers, np.float64)) == total
