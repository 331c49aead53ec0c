"""Which layout the files of a log's session have."""

from pathlib import Path

from ledger.log.layout import AUTO, FLAT, FileLayout


def layout_of(log: Path) -> FileLayout:
    """Tell a layout by where the log is and how it is called."""
    if log.parent.name == AUTO.folder:
        return AUTO
    return next((layout for layout in owned_layouts() if log.name == Path(layout.log).name), FLAT)


def owned_layouts() -> list[FileLayout]:
    """List the layouts that a protocol has to itself."""
    from ledger.dialects import DIALECTS  # with all that reads records, which who only looks for a log does without

    return [dialect.layout for dialect in DIALECTS if dialect.layout is not None]
