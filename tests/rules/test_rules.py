"""Each rule has a folder in tests/rules: a log that breaks it alone, what is said of it, and the nearest sound log.

`bad.jsonl`, `expected.txt`, `good.jsonl`; a codex log is a folder `bad` or `good`. `@16MiB@` stands for as many bytes.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.log.diagnostics import Diagnostic, Severity
from ledger.log.rule import rule
from ledger.reading.whole_log import read_log
from ledger.rules import RULES, Rule

FOLDERS = Path(__file__).parent
STAGES = {"L1": {"note"}, "R2": {"record"}, "E3": {"event", "end"}, "S4": {"event", "end"}}
ALSO = {"S404": ["S403"]}
"""Findings that cannot be avoided beside a rule's own: a number that no run has borne lies below only after a gap."""


@pytest.fixture(params=RULES)
def code(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def read(code: str, name: str, tmp_path: Path) -> list[Diagnostic]:
    log = FOLDERS / code / f"{name}.jsonl"
    if not log.exists():
        log = FOLDERS / code / name / "events.jsonl"
    elif size := re.search(rb"@(\d+)MiB@", data := log.read_bytes()):
        log = tmp_path / "log.jsonl"
        log.write_bytes(data.replace(size[0], b"x" * (int(size[1]) << 20)))
    return read_log(log).diagnostics


def test_a_bad_log_has_exactly_the_expected_findings(code: str, tmp_path: Path) -> None:
    found = read(code, "bad", tmp_path)
    lines = [f"{d.source + ':' if d.source else ''}{d.line}:{d.column}: {d.code} {d.message}\n" for d in found]
    assert "".join(lines) == (FOLDERS / code / "expected.txt").read_text(encoding="utf-8")
    assert sorted(d.code for d in found) == sorted([code, *ALSO.get(code, [])])
    assert all(d.message.isprintable() for d in found)


def test_the_nearest_sound_log_has_none(code: str, tmp_path: Path) -> None:
    assert read(code, "good", tmp_path) == []


def test_every_rule_has_a_folder_and_every_folder_a_rule() -> None:
    assert {said.parent.name for said in FOLDERS.glob("*/expected.txt")} == set(RULES)


def test_codes_and_names_are_unique() -> None:
    names = [known.name for known in RULES.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
    taken = next(iter(RULES.values()))
    for code, name in ((taken.code, "a-new-name"), ("L999", taken.name)):
        with pytest.raises(ValueError, match="registered twice"):
            rule(code, name, Severity.ERROR, "note", "syntax")(lambda note: ())


def test_a_code_tells_what_its_rule_reads(code: str) -> None:
    assert re.fullmatch(r"[LRES]\d{3}", code)
    assert RULES[code].stage in STAGES[code[:2]]


def test_the_documentation_is_whole(code: str) -> None:
    known: Rule = RULES[code]
    lead, _, rest = known.doc.partition("\n\n")
    assert re.match(r"Report [^\n]+", lead) and lead.endswith(".")
    parts = re.findall(r"^(Why|Example|Fix): (.+?)(?=\n(?:Why|Example|Fix): |\Z)", rest, re.MULTILINE | re.DOTALL)
    assert [part for part, _ in parts] == ["Why", "Example", "Fix"]
    assert all(text.endswith((".", "…")) for _, text in parts)
    assert re.match(r"(safe|unsafe|none)\b", parts[2][1])


def test_the_page_of_rules_is_current() -> None:
    script = FOLDERS.parent.parent / "scripts" / "gen_docs"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
