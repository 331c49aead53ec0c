import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.base import numbers

LEXEMES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30).map(str),
    st.sampled_from(["1.50", "1e5", "1E+2", "0.10000000000000000001", "5e-324", "1e-400", "1.7976931348623157e308"]),
)
NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30).map(numbers.normal),
    st.floats(allow_nan=False, allow_infinity=False),
    LEXEMES.map(numbers.from_lexeme),
)


@given(LEXEMES)
def test_a_lexeme_is_read_as_the_decimal_it_states(lexeme: str) -> None:
    value = numbers.from_lexeme(lexeme)
    assert numbers.decimal(value) == Decimal(lexeme)
    assert isinstance(value, float) == (Decimal(repr(float(lexeme))) == Decimal(lexeme))


@pytest.mark.parametrize("lexeme", ["1e999", "-1e309", "1.8e308", "1e" + "9" * 30])
def test_a_lexeme_past_every_double_overflows(lexeme: str) -> None:
    with pytest.raises(OverflowError):
        numbers.from_lexeme(lexeme)


@given(NUMBERS, NUMBERS)
def test_numbers_are_compared_exactly(left: numbers.Number, right: numbers.Number) -> None:
    exact = numbers.decimal(left).compare(numbers.decimal(right)) if left != right else Decimal(0)
    assert numbers.compare(left, right) == exact
    assert numbers.better(left, right, "lower") == numbers.better(right, left, "higher") == (exact < 0)


@given(NUMBERS)
def test_what_a_double_leaves_out_orders_what_it_does_not_tell_apart(value: numbers.Number) -> None:
    rest = numbers.residue(value)
    assert (rest is None) == (not isinstance(value, Decimal))
    if rest is not None:
        difference = numbers.decimal(value) - numbers.decimal(float(value))
        assert math.copysign(1, rest) == math.copysign(1, difference) if rest else abs(difference) < Decimal("1e-320")


@pytest.mark.parametrize(
    ("value", "normal"),
    [(2**53, 2**53), (-(2**53), -(2**53)), (2**53 + 1, Decimal(2**53 + 1)), (2**64, Decimal(2**64)), (1.5, 1.5)],
)
def test_an_integer_past_every_double_is_kept_as_a_decimal(value: numbers.Number, normal: numbers.Number) -> None:
    assert (type(numbers.normal(value)), numbers.normal(value)) == (type(normal), normal)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *[
            (14600, "14,600"),
            (14600.0, "14,600"),
            (1.5, "1.5"),
            (12345678.125, "12,345,678.125"),
            (0, "0"),
            (-0.5, "-0.5"),
        ],
        *[(1e300, "1e+300"), (5e-324, "5e-324"), (Decimal("0.10000000000000000001"), "0.10000000000000000001")],
    ],
)
def test_text_is_for_people(value: numbers.Number, shown: str) -> None:
    assert numbers.text(value) == shown


@pytest.mark.parametrize(
    ("value", "yes"), [(1, True), (1.5, True), (Decimal(1), True), (True, False), ("1", False), (None, False)]
)
def test_booleans_and_texts_are_no_numbers(value: object, yes: bool) -> None:
    assert numbers.is_number(value) is yes


@pytest.mark.parametrize(
    ("value", "yes"), [(2**53, True), (2**53 + 1, False), (1e300, True), (Decimal("0.1"), False), (True, False)]
)
def test_storable_numbers_are_those_a_double_gives_back(value: object, yes: bool) -> None:
    assert numbers.storable(value) is yes
