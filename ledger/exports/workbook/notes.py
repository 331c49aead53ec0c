"""The sheet that says how to read the others."""

from xlsxwriter import Workbook

from ledger.base.times import iso
from ledger.exports.workbook.sheet import Styles, put_text
from ledger.mirror.queries import Filters

_NOTES = {
    "Sheets": """Each is what the query of its name gives, such as ledger sessions; a full sheet has a second.""",
    "Times": """UTC, as date-times; one before March 1900, which no spreadsheet has, as ISO-8601 text.""",
    "Percentages": """Cells hold ratios: 10.0% is 0.1. improvement_pct is positive where the best is better than the
        baseline; delta_pct has the sign of the change.""",
    "Numbers": """Doubles, with all their digits. Where no double is a run's metric, metric_exact has it as text. An
        integer past 9,007,199,254,740,992 is text too.""",
    "Text": """Never a formula or a link. A control character is shown as its picture, such as ␛ for escape; a text past
        32,767 characters ends in [cut].""",
    "Runs": """kept and not_kept have the metric once more, for the charts; a crash measured nothing, and has none.""",
    "Metrics": """The secondary metrics of the runs in Runs, a row a value.""",
    "Whole logs": """ledger export LOG writes a log back, byte for byte.""",
}


def write(book: Workbook, styles: Styles, filters: Filters) -> None:
    """Write the sheet, with the filters that the workbook was made with."""
    page = book.add_worksheet("About")
    page.set_column(0, 0, 14)
    page.set_column(1, 1, 110)
    wrapped = book.add_format({"text_wrap": True, "valign": "top"})
    for row, (head, text) in enumerate((_NOTES | {"Filters": _said(filters)}).items()):
        page.write_string(row, 0, head, styles.heading)
        put_text(page, styles, row, 1, " ".join(text.split()), wrapped)


def _said(filters: Filters) -> str:
    said = [f"session {name}" for name in filters.sessions]
    said += [f"metric {filters.metric}"] if filters.metric is not None else []
    said += [f"status of runs {filters.status}"] if filters.status is not None else []
    said += [f"since {iso(filters.since_ms)}"] if filters.since_ms is not None else []
    said += [f"until {iso(filters.until_ms)}"] if filters.until_ms is not None else []
    return "; ".join(said) or "none: all that the mirror has"
