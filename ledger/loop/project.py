"""What a command works on: a session, its log and its repository, each asked once and then kept up to date."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ledger.loop.git.repository import Git
from ledger.session.files import Session
from ledger.session.history import History, kept_open


class Project(NamedTuple):
    """Hold a session, its log, which is read when it is first renewed, and the repository of its experiments."""

    session: Session
    history: History
    git: Git

    def ran(self, stage: str) -> None:
        """Take note that the hook of a stage had its turn: it may have changed anything."""
        if self.session.hook(stage).exists():
            self.git.forget()


@contextmanager
def open_project(session: Session) -> Iterator[Project]:
    """Give a session's project, its log open as long as the work goes on."""
    with kept_open(session.log) as history:
        yield Project(session, history, Git(session.workdir, session.own()))
