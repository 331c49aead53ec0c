"""The iteration under way, written down step by step, so that a kill at any point leaves enough to finish it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.base.text import cut, plain
from ledger.session.files import ITERATION, Session

SUBJECT_COLUMNS = 60


class Wishes(NamedTuple):
    """Hold what the caller says of an iteration; `max_regress` is in percent by secondary metric."""

    description: str
    asi: Mapping[str, Any] = MappingProxyType({})
    keep_equal: str = ""
    discard: str = ""
    max_regress: Mapping[str, Any] = MappingProxyType({})
    repeat: int = 1


class Journal(NamedTuple):
    """Hold an iteration: what it started from, and each step that is done.

    `base` and `trial` are full hashes, `trial` None before the commit (a baseline has none), `reverted` the commit
    that undid it, `reverting` that this was begun. `outcome` is the decided run as an object, None before, `more` what
    a trial's record adds. `size` and `lines` are the log's length and what was about to be appended to it; `logged`
    tells that it was. `attempts` counts measurements begun, `before` lists the untracked files ahead of the last.
    `shelf` is a commit with the content of the files `shelved`, which were changed beside the experiment and come back
    after it.
    """

    number: int
    branch: str
    base: str
    paths: list[str]
    wishes: dict[str, Any]
    baseline: bool = False
    trial: str | None = None
    attempts: int = 0
    outcome: dict[str, Any] | None = None
    more: Mapping[str, Any] = MappingProxyType({})
    before: Sequence[str] | None = None
    size: int | None = None
    lines: str | None = None
    logged: bool = False
    reverting: bool = False
    reverted: str | None = None
    shelf: str | None = None
    shelved: Sequence[str] = ()

    def save(self, session: Session, **changed: Any) -> Self:
        """Write the journal down with these changes, durably, and give it."""
        made = self._replace(**changed)
        session.put_object(ITERATION, _plain(made._asdict()), durable=True)
        return made

    @property
    def wanted(self) -> Wishes:
        """What the caller said."""
        return Wishes(**self.wishes)

    @property
    def message(self) -> str:
        """The message of the experiment's commit: the description, in full below a subject that had to be cut."""
        description = self.wanted.description
        subject = cut(" ".join(plain(description).split()), SUBJECT_COLUMNS)
        return f"experiment: {subject}" + ("" if subject == description else f"\n\n{description}")

    def bears(self, message: str) -> bool:
        """Tell whether a commit's message is this experiment's; git tidies blanks, and its hooks may add lines."""
        subject = self.message.split("\n", 1)[0].split()
        return message.split()[: len(subject)] == subject

    @property
    def kept(self) -> bool:
        """Whether the trial stays."""
        return self.outcome is not None and self.outcome["status"] in ("keep", "baseline")


def _plain(value: Any) -> Any:
    """Turn mappings and sequences into what JSON has."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def load(session: Session) -> Journal | None:
    """Read the journal of a half-done iteration; None if there is none. Raises LedgerError if it cannot be read."""
    path, found = session.side(ITERATION), session.get_object(ITERATION)
    if not found and not path.exists():
        return None
    if not {"number", "branch", "base", "paths", "wishes"} <= found.keys():
        raise LedgerError(
            f"an iteration was under way, but {show_path(path)} cannot be read: see in git log whether its experiment"
            " has to be reverted, then remove that file"
        )
    return Journal(**{name: found[name] for name in Journal._fields if name in found})


def remove(session: Session) -> None:
    """Forget the iteration: it is done."""
    session.side(ITERATION).unlink(missing_ok=True)
