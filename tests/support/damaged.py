"""Draw logs as editors, crashes, merges and disks leave them, and bytes that never were a log."""

from pathlib import Path

from hypothesis import strategies as st

from tests.oracle import codex, strategies
from tests.oracle.encode import Num, Record, Style, lines
from tests.support.reading import DIALECTS

ROOT = Path(__file__).parents[2]
SAMPLES = [
    path.read_bytes()
    for path in (*sorted(ROOT.glob("samples/**/*.jsonl")), *sorted(ROOT.glob("tests/logs/*.jsonl")))
    if path.stat().st_size < 20_000
]
CONFIG = codex.config(target=5, max_iterations=3)
HISTORY = lines(
    codex.simulate(CONFIG, Num("10"), [codex.Step("try", Num(value)) for value in ("9", "11", "4")]), Style()
)

PIECES = [
    *(
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\t\n",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\x85",
        b"\x0b",
    ),
    *(b"{", b"}", b'"', b",", b"\\", b"[]", b"null", b"NaN", b"1e999", b"\\u0000", b"\\ud800", b"<<<<<<< HEAD\n"),
    *(b'{"type":"config","metricName":"ms","bestDirection":"lower"}\n', b'{"type":"status","state":"done"}\n'),
    *(b'{"run":1,"metric":1,"status":"keep"}\n', b'{"run":18446744073709551616,"metric":-0,"status":"discard"}\n'),
    *(b'{"type":"config","schema_version":1}\n', b'{"event":"stopped","seq":0}\n', b'{"type":"hook"}\n', b"7e12345"),
]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[bytes, Record | None]:
    """Draw a log and do to it what editors, crashes, merges and disks do."""
    drawn = [strategies.logs(dialect, size=5) for dialect in DIALECTS]
    data, config = draw(st.one_of(st.sampled_from([*((one, None) for one in SAMPLES), (HISTORY, CONFIG)]), *drawn))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 0, 1, 3, 40, 400])))
        piece = draw(
            st.one_of(st.sampled_from(PIECES), st.binary(max_size=4), st.just(b""), st.just(data[start:end] * 2))
        )
        data = data[:start] + piece + data[end:]
    return data, draw(st.sampled_from([config, config, config, None]))


anything = st.one_of(
    damaged(),
    st.tuples(st.binary(max_size=300), st.none()),
    st.tuples(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join), st.sampled_from([None, CONFIG])),
)
