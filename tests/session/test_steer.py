"""The queue of texts for the next brief: in order, each taken once, whoever writes at the same time."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.session.files import STEER, Session, of_log
from ledger.session.messages import MOST_BYTES, USER, Message, add, drop, pending
from tests.support.cli import ROOT, ledger, log

ADDER = """
import sys
from pathlib import Path
from ledger.session.files import of_log
from ledger.session.messages import add
for number in range(40):
    add(of_log(Path(sys.argv[1])), sys.argv[2], f"text {number}")
"""


def take(session: Session) -> list[Message]:
    """Take the queued texts as a loop does: off the queue once they are told."""
    told = pending(session)
    drop(session, told)
    return told


def test_texts_are_listed_in_order_and_taken_once(tmp_path: Path):
    session = of_log(log(tmp_path))
    assert pending(session) == take(session) == []
    add(session, USER, "one\ntwo")
    add(session, "after hook", "three \x1b")
    add(session, USER, " \n")
    assert [(note.source, note.text) for note in pending(session)] == [(USER, "one\ntwo"), ("after hook", "three \x1b")]
    assert pending(session) == take(session) != []
    assert take(session) == pending(session) == []


def test_a_line_has_its_time_its_source_and_its_text(tmp_path: Path):
    session = of_log(log(tmp_path))
    add(session, USER, "µ")
    record = json.loads(session.side(STEER).read_bytes())
    assert list(record) == ["at", "from", "text"] and record["from"] == USER and record["text"] == "µ"
    assert record["at"].endswith("Z") and pending(session)[0].at == record["at"]


def test_damaged_lines_are_shown_and_the_next_text_stands_alone(tmp_path: Path):
    session = of_log(log(tmp_path))
    session.side(STEER).write_bytes(b'{"text":3}\n\n\xff{"at":"x","from":"user","text":"cu')
    add(session, USER, "whole")
    assert [note.text for note in take(session)] == ['{"text":3}', '\ufffd{"at":"x","from":"user","text":"cu', "whole"]


def test_texts_of_any_bytes_and_no_end(tmp_path: Path):
    session = of_log(log(tmp_path))
    add(session, USER, "a\udcffb")
    assert pending(session)[0].text.startswith("a\ufffd")
    with pytest.raises(LedgerError, match="put it into a file"):
        add(session, USER, "x" * (MOST_BYTES + 1))
    session.side(STEER).unlink()
    session.side(STEER).mkdir()
    with pytest.raises(LedgerError, match="cannot write"):
        add(session, USER, "x")


def test_concurrent_adders_lose_nothing_and_each_text_is_taken_once(tmp_path: Path):
    path = log(tmp_path)
    session = of_log(path)
    adders = [
        subprocess.Popen([sys.executable, "-c", ADDER, str(path), name], cwd=ROOT) for name in ("a", "b", "c", "d")
    ]
    taken = []
    while any(adder.poll() is None for adder in adders):
        taken += take(session)
        time.sleep(0.002)
    taken += take(session)
    assert [adder.returncode for adder in adders] == [0, 0, 0, 0]
    for name in ("a", "b", "c", "d"):
        assert [note.text for note in taken if note.source == name] == [f"text {number}" for number in range(40)]
    assert len(taken) == 160


def test_steer_reaches_the_next_brief_and_stays_queued(tmp_path: Path):
    path = log(tmp_path)
    done = ledger(tmp_path, "steer", "leave the", "reader alone")
    assert (done.code, done.out, done.err) == (0, "", "the next brief opens with it\n")
    assert ledger(tmp_path, "steer", "-", stdin="second\nµ\n".encode()).code == 0
    for _ in range(2):
        opening = ledger(tmp_path, "brief").out.partition("# Brief: ")[0]
        assert opening.startswith("# Read this first\n\nFrom user, ")
        assert opening.index("```\nleave the reader alone\n```") < opening.index("```\nsecond\nµ\n```")
    assert [note.text for note in pending(of_log(path))] == ["leave the reader alone", "second\nµ\n"]


def test_steer_refuses_nothing_to_say_and_no_session(tmp_path: Path):
    assert ledger(tmp_path, "steer", "x").code == 2
    log(tmp_path)
    for arguments, stdin in (((), b""), ((" ",), b""), (("-",), b" \n"), (("-",), b"x" * (MOST_BYTES + 1))):
        done = ledger(tmp_path, "steer", *arguments, stdin=stdin)
        assert done.code == 2 and done.err and "Traceback" not in done.err
    assert not (tmp_path / "autoresearch.steer.jsonl").exists()
