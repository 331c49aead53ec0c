"""Generate larger logs from a seed, sound or with warnings only, with plain `random`."""

from __future__ import annotations

from random import Random

from . import codex
from .encode import Num, Record, Style, lines
from .strategies import EDGE, FINE, NAMES, WORDS, spell_time

START = 1_700_000_000_000


def generate(seed: int, dialect: str, runs: int) -> tuple[bytes, Record | None]:
    """Return a log of so many runs and, for codex, its run.json; the same seed gives the same bytes.

    A codex history may stop before, when it cannot be resumed or meets its target.
    """
    rng = Random(f"{seed} {dialect} {runs}")
    style = Style(
        comma=rng.choice([",", ", "]),
        colon=rng.choice([":", ": "]),
        order=rng.choice(["as is", "sorted", "reversed"]),
        ascii=rng.random() < 0.5,
        end=rng.choice(["\n", "\n", "\r\n"]),
    )
    if dialect == "codex":
        run, events = codex_history(rng, runs)
        return lines(events, style), run
    make = {"autoresearch": autoresearch_records, "state-protocol": state_records}[dialect]
    texts: list[Record | str] = []
    for record in make(rng, runs):
        texts.append(record)
        if rng.random() < 0.01:
            texts.append(rng.choice(["", "  "]))
    if isinstance(texts[-1], str):
        texts.pop()
    return lines(texts, style, final_newline=rng.random() < 0.8), None


def number(rng: Random) -> Num:
    """Return a metric's text: mostly around 100, with ties; now and then an odd one, seldom one at the edges."""
    chance = rng.random()
    if chance < 0.04:
        return Num(rng.choice(EDGE if chance < 0.0005 else FINE))
    return Num(rng.randint(80, 120) if chance < 0.5 else f"{rng.gauss(100, 15):.{rng.randint(1, 17)}f}")


def text(rng: Random) -> str:
    """Return a description."""
    return rng.choice([*WORDS, "unroll", "cache keys", "vectorise", "fewer copies"])


def commit(rng: Random) -> str:
    """Return seven hex digits."""
    return f"{rng.getrandbits(28):07x}"


def header(rng: Random) -> Record:
    """Return a header of section 2."""
    return {
        "type": "config",
        "name": text(rng),
        "metricName": rng.choice(["total_ms", "score", "µ.x"]),
        "metricUnit": rng.choice(["ms", ""]),
        "bestDirection": rng.choice(["lower", "higher"]),
    }


def experiment(rng: Random, names: list[str]) -> Record:
    """Return a run of section 2 without its number, time and segment, and now and then without more."""
    status = rng.choices(["keep", "discard", "crash", "checks_failed"], [2, 6, 2, 1])[0]
    optional = {
        "commit": commit(rng) if status == "keep" else "",
        "metrics": {name: number(rng) for name in names if rng.random() < 0.9},
        "description": text(rng),
        "confidence": rng.choice([None, Num("2.3")]),
        "asi": rng.choice([None, {"hypothesis": text(rng), "deep": {"list": [1, None, True, Num("1.50")]}}]),
    }
    kept = {key: value for key, value in optional.items() if rng.random() < 0.97}
    return {"metric": 0 if status == "crash" else number(rng), "status": status, **kept}


def aside(rng: Random) -> list[Record]:
    """Return at most one hook and one record of an unknown type."""
    records: list[Record] = []
    if rng.random() < 0.1:
        ran = {"exit_code": rng.choice([0, 0, 1]), "duration_ms": 41, "stdout_bytes": 216, "timed_out": False}
        records.append({"type": "hook", "stage": rng.choice(["before", "after"]), **ran})
    if rng.random() < 0.02:
        records.append({"type": "finalize", "reason": text(rng), "evidence": {"n": number(rng)}})
    return records


def autoresearch_records(rng: Random, runs: int) -> list[Record]:
    """Return the records of a log of section 2, one time unit throughout."""
    run = segment = held = 0
    in_ms, names = rng.random() < 0.8, rng.sample(NAMES, 4)

    def stamp() -> int:
        return START + len(records) * 61_007 if in_ms else START // 1000 + len(records) * 61

    def mark(state: str, **more: int) -> None:
        records.append({"type": "status", "state": state, "timestamp": stamp(), **more})

    records = [header(rng)]
    mark("running")
    for _ in range(runs):
        if held and rng.random() < 0.02:
            records.extend(header(rng) for _ in range(rng.choice([1, 1, 2])))
            segment, held = segment + 1, 0
        records.extend(aside(rng))
        if held and held % 200 == 0:
            mark("running", backstop_ack=held)
        run = max(0, run + rng.choice([1] * 30 + [0, 2, -1]))
        held += 1
        stated = segment if rng.random() < 0.95 else segment + rng.randint(0, 2)
        records.append({"run": run, **experiment(rng, names), "timestamp": stamp(), "segment": stated})
    mark(rng.choice(["done", "cancelled", "wall", "blocked", "running"]))
    return [*records, header(rng)] if rng.random() < 0.2 else records


def result(rng: Random, run: int, metric: str, crashed: bool) -> Record:
    """Return a result of section 3 without its time."""
    record: Record = {
        "type": "result",
        "run": run,
        "commit": commit(rng),
        "metric": metric,
        "value": 0 if crashed else number(rng),
        "status": "crash" if crashed else "measured",
        "description": text(rng),
    }
    if not crashed and rng.random() < 0.3:
        record["median"] = number(rng)
        record["samples"] = [number(rng) for _ in range(rng.randint(1, 5))]
    return record


def state_records(rng: Random, runs: int) -> list[Record]:
    """Return the records of a log of section 3: most runs decided at once, some again later."""
    records: list[Record] = []
    decidable: list[int] = []
    run = held = 0
    metric = ""

    def write(record: Record, key: str = "timestamp") -> None:
        offset = rng.choice(["Z", "Z", "+02:00"])
        records.append({**record, key: spell_time(START + len(records) * 61_007, rng.choice([0, 3, 6]), offset)})

    def decide(which: int, *actions: str) -> None:
        write({"type": "decision", "run": which, "action": rng.choice(actions), "reason": text(rng)})

    for _ in range(max(runs, 1)):
        if not records or (held and rng.random() < 0.02):
            metric, held = rng.choice(["latency_ms", "score"]), 0
            config = {"name": text(rng), "metric": metric, "direction": rng.choice(["lower", "higher"]), "unit": "ms"}
            write({"type": "config", "schema_version": 1, **config}, "created_at")
        if not runs:
            break
        run += rng.choice([1] * 20 + [2])
        held += 1
        crashed = rng.random() < 0.1
        write(result(rng, run, metric, crashed))
        actions = ["discard"] if crashed else ["baseline"] if held == 1 else ["keep", "discard", "discard"]
        if crashed or rng.random() < 0.9:
            decide(run, *actions)
        decidable.extend([] if crashed else [run])
        if decidable and rng.random() < 0.05:
            decide(rng.choice(decidable), "keep", "discard")
    if decidable and rng.random() < 0.3:
        decide(decidable[-1], "stop")
    return records


def codex_history(rng: Random, runs: int) -> tuple[Record, list[Record]]:
    """Return a run.json and its events."""
    direction = rng.choice(["lower", "higher"])
    far = -1e308 if direction == "lower" else 1e308
    limit = rng.choice([None, runs or None])
    run = codex.config(direction, rng.choice([far, far, far, 20]), rng.choice([None, "make test"]), limit, text(rng))
    steps = []
    for _ in range(runs):
        steps.append(codex.Step("try", number(rng), rng.random() < 0.2, text=text(rng), respell=rng.random() < 0.1))
        if rng.random() < 0.03:
            steps.append(codex.Step(rng.choice(["blocked", "stopped", "error", "error reverted"]), text=text(rng)))
    if rng.random() < 0.5:
        steps.append(codex.Step(rng.choice(codex.KINDS[1:]), resume=False, text=text(rng)))
    return run, codex.simulate(run, number(rng), steps)
