"""Secondary metrics as small series: however many runs there are, a drawing has only so many points."""

from collections.abc import Mapping
from typing import Any

from ledger.base.numbers import is_number, text
from ledger.base.text import cut, plain

BUCKETS = 256
"""More buckets than this are merged in pairs."""
NAMES = 500
"""As many names are followed; a log that makes up a new name for each run would otherwise fill the memory."""
NAME_WIDTH = 80


class Series:
    """Hold one metric's values: the lowest and the highest of each bucket of `width` runs of the log."""

    def __init__(self) -> None:
        self.width = 1
        self.count = 0
        self.first = self.last = 0.0
        self.places: list[int] = []
        self.low: list[float] = []
        self.high: list[float] = []

    def add(self, row: int, value: float) -> None:
        """Take the value of the run at a row, counted from 0 through the log; rows never go back."""
        self.first = self.first if self.count else value
        self.last = value
        self.count += 1
        self._put(row // self.width, value, value)
        if len(self.places) > BUCKETS:
            held = zip(self.places, self.low, self.high, strict=True)
            self.width *= 2
            self.places, self.low, self.high = [], [], []
            for place, low, high in held:
                self._put(place // 2, low, high)

    def _put(self, place: int, low: float, high: float) -> None:
        if self.places and self.places[-1] == place:
            self.low[-1], self.high[-1] = min(self.low[-1], low), max(self.high[-1], high)
        else:
            self.places.append(place)
            self.low.append(low)
            self.high.append(high)


class Secondary:
    """Follow every secondary metric of a log, in the order their names first came; `untold` counts those past NAMES."""

    def __init__(self) -> None:
        self.series: dict[str, Series] = {}
        self._untold: set[str] = set()

    def add(self, row: int, metrics: Mapping[str, Any]) -> None:
        """Take a run's metrics; values that are no numbers are passed over."""
        for name, value in metrics.items():
            if not is_number(value):
                continue
            series = self.series.get(name)
            if series is None:
                if len(self.series) >= NAMES:
                    if len(self._untold) < NAMES:
                        self._untold.add(name)
                    continue
                series = self.series[name] = Series()
            series.add(row, float(value))

    def data(self) -> dict[str, Any]:
        """Give the series for the page's script, each with a text that stands for its drawing."""
        return {
            "series": [_data(name, series) for name, series in self.series.items()],
            "untold": len(self._untold),
        }


def _data(name: str, series: Series) -> dict[str, Any]:
    name = cut(plain(name), NAME_WIDTH)
    lowest, highest = min(series.low), max(series.high)
    return {
        "name": name,
        "width": series.width,
        "at": series.places,
        "low": series.low,
        "high": None if series.low == series.high else series.high,
        "last": text(series.last),
        "text": f"{name}: {series.count:,} values, first {text(series.first)}, last {text(series.last)},"
        f" lowest {text(lowest)}, highest {text(highest)}",
    }
