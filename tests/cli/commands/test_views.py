"""The views as processes, on either kind of mirror: formats, filters, and what they refuse."""

import csv
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.exports import FORMATS
from ledger.mirror.views import VIEWS
from tests.support.asking import note, rows, synced_samples
from tests.support.cli import COMMAND, HEADER, SOUND, environment, ledger, lines, log, mirrors_at, run

COMMANDS = ("sessions", "segments", "runs", "metrics", "best", "streaks", "compare", "events")
COLUMNS = {view.name: view.columns for view in VIEWS}


pytestmark = pytest.mark.usefixtures("each_mirror")


@pytest.fixture(scope="module")
def samples(mirror_of: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    with mirrors_at(mirror_of):
        return synced_samples(tmp_path_factory.mktemp("samples"))


@pytest.mark.parametrize("command", COMMANDS)
def test_json_and_csv_have_the_columns_in_order(command: str, samples: Path):
    found = rows(samples, command)
    assert found and all(tuple(row) == COLUMNS[command] for row in found)
    code, out, err = ledger(samples, command, "--format", "csv")
    assert (code, err) == (0, "")
    head, *body = csv.reader(out.splitlines())
    assert tuple(head) == COLUMNS[command] and len(body) == len(found)


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_mirror_the_answer_is_empty(command: str, tmp_path: Path):
    assert ledger(tmp_path, command, "--format", "csv") == (0, ",".join(COLUMNS[command]) + "\n", note(tmp_path))
    assert not (tmp_path / "mirror.db").exists()


def test_without_a_mirror_json_is_an_empty_array(tmp_path: Path):
    assert ledger(tmp_path, "sessions", "--format", "json") == (0, "[]\n", note(tmp_path))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name: str, samples: Path):
    code, out, err = ledger(samples, "best", "--session", "config parser", "--format", name)
    assert (code, err) == (0, "")
    first = {
        "table": "path  ", "json": "[\n{", "jsonl": '{"path"', "csv": "path,segment,", "tsv": "path\tsegment\t",
        "markdown": "| path ",
    }[name]  # fmt: skip
    assert out.startswith(first) and out.endswith("\n") and out.count("accf5e1") == 1


def test_a_question_mark_in_a_text_is_no_place_of_a_value(tmp_path: Path):
    text = "faster? 100% of '?', $1 and %s"
    log(tmp_path, SOUND.replace(b'"description":"', f'"description":"{text} '.encode()))
    assert ledger(tmp_path, "sync").code == 0
    asked = """SELECT '?' AS mark, '%' AS part, '$1' AS "number?" """
    assert rows(tmp_path, "sql", asked) == [{"mark": "?", "part": "%", "number?": "$1"}]
    assert all(row["description"].startswith(text) for row in rows(tmp_path, "runs"))
    found = rows(tmp_path, "sql", "SELECT description FROM runs WHERE description LIKE 'faster? 100%'")
    assert len(found) == len(rows(tmp_path, "runs")) > 0


def test_the_table_says_what_it_leaves_out(samples: Path):
    code, out, err = ledger(samples, "best", COLUMNS="90")
    assert code == 0
    assert all(len(line) <= 90 for line in out.splitlines())
    assert err.startswith("(columns not shown: ") and err.endswith("; use --format csv or json for all)\n")


def test_values(samples: Path):
    assert [
        (row["run"], row["metric"], row["improvement_pct"]) for row in rows(samples, "best", "--metric", "peak_mb")
    ] == [(25, 37.9, pytest.approx(27.2553, abs=1e-4))]
    ranked = rows(samples, "compare", "--metric", "parse_ms")
    assert [(row["rank"], row["best"]) for row in ranked] == [(1, 74.1), (2, 84), (3, 101.3), (4, 102.2)]
    assert [row["state"] for row in rows(samples, "sessions", "--sort", "path")] == [
        "none", "cancelled", "running", "done", "complete",
    ]  # fmt: skip


def test_sessions_are_named_by_path_id_or_name(samples: Path):
    whole = rows(samples, "sessions")
    one = next(row for row in whole if row["dialect"] == "codex")
    path = os.path.relpath(one["path"], samples)
    for name in (one["path"], path, one["session"], one["name"]):
        assert rows(samples, "sessions", "--session", name) == [one]
    both = rows(samples, "sessions", "--session", one["session"], "--session", "CSV reader")
    assert [row["dialect"] for row in both] == ["state-protocol", "codex"]


def test_filters(samples: Path):
    assert {row["status"] for row in rows(samples, "runs", "--status", "crash")} == {"crash"}
    assert [row["state"] for row in rows(samples, "sessions", "--status", "done")] == ["done"]
    assert {row["name"] for row in rows(samples, "metrics", "--metric", "allocations")} == {"allocations"}
    late = rows(samples, "runs", "--since", "2026-05-12", "--until", "2026-05-12T11:00+00:00")
    assert late and {row["at"][:12] for row in late} == {"2026-05-12T1"}
    assert rows(samples, "runs", "--since", "2030-01-01") == []
    assert rows(samples, "runs", "--metric", "no such") == []
    assert len(rows(samples, "runs", "--limit", "3")) == 3
    assert rows(samples, "runs", "--limit", "0") == []


def test_until_a_date_means_that_whole_day(tmp_path: Path):
    start = 1_699_920_000_000  # 2023-11-14
    moments = [start - 1, start, start + 86_399_999, start + 86_400_000]
    log(tmp_path, lines(HEADER, *(run(place, 9, timestamp=moment) for place, moment in enumerate(moments, 1))))
    assert ledger(tmp_path, "sync").code == 0

    def found(*arguments: str) -> list[int]:
        return [row["run"] for row in rows(tmp_path, "runs", *arguments)]

    assert found("--until", "2023-11-14") == found("--until", "20231114") == [1, 2, 3]
    assert found("--since", "2023-11-14", "--until", "2023-11-14") == [2, 3]
    assert found("--until", "2023-11-14T00:00") == found("--until", "2023-11-14T00:00Z") == [1, 2]
    assert found("--until", "9999-12-31") == [1, 2, 3, 4]


def test_sort(samples: Path):
    metrics = [
        row["metric"] for row in rows(samples, "runs", "--session", "config parser", "--sort", "segment,-metric")
    ]
    assert metrics[:16] == sorted(metrics[:16], reverse=True) and metrics[16:] == sorted(metrics[16:], reverse=True)
    confidences = [row["confidence"] for row in rows(samples, "runs", "--sort=-confidence")]
    assert confidences[0] is not None and confidences[-1] is None


def test_wide(samples: Path):
    wide = rows(samples, "runs", "--session", "JSON codec", "--wide")
    assert tuple(wide[0]) == (*COLUMNS["runs"], "allocations", *tuple(wide[0])[len(COLUMNS["runs"]) + 1 :])
    assert wide[0]["allocations"] == 48210
    assert ledger(samples, "best", "--wide").code == 2


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ("sessions", "--session", "nobody"),
            "ledger: no session 'nobody' in the mirror: give a log's path, an id or a name",
        ),
        (("best", "--status", "keep"), "ledger: ledger best has no status to filter by"),
        (("metrics", "--since", "2026-01-01"), "ledger: ledger metrics has no time to filter by"),
        (("streaks", "--sort", "path,metric"), "ledger: ledger streaks has no column 'metric'; it has path, segment, "),
        (("runs", "--since", "yesterday"), "Error: Invalid value for '--since': 'yesterday' is no ISO-8601 time"),
        (("runs", "--limit", "-1"), "Error: Invalid value for '--limit': -1 is not in the range x>=0."),
        (("runs", "--format", "xml"), "Error: Invalid value for '--format': 'xml' is not one of 'table', 'json', "),
        (("runs", "extra"), "Error: Got unexpected extra argument (extra)"),
        (("sql",), "Error: Missing argument 'STATEMENT'."),
    ],
)
def test_mistakes(arguments: tuple[str, ...], reason: str, samples: Path):
    code, out, err = ledger(samples, *arguments)
    assert (code, out) == (2, "")
    assert reason in err


def hostile(folder: Path) -> None:
    header = {**HEADER, "name": "n\x1b]0;title\x07", "metricUnit": "\x9b2J"}
    log(folder, lines(header, run(1, 1, description="a\x1b[2Jb\u202ec\u2028d")))
    assert ledger(folder, "sync").code == 0


@pytest.mark.parametrize("name", ["table", "markdown"])
def test_tables_hold_nothing_that_steers_a_terminal(name: str, tmp_path: Path):
    hostile(tmp_path)
    for command in ("sessions", "runs", "events"):
        out = ledger(tmp_path, command, "--format", name).out
        assert all(line.isprintable() for line in out.split("\n"))
    assert "abc d" in ledger(tmp_path, "runs", "--format", name).out


def test_data_is_kept_as_it_is_where_no_terminal_reads_it(tmp_path: Path):
    hostile(tmp_path)
    assert rows(tmp_path, "runs")[0]["description"] == "a\x1b[2Jb\u202ec\u2028d"
    assert "a\x1b[2Jb\u202ec\u2028d" in ledger(tmp_path, "runs", "--format", "csv").out


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("name", FORMATS)
def test_on_a_terminal_no_format_steers_it(name: str, tmp_path: Path):
    import pty

    hostile(tmp_path)
    terminal, end = pty.openpty()
    with os.fdopen(terminal, "rb", buffering=0) as screen:
        done = subprocess.run(
            [*COMMAND, "runs", "--format", name],
            cwd=tmp_path, env=environment(tmp_path, COLUMNS="300"), stdout=end, stderr=subprocess.PIPE, check=True,
        )  # fmt: skip
        os.close(end)
        shown = screen.read(65536).decode().replace("\r\n", "\n")
    assert done.returncode == 0 and "abc d" in shown
    assert all(char.isprintable() or char in "\n\t" for char in shown)
