"""What `verify` proves: nothing in a mirror can be changed, added or taken away behind its back."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.mirror import rederived, schema, store
from ledger.reading.discovery import find_logs
from tests.support import cli, deciding
from tests.support.mirroring import Mirror, mirror_at, plain


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    """Give a mirror of the samples, a damaged one among them."""
    with mirror_at(tmp_path_factory.mktemp("mirror") / "mirror.db") as opened:
        samples = Path(shutil.copytree(cli.SAMPLES, tmp_path_factory.mktemp("samples") / "samples"))
        for path in find_logs((str(samples),)):
            assert path is not None
            if path.parent.name == "damaged":
                deciding.accept(path, "L106", "S405")
                deciding.note_repair(path)
                deciding.note_repair(path, "undo")
            opened.sync(path, quarantine=True)
        yield opened


@pytest.fixture
def tampered(mirror: Mirror) -> Iterator[Mirror]:
    """Give the mirror for a change that is undone again."""
    mirror.raw.execute("BEGIN")
    yield mirror
    mirror.raw.execute("ROLLBACK")


def differing(mirror: Mirror) -> dict[str, int | None]:
    """Give the first line that differs of each session that does."""
    proofs = [mirror.verify(session.file) for session in store.every(mirror.raw)]
    return {Path(proof.path).parent.name: proof.difference for proof in proofs if not proof.ok}


def test_what_is_untouched_is_proved(mirror: Mirror) -> None:
    assert differing(mirror) == {} and rederived.orphans(mirror.raw) == {}
    for table in schema.metadata.sorted_tables:
        assert mirror.raw.execute(f"SELECT count(*) FROM {table.name}").fetchone() != (0,), "no sample has such a row"


DERIVED = [table for table, _ in schema.BY_RECORD] + [*schema.BY_SESSION, *schema.OWN]
CELLS = [(table.name, column.name) for table in DERIVED for column in table.columns if column.name != "data"]
CELLS += [("metric_name", "name")]
CELLS += [("session", name) for name in ("dialect", "size", "sha256", "lines", "tail_size", "state", "quarantined")]
CELLS.remove(("diagnostic", "id"))  # which says nothing


@pytest.mark.parametrize(("table", "column"), CELLS)
@pytest.mark.parametrize("order", ["ASC", "DESC"])
def test_no_cell_can_be_changed(tampered: Mirror, table: str, column: str, order: str) -> None:
    key = ", ".join(f'"{one.name}"' for one in schema.metadata.tables[table].primary_key)
    other = (
        f"""CASE typeof("{column}") WHEN 'text' THEN "{column}" || 'x' WHEN 'null' THEN 1 ELSE "{column}" + 99991 END"""
    )
    first = f"SELECT {key} FROM {table} ORDER BY {key.replace(',', f' {order},')} {order} LIMIT 1"
    tampered.raw.execute(f'UPDATE {table} SET "{column}" = {other} WHERE ({key}) = ({first})')
    assert differing(tampered) or rederived.orphans(tampered.raw)


@pytest.mark.parametrize("table", [table.name for table in DERIVED])
def test_no_row_can_be_taken_away_or_doubled(tampered: Mirror, table: str) -> None:
    key = schema.metadata.tables[table].primary_key.columns.keys()[-1]
    names = [column.name for column in schema.metadata.tables[table].columns]
    others = ", ".join(f'"{name}" + 5000' if name == key else f'"{name}"' for name in names)
    tampered.raw.execute(f"INSERT INTO {table} SELECT {others} FROM {table} LIMIT 1")
    assert len(differing(tampered)) == 1 and rederived.orphans(tampered.raw) == {}
    tampered.raw.execute(f"DELETE FROM {table}")
    assert differing(tampered)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("UPDATE run SET status = 'discard', at_ms = 0 WHERE id = @ << 32 | 2", 2),
        ("UPDATE run SET id = id + 5 WHERE id = @ << 32 | 4", 4),
        ("INSERT INTO unread VALUES (@ << 32 | 4, 0, 1, NULL); DELETE FROM run WHERE id IN (SELECT id FROM unread)", 4),
        ("INSERT INTO unread VALUES (@ << 32 | 3, 0, 1, 'blank')", 3),
        ("UPDATE segment SET direction = 'higher', metric_name = 'nonsense', unit = 'zz' WHERE session = @", 1),
        ("UPDATE segment_stat SET runs = 999, best = 1 WHERE session = @", 1),
        ("UPDATE event SET detail = '{' WHERE id = @ << 32 | 1", 1),
        ("UPDATE event SET detail = '{' WHERE id = @ << 32 | 1; UPDATE session SET dialect = 'nope' WHERE id = @", 1),
        ("UPDATE run SET description = CAST(x'ff' AS TEXT) WHERE id = @ << 32 | 4", 4),
        ("UPDATE run SET extras = '[' WHERE id >> 32 = @", 2),
        ("UPDATE run SET shape = 'x' WHERE id >> 32 = @", 2),
        ("UPDATE segment SET line = 'x' WHERE session = @", 1),
        ("UPDATE session SET dialect = 'nope' WHERE id = @", None),
        ("UPDATE session SET fold = '{' WHERE id = @", None),
        ("UPDATE session SET fold = '{}' WHERE id = @", None),
        ("UPDATE session SET size = 'x', lines = 'y', tail_size = x'00' WHERE id = @", None),
        ("UPDATE session SET size = 'x' WHERE id = @", None),
        ("UPDATE session SET run_json = 'x' WHERE id = @", None),
    ],
)
@pytest.mark.parametrize("there", [True, False])
def test_damage_is_a_difference_of_its_session_alone(
    tmp_path: Path, change: str, line: int | None, there: bool
) -> None:
    log, other = cli.log(tmp_path), cli.log(tmp_path, name="other/autoresearch.jsonl")
    assert cli.ledger(tmp_path, "sync", log, other).code == 0
    raw = plain(tmp_path / "mirror.db")
    (session,) = raw.execute("SELECT id FROM session WHERE path = ?", (str(log.resolve()),)).fetchone()
    raw.executescript(change.replace("@", str(session)))
    raw.close()
    if not there:
        log.unlink()
    code, out, err = cli.ledger(tmp_path, "verify", "--all")
    assert (code, err) == (1, "")
    assert [text.split()[0] for text in out.splitlines()] == ["differs", "ok"]
    assert (f" from line {line} on)" if line else " differ)") in out.splitlines()[0] or "run.json" in out


def test_orphaned_rows_are_told(tmp_path: Path) -> None:
    log = cli.log(tmp_path)
    assert cli.ledger(tmp_path, "sync", log).code == 0
    raw = plain(tmp_path / "mirror.db")
    raw.execute("INSERT INTO unread VALUES (77 << 32 | 1, 0, 1, NULL)")
    raw.execute("INSERT INTO block VALUES (78, 0, 1, x'0a')")
    raw.close()
    code, out, err = cli.ledger(tmp_path, "verify", "--all")
    assert (code, out.split()[0]) == (1, "ok")
    assert err == "orphaned: rows that belong to no session: 1 in unread, 1 in block\n"
    assert cli.ledger(tmp_path, "verify", log).code == 0
