"""Real lines, mutated: read, mirrored, exported and repaired, each without a surprise.

`Fuzzer.check` is the target of the seeded mutations below, and of atheris in guided.py.
"""

import json
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple, Self

from ledger.base.errors import LedgerError
from ledger.log.diagnostics import Diagnostic
from ledger.reading import accepted
from ledger.repair.carried_out import carry_out
from ledger.repair.fixer import Options
from ledger.repair.log_text import Text
from ledger.repair.plan import make_plan, safe_items
from ledger.repair.plan_file import plan_bytes, read_plan
from ledger.repair.repairs_made import last_repair
from ledger.session import settings
from ledger.telling import findings
from tests.oracle.random_logs import generate
from tests.repair.test_properties import bare, check_better, folded
from tests.support.damaged import CONFIG, HISTORY, PIECES, SAMPLES
from tests.support.mirroring import Mirror
from tests.support.reading import DIALECTS
from tests.torture.figures import Figure

LINES = 20
"""Lines of a mutated log: few, so that the faults of one line are not hidden by those of the others."""

SECONDS = 20
"""A log of twenty lines takes milliseconds; whatever takes this long hangs."""

MEGABYTES = 50
"""What memory may grow by, between the first tenth and the end."""


class Subject(NamedTuple):
    """Hold a log's bytes, with its run.json if it has one."""

    data: bytes
    run_json: bytes | None


def corpus() -> list[Subject]:
    """Give real logs of all dialects, the long ones in pieces that each begin as their log does."""
    whole = [Subject(data, None) for data in SAMPLES]
    whole.append(Subject(HISTORY, json.dumps(CONFIG).encode()))
    for dialect in DIALECTS:
        for seed in range(10):
            data, config = generate(seed, dialect, 40)
            whole.append(Subject(data, None if config is None else json.dumps(config).encode()))
    return [Subject(piece, one.run_json) for one in whole for piece in _pieces(one.data)]


def _pieces(data: bytes) -> Iterator[bytes]:
    lines = data.splitlines(keepends=True)
    whole = b'"schema_version"' in lines[0]  # where each record builds on those before, only the beginning is sound
    for start in (0,) if whole else range(0, len(lines), LINES - 1):
        yield b"".join([lines[0] if start else b"", *lines[start : start + LINES - 1]])


def mutated(line: bytes, other: bytes, dice: random.Random) -> bytes:
    """Do one thing to a line: bytes flipped, cut, doubled, moved, swapped for those of another, or for odd ones."""
    start = dice.randint(0, len(line))
    end = min(len(line), start + dice.choice((0, 1, 1, 2, 5, 20, 200)))
    piece = line[start:end]
    kind = dice.randrange(12)
    if kind == 0 and line:
        place = dice.randrange(len(line))
        return line[:place] + bytes([line[place] ^ 1 << dice.randrange(8)]) + line[place + 1 :]
    if kind == 1:
        return line[:start] + line[end:]
    if kind == 2:
        return line[:start] + piece * dice.choice((2, 3, 40)) + line[end:]
    if kind == 3:
        return line[:start] + other[start:end] + line[end:]
    if kind == 4:
        return line[:start] + bytes(dice.randrange(256) for _ in range(dice.randint(1, 4))) + line[end:]
    if kind in (5, 9, 10):
        return _DIGIT.sub(lambda found: b"%d" % dice.randrange(10) if dice.random() < 0.3 else found[0], line)
    if kind == 6:
        return _other_value(line, other, dice)
    if kind == 11:
        return line.replace(b"e", "é".encode(), 3)
    return line[:start] + dice.choice(PIECES) + line[end:]


_DIGIT = re.compile(rb"[1-9]")
_VALUES = (
    *("null", "true", "0", "-0", "-1", "1e308", "1e999", "1E-400", "18446744073709551616", "9" * 400, "0.1" + "0" * 60),
    *('""', '"\\u0000"', '"\\ud83d"', '"=1+1"', '"\\u001b[2J"', '"__proto__"', "[]", "{}", "[[[]]]", '{"a":{"a":1}}'),
    *('"2026-01-01"', '"9999-12-31T23:59:59+14:00"', '"0000-00-00T00:00:00Z"', "NaN", "-Infinity", "1_0", "0x1"),
)


def _other_value(line: bytes, other: bytes, dice: random.Random) -> bytes:
    """Give one key of a record another value, or a key of another record, in text that stays JSON for the most part."""
    try:
        record, donor = json.loads(line), json.loads(other)
        key = dice.choice([*record, *donor])
    except (ValueError, TypeError, IndexError):
        return line[::-1]
    value = dice.choice((*_VALUES, json.dumps(donor.get(key)) if isinstance(donor, dict) else "1"))
    parts = [f"{json.dumps(name)}:{value if name == key else json.dumps(item)}" for name, item in record.items()]
    if key not in record:
        parts.insert(dice.randint(0, len(parts)), f"{json.dumps(key)}:{value}")
    return ("{" + ",".join(parts) + "}\n").encode("utf-8", "surrogatepass")


class Fuzzer:
    """Check subjects against one mirror, which is emptied after each."""

    def __init__(self, mirror: Mirror, folder: Path) -> None:
        self.mirror = mirror
        self.log = folder.resolve() / "events.jsonl"
        self.accepted = self.refused = 0

    def check(self, one: Subject) -> None:
        """Hold a log to be given back byte for byte, or refused with a line; and its repair to be no worse."""
        self.log.write_bytes(one.data)
        beside = self.log.with_name("run.json")
        beside.unlink(missing_ok=True)
        if one.run_json is not None:
            beside.write_bytes(one.run_json)
        strict = self.mirror.sync(self.log)
        if strict.refused:
            errors = [found for found in strict.diagnostics if found.is_error]
            assert errors and all(found.line >= 1 or found.source == "run.json" or not one.data for found in errors)
            assert self.mirror.rows("sessions") == []
            self._printable(errors)
            self.refused += 1
            assert not self.mirror.sync(self.log, quarantine=True).refused
        else:
            self.accepted += 1
        self._holds_every_byte(one, waiting=strict.status == "waiting")
        self.mirror.forget(self.log)
        self._repair(one)

    def _holds_every_byte(self, one: Subject, *, waiting: bool) -> None:
        if waiting or not one.data:
            return
        session = self.mirror.session(self.log)
        exported = self.mirror.export(self.log)
        assert exported == one.data[: len(one.data) - session.pending_bytes]
        proof = self.mirror.verify(self.log)
        assert proof.ok, proof

    def _printable(self, found: list[Diagnostic]) -> None:
        for line in findings.lines_of(self.log, found):
            assert line.isprintable(), line

    def _repair(self, one: Subject) -> None:
        text = Text(one.data, None, one.run_json)
        plan = make_plan(text, text.diagnostics, Options())
        assert plan_bytes(plan, self.log, text)
        check_better(text, carry_out(text, plan.items, Options()))
        if items := safe_items(plan):
            outcome = carry_out(text, items, Options())
            assert outcome.refusal is None and outcome.done
            assert bare(outcome.text.data) == bare(text.data)
            assert folded(outcome.text) == folded(text)


class _Watch:
    """Raise an error in whatever takes too long."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def __enter__(self) -> Self:
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    @staticmethod
    def _ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("it hangs")


def peak() -> float:
    """Give the most memory that this process had, in megabytes."""
    import resource  # Windows has none

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


@contextmanager
def _shown(subject: object) -> Iterator[None]:
    """Say of what fails which input it was."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"with {subject!r}")
        raise


def lines(mirror: Mirror, folder: Path, count: int, seed: int = 1) -> Figure:
    """Mutate so many lines of real logs, and check each log with them."""
    dice, seeds, fuzzer = random.Random(seed), corpus(), Fuzzer(mirror, folder)
    done, early = 0, 0.0
    while done < count:
        one, other = dice.choice(seeds), dice.choice(seeds)
        parts = one.data.splitlines(keepends=True)
        strangers = other.data.splitlines(keepends=True)
        for _ in range(dice.choice((1, 1, 1, 2, LINES))):
            place = dice.randrange(len(parts))
            parts[place] = mutated(parts[place], dice.choice(strangers), dice)
            done += 1
        run_json = one.run_json
        if run_json is not None and dice.random() < 0.2:
            run_json = dice.choice((None, mutated(run_json, run_json, dice)))
        subject = Subject(b"".join(parts), run_json)
        with _shown(subject), _Watch(SECONDS):
            fuzzer.check(subject)
        if not early and done > count / 10:
            early = peak()
    growth = peak() - early
    assert growth < MEGABYTES, growth
    told = f"{fuzzer.accepted:,} logs taken and exported byte for byte, {fuzzer.refused:,} refused with their lines"
    told += f"; memory grew by {growth:.0f} MB" if count > 10_000 else ""
    return Figure("real lines, mutated", done, told)


def side_files(folder: Path, count: int, seed: int = 2) -> Figure:
    """Mutate what lies beside a log: read as before, or refused in a sentence."""
    dice = random.Random(seed)
    log = folder.resolve() / "log.jsonl"
    log.write_bytes(SAMPLES[0])
    text = Text(b"\xef\xbb\xbf" + SAMPLES[0][:-1], None, None)
    plan = plan_bytes(make_plan(text, text.diagnostics, Options()), log, text)
    record = '{"action":"%s","code":"L106","line":3,"sha256":"%s","reason":"r","by":"b","at":"2026-01-01T00:00:00Z"}\n'
    repair = '{"action":"repair","before":"%s","after":"%s","backup":"log.jsonl.00000000.bak","items":[]}\n'
    made: tuple[tuple[str, bytes, Callable[[Path], object]], ...] = (
        ("plan.json", plan, read_plan),
        ("log.jsonl.accepted.jsonl", (record % ("accept", "0" * 64)).encode() * 2, lambda _: accepted.read(log)),
        ("log.jsonl.repairs.jsonl", (repair % ("0" * 64, "1" * 64)).encode(), lambda _: last_repair(log, b"")),
        (".auto/config.json", b'{"maxIterations":5,"workingDir":"."}', lambda _: settings.find(folder)),
    )
    said: list[str] = []
    (folder / ".auto").mkdir(exist_ok=True)
    for _ in range(count):
        name, data, use = dice.choice(made)
        for _ in range(dice.choice((1, 1, 3))):
            data = mutated(data, data, dice)
        path = folder / name
        path.write_bytes(data)
        with _shown((name, data)), _Watch(SECONDS):
            try:
                use(path)
            except LedgerError as error:
                said.append(str(error))
        path.unlink()
    assert all(sentence.isprintable() for sentence in said)
    return Figure("side files, mutated", count, f"{len(said):,} refused in a sentence, the others read")
