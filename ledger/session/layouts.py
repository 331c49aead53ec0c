"""What a log's place says: which layout its session's files have, and which folder it is about."""

from pathlib import Path

from ledger.log.file_layout import AUTO, FLAT, FileLayout


def layout_of(log: Path) -> FileLayout:
    """Tell a layout by where the log is and how it is called."""
    if log.parent.name == AUTO.folder:
        return AUTO
    return next((layout for layout in owned_layouts() if log.name == Path(layout.log).name), FLAT)


def project_folder(log: Path) -> Path:
    """Name the folder that a log is about: the one around a layout's own folder, else that which the log is in."""
    folder = log.absolute().parent
    own = folder.name == AUTO.folder or any(folder.name == layout.folder for layout in owned_layouts())
    return folder.parent if own else folder


def owned_layouts() -> list[FileLayout]:
    """List the layouts that a protocol has to itself."""
    from ledger.dialects import DIALECTS  # with all that reads records, which who only looks for a log does without

    return [dialect.layout for dialect in DIALECTS if dialect.layout is not None]
