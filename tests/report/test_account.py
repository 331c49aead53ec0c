"""What a page reads of a log with very many findings."""

from pathlib import Path

import pytest

from ledger.log.diagnostics import Diagnostic, Severity
from ledger.log.source import open_log
from ledger.reading.whole_log import judged
from ledger.report import account
from tests.support.cli import HEADER, lines, log, run


def test_findings_are_judged_in_lots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Judging reads the log again where there are decisions, so it must not be done for each event."""
    path = log(tmp_path, lines(HEADER, *(part for number in range(1, 60) for part in (b"", run(number, 90)))))
    lots: list[int] = []

    def judge(found: list[Diagnostic]) -> list[Diagnostic]:
        lots.append(len(found))
        return judged(None, found)

    monkeypatch.setattr(account, "_AT_ONCE", 25)
    with open_log(path) as file:
        findings = account.read(file, path, judge=judge).findings
    assert len(lots) < 4 and sum(lots) == findings.counts.total() >= 59
    assert findings.counts[Severity.ERROR] + findings.counts[Severity.WARNING] >= 59
