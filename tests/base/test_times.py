from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.base import times
from ledger.base.numbers import Number, from_lexeme

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))  # noqa: DTZ001 - an offset is drawn beside it


@pytest.mark.parametrize(
    ("stamp", "unit", "ms"),
    [
        (1_700_000_000, "s", 1_700_000_000_000),
        (1_700_000_000_123, "ms", 1_700_000_000_123),
        (99_999_999_999, "s", 99_999_999_999_000),
        (100_000_000_000, "ms", 100_000_000_000),
        (1785700580.745753, "s", 1_785_700_580_745),
        (1_700_000_000_000.5, "ms", 1_700_000_000_000),
        (Decimal("1700000000.00100000000000000001"), "s", 1_700_000_000_001),
        (0, "s", 0),
        (-1, "s", -1000),
        (-0.0001, "s", -1),
    ],
)
def test_epoch_stamps_of_both_units(stamp: Number, unit: str, ms: int) -> None:
    assert times.unit_of(stamp) == unit
    assert times.epoch_ms(stamp) == ms


@given(st.integers(1, 99_999_999_999), st.integers(0, 999_999))
@example(1, 1000)  # 1.001 * 1000 is under 1001 in doubles
def test_seconds_with_a_fraction_are_floored_as_decimals(seconds: int, micros: int) -> None:
    assert times.epoch_ms(Decimal(f"{seconds}.{micros:06d}")) == seconds * 1000 + micros // 1000
    assert times.moment(from_lexeme(f"{seconds}.{micros:06d}"))[0] == seconds * 1000 + micros // 1000


@pytest.mark.parametrize("stamp", [1e300, -1e300, 10**30, 253_402_300_800_000, -62_135_596_801, Decimal("1e18")])
def test_years_that_no_calendar_has_are_none(stamp: Number) -> None:
    assert times.epoch_ms(stamp) is None


def test_the_last_millisecond_of_the_calendar() -> None:
    assert times.iso(times.epoch_ms(253_402_300_799_999)) == "9999-12-31T23:59:59.999Z"
    assert times.iso(times.epoch_ms(-62_135_596_800)) == "0001-01-01T00:00:00.000Z"


@given(MOMENTS, st.integers(-24 * 60 + 1, 24 * 60 - 1))
def test_iso_text_is_read_with_its_offset(local: datetime, minutes: int) -> None:
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    moment = local.replace(tzinfo=UTC) - timedelta(minutes=minutes)
    expected = (moment - EPOCH) // timedelta(milliseconds=1)
    assert times.parse_iso(f"{local.isoformat()}{sign}{hours:02d}:{rest:02d}") == (expected, True)


@given(st.integers(times.FIRST_MS, times.LAST_MS))
def test_iso_text_written_is_read_back(ms: int) -> None:
    assert times.parse_iso(times.iso(ms) or "") == (ms, True)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1970-01-01T00:00:01Z", (1000, True)),
        ("1970-01-01T00:00:01.9999", (1999, False)),
        ("1970-01-01", (0, False)),
        ("19700101T000001Z", (1000, True)),
        ("yesterday", None),
        ("", None),
        ("1970-13-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+05:00", None),
        ("9999-12-31T23:59:59-05:00", None),
    ],
)
def test_iso_text(text: str, read: tuple[int, bool] | None) -> None:
    assert times.parse_iso(text) == read


def test_no_time_is_no_text() -> None:
    assert times.iso(None) is None
