"""The files that a session starts with, and what a start made. Files that are there are kept (protocols.md 7)."""

from pathlib import Path
from typing import NamedTuple

from ledger.base.files import create
from ledger.base.paths import show_path
from ledger.base.text import near
from ledger.dialects import by_name
from ledger.dialects.writing import SessionPlan
from ledger.log.jsontext import dump
from ledger.loop.start import templates
from ledger.loop.start.session_plan import promised
from ledger.session.files import Session
from ledger.session.settings import CONFIG
from ledger.session.writer import Pen
from ledger.telling import snapshots


class Made(NamedTuple):
    """Hold what `init` made, or (if it is `dry`) would make: files as they came, and what to tell a person."""

    session: Session
    paths: list[Path]
    notes: list[str]
    dry: bool


class File(NamedTuple):
    """Hold a file to be made: what it is called when it is told of, and what is in it."""

    path: Path
    content: str
    script: bool = False


def files(plan: SessionPlan, made: Made, *, fresh: bool) -> list[File]:
    """List the files that the session lacks, and note what is kept as it is, and what is therefore kept nowhere."""
    session, notes = made.session, made.notes
    config, wanted = session.folder / CONFIG, []
    policy = by_name(plan.dialect).loop()
    limited = "max_iterations" not in policy.keeps and plan.max_iterations is not None
    configured = limited and (not config.exists() or session.settings.max_iterations == plan.max_iterations)
    promises = promised(plan, ("max_iterations",) if configured else ())
    if policy.commands_in_config:
        how = policy.how_to_measure
    else:
        how = (
            f"`bash {_near(session, 'measure')}` prints `METRIC {plan.metric}=NUMBER`; `ledger run` does that for you."
        )
        if plan.guard is None and not session.file("checks").exists():
            how += f" A script `{_near(session, 'checks')}` would have to succeed for a run to be kept."
        wanted += [File(session.file("measure"), templates.measure(plan), True)]
        wanted += [File(session.file("checks"), templates.checks(plan.guard), True)] if plan.guard else []
    wanted += [
        File(session.file("prompt"), templates.prompt(plan, how, promises, policy.scope_keeper)),
        File(session.file("ideas"), templates.IDEAS),
        *([File(config, dump({"maxIterations": plan.max_iterations}) + "\n")] if limited else []),
    ]
    there = [file for file in wanted if file.path.exists()]
    if there:
        notes.append(f"kept as it is: {', '.join(near(show_path(file.path)) for file in there)}")
    if limited and not configured:
        notes.append(
            f"the limit of {plan.max_iterations} runs holds only if {near(show_path(config))} says so: maxIterations"
        )
    notes += _unkept(plan, session, {file.path for file in there}, promises, fresh=fresh)
    return [file for file in wanted if file not in there]


def _unkept(plan: SessionPlan, session: Session, there: set[Path], promises: list[str], *, fresh: bool) -> list[str]:
    """Say what was asked for and is kept nowhere, because the file for it was there already."""
    said = []
    lost, keeps = list(promises), by_name(plan.dialect).loop().keeps
    lost += [f"off limits: {path}" for path in plan.off_limits] if "off_limits" not in keeps else []
    lost += [f"in scope: {path}" for path in plan.scope] if "scope" not in keeps else []
    lost += [f"secondary metric: {name}" for name in plan.secondary]
    page, script = session.file("prompt"), session.file("measure")
    if page in there:
        if not fresh:
            said.append(f"{near(show_path(page))} still describes the old target: bring it up to date")
        if lost:
            said.append(f"put into {near(show_path(page))} yourself: {'; '.join(lost)}")
    if script in there and plan.command is None:
        said.append(f"{near(show_path(script))} has to print METRIC {plan.metric}=NUMBER")
    for name, option in (("measure", plan.command), ("checks", plan.guard)):
        if option is not None and session.file(name) in there:
            said.append(f"put into {near(show_path(session.file(name)))} yourself: {option}")
    return said


def write_files(wanted: list[File], made: Made) -> None:
    """Make files that are not there; a script gets the run bit wherever its reader may read it."""
    for file in wanted:
        made.paths.append(file.path)
        if not made.dry:
            file.path.parent.mkdir(parents=True, exist_ok=True)
            create(file.path, file.content.encode())
            if file.script:
                mode = file.path.stat().st_mode
                file.path.chmod(mode | (mode & 0o444) >> 2)


def refresh(made: Made, pen: Pen) -> None:
    """Make the snapshots anew, and note what the rules say short of an error."""
    made.notes.extend(f"{found.code} {found.message}" for found in pen.warnings)
    if problem := snapshots.refresh(made.session, pen.history):
        made.notes.append(problem)


def _near(session: Session, name: str) -> str:
    path = session.file(name)
    return path.relative_to(session.workdir).as_posix() if path.is_relative_to(session.workdir) else str(path)
