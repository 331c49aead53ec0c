from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ledger.fold.run_numbers import RunSet


@given(st.lists(st.integers(0, 30)))
def test_it_holds_what_a_set_holds_in_few_ranges(numbers: list[int]) -> None:
    runs, held = RunSet(), set()
    for number in numbers:
        runs.add(number)
        held.add(number)
        assert [n for n in range(-1, 33) if n in runs] == sorted(held)
        assert runs.highest == max(held)
        assert all(end + 1 < start for (_, end), (start, _) in pairwise(runs.ranges()))


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 5))))
def test_ranges_are_added_above_what_is_held(steps: list[tuple[int, int]]) -> None:
    runs, held = RunSet(), set[int]()
    for gap, length in steps:
        first = max(held, default=0) + gap
        runs.add(first, first + length)
        held.update(range(first, first + length + 1))
    assert [n for n in range(max(held, default=0) + 2) if n in runs] == sorted(held)
    assert RunSet(runs.ranges()).ranges() == runs.ranges()


def test_an_empty_one_has_no_highest() -> None:
    assert RunSet().highest is None and 0 not in RunSet()
