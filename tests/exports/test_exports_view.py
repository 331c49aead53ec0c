"""`export --view`: any view's rows to a file or a pipe, and what cannot be asked together."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.mirror.views import VIEWS
from tests.support import deciding
from tests.support.cli import HEADER, SOUND, ledger, lines, log, mirrors_at, run

pytestmark = pytest.mark.usefixtures("each_mirror")

NAMES = [view.name for view in VIEWS]
ROW_FORMATS = ("csv", "tsv", "markdown", "json", "jsonl")
KEPT = "ledger: {} is {}, which an export never replaces; name another place with -o\n"


@pytest.fixture(scope="module")
def folder(mirror_of: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder whose mirror holds two logs, one of them damaged."""
    folder = tmp_path_factory.mktemp("view").resolve()
    log(folder)
    hostile = run(2, -0.5, description="=1+1", commit="12e4567", metrics={"mem": -1}, asi={"why": "é"})
    log(folder, lines(HEADER, run(1, 1, "discard"), hostile, b"\xff\xfe", b'{"run":3}'), "damaged.jsonl")
    deciding.accept(folder / "damaged.jsonl", "L101")
    deciding.note_repair(folder / "damaged.jsonl")
    with mirrors_at(mirror_of):
        assert ledger(folder, "sync", "--quarantine", "autoresearch.jsonl", "damaged.jsonl").code == 0
    return folder


@pytest.mark.parametrize("view", NAMES)
def test_every_view(view: str, folder: Path):
    columns = next(known.columns for known in VIEWS if known.name == view)
    code, out, err = ledger(folder, "export", "--view", view, "--format", "jsonl")
    assert (code, err) == (0, "") and out
    assert all(tuple(json.loads(line)) == columns for line in out.split("\n")[:-1])


@pytest.mark.parametrize("view", ["runs", "findings", "lines"])
def test_every_format(view: str, folder: Path):
    columns = list(next(known.columns for known in VIEWS if known.name == view))
    outs = {}
    for name in ROW_FORMATS:
        code, outs[name], err = ledger(folder, "export", "--view", view, "--format", name)
        assert (code, err) == (0, "")
    found = json.loads(outs["json"])
    assert found and all(list(row) == columns for row in found)
    assert found == [json.loads(line) for line in outs["jsonl"].split("\n")[:-1]]
    for name, delimiter in (("csv", ","), ("tsv", "\t")):
        head, *body = csv.reader(io.StringIO(outs[name], newline=""), delimiter=delimiter)
        assert head == columns and len(body) == len(found)
    assert outs["markdown"].startswith("| ") and outs["markdown"].count("\n") == len(found) + 2


@pytest.mark.parametrize("view", ["sessions", "runs"])
def test_rows_are_those_of_the_query(view: str, folder: Path):
    for filters in (("--session", "damaged.jsonl"), ("--sort", "-path", "--limit", "2")):
        mine = ledger(folder, "export", "--view", view, "--format", "csv", *filters)
        assert mine == ledger(folder, view, "--format", "csv", *filters) and mine.code == 0


def test_a_file_is_what_a_pipe_gets(folder: Path):
    piped = ledger(folder, "export", "--view", "runs", "--format", "csv", "-o", "-").out
    assert ledger(folder, "export", "--view", "runs", "--format", "csv", "-o", "new/runs.csv") == (0, "", "")
    assert (folder / "new" / "runs.csv").read_bytes() == piped.encode()
    assert [path.name for path in (folder / "new").iterdir()] == ["runs.csv"]
    assert "'=1+1" in piped and ",-0.5," in piped and ",12e4567," in piped


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_a_byte_order_mark(name: str, folder: Path):
    words = ("export", "--view", "runs", "--format", name)
    without, marked = ledger(folder, *words), ledger(folder, *words, "--bom")
    assert marked == without._replace(out="\ufeff" + without.out)
    assert ledger(folder, *words, "--bom", "-o", f"bom.{name}").code == 0
    assert (folder / f"bom.{name}").read_bytes() == b"\xef\xbb\xbf" + without.out.encode()


def test_findings_and_lines(folder: Path):
    found = json.loads(ledger(folder, "export", "--view", "findings", "--format", "json", "damaged.jsonl").out)
    assert {row["line"] for row in found} >= {4, 5} and {row["path"] for row in found} == {
        str(folder / "damaged.jsonl")
    }
    held = json.loads(ledger(folder, "export", "--view", "lines", "--format", "json", "--session", "damaged.jsonl").out)
    assert [row["data"] for row in held][-2:] == ["\\xff\\xfe\n", '{"run":3}\n']
    assert "".join(row["data"] for row in held[:3]).encode() == (folder / "damaged.jsonl").read_bytes()[:-13]


def test_a_log_is_still_exported_whole(folder: Path):
    assert ledger(folder, "export", "--format", "jsonl", "autoresearch.jsonl") == (0, SOUND.decode(), "")
    rows = ledger(folder, "export", "--format", "jsonl", "--view", "runs", "autoresearch.jsonl").out
    assert [json.loads(line)["run"] for line in rows.splitlines()] == [1, 2, 3]


def test_no_mirror_gives_a_header(tmp_path: Path):
    code, out, err = ledger(tmp_path, "export", "--view", "best", "--format", "csv")
    assert code == 0 and out.startswith("path,segment,run,") and out.count("\n") == 1
    assert err.startswith("note: there is no mirror at")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--format", "csv"], "csv is for rows: say which with --view, such as --view runs"),
        (
            ["--format", "xlsx", "--view", "runs", "-o", "s.xlsx"],
            "a workbook has a sheet for each view: leave --view out",
        ),
        (["--format", "xlsx", "--all", "-o", "s.xlsx"], "--all is for logs: a workbook has every session anyway"),
        (["--format", "xlsx", "--bom", "-o", "s.xlsx"], "--bom is for csv and tsv"),
        (["--format", "xlsx", "--limit", "3", "-o", "s.xlsx"], "--sort and --limit need --view"),
        (["--view", "runs", "--all", "-o", "out"], "--all is for logs: a view has every session anyway"),
        (["--view", "runs", "--format", "json", "--bom"], "--bom is for csv and tsv"),
        (["--view", "runs", "--session", "x", "autoresearch.jsonl"], "name the log, or use --session, not both"),
        (["--status", "keep", "autoresearch.jsonl"], "a log is exported whole: filters need --view or --format xlsx"),
        (["--bom", "autoresearch.jsonl"], "--bom is for csv and tsv"),
        (["--all"], "--all needs -o FOLDER"),
    ],
)
def test_what_does_not_go_together(words: list[str], reason: str, folder: Path):
    before = sorted(folder.iterdir())
    code, out, err = ledger(folder, "export", *words)
    assert (code, out) == (2, "") and err.endswith(f"Error: {reason}\n")
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--view", "lines", "--metric", "x"], "the view lines has no metric to filter by"),
        (["--view", "findings", "--metric", "x"], "the view findings has no metric to filter by"),
        (["--view", "runs", "--sort", "no"], "ledger runs has no column 'no'"),
        (["--view", "runs", "--session", "no"], "no session 'no' in the mirror"),
        (["--format", "xlsx", "--session", "no", "-o", "s.xlsx"], "no session 'no' in the mirror"),
        (["--format", "xlsx", "-o", "sub/"], "sub is a folder; name a file in it with -o"),
        (["--view", "runs", "-o", "."], " is a folder; name a file in it with -o"),
        (["--format", "xlsx", "gone.jsonl", "-o", "s.xlsx"], "gone.jsonl is not in the mirror"),
    ],
)
def test_what_cannot_be_done(words: list[str], reason: str, folder: Path):
    code, out, err = ledger(folder, "export", *words)
    assert (code, out) == (2, "") and err.startswith("ledger: ") and reason in err and err.count("\n") == 1
    assert not (folder / "s.xlsx").exists()


@pytest.mark.of_a_file
@pytest.mark.parametrize("words", [["--format", "xlsx"], ["--view", "runs", "--format", "csv"]])
def test_neither_logs_nor_the_mirror_are_replaced(words: list[str], folder: Path):
    for target, what in (("autoresearch.jsonl", "a mirrored log"), ("mirror.db", "the mirror itself")):
        before = (folder / target).read_bytes()
        assert ledger(folder, "export", *words, "-o", target) == (2, "", KEPT.format(target, what))
        assert (folder / target).read_bytes() == before
