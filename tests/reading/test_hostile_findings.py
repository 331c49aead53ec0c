"""Very many findings: listed up to a number, counted past it, and each of them in the mirror."""

import os
from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.merge.side import read_side
from ledger.mirror import ingest
from ledger.mirror.prefetch import prefetch
from ledger.reading import reader
from ledger.reading import whole_log as logs
from ledger.repair.carried_out import carry_out
from ledger.repair.fixer import Options
from ledger.repair.log_text import Text
from ledger.repair.plan import make_plan
from tests.support.cli import HEADER, ledger, lines, log, run
from tests.support.mirroring import mirror_at

POSIX = pytest.mark.skipif(os.name == "nt", reason="pipes, devices and names are other ones there")


def test_findings_past_number_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader, "MOST_ALIKE", 3)
    path = log(tmp_path, lines(HEADER, *[b""] * 10, run(1, 1), b"{", b"["))
    found = [(one.line, one.code, one.message) for one in logs.read_log(path).diagnostics]
    blank = "the line is blank"
    assert found[0] == (0, "L113", "7 more of L113, the first at line 5, are not listed")
    assert found[1:4] == [(2, "L113", blank), (3, "L113", blank), (4, "L113", blank)]
    assert [place[:2] for place in found[4:]] == [(13, "L103"), (14, "L103")]


def test_what_is_not_listed_is_not_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = log(tmp_path, lines(HEADER, *[b"{"] * 5, run(1, 1)))
    assert ledger(tmp_path, "review", "accept", path, "L103", "--reason", "r").code == 0
    assert logs.read_log(path).ok
    monkeypatch.setattr(reader, "MOST_ALIKE", 3)
    assert not logs.read_log(path).ok


def test_repair_and_merge_see_what_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader, "MOST_ALIKE", 3)
    data = lines(HEADER, *[b""] * 10, run(1, 1))
    whole = Text(data)
    done = carry_out(whole, make_plan(whole, whole.diagnostics, Options()).items, Options())
    assert (done.refusal, done.text.data) == (None, lines(HEADER, run(1, 1)))
    side = read_side(log(tmp_path, data), "ours")
    assert sorted(side.found) == list(range(2, 12))
    monkeypatch.setattr("ledger.repair.log_text.MOST_FOUND", 9)
    with pytest.raises(LedgerError, match="more than 9 findings of one code"):
        Text(data)


def test_the_mirror_has_every_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ledger.mirror.prefetch.MOST_FOUND", 3)
    path = log(tmp_path, lines(HEADER, *[b""] * 10, run(1, 1)))
    with mirror_at(tmp_path / "mirror.db") as mirror:
        ahead = prefetch(path, None)
        assert ahead is None  # a log with many findings is not read before its transaction
        assert mirror.sync(path).status == "new"
        assert len(mirror.rows("findings")) == 10
        assert mirror.verify(path).ok


def test_errors_past_number_are_mirrored_and_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What is told is bounded; what is accepted is found by all errors, not by those told."""
    monkeypatch.setattr(ingest, "MOST_ALIKE", 4)
    path = log(tmp_path, lines(HEADER, *[b"{"] * 4, b"[", run(1, 1)))
    with mirror_at(tmp_path / "mirror.db") as mirror:
        for line in (2, 6):
            refused = mirror.sync(path)
            assert refused.refused and len(refused.diagnostics) == 4
            code = "L103" if line == 2 else next(one.code for one in logs.read_log(path).diagnostics if one.line == 6)
            assert ledger(tmp_path, "review", "accept", path, f"{code}@{line}", "--reason", "r").code == 0
        taken = mirror.sync(path)
        assert not (taken.refused or taken.quarantined) and len(taken.diagnostics) == 4
        assert [row["accepted"] for row in mirror.rows("findings")] == [True] * 5


@pytest.mark.parametrize(
    ("tail", "code"),
    [
        (b',"metrics":{' + b",".join(b'"%d":""' % number for number in range(150)) + b"}}", "R212"),
        (b"," + b",".join(b'"%d":1,"%d":1' % (number, number) for number in range(150)) + b"}", "L108"),
    ],
)
def test_a_record_with_very_many_faults_of_a_kind(tail: bytes, code: str, tmp_path: Path):
    found = logs.read_log(log(tmp_path, lines(HEADER, lines(run(1, 1))[:-2] + tail))).diagnostics
    alike = [one for one in found if one.code == code]
    assert len(alike) == 100 and {one.line for one in alike} == {2}
    assert [one.message.endswith("; 50 more like it are not listed") for one in alike] == [False] * 99 + [True]
