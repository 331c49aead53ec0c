"""Tables in aligned columns, as the terminal and Markdown have them."""

from collections.abc import Sequence


def grid(heads: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool], style: str) -> str:
    """Lay out cells that are text already; `style` is tabulate's, `right` says which columns hold numbers."""
    import tabulate

    tabulate.MIN_PADDING = 0  # it would make each column two wider than its header
    align = ["right" if numeric else "left" for numeric in right] if cells else None
    return tabulate.tabulate(cells, heads, style, disable_numparse=True, colalign=align) + "\n"
