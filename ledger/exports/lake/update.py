"""Views exported to a folder of Parquet files, which later exports bring up to date by adding what is new.

Every file has its name only once it is complete. A view of records has files a session, and gets another one for what
was appended; the others are written anew. What is in the folder is written down last, a view at a time.
"""

import filecmp
from collections.abc import Iterator, Sequence
from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.base.locks import locked
from ledger.base.paths import show_path
from ledger.exports.lake import file_names, manifest
from ledger.exports.lake.layout import LAYOUTS, ViewLayout
from ledger.exports.lake.manifest import SessionFiles, ViewFiles
from ledger.exports.lake.parts import stage, stage_empty
from ledger.mirror import queries, schema, store
from ledger.mirror.queries import Filters
from ledger.mirror.raw import Raw
from ledger.mirror.store import StoredSession
from ledger.mirror.views import by_name

_ALL, _NONE = "part-all.parquet", "part-none.parquet"


def write(raw: Raw, lake: Path, views: Sequence[str]) -> Iterator[str]:
    """Bring views in a folder up to date with the mirror, and yield each one's name when it is.

    Raises LedgerError for a folder that holds anything else, or that another export is writing to.
    """
    try:
        lake.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise LedgerError(f"{show_path(lake)} is no folder; name one with -o") from None
    manifest.read(lake)  # so that no lock is left in a folder of others
    busy = f"another export is writing to {show_path(lake)}; wait for it"
    with locked(lake / manifest.LOCK, 0, busy):
        held = manifest.read(lake)
        manifest.sweep(lake, held)
        manifest.save(lake, held)
        sessions = store.every(raw)
        for name in views:
            update = _grow if name in queries.GROWING else _renew
            held[name] = update(raw, lake, LAYOUTS[name], held.get(name), sessions)
            manifest.save(lake, held)
            yield name


def _renew(raw: Raw, lake: Path, layout: ViewLayout, known: ViewFiles | None, _: Sequence[StoredSession]) -> ViewFiles:
    """Write a view anew; a file that would be the same stays as it is."""
    folders = file_names.Folders(layout.key or "", known.folders if known else {})
    sort = () if layout.key is None else (layout.key,)
    rows = queries.query(raw, by_name(layout.name), Filters(sort=sort))
    staged = stage(lake, layout, folders, rows, _ALL) or [stage_empty(lake, layout, folders, _ALL)]
    for file in staged:
        there = lake / file.name
        if there.is_file() and filecmp.cmp(file.temporary, there, shallow=False):
            file.temporary.unlink()
        else:
            file.settle(lake)
    files = [file.name for file in staged]
    manifest.remove(lake, (known.all_files() if known else set()).difference(files))
    return _view_files(layout, folders, files, {})


def _grow(
    raw: Raw, lake: Path, layout: ViewLayout, known: ViewFiles | None, sessions: Sequence[StoredSession]
) -> ViewFiles:
    """Add files for what the sessions have new; those of a session that was rewritten, or is gone, make way."""
    alike = known is not None and (known.revision, known.columns) == (schema.REVISION, list(layout.columns))
    before = known.sessions if known and alike else {}
    folders = file_names.Folders(layout.key or "", known.folders if known else {})
    after = {}
    for session in sessions:
        old, now = before.get(session.key), _held(raw, session)
        kept = old if old and _stands(raw, lake, session, old, now) else None
        files = kept.files if kept else ()
        if kept is None or kept.size < now.size:
            first = kept.lines + 1 if kept else 1
            name = file_names.part(session.key, first, f"{now.path}\0{now.sha256}")
            staged = stage(lake, layout, folders, queries.rows_from(raw, layout.name, session.id, first), name)
            manifest.remove(lake, set(old.files) if old and kept is None else set())
            for file in staged:
                file.settle(lake)
            files += tuple(file.name for file in staged)
        after[session.key] = now._replace(files=files)
    nothing = []
    if not any(held.files for held in after.values()):
        empty = stage_empty(lake, layout, folders, _NONE)
        empty.settle(lake)
        nothing = [empty.name]
    made = _view_files(layout, folders, nothing, after)
    manifest.remove(lake, (known.all_files() if known else set()) - made.all_files())
    return made


def _held(raw: Raw, session: StoredSession) -> SessionFiles:
    """Say what the mirror holds of a session."""
    whole, digest = session.size + session.tail_size, session.sha256
    if session.tail_size:
        digest = store.sha256(raw, session.id, whole)
    lines = session.lines + bool(session.tail_size)
    return SessionFiles(session.path, session.dialect, whole, digest, bool(session.tail_size), lines, ())


def _stands(raw: Raw, lake: Path, session: StoredSession, old: SessionFiles, now: SessionFiles) -> bool:
    """Tell whether what the files hold of a session is still so: its log is the same, or has only been appended to."""
    if not all((lake / file).is_file() for file in old.files):
        return False
    if old._replace(files=()) == now:
        return True
    grown = (old.path, old.dialect) == (now.path, now.dialect) and not old.open and old.size < now.size
    return grown and queries.grows(now.dialect) and store.sha256(raw, session.id, old.size) == old.sha256


def _view_files(
    layout: ViewLayout, folders: file_names.Folders, files: list[str], sessions: dict[str, SessionFiles]
) -> ViewFiles:
    """Say what there is of a view now, with the folders that are in use."""
    made = ViewFiles(schema.REVISION, list(layout.columns), {}, files, sessions)
    used = {Path(file).parent.name for file in made.all_files()}
    return made._replace(folders={name: value for name, value in folders.names().items() if name in used})
