"""`sync`, `verify`, `export`, `forget` and `db`, as processes: stdout, stderr and exit status apart."""

import hashlib
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.support.cli import BAD, HEADER, SAMPLES, SOUND, ledger, lines, log, run

pytestmark = pytest.mark.usefixtures("each_mirror")

NONE_YET = "ledger: there is no mirror at {}/mirror.db yet; run ledger sync\n"
TORN = b'{"run":4,"met'


def synced(status: str, count: int, runs: int, name: str = "autoresearch.jsonl") -> str:
    return f"{status:<9} {count:>7} lines {runs:>7} runs  {name}\n"


def sessions(folder: Path) -> list[dict[str, object]]:
    return list(json.loads(ledger(folder, "sessions", "--format", "json").out))


def mirrored(folder: Path, data: bytes = SOUND) -> Path:
    """Sync a log, and give its path."""
    path = log(folder, data)
    assert ledger(folder, "sync", path).code == 0
    return path


def test_sync_new_grown_unchanged(tmp_path: Path):
    path = log(tmp_path)
    assert ledger(tmp_path, "sync", "autoresearch.jsonl") == (0, synced("new", 4, 3), "")
    assert ledger(tmp_path, "sync") == (0, synced("unchanged", 4, 3), "")
    log(tmp_path, SOUND + lines(run(4, 80, metrics={"mem": 5})))
    assert ledger(tmp_path, "sync", ".") == (0, synced("grown", 5, 4), "")
    path = path.rename(tmp_path / "elsewhere.jsonl")
    assert ledger(tmp_path, "sync", "elsewhere.jsonl") == (0, synced("moved", 5, 4, "elsewhere.jsonl"), "")
    assert [one["path"] for one in sessions(tmp_path)] == [str(path.resolve())]


def test_a_log_with_errors_is_refused_and_others_sync(tmp_path: Path):
    log(tmp_path, BAD, "a/autoresearch.jsonl")
    good = log(tmp_path, SOUND, "b/autoresearch.jsonl")
    code, out, err = ledger(tmp_path, "sync", ".")
    assert code == 1
    assert out.splitlines()[0].startswith("refused ") and out.endswith(synced("new", 4, 3, "b/autoresearch.jsonl"))
    assert err == (
        "a/autoresearch.jsonl:3:19: L106 NaN is no JSON number\n"
        "refused: a/autoresearch.jsonl: it has errors; see ledger check, or use --quarantine to mirror it anyway\n"
    )
    assert [one["path"] for one in sessions(tmp_path)] == [str(good.resolve())]


def test_quarantine(tmp_path: Path):
    path = log(tmp_path, BAD)
    code, out, err = ledger(tmp_path, "sync", "--quarantine", ".")
    assert (code, out, err) == (0, synced("new", 3, 1)[:-1] + "  (quarantined)\n", "")
    assert ledger(tmp_path, "export", path).out.encode() == BAD
    assert ledger(tmp_path, "verify", path)[::2] == (0, "")
    assert [one["errors"] for one in sessions(tmp_path)] == [1]


def test_a_torn_tail_waits(tmp_path: Path):
    path = log(tmp_path, SOUND + TORN)
    warning = f"warning: {path.name}: 13 bytes of an unfinished last line wait for the next sync\n"
    assert ledger(tmp_path, "sync", path) == (0, synced("new", 4, 3), warning)
    code, out, err = ledger(tmp_path, "verify", path)
    assert (code, err) == (0, "")
    assert out.endswith("  (13 bytes wait for the next sync)\n")
    proof = json.loads(ledger(tmp_path, "verify", "--format", "json", path).out)["logs"][0]
    assert (proof["ok"], proof["pending_bytes"]) == (True, 13)


def test_a_rewritten_log_needs_replace(tmp_path: Path):
    path = mirrored(tmp_path)
    log(tmp_path, SOUND.replace(b"104.5", b"104.6"))
    code, out, err = ledger(tmp_path, "sync", path)
    assert code == 1
    assert out.startswith("refused ")
    assert err.endswith("its mirrored lines were rewritten: line 3 differs; use --replace to take the new content\n")
    code, out, err = ledger(tmp_path, "verify", path)
    assert (code, err) == (1, "")
    assert out == f"differs   {4:>7} lines  {path.name}  (bytes differ from line 3 on)\n"
    assert ledger(tmp_path, "sync", "--replace", path) == (0, synced("replaced", 4, 3), "")
    assert ledger(tmp_path, "verify", path).code == 0


def test_a_log_that_is_gone_stays(tmp_path: Path):
    path = mirrored(tmp_path)
    path.unlink()
    assert ledger(tmp_path, "sync", path) == (0, "", f"gone: {path.name} is kept in the mirror\n")
    assert ledger(tmp_path, "export", path) == (0, SOUND.decode(), "")
    code, out, err = ledger(tmp_path, "verify", "--all")
    assert (code, err) == (0, "")
    assert out.endswith("  (the file is gone; compared with the last sync)\n")


def test_sync_what_is_not_there(tmp_path: Path):
    path = log(tmp_path)
    reason = "ledger: cannot read no.jsonl: no such file or folder\n"
    assert ledger(tmp_path, "sync", "no.jsonl", path) == (2, synced("new", 4, 3), reason)
    assert ledger(tmp_path, "sync", "no.jsonl") == (2, "", reason)
    (tmp_path / "empty").mkdir()
    code, out, err = ledger(tmp_path, "sync", "empty")
    assert (code, out, err[:26]) == (2, "", "ledger: no log in empty: l")
    code, out, err = ledger(tmp_path / "empty", "sync")
    assert (code, out, err[:26]) == (2, "", "ledger: No active session ")
    code, out, err = ledger(tmp_path, "sync", "-", stdin=SOUND)
    assert (code, out) == (2, "")
    assert err.endswith("Error: sync mirrors files; standard input has no place to come back to\n")


def test_the_mirror_is_where_the_option_says(tmp_path: Path):
    path = log(tmp_path)
    assert ledger(tmp_path, "sync", path, "--db", "deep/er/m.db").code == 0
    assert (tmp_path / "deep/er/m.db").is_file() and not (tmp_path / "mirror.db").exists()
    where = tmp_path.resolve() / "deep/er/m.db"
    assert ledger(tmp_path, "db", "path", "--db", f"sqlite:///{where}") == (0, f"{where}\n", "")
    assert ledger(tmp_path, "sessions", "--db", f"sqlite:///{where}", "--format", "jsonl").out.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="the user's data folder is elsewhere")
def test_the_mirrors_own_place(tmp_path: Path):
    code, out, err = ledger(tmp_path, "db", "path", LEDGER_DB="", XDG_DATA_HOME=str(tmp_path / "data"))
    assert (code, err) == (0, "")
    assert out.endswith("/ledger/mirror.db\n")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        (
            "text.db",
            b"no database, but long enough to be taken for one\n" * 40,
            "is no SQLite database, or a damaged one",
        ),
        ("folder/", b"", "/folder "),
        ("mysql://x/y", None, "a mirror is kept in SQLite or PostgreSQL, and mysql is neither"),
        (":memory:", None, "the mirror must be a file: give --db a path"),
    ],
)
def test_what_is_no_mirror(name: str, data: bytes | None, reason: str, tmp_path: Path):
    path = log(tmp_path)
    if data:
        log(tmp_path, data, name)
    elif data is not None:
        (tmp_path / name).mkdir()
    for arguments in (("sync", path), ("sessions",), ("db", "info")):
        code, out, err = ledger(tmp_path, *arguments, "--db", name)
        assert (code, out) == (2, "")
        assert reason in err and err.startswith("ledger: ") and err.count("\n") == 1
    assert not data or (tmp_path / name).read_bytes() == data


def test_another_database_is_left_alone(tmp_path: Path):
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE t (a)")
    other.close()
    before = (tmp_path / "other.db").read_bytes()
    for arguments in (("sync", log(tmp_path)), ("runs",), ("db", "upgrade")):
        code, out, err = ledger(tmp_path, *arguments, "--db", "other.db")
        assert (code, out) == (2, "")
        assert err.endswith("other.db is a database, but no mirror of ledger; name another with --db\n")
    assert (tmp_path / "other.db").read_bytes() == before


def test_verify_json(tmp_path: Path):
    path = mirrored(tmp_path)
    code, out, err = ledger(tmp_path, "verify", "--format", "json", path)
    digest = hashlib.sha256(SOUND).hexdigest()
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "logs": [
            {
                "path": str(path.resolve()), "ok": True, "bytes": True, "values": True, "sha256_source": digest,
                "sha256_export": digest, "lines": 4, "pending_bytes": 0, "first_difference": None,
            }
        ]
    }  # fmt: skip


@pytest.mark.of_a_file
def test_verify_finds_a_wrong_value(tmp_path: Path):
    path = mirrored(tmp_path)
    with sqlite3.connect(tmp_path / "mirror.db") as mirror:
        mirror.execute("UPDATE run SET metric = 91 WHERE metric = 90")
    mirror.close()
    expected = f"differs   {4:>7} lines  {path.name}  (values differ from line 4 on)\n"
    assert ledger(tmp_path, "verify", "--all") == (1, expected, "")


@pytest.mark.of_a_file
@pytest.mark.parametrize("command", ["verify", "export", "forget"])
def test_what_is_not_mirrored(command: str, tmp_path: Path):
    path = log(tmp_path)
    assert ledger(tmp_path, command, path) == (2, "", NONE_YET.format(tmp_path))
    mirrored(tmp_path)
    reason = "ledger: no.jsonl is not in the mirror; run ledger sync no.jsonl\n"
    assert ledger(tmp_path, command, "no.jsonl") == (2, "", reason)


def test_export(tmp_path: Path):
    path = mirrored(tmp_path, lines(b'{"type": "config", "name": "\\u00e9", "metricName":"m","bestDirection":"lower"}'))
    data = path.read_bytes()
    assert ledger(tmp_path, "export") == (0, data.decode(), "")
    assert ledger(tmp_path, "export", path, "--format", "jsonl", "-o", "new/out.jsonl") == (0, "", "")
    assert ledger(tmp_path, "export", path, "-o", "folder/") == (0, "", "")
    assert (tmp_path / "new/out.jsonl").read_bytes() == (tmp_path / "folder/autoresearch.jsonl").read_bytes() == data
    assert ledger(tmp_path, "export", str(sessions(tmp_path)[0]["session"])).out == data.decode()
    assert ledger(tmp_path, "export", "é").out == data.decode()


def test_export_all(tmp_path: Path):
    shutil.copytree(SAMPLES, tmp_path / "samples")
    assert ledger(tmp_path, "sync", "samples", "--quarantine").code == 0
    assert ledger(tmp_path, "export", "--all", "-o", "out") == (0, "", "")
    there = {path.relative_to(tmp_path / "samples") for path in (tmp_path / "samples").rglob("*.json*")}
    copies = {Path(*path.relative_to(tmp_path / "out").parts[1:]): path for path in (tmp_path / "out").rglob("*.json*")}
    assert set(copies) == there and len(there) == 7
    assert all(path.read_bytes() == (tmp_path / "samples" / name).read_bytes() for name, path in copies.items())
    assert {path.parent.name for path in (tmp_path / "out").glob("*/*")} == {
        one["session"] for one in sessions(tmp_path)
    }


def test_export_codex_with_its_run_json(tmp_path: Path):
    folder = tmp_path / "autoresearch-results"
    shutil.copytree(SAMPLES / "table-reader/autoresearch-results", folder)
    assert ledger(tmp_path, "sync", folder / "run.json").code == 0
    assert ledger(tmp_path, "export", folder, "-o", "out/") == (0, "", "")
    for name in ("run.json", "events.jsonl"):
        assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.of_a_file
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--all",), "Error: --all needs -o FOLDER\n"),
        (("autoresearch.jsonl", "--all", "-o", "x"), "Error: name logs, or use --all, not both\n"),
        ((".",), "Error: . means 2 sessions; name one, or use --all\n"),
        (("autoresearch.jsonl", "-o", "mirror.db/x"), "mirror.db/x: what should be its folder is a file\n"),
        (("--all", "-o", "mirror.db"), "/autoresearch.jsonl: what should be its folder is a file\n"),
        (("--format", "xml"), "'xml' is not one of 'jsonl', 'xlsx', 'json', 'csv', 'tsv', 'markdown', 'parquet'.\n"),
    ],
)
def test_export_refuses(arguments: tuple[str, ...], reason: str, tmp_path: Path):
    log(tmp_path, SOUND, "b/autoresearch.jsonl")
    log(tmp_path)
    ledger(tmp_path, "sync", ".")
    code, out, err = ledger(tmp_path, "export", *arguments)
    assert (code, out) == (2, "")
    assert err.endswith(reason)


def test_forget(tmp_path: Path):
    path = mirrored(tmp_path)
    question = f"Drop {path.name} from the mirror? [y/N]: "
    assert ledger(tmp_path, "forget", path, stdin=b"n\n") == (0, "", question + "nothing was dropped\n")
    code, out, err = ledger(tmp_path, "forget", path)
    assert (code, out) == (2, "") and err.endswith("ledger: nobody answered; use --yes to do it without asking\n")
    assert len(sessions(tmp_path)) == 1
    assert ledger(tmp_path, "forget", path, stdin=b"y\n") == (0, f"forgotten {path.name}\n", question)
    assert sessions(tmp_path) == [] and path.exists()
    mirrored(tmp_path)
    assert ledger(tmp_path, "forget", "--yes", "speed") == (0, f"forgotten {path.name}\n", "")


@pytest.mark.of_a_file
def test_db_info(tmp_path: Path):
    where = tmp_path / "mirror.db"
    expected = f"mirror      {where}\n            does not exist yet; ledger sync makes it\n"
    assert ledger(tmp_path, "db", "info") == (0, expected, "")
    mirrored(tmp_path)
    code, out, err = ledger(tmp_path, "db", "info")
    assert (code, err) == (0, "")
    shown = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert shown.pop("mirror") == str(where) and shown.pop("schema").isdigit()
    assert shown.pop("size") == f"{where.stat().st_size:,} bytes"
    assert shown == {
        "sessions": "1", "gone": "0", "quarantined": "0", "segments": "1", "lines": "4", "runs": "3",
        "bytes": str(len(SOUND)),
    }  # fmt: skip


@pytest.mark.of_a_file
def test_db_upgrade_makes_a_mirror(tmp_path: Path):
    code, out, err = ledger(tmp_path, "db", "upgrade")
    assert (code, err) == (0, "")
    assert out.startswith(f"{tmp_path}/mirror.db has schema ")
    assert sessions(tmp_path) == []


@pytest.mark.of_a_file
def test_db_rebuild_needs_no_file(tmp_path: Path):
    assert ledger(tmp_path, "db", "rebuild") == (2, "", NONE_YET.format(tmp_path))
    path = mirrored(tmp_path)
    before = ledger(tmp_path, "runs", "--format", "csv").out
    path.unlink()
    assert ledger(tmp_path, "db", "rebuild") == (0, "rebuilt 1 sessions\n", "")
    assert ledger(tmp_path, "runs", "--format", "csv").out == before


@pytest.mark.of_a_file
def test_db_backup(tmp_path: Path):
    assert ledger(tmp_path, "db", "backup", "-o", "copy.db") == (2, "", NONE_YET.format(tmp_path))
    mirrored(tmp_path)
    assert ledger(tmp_path, "db", "backup", "-o", "deep/copy.db") == (0, "wrote deep/copy.db\n", "")
    assert ledger(tmp_path, "db", "backup", "-o", "deep/copy.db").code == 0
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["copy.db"]
    copied = ledger(tmp_path, "runs", "--format", "csv", "--db", "deep/copy.db")
    assert copied == ledger(tmp_path, "runs", "--format", "csv") and copied.code == 0


@pytest.mark.of_a_file
@pytest.mark.parametrize(
    ("target", "what"),
    [(".", "a folder"), ("mirror.db", "the mirror itself"), ("autoresearch.jsonl", "a mirrored log")],
)
def test_db_backup_refuses(target: str, what: str, tmp_path: Path):
    mirrored(tmp_path)
    code, out, err = ledger(tmp_path, "db", "backup", "-o", target)
    assert (code, out) == (2, "")
    assert f"{target} is {what}; name a" in err
    assert ledger(tmp_path, "db", "backup").code == 2
    assert len(sessions(tmp_path)) == 1


def test_the_header_alone_is_a_session(tmp_path: Path):
    mirrored(tmp_path, lines(HEADER))
    assert [(one["runs"], one["best"]) for one in sessions(tmp_path)] == [(0, None)]
