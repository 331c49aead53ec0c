"""What a loop is told about crashes, markers and its end."""

from typing import ClassVar

from ledger.dialects.words import Words


class AutoresearchWords(Words):
    how_to_end = "end it with ledger mark done, or ledger cancel"
    endings: ClassVar = {"done": "DONE", "cancelled": "CANCELLED", "wall": "WALL", "blocked": "BLOCKED"}

    def closed(self, how: str) -> str:
        anew = ", then ledger init opens a segment without its streak" if how == "wall" else ""
        return f"the session is concluded ({how}); ledger mark running --restart goes on with it{anew}"

    def report(self, verdict: str) -> str:
        if verdict == "wall":
            return (
                "Report it with `ledger mark wall`; another direction starts with `ledger mark running --restart` and a"
                " new segment, `ledger init`."
            )
        return "Report it with `ledger mark done`, or raise the limit if a person says so."
