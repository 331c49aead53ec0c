"""`export --format parquet`: the views' rows as other readers see them, added to, rewritten, interrupted, refused."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.base.errors import LedgerError
from ledger.base.times import iso
from ledger.exports.lake import manifest, parts
from ledger.exports.lake.file_names import NULL, Folders, is_ours
from ledger.exports.lake.layout import LAYOUTS, TYPES
from ledger.exports.lake.update import write
from ledger.mirror.queries import GROWING
from ledger.mirror.views import VIEWS
from tests.oracle import strategies
from tests.support import deciding
from tests.support.cli import HEADER, SAMPLES, SOUND, environment, ledger, lines, log, run
from tests.support.mirroring import Mirror, examples, mirror_at
from tests.support.mirroring import write as write_log
from tests.support.reading import DIALECTS

NAMES = [view.name for view in VIEWS]
STATE = {"type": "config", "schema_version": 1, "name": "s", "metric": "ms", "direction": "lower",
         "created_at": "2026-05-06T12:00:00Z"}  # fmt: skip


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Mirror]:
    with mirror_at(tmp_path / "mirror.db") as mirror:
        yield mirror


def export(mirror: Mirror, lake: Path, *views: str) -> None:
    assert tuple(write(mirror.raw, lake, views or NAMES)) == (views or tuple(NAMES))


def held(lake: Path, view: str) -> list[dict[str, Any]]:
    """Read a view's rows with pyarrow, times as the view has them."""
    key = LAYOUTS[view].key
    parting = ds.partitioning(pa.schema([(key, pa.string())]), flavor="hive") if key else None
    rows = ds.dataset(lake / view, format="parquet", partitioning=parting).to_table().to_pylist()
    return [{name: _shown(value) for name, value in row.items()} for row in rows]


def _shown(value: Any) -> Any:
    return iso(round(value.timestamp() * 1000)) if isinstance(value, datetime) else value


def counted(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> Counter[str]:
    return Counter(repr([row[name] for name in columns]) for row in rows)


def agree(mirror: Mirror, lake: Path) -> None:
    """Hold every view in the folder to what the mirror says."""
    names = {(row["path"], row["segment"]): row["metric_name"] for row in mirror.rows("segments")}
    for view in VIEWS:
        expected = mirror.rows(view.name)
        for row in expected:
            if view.name == "runs":
                row["metric_name"] = names[row["path"], row["segment"]]
            row |= {name: None for name in ("run", "first_run", "last_run", "best_run", "baseline_run")
                    if type(row.get(name)) is float}  # fmt: skip
            row |= {name: value.decode("utf-8", "backslashreplace") for name, value in row.items()
                    if isinstance(value, bytes)}  # fmt: skip
            row |= {name: float(row[name]) for name, kind in TYPES.items()
                    if kind == pa.float64() and row.get(name) is not None}  # fmt: skip
        columns = tuple(name for name in LAYOUTS[view.name].columns if name != "metric_exact")
        assert counted(held(lake, view.name), columns) == counted(expected, columns), view.name


def files(lake: Path) -> dict[str, tuple[bytes, int]]:
    """Give every data file with its bytes and when it was written."""
    return {
        path.relative_to(lake).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in lake.rglob("*.parquet")
    }


def growing(found: dict[str, tuple[bytes, int]]) -> dict[str, tuple[bytes, int]]:
    return {name: what for name, what in found.items() if name.split("/")[0] in GROWING}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder whose mirror holds all samples, and `lake` with what was exported of it."""
    folder = tmp_path_factory.mktemp("samples").resolve()
    for one in Path(shutil.copytree(SAMPLES, folder / "logs")).rglob("*.jsonl"):
        deciding.accept(one)
        deciding.note_repair(one)
    assert ledger(folder, "sync", "--quarantine", "logs").code == 0
    assert ledger(folder, "export", "--format", "parquet", "-o", "lake") == (0, "", "")
    return folder


def test_every_view_has_its_rows_and_types(samples: Path):
    with mirror_at(samples / "mirror.db") as mirror:
        agree(mirror, samples / "lake")
    for view, layout in LAYOUTS.items():
        schema = layout.schema
        for path in (samples / "lake" / view).rglob("*.parquet"):
            file = pq.ParquetFile(path)
            assert file.schema_arrow == schema
            assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    assert set(TYPES) <= {name for layout in LAYOUTS.values() for name in layout.columns}
    runs = LAYOUTS["runs"].schema
    assert {name: str(runs.field(name).type) for name in ("run", "metric", "at", "status", "metric_exact")} == {
        "run": "int64", "metric": "double", "at": "timestamp[ms, tz=UTC]", "status": "string", "metric_exact": "string",
    }  # fmt: skip


def test_other_readers_rank_alike(samples: Path):
    best = json.loads(ledger(samples, "best", "--format", "json").out)
    assert len({row["metric_name"] for row in best}) > 3
    glob = str(samples / "lake" / "{}" / "**" / "*.parquet")
    with duckdb.connect() as duck:
        for metric in {row["metric_name"] for row in best}:
            compared = json.loads(ledger(samples, "compare", "--metric", metric, "--format", "json").out)
            expected = [(row["rank"], row["path"], row["best"]) for row in compared]
            query = (
                "SELECT rank() OVER (ORDER BY CASE direction WHEN 'lower' THEN best ELSE -best END), path, best FROM ("
                "  SELECT path, direction, CASE direction WHEN 'lower' THEN min(metric) ELSE max(metric) END AS best"
                f" FROM read_parquet('{glob.format('best')}') WHERE metric_name = ? GROUP BY path, direction"
                ") ORDER BY 1, path"
            )
            assert duck.execute(query, [metric]).fetchall() == expected
            query = f"SELECT rank, path, best FROM read_parquet('{glob.format('compare')}') WHERE metric_name = ?"
            assert duck.execute(f"{query} ORDER BY rank, path", [metric]).fetchall() == expected
            frame = polars.scan_parquet(glob.format("best"), hive_partitioning=True)
            sign = 1 if compared[0]["direction"] == "lower" else -1
            ranked = (
                frame.filter(polars.col("metric_name") == metric)
                .group_by("path").agg((polars.col("metric") * sign).min().alias("best"))
                .with_columns(polars.col("best").rank("min").alias("rank")).sort("rank", "path").collect()
            )  # fmt: skip
            assert [(row["rank"], row["path"], row["best"] * sign) for row in ranked.to_dicts()] == expected
            sorted_ = json.loads(
                ledger(samples, "runs", "--metric", metric, "--sort", "metric", "--format", "json").out
            )
            wanted = [(row["path"], row["line"], row["metric"]) for row in sorted_]
            query = f"SELECT path, line, metric FROM read_parquet('{glob.format('runs')}') WHERE metric_name = ?"
            assert duck.execute(f"{query} ORDER BY metric, path, line", [metric]).fetchall() == wanted
            frame = polars.scan_parquet(glob.format("runs"), hive_partitioning=True)
            found = frame.filter(polars.col("metric_name") == metric).sort("metric", "path", "line").collect()
            assert list(found.select("path", "line", "metric").iter_rows()) == wanted


def test_nothing_new_touches_nothing(samples: Path):
    before = files(samples / "lake")
    assert ledger(samples, "export", "--format", "parquet", "-o", "lake/") == (0, "", "")
    assert files(samples / "lake") == before and len(before) > 30


def test_what_was_appended_gets_files_of_its_own(opened: Mirror, tmp_path: Path):
    lake, path, other = tmp_path / "lake", log(tmp_path), log(tmp_path, SOUND, "other.jsonl")
    opened.sync_many(path, other)
    export(opened, lake)
    before = files(lake)
    log(tmp_path, SOUND + lines(run(4, 80, metrics={"mem": 4}), {"type": "status", "state": "done"}))
    opened.sync(path)
    export(opened, lake)
    agree(opened, lake)
    after = files(lake)
    assert growing(before).items() <= growing(after).items()
    added = {name.split("/")[0]: pq.ParquetFile(lake / name).metadata.num_rows for name in after.keys() - before.keys()}
    assert added == {"runs": 1, "metrics": 1, "events": 1, "lines": 2}
    assert {name for name in before if after[name] != before[name]} == {
        f"{view}/metric_name=total_ms/part-all.parquet" for view in ("best", "compare", "sessions", "segments")
    } | {"findings/part-all.parquet"}


def test_one_view_at_a_time(opened: Mirror, tmp_path: Path):
    lake, path = tmp_path / "lake", log(tmp_path)
    opened.sync(path)
    export(opened, lake, "best")
    assert {name.split("/")[0] for name in files(lake)} == {"best"}
    export(opened, lake, "runs")
    log(tmp_path, SOUND + lines(run(4, 80)))
    opened.sync(path)
    export(opened, lake, "runs")
    assert [row["metric"] for row in held(lake, "best")] == [90] and len(held(lake, "runs")) == 4
    export(opened, lake)
    agree(opened, lake)


def test_rewritten_moved_and_forgotten_logs(opened: Mirror, tmp_path: Path):
    lake, path, other = tmp_path / "lake", log(tmp_path), log(tmp_path, SOUND, "other.jsonl")
    opened.sync_many(path, other)
    export(opened, lake)
    before = growing(files(lake))
    key = opened.session(other).key
    log(tmp_path, lines(HEADER | {"metricName": "x"}, run(1, 7)))
    opened.sync(path, replace=True)
    export(opened, lake)
    agree(opened, lake)
    after = growing(files(lake))
    assert {name: what for name, what in before.items() if key in name}.items() <= after.items()
    assert len([name for name in after if key not in name]) == 4 - 1, "no secondary metrics any more"
    path.rename(tmp_path / "moved.jsonl")
    opened.sync(tmp_path / "moved.jsonl")
    opened.forget(other)
    export(opened, lake)
    agree(opened, lake)
    assert {row["path"] for row in held(lake, "lines")} == {str(tmp_path / "moved.jsonl")}
    assert {row["metric_name"] for row in held(lake, "runs")} == {"x"}
    assert sorted(entry.name for entry in (lake / "runs").iterdir()) == ["metric_name=x"], "empty folders go"
    opened.forget(tmp_path / "moved.jsonl")
    export(opened, lake)
    agree(opened, lake)
    with duckdb.connect() as duck:
        for view in NAMES:
            found = duck.execute(f"SELECT * FROM read_parquet('{lake}/{view}/**/*.parquet')")
            assert {column[0] for column in found.description or ()} == set(LAYOUTS[view].columns), "still with columns"


def test_a_decision_changes_what_was_exported(opened: Mirror, tmp_path: Path):
    result = {"type": "result", "run": 1, "metric": "ms", "value": 5, "status": "measured",
              "timestamp": "2026-05-06T12:01:00Z", "description": "d"}  # fmt: skip
    path = log(tmp_path, lines(STATE, result))
    opened.sync(path)
    export(opened, tmp_path / "lake")
    decided = {"type": "decision", "run": 1, "action": "keep", "reason": "r", "timestamp": "2026-05-06T12:02:00Z"}
    log(tmp_path, lines(STATE, result, decided))
    opened.sync(path)
    export(opened, tmp_path / "lake")
    agree(opened, tmp_path / "lake")
    assert [row["status"] for row in held(tmp_path / "lake", "runs")] == ["keep"]


def test_rows_that_another_schema_derived_are_taken_anew(opened: Mirror, tmp_path: Path):
    lake = tmp_path / "lake"
    opened.sync(log(tmp_path))
    export(opened, lake)
    before = growing(files(lake))
    path = lake / manifest.NAME
    path.write_text(path.read_text("utf-8").replace('"revision":"', '"revision":"x'), "utf-8")
    export(opened, lake)
    agree(opened, lake)
    after = growing(files(lake))
    assert after.keys() == before.keys() and all(after[name][1] > before[name][1] for name in before)


def test_exact_numbers_and_runs_past_every_column(opened: Mirror, tmp_path: Path):
    long = b'{"run":18446744073709551616,"commit":"abc1234","metric":0.10000000000000000001,"status":"keep"}'
    path = log(tmp_path, lines(HEADER, run(1, 0.5), long))
    opened.sync(path)
    export(opened, tmp_path / "lake")
    agree(opened, tmp_path / "lake")
    rows = sorted(held(tmp_path / "lake", "runs"), key=lambda row: int(row["line"]))
    assert [(row["run"], row["metric"], row["metric_exact"]) for row in rows] == [
        (1, 0.5, None), (None, 0.1, "0.10000000000000000001"),
    ]  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@examples(6)
@given(data=st.data())
def test_grown_in_steps_is_what_the_mirror_says(
    tmp_path_factory: pytest.TempPathFactory, dialect: str, data: st.DataObject
) -> None:
    tmp_path = tmp_path_factory.mktemp("steps").resolve()
    whole, run_json = data.draw(strategies.logs(dialect))
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=3))
    path = write_log(tmp_path, "grown", b"", run_json)
    with mirror_at(tmp_path / "mirror.db") as mirror:
        for cut in sorted({*cuts, len(whole)}):
            path.write_bytes(whole[:cut])
            mirror.sync(path, quarantine=True)
            export(mirror, tmp_path / "lake")
            agree(mirror, tmp_path / "lake")


HOSTILE = [
    "..", ".", "a/b", "µ", "nul\0x", "x" * 400, "é" * 90, "Foo", "foo", "fOO", NULL, "a=b", "100%", "%2F", "~", "a ",
    "123", "C:\\x", "\u202e", "end.",
]  # fmt: skip


def test_hostile_names_of_metrics(opened: Mirror, tmp_path: Path):
    header = HEADER | {"metricName": "../../x"}
    path = log(tmp_path, lines(header, run(1, 1, metrics={name: place for place, name in enumerate(HOSTILE)})))
    opened.sync(path)
    lake = tmp_path / "lake"
    export(opened, lake)
    found = {row["value"]: row["name"] for row in held(lake, "metrics")}
    long = {place for place, name in enumerate(HOSTILE) if len(name) > 80 or name == NULL}
    assert {place: name for place, name in found.items() if place not in long} == {
        place: name for place, name in enumerate(HOSTILE) if place not in long
    }
    assert all(found[place].startswith(HOSTILE[int(place)][:10]) for place in long) and len(found) == len(HOSTILE)
    with duckdb.connect() as duck:
        rows = duck.execute(f"SELECT value, name FROM read_parquet('{lake}/metrics/**/*.parquet')").fetchall()
        assert dict(rows) == found
    names = [entry.name for entry in (lake / "metrics").iterdir()]
    assert len({name.casefold() for name in names}) == len(names) == len(HOSTILE)
    assert all(
        name.isascii() and name.isprintable() and len(name) < 255 and not name.endswith((".", " ")) for name in names
    )
    shelf = json.loads((lake / manifest.NAME).read_text("utf-8"))["views"]["metrics"]
    assert sorted(shelf["folders"].values()) == sorted(HOSTILE), "the whole names stand there"
    assert [row["metric_name"] for row in held(lake, "runs")] == ["../../x"]
    before = files(lake)
    export(opened, lake)
    assert files(lake) == before


@given(values=st.lists(st.one_of(st.none(), st.text(max_size=6), st.sampled_from(HOSTILE)), unique=True, max_size=8))
def test_folders_differ_whatever_the_values(values: list[str | None]) -> None:
    first = Folders("name", {})
    half = [first.of(value) for value in values[:4]]
    both = Folders("name", first.names())
    made = [both.of(value) for value in values]
    assert made[:4] == half and len({name.casefold() for name in made}) == len(made)
    assert all(is_ours(f"metrics/{name}/part-ab12-1-0123abcd.parquet", frozenset(["metrics"])) for name in made)


DYING = """
import os, sys
from ledger.exports.lake import parts, manifest
from ledger.cli import main
left = int(sys.argv.pop(1))
def dying(real):
    def call(*arguments):
        global left
        left -= 1
        if not left:
            os._exit(9)
        return real(*arguments)
    return call
parts.Staged.settle = dying(parts.Staged.settle)
parts._write = dying(parts._write)
manifest.save = dying(manifest.save)
manifest.remove = dying(manifest.remove)
main()
"""


def test_killed_anywhere_it_stays_readable_and_the_next_completes(tmp_path: Path):
    path = log(tmp_path)
    log(tmp_path, SOUND, "other.jsonl")
    assert ledger(tmp_path, "sync", "autoresearch.jsonl", "other.jsonl").code == 0
    words = ("export", "--format", "parquet", "-o", "lake")
    died = 0
    for step in (*range(1, 30, 4), 40, 60, 80):
        path.write_bytes(SOUND + lines(*(run(4 + more, 80 + step) for more in range(step % 4 + 1))))
        assert ledger(tmp_path, "sync", "--replace", "autoresearch.jsonl").code == 0
        done = subprocess.run(
            [sys.executable, "-c", DYING, str(step), *words], cwd=tmp_path, env=environment(tmp_path),
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 9), done.stderr
        died += done.returncode == 9
        for file in (tmp_path / "lake").rglob("*.parquet"):
            pq.ParquetFile(file).read()
        assert ledger(tmp_path, *words) == (0, "", "")
        with mirror_at(tmp_path / "mirror.db") as mirror:
            agree(mirror, tmp_path / "lake")
        assert not [file for file in (tmp_path / "lake").rglob("*") if file.suffix == ".tmp"]
    assert died > 5


def test_an_error_leaves_no_half_file(opened: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    opened.sync(log(tmp_path))
    monkeypatch.setattr(parts, "_chunks", lambda rows: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        export(opened, tmp_path / "lake")
    assert sorted(file.name for file in (tmp_path / "lake").rglob("*") if file.is_file()) == [
        manifest.NAME,
        manifest.LOCK,
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"files": ["../precious.parquet"]},
        {"files": ["best/../../precious.parquet"]},
        {"files": [1]},
        {"folders": [1]},
        {
            "sessions": {
                "a": dict.fromkeys(manifest.SessionFiles._fields, "") | {"files": ["runs/../../precious.parquet"]}
            }
        },
    ],
)
def test_what_is_written_down_names_nothing_outside(opened: Mirror, tmp_path: Path, changes: dict[str, Any]):
    lake, precious = tmp_path / "lake", tmp_path / "precious.parquet"
    opened.sync(log(tmp_path))
    export(opened, lake)
    precious.write_text("mine")
    held = json.loads((lake / manifest.NAME).read_text())
    held["views"]["best"] |= changes
    (lake / manifest.NAME).write_text(json.dumps(held))
    with pytest.raises(LedgerError, match="is damaged"):
        export(opened, lake)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda lake: (lake / "notes.txt").write_text("mine"), "notes.txt is of no export"),
        (lambda lake: (lake / "runs" / "mine.parquet").write_text("mine"), "mine.parquet is of no export"),
        (lambda lake: (lake / "runs" / "metric_name=total_ms" / "a" / "b").mkdir(parents=True), ""),
        (lambda lake: (lake / "best" / "link").symlink_to(lake.parent), "link is of no export"),
        (lambda lake: (lake / manifest.NAME).write_text("{}"), "is damaged"),
        (lambda lake: (lake / manifest.NAME).write_text('{"version": 99, "views": {}}'), "another version"),
        (lambda lake: (lake / manifest.NAME).unlink(), "holds other things than an export"),
    ],
)
def test_what_is_of_others_stays(opened: Mirror, tmp_path: Path, make: Any, reason: str):
    lake, path = tmp_path / "lake", log(tmp_path)
    opened.sync(path)
    export(opened, lake)
    opened.forget(path)
    make(lake)
    before = {file: file.read_bytes() for file in lake.rglob("*") if file.is_file()}
    if reason:
        with pytest.raises(LedgerError, match=reason):
            export(opened, lake)
        assert {file: file.read_bytes() for file in lake.rglob("*") if file.is_file()} == before
    else:
        export(opened, lake)


def test_folders_that_are_not_for_it(opened: Mirror, tmp_path: Path):
    opened.sync(log(tmp_path))
    with pytest.raises(LedgerError, match="holds other things than an export"):
        export(opened, tmp_path)
    assert not (tmp_path / manifest.LOCK).exists()
    with pytest.raises(LedgerError, match="is no folder"):
        export(opened, tmp_path / "autoresearch.jsonl")
    first = write(opened.raw, tmp_path / "lake", NAMES)
    next(first)
    with pytest.raises(LedgerError, match="another export is writing"):
        export(opened, tmp_path / "lake")
    first.close()  # type: ignore[attr-defined]
    export(opened, tmp_path / "lake")
    agree(opened, tmp_path / "lake")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "parquet needs -o FOLDER"),
        (["-o", "lake", "--all"], "--all is for logs: parquet has every session anyway"),
        (["-o", "lake", "autoresearch.jsonl"], "parquet is of whole views: only --view narrows it"),
        (["-o", "lake", "--limit", "3"], "parquet is of whole views: only --view narrows it"),
        (["-o", "lake", "--bom"], "--bom is for csv and tsv"),
    ],
)
def test_what_does_not_go_together(words: list[str], reason: str, samples: Path):
    code, out, err = ledger(samples, "export", "--format", "parquet", *words)
    assert (code, out) == (2, "") and err.endswith(f"Error: {reason}\n")


def test_without_a_mirror_nothing_is_written(tmp_path: Path):
    code, out, err = ledger(tmp_path, "export", "--format", "parquet", "-o", "lake")
    assert (code, out) == (0, "") and err.startswith("note: there is no mirror at")
    assert not (tmp_path / "lake").exists()


def test_without_the_extra_one_sentence_says_so(samples: Path, tmp_path: Path):
    code = "import sys; sys.modules['pyarrow'] = None\nfrom ledger.cli import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", code, "export", "--format", "parquet", "-o", tmp_path / "lake"], cwd=samples,
        env=environment(samples), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    told = "ledger: parquet needs its extra: pip install 'autoresearch-ledger[parquet]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    assert not (tmp_path / "lake").exists()


def test_rows_are_taken_in_groups(tmp_path: Path, opened: Mirror, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parts, "_CHUNK_ROWS", 10)
    monkeypatch.setattr(parts, "GROUP_ROWS", 40)
    opened.sync(log(tmp_path, lines(HEADER, *(run(number, number) for number in range(1, 102)))))
    export(opened, tmp_path / "lake")
    agree(opened, tmp_path / "lake")
    (file,) = (tmp_path / "lake" / "runs").rglob("*.parquet")
    groups = pq.ParquetFile(file).metadata
    assert [groups.row_group(place).num_rows for place in range(groups.num_row_groups)] == [40, 40, 21]
