"""The table of a segment: every run, aligned, bounded, its best marked."""

import shutil
from pathlib import Path

from ledger.base.text import columns
from ledger.session.history import read
from ledger.telling.run_table import DESCRIPTION_WIDTH, WIDTH, segment_table
from tests.support.cli import HEADER, SAMPLES, lines, log, run


def table(path: Path) -> list[str]:
    text = segment_table(read(path))
    assert text.endswith("\n") and not text.endswith("\n\n")
    return text.splitlines()


def test_an_autoresearch_segment(tmp_path: Path):
    records = [
        run(1, 14600.25, metrics={"mem": 61.4}), run(2, 0, "crash"),
        run(3, 14045, confidence=2.34, metrics={"mem": 60}),
        run(4, 15000, "checks_failed", metrics={"mem": 7}),
    ]  # fmt: skip
    assert table(log(tmp_path, lines(HEADER, *records))) == [
        "segment 0: speed: total_ms in ms, lower is better",
        "   run  status          total_ms  delta  conf   mem  commit   description",
        "     1  keep           14,600.25   0.0%     —  61.4  abc1234  idea 1",
        "     2  crash                  —      —     —     —  —        idea 2",
        "*    3  keep              14,045  -3.8%   2.3    60  abc1234  idea 3",
        "     4  checks_failed     15,000  +2.7%     —     7  —        idea 4",
        "baseline 14,600.25 (run 1), best 14,045 (run 3, 3.8% better)",
    ]


def test_only_the_current_segment_and_one_best(tmp_path: Path):
    records = [run(1, 5), HEADER | {"bestDirection": "higher"}, run(2, 7), run(2, 7), run(3, 6)]
    found = table(log(tmp_path, lines(HEADER, *records)))
    assert found[0].startswith("segment 1: ") and [line[:6] for line in found[2:-1]] == ["*    2", "     2", "     3"]


def test_no_run_and_no_header(tmp_path: Path):
    assert table(log(tmp_path, lines(HEADER))) == ["segment 0: speed: total_ms in ms, lower is better", "no run yet"]
    assert table(log(tmp_path, b"")) == ["segment 0: —: —", "no run yet"]
    assert table(log(tmp_path, lines(run(1, 5))))[2].split()[:3] == ["1", "keep", "5"]


def test_many_names_are_left_out_and_lines_are_bounded(tmp_path: Path):
    names = {f"a_rather_long_name_{number}": 1.5 for number in range(3)}
    text = "wide 漢字 " * 40 + "\x1b[31m\n# end"
    records = [run(1, 5, metrics=names, description=text), run(2, 4e300, "discard", metrics=names, description=text)]
    found = table(log(tmp_path, lines(HEADER | {"name": text, "metricName": text}, *records)))
    assert all(columns(line) <= WIDTH + DESCRIPTION_WIDTH for line in found)
    assert columns(found[0]) <= WIDTH and not any("\x1b" in line for line in found)
    assert "a_rather_long_n…" in found[1] and found[2].endswith("…")
    more = run(1, 5, metrics=names | {"fourth": 1})
    assert "a_rather" not in "\n".join(table(log(tmp_path, lines(HEADER, more))))


def test_the_other_protocols(tmp_path: Path):
    shutil.copytree(SAMPLES, tmp_path, dirs_exist_ok=True)
    found = table(tmp_path / "csv-reader/autoresearch.jsonl")
    assert found[2].split()[:4] == ["1", "baseline", "142.4", "0.0%"]
    assert [line.split()[:2] for line in found if line.startswith("*")] == [["*", "11"]]
    found = table(tmp_path / "table-reader/autoresearch-results/events.jsonl")
    assert len(found) == 2 + 15 + 1 and found[-2].split()[:3] == ["*", "14", "keep"]
