"""Coverage-guided fuzzing of `Fuzzer.check` by atheris: python -m tests.torture.guided FOLDER SECONDS

The process ends with the fuzzing: status 0, or another one with a traceback and the input that broke a promise.
"""

import json
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ledger"]):
    from tests.support.damaged import CONFIG
    from tests.support.mirroring import mirror_at
    from tests.torture.fuzz import Fuzzer, Subject, corpus

_RUN_JSON = json.dumps(CONFIG).encode()


def main(folder: Path, seconds: int) -> None:
    """Fuzz for so long, from the corpus of the seeded mutations."""
    seeds = folder / "seeds"
    seeds.mkdir()
    for number, one in enumerate(corpus()):
        (seeds / str(number)).write_bytes(one.data)
    with mirror_at(folder / "mirror.db") as mirror:
        fuzzer = Fuzzer(mirror, folder)

        def target(data: bytes) -> None:
            fuzzer.check(Subject(data, _RUN_JSON if b'"event"' in data and len(data) % 4 else None))

        options = (f"-max_total_time={seconds}", "-max_len=8000", "-timeout=20", f"-artifact_prefix={folder}/")
        atheris.Setup(["torture", str(seeds), *options], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
