"""A mirror on a PostgreSQL server: many at once, other machines and clones, servers that die, no password shown."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.base.errors import LedgerError
from ledger.base.paths import for_others, without_password
from ledger.mirror import adhoc, engine, origin, queries, schema, store
from ledger.mirror import postgres as postgres_module
from ledger.mirror.engine import open_reader
from ledger.mirror.location import mirror_location, show
from ledger.mirror.queries import Filters
from ledger.mirror.raw import driver
from ledger.mirror.views import VIEWS, by_name
from tests.support import cli, deciding, postgres
from tests.support.mirroring import Mirror, mirror_at

CANARY = "s3cr3t-canary/%40x"


@pytest.fixture
def url(server: postgres.Postgres) -> str:
    return server.database()


@pytest.fixture
def mirror(url: str) -> Iterator[Mirror]:
    with mirror_at(mirror_location(url)) as opened:
        yield opened


def ran(folder: Path, url: str, *arguments: object) -> cli.Result:
    return cli.ledger(folder, *arguments, LEDGER_DB=url)


def at_work(folder: Path, url: str, *arguments: str) -> subprocess.Popen[bytes]:
    env = cli.environment(folder, LEDGER_DB=url)
    return subprocess.Popen(
        [*cli.COMMAND, *arguments], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def on_machine(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: name)
    origin.this_host.cache_clear()
    origin._remote.cache_clear()


@pytest.fixture(autouse=True)
def own_name() -> Iterator[None]:
    yield
    origin.this_host.cache_clear()
    origin._remote.cache_clear()


def test_the_same_answers_as_from_a_file(tmp_path: Path, url: str) -> None:
    logs = sorted(path.resolve() for path in cli.SAMPLES.rglob("*.jsonl"))
    found = []
    for place in (tmp_path / "mirror.db", mirror_location(url)):
        with mirror_at(place) as mirror:
            for log in logs:
                mirror.sync(log, quarantine=True)
            rows = {view.name: repr(mirror.rows(view.name)) for view in VIEWS}
            sorts = {
                (view.name, sort): repr(mirror.rows(view.name, sort=(sort,)))
                for view in VIEWS
                for sort in (*view.columns, *(f"-{name}" for name in view.columns))
            }
            wide = queries.widen(mirror.raw, by_name("runs"), iter(mirror.raw.execute("SELECT * FROM runs")), Filters())
            metrics = [list(queries.run_metrics(mirror.raw, Filters())), queries.exact_metrics(mirror.raw, Filters())]
            found.append(
                (rows, sorts, wide[0], sorted(map(repr, wide[1])), metrics, [mirror.export(log) for log in logs])
            )
    assert found[0] == found[1]
    for words in ("sessions", "runs --wide", "export --all -o all", "export --format xlsx -o book.xlsx"):
        done = []
        for folder, address in (("file", str(tmp_path / "mirror.db")), ("server", url)):
            (tmp_path / folder).mkdir(exist_ok=True)
            done.append(ran(tmp_path / folder, address, *words.split()))
        assert done[0] == done[1] and done[0].code == 0
    ours, theirs = (sorted(path.name for path in (tmp_path / one).rglob("*")) for one in ("file", "server"))
    assert ours == theirs


def test_text_that_a_server_cannot_hold_comes_back_as_it_was(mirror: Mirror, tmp_path: Path) -> None:
    texts = ["a\0b", "\x01", "\x01\x01", "\x01\x02\0", "\0", "\x02", "z\\\t\n\r", "\\N", "é\u2028😀"]
    header = {**cli.HEADER, "name": "n\0\x01", "metricName": "m\0"}
    records = [cli.run(place, place, description=text, metrics={text: 1}) for place, text in enumerate(texts, 1)]
    log = cli.log(tmp_path.resolve(), cli.lines(header, *records))
    assert mirror.sync(log, quarantine=True).status == "new"
    assert [row["description"] for row in mirror.rows("runs")] == texts
    assert [row["description"] for row in mirror.rows("runs", sort=("description",))] == sorted(texts)
    assert {row["name"] for row in mirror.rows("metrics")} == set(texts)
    assert mirror.rows("sessions")[0]["metric_name"] == "m\0"
    assert len(mirror.rows("runs", metric="m\0")) == len(texts) and mirror.verify(log).ok


def test_numbers_past_what_integers_hold_are_what_sqlite_makes_of_them(mirror: Mirror, tmp_path: Path) -> None:
    numbers = [1, 9999, 10_000, 123_456_789, 2**63 - 1, 2**63, 10**25]
    log = cli.log(tmp_path.resolve(), cli.lines(cli.HEADER, *(cli.run(number, -0.0) for number in numbers)))
    found = []
    with mirror_at(tmp_path / "mirror.db") as file:
        for one in (mirror, file):
            one.sync(log, quarantine=True)
            found.append([(repr(row["run"]), repr(row["metric"])) for row in one.rows("runs")])
            assert one.verify(log).ok
    assert found[0] == found[1]


def test_eight_at_once_lose_and_double_nothing(tmp_path: Path, server: postgres.Postgres) -> None:
    """Sync 200 logs from eight processes, which also make the schema at the same moment."""
    url, folder = server.database(filled=False), tmp_path.resolve()
    for number in range(200):
        records = (cli.run(run, run, metrics={f"m{number % 7}": run, f"n{run % 3}": 1}) for run in range(1, 8))
        cli.log(folder, cli.lines({**cli.HEADER, "name": f"log {number}"}, *records), f"{number}/autoresearch.jsonl")
    started = [at_work(folder, url, "sync", ".") for _ in range(8)]
    said = [process.communicate(timeout=200) for process in started]
    assert [(process.returncode, err) for process, (_, err) in zip(started, said, strict=True)] == [(0, b"")] * 8
    assert sum(out.count(b"new ") for out, _ in said) == 200
    assert sum(out.count(b"unchanged ") for out, _ in said) == 7 * 200
    with mirror_at(mirror_location(url)) as mirror:
        counts = [
            mirror.raw.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("session", "segment", "run", "run_metric", "segment_stat", "block", "metric_name")
        ]
    assert counts == [200, 200, 1400, 2800, 200, 200, 10]
    assert ran(folder, url, "verify", "--all").code == 0


def clone(folder: Path, *words: object) -> None:
    env = {"GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(folder), "PATH": os.environ["PATH"]}
    subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=a@b", *map(str, words)],
        cwd=folder,
        env=env,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """Give a log in two clones of a repository."""
    folder = tmp_path.resolve()
    clone(folder, "init", "--bare", "-b", "main", "origin.git")
    for name in ("one", "two"):
        clone(folder, "clone", "origin.git", name)
    return cli.log(folder / "one" / "exp"), cli.log(folder / "two" / "exp")


def test_two_clones_of_a_branch_are_one_log(
    mirror: Mirror, clones: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = clones
    assert mirror.sync(one).status == "new"
    assert mirror.sync(two).status == "unchanged"
    two.write_bytes(cli.SOUND + cli.lines(cli.run(4, 80)))
    assert mirror.sync(two).status == "grown"
    assert mirror.sync(one).status == "unchanged"  # it is behind
    assert len(mirror.rows("sessions")) == 1 and mirror.rows("sessions")[0]["runs"] == 4
    assert mirror.rows("runs", one) == mirror.rows("runs", two) != []
    one.write_bytes(cli.SOUND + cli.lines(cli.run(4, 70), cli.run(5, 60)))
    assert mirror.sync(one).status == "new"  # it went another way
    rows = mirror.rows("sessions")
    assert sorted(row["path"] for row in rows) == [str(one), str(two)] and len({row["session"] for row in rows}) == 2
    assert [row["runs"] for row in mirror.rows("sessions", one)] == [5]
    assert mirror.verify(one).ok and mirror.verify(two).ok
    two.write_bytes(cli.SOUND)
    assert mirror.sync(two).refused  # rewritten where it was mirrored from
    monkeypatch.chdir(one.parent)
    assert mirror.rows("sessions", sessions=("autoresearch.jsonl",))[0]["path"] == str(one)


def test_what_means_sessions_of_many_clones_drops_none_unasked(
    url: str, clones: tuple[Path, Path], tmp_path: Path
) -> None:
    clone(tmp_path.resolve(), "clone", "origin.git", "three")
    three = cli.log(tmp_path.resolve() / "three" / "exp", cli.SOUND)
    for place, log in enumerate(clones):
        log.write_bytes(cli.SOUND + cli.lines(cli.run(4, 80 + place)))
        assert ran(tmp_path, url, "sync", log).out.startswith("new ")
    assert ran(tmp_path, url, "sync", three).out.startswith("unchanged ")
    code, out, err = ran(tmp_path, url, "forget", three, "--yes")
    assert (code, out) == (2, "") and "means 2 sessions; name one" in err
    assert ran(tmp_path, url, "forget", clones[1], "--yes").code == 0
    assert ran(tmp_path, url, "forget", three, "--yes").code == 0  # it means one by now


@pytest.mark.parametrize(
    "remote",
    ["https://ada:{}@Example.org/team/exp.git", "git@example.org:team/exp.git", "ssh://git@example.org:22/team/exp/",
     "https://example.org/team/exp?token={}", "git://example.org/team//exp.git"],
)  # fmt: skip
def test_a_remote_has_one_name_and_no_password(remote: str, tmp_path: Path) -> None:
    clone(tmp_path, "init")
    clone(tmp_path, "remote", "add", "other", "https://elsewhere.example/x")
    clone(tmp_path, "remote", "add", "origin", remote.format("hunter2"))
    assert origin.origin_of(tmp_path.resolve() / "a" / "log.jsonl") == "example.org/team/exp:a/log.jsonl"


def test_a_partial_clone_is_of_the_same_remote(tmp_path: Path) -> None:
    clone(tmp_path, "init")
    clone(tmp_path, "remote", "add", "origin", "https://example.org/team/exp [old].git")
    for key, value in (("promisor", "true"), ("partialclonefilter", "blob:none")):  # git names the filter since 2.37
        clone(tmp_path, "config", f"remote.origin.{key}", value)
    assert origin.origin_of(tmp_path.resolve() / "log.jsonl") == "example.org/team/exp [old]:log.jsonl"


def test_ports_and_local_folders_tell_remotes_apart(tmp_path: Path) -> None:
    assert origin.normal("ssh://git@h:2222/a", tmp_path) == "h:2222/a"
    host = socket.gethostname()
    for local in ("/srv/a.git", "file:///srv/a.git"):
        assert origin.normal(local, tmp_path) == f"{host}:/srv/a.git"
    assert origin.normal("../a", tmp_path.resolve() / "b") == f"{host}:{tmp_path.resolve() / 'a'}"


def test_without_a_remote_the_machine_and_the_path_are_the_log(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = cli.log(tmp_path.resolve())
    on_machine(monkeypatch, "alpha")
    assert mirror.sync(log).status == "new"
    on_machine(monkeypatch, "beta")
    log.write_bytes(cli.lines(cli.HEADER, cli.run(1, 7)))
    assert mirror.rows("runs", log)[0]["metric"] == 100  # as there is none of this machine
    assert mirror.sync(log).status == "new"
    assert [row["path"] for row in mirror.rows("sessions")] == [str(log), f"beta:{log}"]
    assert [row["metric"] for row in mirror.rows("runs", log)] == [7]
    assert [row["runs"] for row in mirror.rows("sessions", sessions=(f"beta:{log}",))] == [1]
    assert mirror.verify(log).ok and mirror.sync(log).status == "unchanged"
    log.unlink()
    assert [one.path for one in store.lost(mirror.raw)] == [f"beta:{log}"]
    assert [proof.gone for proof in map(mirror_verify(mirror), store.every(mirror.raw))] == [True, True]
    moved = cli.log(tmp_path.resolve(), cli.lines(cli.HEADER, cli.run(1, 7)), "moved.jsonl")
    assert mirror.sync(moved).status == "moved"
    on_machine(monkeypatch, "alpha")
    assert [one.path for one in store.lost(mirror.raw)] == [str(log)]


def mirror_verify(mirror: Mirror) -> Callable[[store.StoredSession], Any]:
    from ledger.mirror.proof import verify

    return lambda session: verify(mirror.raw, session)


@pytest.fixture
def reader(server: postgres.Postgres, url: str, tmp_path: Path) -> str:
    """Give the address of a mirror for a user who may only read."""
    assert ran(tmp_path, url, "sync", cli.SAMPLES / "parser-speed").code == 0
    database = url.split("/")[3].split("?", maxsplit=1)[0]
    server.sql("DROP OWNED BY visitor; DROP ROLE visitor", database, check=False)
    server.sql("CREATE ROLE visitor LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO visitor", database)
    return server.url(database, "visitor")


def test_who_may_only_read_can_ask_everything(reader: str, tmp_path: Path) -> None:
    for question in (
        *(
            (view.name, "--format", "json")
            for view in VIEWS
            if view.name not in ("findings", "accepted", "repairs", "lines")
        ),
        *(
            ("sql", "SELECT count(*) FROM lines, findings, accepted, repairs"),
            ("verify", "--all"),
            ("export", "--all", "-o", "out"),
            ("db", "info"),
        ),
        *(("export", "--format", "xlsx", "-o", "book.xlsx"), ("db", "backup", "-o", "copy.db")),
        ("report", "--compare", "-o", "page.html"),
    ):
        assert ran(tmp_path, reader, *question)[::2] == (0, ""), question
    code, out, err = ran(tmp_path, reader, "sync", cli.log(tmp_path))
    assert (code, out) == (2, "") and "does not let this user do that: permission denied" in err


STATEMENTS = (
    *("DELETE FROM run", "CREATE TABLE t (a int)", "CREATE TEMP TABLE t (a int)", "SELECT 1; DELETE FROM run"),
    *("COMMIT; DROP TABLE run CASCADE", "COMMIT", "ROLLBACK", "SET TRANSACTION READ WRITE", "VACUUM", "LOCK run"),
    *("COPY (SELECT 1) TO PROGRAM 'touch /tmp/x'", "COPY run TO STDOUT", "DO $$BEGIN DELETE FROM run; END$$"),
    *("WITH gone AS (DELETE FROM run RETURNING 1) SELECT * FROM gone", "SELECT nextval('session_id_seq')"),
    *("EXPLAIN ANALYZE DELETE FROM run", "EXPLAIN SELECT 1; DELETE FROM run", "SELECT * FROM run FOR UPDATE"),
    *("/* /* */ EXPLAIN */ COPY (SELECT 1) TO PROGRAM 'true'", "-- x\rCOPY (SELECT 1) TO PROGRAM 'true' --\nEXPLAIN"),
    *("SELECT 1 INTO t", "PREPARE p AS DELETE FROM run", "SELEC 1", "TRUNCATE run", "SET jit = on", "LISTEN x"),
)  # fmt: skip


def test_typed_sql_only_reads(url: str, tmp_path: Path) -> None:
    assert ran(tmp_path, url, "sync", cli.SAMPLES / "parser-speed").code == 0
    before = ran(tmp_path, url, "runs", "--format", "csv").out
    for statement in STATEMENTS:
        with open_reader(mirror_location(url)) as connection:
            assert connection is not None
            with pytest.raises(LedgerError, match="the database refused the statement"):
                list(adhoc.select(driver(connection), statement, 30)[1])
    assert ran(tmp_path, url, "runs", "--format", "csv").out == before
    for statement in ("SELECT 1 AS one", "SELECT '50%' AS one;", "WITH a AS (SELECT 1 AS one) TABLE a -- so"):
        assert ran(tmp_path, url, "sql", statement, "--format", "csv").out.splitlines()[0] == "one"
    for statement in (
        "VALUES (1, 'a?')",
        "EXPLAIN SELECT * FROM runs",
        "\n-- what it costs\n  -- and why\nEXPLAIN SELECT * FROM runs",
        "SHOW server_version",
        "SELECT data FROM lines",
    ):
        assert ran(tmp_path, url, "sql", statement).code == 0
    code, out, err = ran(tmp_path, url, "sql", "DELETE FROM run")
    assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith("ledger: the database refused the statement: ")


def test_typed_sql_is_stopped_in_time_and_by_ctrl_c(url: str, tmp_path: Path) -> None:
    code, out, err = ran(tmp_path, url, "sql", "SELECT pg_sleep(30)", "--timeout", "0.2")
    assert (code, out) == (2, "")
    assert err == "ledger: the statement took too long and was stopped; --timeout gives it more time\n"
    with at_work(tmp_path, url, "sql", "SELECT pg_sleep(30)", "--timeout", "0") as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out_err = process.communicate(timeout=20)
    assert (process.returncode, out_err[0]) == (130, b"") and out_err[1].endswith(b"ledger: interrupted\n")


def test_a_database_without_a_mirror_is_answered_emptily_and_one_of_somebody_else_refused(
    server: postgres.Postgres, tmp_path: Path
) -> None:
    url = server.database(filled=False)
    note = f"note: there is no mirror at {show(mirror_location(url))} yet; run ledger sync\n"
    assert ran(tmp_path, url, "runs", "--format", "json") == (0, "[]\n", note)
    assert ran(tmp_path, url, "verify", "--all")[::2] == (2, note.replace("note", "ledger"))
    assert ran(tmp_path, url, "forget", "x", "--yes").code == 2
    database = postgres.database_of(url)
    assert server.sql("SELECT count(*) FROM pg_class WHERE relname = 'session'", database) == "0"
    server.sql("CREATE TABLE session (a int)", database)
    code, _, err = ran(tmp_path, url, "sync", cli.log(tmp_path))
    assert code == 2 and err.endswith("is a database, but no mirror of ledger; name another with --db\n")


def test_creating_and_migrating_come_to_the_same(server: postgres.Postgres, tmp_path: Path) -> None:
    dumps = []
    for way in (engine.create, engine.upgrade):
        url = server.database(filled=False)
        made = postgres_module.engine(mirror_location(url), reading=False)  # type: ignore[arg-type]
        with made.connect() as connection:
            way(connection)
        made.dispose()
        words = server.command(
            "pg_dump", "--schema-only", "--restrict-key=x", "-d", server.url(postgres.database_of(url))
        )
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:  # an older pg_dump has no such option, nor the line that it is about
            words.remove("--restrict-key=x")
            done = subprocess.run(words, capture_output=True, text=True, check=True)
        dumps.append(done.stdout)
        with mirror_at(mirror_location(url)) as mirror:
            assert mirror.sync(cli.log(tmp_path)).status == "new"
    assert dumps[0] == dumps[1] and dumps[0].count("CREATE VIEW") == len(VIEWS)


def test_another_schema_is_told(url: str, mirror: Mirror, tmp_path: Path) -> None:
    mirror.raw.execute("UPDATE ledger_version SET version_num = '9999'")
    for command in ("runs", "sync"):
        code, _, err = ran(tmp_path, url, command)
        assert code == 2 and f"has schema 9999, this version of ledger knows {schema.REVISION}" in err


def test_a_backup_is_a_file_with_the_same_sessions(url: str, tmp_path: Path) -> None:
    for log in Path(shutil.copytree(cli.SAMPLES, tmp_path / "samples")).rglob("*.jsonl"):
        deciding.accept(log)
        deciding.note_repair(log)
    assert ran(tmp_path, url, "sync", "samples").code == 0
    assert ran(tmp_path, url, "db", "backup", "-o", "copy.db").code == 0
    views = [("sql", f"SELECT * FROM {view} ORDER BY path, {by}") for view, by in
             (("findings", "line"), ("accepted", "line, code"), ("repairs", "number"))]  # fmt: skip
    for words in (("runs",), ("compare",), *views):
        asked = (*words, "--format", "csv")
        assert cli.ledger(tmp_path, *asked, LEDGER_DB=str(tmp_path / "copy.db")) == ran(tmp_path, url, *asked)
    assert cli.ledger(tmp_path, "verify", "--all", "--db", "copy.db").code == 0
    assert ran(tmp_path, url, "db", "rebuild").out == "rebuilt 6 sessions\n"
    assert ran(tmp_path, url, "verify", "--all").code == 0
    code, _, err = ran(tmp_path, url, "db", "metadata")
    assert code == 2 and "ledger db backup" in err


LOST = """
import sys
import psycopg
from ledger.mirror.engine import open_writer
from ledger.mirror.location import mirror_location
from ledger.mirror.raw import driver
url = sys.argv[1]
with open_writer(mirror_location(url)) as connection:
    own = driver(connection).connection
    with own.cursor() as cursor, cursor.copy("COPY side FROM STDIN") as copy:
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [own.info.backend_pid])
        while True:
            copy.write(b"1\\ta\\t\\n" * 1000)
"""


def test_of_a_connection_lost_while_rows_go_through_the_driver_says_nothing(url: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST, url], cwd=cli.ROOT, env=cli.environment(tmp_path), capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    said = done.stderr.decode()
    assert done.returncode == 1 and "LedgerError: the server of the mirror" in said, said
    assert "error ignored" not in said


def test_what_does_not_work_is_one_sentence_without_the_password(
    server: postgres.Postgres, url: str, tmp_path: Path
) -> None:
    server.sql("DROP ROLE guarded", check=False)
    server.sql("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    database, log = postgres.database_of(url), cli.log(tmp_path)
    quoted = CANARY.replace("%", "%25").replace("/", "%2F")
    addresses = {
        f"postgresql://guarded:{quoted}@/{database}?host={server.folder}": "refuses this user: password authentication",
        f"postgresql://guarded@/{database}?host={server.folder}&password={quoted}": "refuses this user: password",
        f"postgresql+psycopg://keeper:{quoted}@/nowhere?host={server.folder}": 'is not there: database "nowhere" does',
        f"postgresql://keeper:{quoted}@localhost:1/x": "cannot be reached: Connection refused",
        f"postgresql://keeper:{quoted}@localhost:port/x": "the mirror's address cannot be read",
        f"postgresql://keeper:{quoted}@h": "the mirror's address cannot be read",
        f"mysql://keeper:{quoted}@h/x": "a mirror is kept in SQLite or PostgreSQL",
        f"postgresql://keeper:{quoted}@/x?host={server.folder}&sslpassword={quoted}": "is not there",
    }
    calls = (("sync", log), ("runs",), ("db", "path"), ("report", "--compare", "-o", "x.html"))
    for address, reason in addresses.items():
        for place, words in enumerate(calls):
            by_option = place % 2 == 0
            done = cli.ledger(tmp_path, *words, "--db", address) if by_option else ran(tmp_path, address, *words)
            assert CANARY not in done.out + done.err and quoted not in done.out + done.err
            assert done.err.count("\n") <= 1 and "Traceback" not in done.err
            if words[0] in ("sync", "runs"):
                assert done.code == 2 and reason in done.err, (done, reason)


def test_a_password_is_shown_and_kept_nowhere(server: postgres.Postgres, url: str, tmp_path: Path) -> None:
    server.sql("DROP OWNED BY guarded; DROP ROLE guarded", postgres.database_of(url), check=False)
    server.sql(f"CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '{CANARY}'")
    quoted = CANARY.replace("%", "%25").replace("/", "%2F")
    address = f"postgresql://guarded:{quoted}@/{postgres.database_of(url)}?host={server.folder}"
    project = tmp_path / "project"
    project.mkdir()
    clone(project, "init", "-b", "main")
    clone(project, "commit", "--allow-empty", "-m", "begin")
    (project / "bench.sh").write_text("env\necho METRIC total_ms=3\n")
    said = []
    for words in (
        *(("init", "speed", "--metric", "total_ms", "--direction", "lower"), ("run", "--", "sh", "bench.sh")),
        *(
            ("sync", "."),
            ("sync", "--help"),
            ("db", "path"),
            ("db", "info"),
            ("db", "upgrade"),
            ("status",),
            ("brief",),
        ),
        *(("runs", "--format", "json"), ("report", "--compare", "-o", "page.html"), ("verify", "--all"), ("archive",)),
        *(
            ("sql", "SELECT * FROM session"),
            ("export", "--format", "xlsx", "-o", "b.xlsx"),
            ("db", "backup", "-o", "c.db"),
        ),
    ):
        done = ran(project, address, *words)
        assert "Traceback" not in done.err
        said.append(done.out + done.err)
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 8 and any("guarded@" in text for text in said)
    for word in (CANARY, quoted):
        assert not [text for text in said if word in text] and not [data for data in files if word.encode() in data]


def test_others_are_told_the_address_without_the_password() -> None:
    assert without_password("postgresql://a:b@c@h/d?x=1") == "postgresql://a@h/d?x=1"
    assert without_password("postgresql://a@h/d?password=b&x=1") == "postgresql://a@h/d?x=1"
    assert without_password("postgresql://a@h/d?x=1&sslpassword=b") == "postgresql://a@h/d?x=1"
    for plain in ("mirror.db", "a:b@c", "sqlite:///a:b@c", "postgresql://a@h/d"):
        assert without_password(plain) == plain
    assert for_others({"A": "b"}) == {"A": "b"}


def test_without_the_extra_the_sentence_says_what_to_install(tmp_path: Path) -> None:
    script = "import sys; sys.modules['psycopg'] = None; from ledger.cli import main; main()"
    for words in (["runs"], ["sync", str(cli.log(tmp_path))], ["db", "info"]):
        env = cli.environment(tmp_path, LEDGER_DB="postgresql://a@b/c")
        done = subprocess.run(
            [sys.executable, "-c", script, *words], env=env, cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\n") == 1
        assert b"pip install 'autoresearch-ledger[postgres]'" in done.stderr


MANY = cli.lines(cli.HEADER, *(cli.run(number, number % 97, metrics={"mem": number}) for number in range(1, 30_001)))


def test_a_server_killed_in_the_middle_of_a_sync_is_told_and_the_next_sync_completes(tmp_path: Path) -> None:
    postgres.need()
    folder = tmp_path.resolve()
    with postgres.running(careless=False) as server:
        url = server.database()
        first = cli.log(folder, cli.SOUND, "a/autoresearch.jsonl")
        assert ran(folder, url, "sync", ".").code == 0
        large = cli.log(folder, MANY, "b/autoresearch.jsonl")
        for how in ("one", "all", "all"):
            with at_work(folder, url, "sync", ".") as process:
                wait_for(server, url)
                if how == "all":
                    server.stop(signal.SIGQUIT)
                else:
                    server.sql(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledger'"
                    )
                _, err = process.communicate(timeout=60)
            said = err.decode()
            assert process.returncode == 2 and "Traceback" not in said, said
            assert all(
                "the connection; what was not finished left no trace; try again" in line or "reached" in line
                for line in said.splitlines()
            ), said
            if how == "all":
                server.start()
            with mirror_at(mirror_location(url)) as mirror:
                assert [row["path"] for row in mirror.rows("sessions")] == [str(first)]
                assert mirror.raw.execute("SELECT count(*) FROM run").fetchone()[0] == 3
        assert ran(folder, url, "sync", ".").code == 0
        with mirror_at(mirror_location(url)) as mirror:
            assert mirror.verify(large).ok and mirror.rows("sessions", large)[0]["runs"] == 30_000


def wait_for(server: postgres.Postgres, url: str) -> None:
    """Wait until a client has begun to store rows."""
    sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ledger' AND query LIKE 'COPY %'"
    until = time.monotonic() + 30
    while server.sql(sql, postgres.database_of(url)) == "0":
        assert time.monotonic() < until
