"""What the fuzzing found, each as it was found, made small."""

from pathlib import Path

from tests.support.damaged import CONFIG, HISTORY, SAMPLES
from tests.support.mirroring import mirror_at, write


def test_a_history_whose_end_is_half_written_is_proved(tmp_path: Path):
    """It met its target, and the event that says so is torn: that it goes on is known only while the tail is there."""
    last = HISTORY.rstrip(b"\n").rsplit(b"\n", 1)[1]
    assert b'"complete"' in last
    log = write(tmp_path, "history", HISTORY[: -len(last) // 2], CONFIG)
    with mirror_at(tmp_path / "mirror.db") as mirror:
        assert mirror.sync(log).pending
        assert mirror.verify(log).ok
        before = mirror.laid_open(log)
        mirror.rebuild(log)
        assert mirror.laid_open(log) == before
        log.write_bytes(HISTORY)
        assert mirror.sync(log).status == "grown"
        assert mirror.verify(log).ok


def test_blank_lines_before_a_half_written_first_record_are_proved(tmp_path: Path):
    """Whether they are a log at all is known only once the record is whole."""
    log = write(tmp_path, "log", b"\n\n" + SAMPLES[0][:40])
    with mirror_at(tmp_path / "mirror.db") as mirror:
        assert mirror.sync(log).pending
        assert mirror.verify(log).ok
        before = mirror.laid_open(log)
        mirror.rebuild(log)
        assert mirror.laid_open(log) == before
        log.write_bytes(b"\n\n" + SAMPLES[0])
        assert mirror.sync(log, quarantine=True).status == "grown"
        assert mirror.verify(log).ok
