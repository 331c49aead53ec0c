"""Simulate a codex controller, so that its histories hold every replay rule of protocols.md 4."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import sha1
from typing import TYPE_CHECKING

from .encode import Num, Record

if TYPE_CHECKING:
    from collections.abc import Iterable

BACKGROUND = {"execution_policy": "workspace_write", "codex_bin": "codex", "model": "large"}
ZERO = Num("0")
KINDS = ("try", "blocked", "stopped", "error", "error trial", "error reverted")


@dataclass(frozen=True)
class Step:
    """What happens next: a trial that measured `metric`, or an end (one of KINDS), perhaps resumed."""

    kind: str
    metric: Num = ZERO
    guard_fails: bool = False
    resume: bool = True
    text: str = "change"
    respell: bool = False


def config(
    direction: str = "lower",
    target: float = 0,
    guard: str | None = None,
    max_iterations: int | None = None,
    goal: str = "reduce errors",
    name: str = "errors",
    background: bool = False,
) -> Record:
    """Return a sound run.json."""
    return {
        "schema_version": 1,
        "run_id": "20260506-120000-abcdef",
        "created_at": "2026-05-06T12:00:00Z",
        "repo": "/srv/project",
        "branch": "autoresearch/errors",
        "mode": "background" if background else "foreground",
        "goal": goal,
        "scope": ["src/parser.py", "lib"],
        "metric": {"name": name, "direction": direction, "command": "make measure", "json_key": None},
        "guard": guard,
        "target": target,
        "max_iterations": max_iterations,
        "timeout_seconds": 600,
        "background": dict(BACKGROUND) if background else None,
    }


def spell(number: Num, again: bool) -> Num:
    """Return the number, spelt with one more zero behind its decimals if it is to be spelt again."""
    return Num(number + "0") if again and "." in number and "e" not in number.lower() else number


@dataclass
class Controller:
    """A run under way: its events so far, and what the replay of them gives."""

    run: Record
    retained: Num
    events: list[Record] = field(default_factory=list)
    head: str = ""
    iteration: int = 0
    commits: int = 0

    def commit(self) -> str:
        """Return the hash of a new commit."""
        self.commits += 1
        return sha1(f"{self.run['run_id']} {self.commits}".encode(), usedforsecurity=False).hexdigest()

    def emit(self, event: str, **fields: object) -> None:
        """Write an event, a minute and a second after the last."""
        time = datetime(2026, 5, 6, 12, tzinfo=UTC) + timedelta(seconds=61 * len(self.events))
        common = {"schema_version": 1, "run_id": self.run["run_id"], "seq": len(self.events)}
        self.events.append({**common, "time": f"{time:%Y-%m-%dT%H:%M:%SZ}", "event": event, **fields})

    def guard_log(self, guard_ran: bool) -> str | None:
        """Return the guard's log, where one is configured and ran."""
        return f"logs/{self.iteration}.guard.log" if self.run["guard"] and guard_ran else None

    def better(self, trial: Decimal, than: Decimal) -> bool:
        """Say whether a metric is strictly better."""
        return trial < than if self.run["metric"]["direction"] == "lower" else trial > than

    @property
    def met(self) -> bool:
        """Say whether the target is met."""
        return not self.better(Decimal(repr(self.run["target"])), Decimal(self.retained))

    @property
    def spent(self) -> bool:
        """Say whether the iterations are used up."""
        limit: int | None = self.run["max_iterations"]
        return self.iteration == limit

    def measure(self) -> None:
        """Write the baseline."""
        self.head = self.commit()
        log = self.guard_log(guard_ran=True)
        self.emit("baseline", head=self.head, metric=self.retained, verify_log="logs/0.log", guard_log=log)

    def attempt(self, step: Step) -> None:
        """Write an iteration: kept if better and the guard passes, else reverted."""
        self.iteration += 1
        previous, trial, revert = self.retained, self.commit(), None
        guard = "pass"
        if not self.better(Decimal(step.metric), Decimal(previous)):
            guard = "not_run"
        elif self.run["guard"] and step.guard_fails:
            guard = "fail"
        if guard == "pass":
            self.head, self.retained = trial, step.metric
        else:
            self.head = revert = self.commit()
        self.emit(
            "iteration",
            iteration=self.iteration,
            outcome="discard" if revert else "keep",
            description=step.text,
            previous_metric=spell(previous, step.respell),
            trial_metric=step.metric,
            retained_metric=spell(self.retained, step.respell),
            trial_commit=trial,
            head=self.head,
            revert_commit=revert,
            guard=guard,
            verify_log=f"logs/{self.iteration}.log",
            guard_log=self.guard_log(guard_ran=guard != "not_run"),
        )

    def end(self, step: Step) -> bool:
        """Write a terminal event, and `resumed` if the step and the rules allow; say whether it goes on."""
        fields: Record = {}
        if step.kind.startswith("error"):
            trial = self.commit() if step.kind != "error" else None
            revert = self.commit() if step.kind == "error reverted" else None
            self.head = revert or trial or self.head
            fields = {"trial_commit": trial, "revert_commit": revert, "log": "logs/error.log"}
        metric = spell(self.retained, step.respell)
        self.emit(step.kind.split()[0], reason=step.text, head=self.head, metric=metric, **fields)
        goes_on = step.resume and step.kind != "error trial"
        if goes_on:
            self.emit("resumed", note=step.text, head=self.head, metric=metric)
        return goes_on


def simulate(run: Record, baseline: Num, steps: Iterable[Step]) -> list[Record]:
    """Return the events of a run that takes the steps, up to the first that ends it for good.

    It stops by itself when the target is met or `max_iterations` is reached, and then writes `complete` or `stopped`.
    """
    controller = Controller(run, baseline)
    controller.measure()
    for step in steps:
        if controller.met or controller.spent:
            break
        if step.kind == "try":
            controller.attempt(step)
        elif not controller.end(step):
            return controller.events
    if controller.met:
        controller.emit("complete", reason="target met", head=controller.head, metric=controller.retained)
    elif controller.spent:
        controller.emit("stopped", reason="iteration limit", head=controller.head, metric=controller.retained)
    return controller.events
