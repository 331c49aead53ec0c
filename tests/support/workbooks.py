"""Export workbooks with the real command, and open them again with openpyxl."""

import subprocess
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import openpyxl
from openpyxl.utils.escape import unescape

from tests.support.cli import ledger
from tests.support.programs import need, needs

Row = dict[str, Any]
needs_office = needs("soffice")

_EVERY_SHEET = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"


def export(folder: Path, *arguments: object, name: str = "summary.xlsx") -> Path:
    """Export a workbook, which must print nothing, and give its path."""
    assert ledger(folder, "export", "--format", "xlsx", "-o", name, *arguments) == (0, "", "")
    return folder / name


def opened(path: Path) -> Any:
    """Open a workbook, after each of its parts was found to be sound XML."""
    with zipfile.ZipFile(path) as parts:
        assert parts.testzip() is None
        for name in parts.namelist():
            if name.endswith((".xml", ".rels")):
                ElementTree.fromstring(parts.read(name))  # noqa: S314 - our own file
    return openpyxl.load_workbook(path)


def heads(page: Any) -> list[str]:
    """Give a sheet's header."""
    return [cell.value for cell in next(page.iter_rows())]


def rows(page: Any) -> list[Row]:
    """Give a sheet's rows by its header; what openpyxl leaves escaped, as in `_x005F_x0041_`, is read as Excel does."""
    names = heads(page)
    return [
        {name: unescape(value) if isinstance(value, str) else value for name, value in zip(names, values, strict=True)}
        for values in page.iter_rows(min_row=2, values_only=True)
    ]


def cells(page: Any, head: str) -> list[Any]:
    """Give a column's cells below its header."""
    place = heads(page).index(head)
    return [row[place] for row in page.iter_rows(min_row=2)]


def chart_xml(path: Path) -> list[str]:
    """Give the XML of each chart, in order."""
    with zipfile.ZipFile(path) as parts:
        names = [name for name in parts.namelist() if name.startswith("xl/charts/chart")]
        return [parts.read(name).decode() for name in sorted(names, key=lambda name: (len(name), name))]


def converted(path: Path, folder: Path, kind: str = _EVERY_SHEET) -> None:
    """Have LibreOffice convert a workbook, which it must do without complaint."""
    profile = (folder / "profile").as_uri()
    command = [
        need("soffice"),
        "--headless",
        f"-env:UserInstallation={profile}",
        "--convert-to",
        kind,
        "--outdir",
        str(folder),
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    told = (done.stdout + done.stderr).replace(
        "Warning: failed to launch javaldx - java may not function correctly", ""
    )
    assert done.returncode == 0 and "rror" not in told and "Warning" not in told, told
