"""A concluded session, moved aside so that another one can start in its place.

The log's own move is the last step but one, and the one that counts: before it the session is where it was, concluded
and sound, and archiving it again goes on; after it the archive is whole. A configuration that is left without its log
then is of a run that never began.
"""

import glob
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from ledger.base.errors import LedgerError, reason_of
from ledger.base.files import put, sync_folder
from ledger.base.paths import show_path
from ledger.base.text import near
from ledger.dialects import policy_of
from ledger.dialects.base import FLAT
from ledger.fold.state import State
from ledger.log.source import decisions_of, read_small, run_json_of
from ledger.loop.driving.under_way import check_nothing_under_way
from ledger.loop.git.repository import Git
from ledger.loop.start.session_plan import slug
from ledger.reading.side_files import AUTHORED
from ledger.session.files import ARCHIVE, Session
from ledger.session.writer import writing

_RUN_ID = re.compile(r"\w[\w.-]{0,100}", re.ASCII)
_TRIES = 1000


def archive(session: Session, now_ms: int) -> Path:
    """Move a concluded session's log, its side files, prompt and ideas aside; give the folder that they are in.

    Measure and checks scripts, settings and hooks stay. Raises LedgerError for a session that goes on, or a log with
    errors.
    """
    log = session.log
    with writing(log) as pen:
        policy = policy_of(pen.state)
        if policy.concluded(pen.state) is None:
            raise LedgerError(f"the session goes on, and only a concluded one is archived: {policy.how_to_end} first")
        check_nothing_under_way(session)
        place = _free(session, _shelf(session) / _name(session, pen.state, now_ms))
        try:
            _move(session, place)
        except OSError as error:
            raise LedgerError(
                f"cannot archive {near(show_path(log))}: {reason_of(error)}; nothing is lost,"
                " and ledger archive goes on"
            ) from None
    return place


def _shelf(session: Session) -> Path:
    return session.side(ARCHIVE) if session.layout == FLAT else session.log.parent / ARCHIVE


def _name(session: Session, state: State, now_ms: int) -> str:
    if not session.layout.configured:
        return f"{datetime.fromtimestamp(now_ms / 1000, UTC):%Y%m%d}-{slug(state.current().name or '')}"
    run_id = str((state.replay.config or {}).get("run_id"))
    return run_id if _RUN_ID.fullmatch(run_id) else slug(run_id)


def _free(session: Session, place: Path) -> Path:
    """Find a folder that holds no log yet; one without is what an interrupted archiving left."""
    for number in range(1, _TRIES):
        tried = place if number == 1 else place.with_name(f"{place.name}-{number}")
        if not tried.exists() or (tried.is_dir() and not (tried / session.log.name).exists()):
            return tried
    raise LedgerError(f"there are {_TRIES} archives named {place.name} already: move them elsewhere")


def _move(session: Session, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for path in (copied := list(_needed(session))):
        if (data := read_small(path)) is not None:
            put(place / path.name, data, durable=True, mode=path.stat().st_mode & 0o777)
    for path in _beside(session):
        path.replace(place / path.name)
    sync_folder(place)
    session.log.replace(place / session.log.name)
    sync_folder(place)
    sync_folder(session.log.parent)
    for path in copied:
        path.unlink(missing_ok=True)


def _needed(session: Session) -> Iterator[Path]:
    """Name what the log would not be sound without, so that it is there as long as the log is."""
    if session.layout.configured:
        yield run_json_of(session.log)
    yield decisions_of(session.log)


def _beside(session: Session) -> Iterator[Path]:
    """List what goes with the log. Locks stay: a lock on a file that has moved guards nothing."""
    folder, log = session.log.parent, session.log
    if session.layout.configured:
        stays = {log.name, ARCHIVE, *(path.name for path in _needed(session))}
        yield from sorted(path for path in folder.iterdir() if path.name not in stays and path.suffix != ".lock")
        return
    main = folder / Path(session.layout.log).name
    shared = log != main and main.exists()  # the prompt is that session's
    named = [] if shared else [session.file("prompt"), session.file("ideas"), *session.snapshots()]
    yield from (path for path in named if path.is_file())
    stays = {log.name, session.side(ARCHIVE).name, session.side("hooks").name, *(path.name for path in named)}
    stays |= {session.file(name).name for name in ("prompt", "ideas", "measure", "checks")}
    stays |= {path.name for path in _needed(session)}
    git, known = Git(folder), set[str]()
    if not session.layout.folder and git.top() is not None:  # what git knows is somebody's own, whatever it is called
        known.update(map(os.fsdecode, git.ask("ls-files", "-z", "--", ".").split(b"\0")))
    for path in sorted(folder.glob(f"{glob.escape(log.stem)}.*")):
        ours = path.name.startswith(f"{log.name}.") and path.name.endswith(AUTHORED)
        if path.name not in stays and path.suffix != ".lock" and (ours or path.name not in known):
            yield path
