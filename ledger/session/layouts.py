"""What a log's place says: which layout its session's files have, and which folder it is about."""

from pathlib import Path

from ledger.dialects.base import AUTO, FLAT, FileLayout
from ledger.reading.discovery import owned_layouts


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
