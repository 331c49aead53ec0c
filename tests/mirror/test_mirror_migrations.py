"""The schema is the same however it came to be, and an older mirror is brought to it with all it holds."""

import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from ledger.base.errors import LedgerError
from ledger.mirror import engine, schema, store, views
from ledger.mirror.engine import create, migrations_folder, open_reader, open_writer, upgrade
from ledger.mirror.proof import verify
from ledger.mirror.raw import Raw, driver
from tests.mirror.old import make
from tests.support.mirroring import mirror_at, plain

MIRRORS = sorted(Path(make.__file__).parent.glob("*.db"))


def script() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    return ScriptDirectory.from_config(config)


def described(raw: Raw) -> dict[str, Any]:
    """Give a schema as SQLite understands it: names, columns, keys, indexes, views, and how each table is stored."""
    found: dict[str, Any] = {}
    for kind, name, sql in raw.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"):
        text = (
            " ".join(re.sub(r'["\s]+', " ", sql or "").split()).replace("( ", "(").replace(" )", ")").replace(" ,", ",")
        )
        found[f"{kind} {name}"] = (text, raw.execute(f"SELECT * FROM pragma_table_xinfo('{name}')").fetchall())
    for row in raw.execute("SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main' ORDER BY name"):
        indexes = raw.execute("SELECT name, [unique], origin, partial FROM pragma_index_list(?) ORDER BY name", row[:1])
        found[row[0]] = (*row[1:], indexes.fetchall())
    return found


@pytest.fixture
def made(tmp_path: Path) -> dict[str, dict[str, Any]]:
    """Describe the schema that `create` makes, and the one that the migrations make from nothing."""
    found = {}
    for way in (create, upgrade):
        path = tmp_path / f"{way.__name__}.db"
        opened = engine._engine(path, "rwc", "BEGIN IMMEDIATE")
        with opened.connect() as connection:
            way(connection)
            found[way.__name__] = described(driver(connection))
            version = connection.exec_driver_sql(f"SELECT version_num FROM {schema.VERSION_TABLE}").scalars().all()
            assert version == [schema.REVISION]
        opened.dispose()
    return found


def test_creating_and_migrating_come_to_the_same(made: dict[str, dict[str, Any]]) -> None:
    assert made["create"] == made["upgrade"]
    assert {f"table {table}" for table in schema.metadata.tables} < set(made["create"])
    assert {f"view {view.name}" for view in views.VIEWS} < set(made["create"])
    without_rowid = {name for name, what in made["create"].items() if " " not in name and what[1]}
    assert without_rowid == {"segment", "run_metric", "segment_stat"}


def test_the_migrations_end_at_this_schema() -> None:
    assert script().get_heads() == [schema.REVISION]
    assert [revision.revision for revision in script().walk_revisions()][-1] == "0001"


def test_a_mirror_of_every_revision_is_kept() -> None:
    assert [path.stem for path in MIRRORS] == sorted(revision.revision for revision in script().walk_revisions())


def counts(raw: Raw) -> dict[str, int]:
    names = [
        row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    ]
    return {name: raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}


@pytest.mark.parametrize("kept", MIRRORS, ids=lambda path: path.stem)
def test_an_older_mirror_is_upgraded_with_all_it_holds(
    kept: Path, tmp_path: Path, made: dict[str, dict[str, Any]]
) -> None:
    path = tmp_path / "mirror.db"
    shutil.copy(kept, path)
    with closing(plain(path)) as raw:
        assert raw.execute("SELECT version_num FROM ledger_version").fetchall() == [(kept.stem,)]
        before = counts(raw)
    if kept.stem != schema.REVISION:
        with pytest.raises(LedgerError, match="run ledger db upgrade"), open_reader(path):
            pass
    with mirror_at(path) as mirror:
        assert described(mirror.raw) == made["create"]
        after = counts(mirror.raw)
        assert {table: after[table] for table in before if table in after} == before and len(before) == 14
        assert mirror.raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        for view in views.VIEWS:
            assert mirror.rows(view.name), view.name
        assert all(verify(mirror.raw, session).ok for session in store.every(mirror.raw))
        assert [(row["metric_name"], row["best"]) for row in mirror.rows("compare") if row["rank"] == 1][:2] == [
            ("errors", 0), ("parse_ms", 74.1),
        ]  # fmt: skip


@pytest.mark.parametrize("kept", MIRRORS, ids=lambda path: path.stem)
def test_views_need_nothing_of_ours(kept: Path, tmp_path: Path) -> None:
    path = tmp_path / "mirror.db"
    shutil.copy(kept, path)
    with open_writer(path):
        pass
    with closing(plain(path)) as raw:
        raw.execute("PRAGMA trusted_schema = OFF")
        names = [row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
        assert sorted(names) == sorted(view.name for view in views.VIEWS)
        for view in views.VIEWS:
            cursor = raw.execute(f"SELECT * FROM {view.name}")
            assert tuple(column[0] for column in cursor.description) == view.columns
            assert cursor.fetchall()


def test_views_of_somebody_else_do_not_stop_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "mirror.db"
    with mirror_at(path):
        pass
    with closing(plain(path)) as raw:
        raw.execute('CREATE VIEW "my ""own""" AS SELECT run FROM run')
    with open_writer(path) as connection:
        upgrade(connection)
        assert described(driver(connection))
    with mirror_at(path) as mirror:
        assert {row[0] for row in mirror.raw.execute("SELECT name FROM sqlite_master WHERE type = 'view'")} == {
            view.name for view in views.VIEWS
        }


def test_an_upgrade_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mirror.db"
    with mirror_at(path) as mirror:
        before = described(mirror.raw)
    monkeypatch.setattr(views, "create_statements", lambda **_: ["CREATE TABLE half_way (a)", "CREATE nonsense"])
    with pytest.raises(LedgerError, match="syntax error"), open_writer(path) as connection:
        upgrade(connection)
    with closing(plain(path)) as raw:
        assert described(raw) == before
