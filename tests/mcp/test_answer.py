"""What a command printed becomes an answer: bounded, its shape kept, exit statuses told apart."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import TextContent

from ledger.base.errors import LedgerError
from ledger.mcp.commands import MOST_BYTES, CommandResult, _Kept, _listen
from ledger.mcp.handler import _batches, _sound, check
from ledger.mcp.replies import MOST_CHARACTERS, MOST_SAID, answer
from ledger.mcp.tools import BY_NAME
from tests.support.mcp_client import refused, text
from tests.support.mirroring import examples

SMALL = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5)
LONG = st.integers(1, 150_000).map("é".__mul__)
ROW = st.dictionaries(st.text(max_size=3), SMALL | st.integers(1, 300).map("x".__mul__), max_size=3)
MANY = st.tuples(ROW | SMALL, st.integers(0, 2000)).map(lambda pair: [pair[0]] * pair[1])
VALUE = st.dictionaries(st.text(max_size=3), SMALL | LONG | MANY | st.lists(MANY | LONG, max_size=3), max_size=3)
"""Values that fit, and some of up to a few megabytes that do not."""


@examples(60)
@given(VALUE)
def test_any_value_fits(value: dict[str, Any]):
    whole = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    result = answer("json", CommandResult(0, whole.encode("utf-8", "surrogatepass"), b"note"))
    assert len(text(result)) <= MOST_CHARACTERS + MOST_SAID + 200
    if result.is_error:
        assert len(whole) > MOST_CHARACTERS
        return
    assert isinstance(result.content[0], TextContent)
    assert json.loads(result.content[0].text) == result.structured_content
    assert result.structured_content.keys() == value.keys()
    if len(whole) <= MOST_CHARACTERS:
        assert result.structured_content == value and result.content[1] == TextContent(text="note")
    else:
        assert "shortened to fit" in text(result)


@pytest.mark.parametrize("gives", ["text", "json", "rows"])
def test_other_statuses_than_0_and_1_are_refusals(gives: str):
    err = (
        b"ledger: warning: first\nUsage: ledger x [OPTIONS]\nTry 'ledger x --help' for help.\n\nError: no such thing\n"
    )
    for code in (2, 130, -9):
        assert refused(answer(gives, CommandResult(code, b"{}\n", err))) == "warning: first\nno such thing"
        assert (
            refused(answer(gives, CommandResult(code, b"{}\n", b"")))
            == f"the command ended with status {code} and said nothing"
        )
    assert not answer(gives, CommandResult(1, b"{}\n", err), 5).is_error
    assert refused(answer(gives, CommandResult(1, b"", b"No module named ledger\n"))) == "No module named ledger"


def test_a_long_text_is_cut_and_says_so():
    result = answer("text", CommandResult(0, b"x" * (MOST_CHARACTERS + 5), b""))
    assert text(result) == "x" * MOST_CHARACTERS + "\n[… 5 more characters]" and result.structured_content is None


def test_rows_that_were_cut_off_are_left_out():
    result = answer("rows", CommandResult(0, b'{"a":1}\n{"a":2}\n{"a"', b"", cut=True), 5)
    assert result.structured_content == {"rows": [{"a": 1}, {"a": 2}], "more": True}
    assert refused(answer("json", CommandResult(0, b'{"logs":[', b"", cut=True))).startswith("the answer is too long")


def test_a_stream_is_held_only_so_far():
    kept = _Kept()
    for _ in range(MOST_BYTES // 1_000_000 + 2):
        kept.take(b"\n" * 1_000_000)
    assert len(kept.data) == MOST_BYTES and kept.full and kept.lines > MOST_BYTES


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
def test_a_child_left_behind_with_the_streams_holds_nothing_up():
    async def listen() -> tuple[bool, bytes, int | None]:
        process, out, err = await anyio.open_process(["sh", "-c", "sleep 20 & echo $!; exit 3"]), _Kept(), _Kept()
        with anyio.fail_after(10):
            enough = await _listen(process, out, err, None)
        os.kill(int(out.data), signal.SIGKILL)
        await process.aclose()
        return enough, bytes(err.data), process.returncode

    assert anyio.run(listen) == (False, b"", 3)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_numbers_are_finite(value: float):
    for given_ in ({"metric": value}, {"metric": 1, "asi": {"deep": [1, {"er": value}]}}):
        with pytest.raises(LedgerError, match="must be finite"):
            check(BY_NAME["log"], {"description": "x", **given_})


def test_words_that_no_system_hands_on_are_refused():
    assert _sound(["a", "é" * 50_000]) == ["a", "é" * 50_000]
    for word in ("a\0", "é" * 50_001):
        with pytest.raises(LedgerError, match="an argument "):
            _sound([word])


def test_many_logs_are_synced_in_batches():
    logs = [Path("/", "x" * 200, str(number)) for number in range(1000)]
    batches = _batches(logs)
    assert [log for batch in batches for log in batch] == logs and len(batches) == 4
    assert _batches([]) == [] and _batches([Path("/" + "y" * 100_000)]) == [[Path("/" + "y" * 100_000)]]
