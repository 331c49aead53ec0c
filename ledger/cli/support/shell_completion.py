"""What a shell asks when somebody presses tab: the line as it was typed so far, and what it may go on with.

Click finds out which command and parameter the line has come to; what a value may be is said by `candidates`. A line
that is answered is a value, as it is to be inserted, and a word about it with a tab between them.
"""

from __future__ import annotations  # click's items are generic since 8.5 only

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from ledger.base.text import plain
from ledger.cli.support.completion_values import Suggested, candidates_of

_UNSAFE = re.compile(r"[^\w@%+=:,./-]")


class Typed(NamedTuple):
    """Hold a line: its complete words, the word at the cursor, that word as it is written, and a quote left open."""

    words: list[str]
    word: str
    raw: str
    quote: str

    @property
    def option(self) -> str:
        """Give `--name=`, where the word at the cursor begins with that."""
        name, equals, _ = self.raw.partition("=")
        return name + equals if name.startswith("--") and equals else ""


def read_line(line: str) -> Typed:
    """Take a line apart as a shell does; quotes may be left open at its end."""
    words: list[str] = []
    word = raw = quote = ""
    escaped = False
    for char in line:
        if not quote and not escaped and char.isspace():
            if raw:
                words.append(word)
            word = raw = ""
            continue
        raw += char
        if escaped:
            word += char if not quote or char in '"$`\\' else f"\\{char}"
            escaped = False
        elif char == "\\" and quote != "'":
            escaped = True
        elif char == quote:
            quote = ""
        elif char in "'\"" and not quote:
            quote = char
        else:
            word += char
    return Typed(words, word, raw, quote)


def written(value: str, quote: str) -> str:
    """Write a value so that bash and zsh read it as it is, behind a quote that may be open."""
    if quote == "'":
        return value.replace("'", "'\\''")
    if quote:
        return re.sub(r'(["$`\\])', r"\\\1", value)
    return _UNSAFE.sub(r"\\\g<0>", value)


class _Shell(ShellComplete):
    """Answer a shell, and never with anything but completions: what goes wrong here must not end up in a prompt."""

    typed: Typed

    def source(self) -> str:
        """Give the script that makes the shell ask."""
        return (Path(__file__).parent / "shells" / f"ledger.{self.name}").read_text("utf-8")

    def get_completion_args(self) -> tuple[list[str], str]:
        """Read the line that the script hands over."""
        self.typed = read_line(os.environ.get("LEDGER_LINE", ""))
        return self.typed.words[1:], self.typed.word

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """Find what may follow; a value that would break a line, or steer the terminal, is left out."""
        _suggest(self.cli, args)
        return [one for one in super().get_completions(args, incomplete) if one.value.isprintable()]

    def complete(self) -> str:
        """Answer; nothing, if that is impossible."""
        try:
            return super().complete()
        except Exception:  # noqa: BLE001 - nobody can read it where the cursor stands
            return ""

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Write one line of the answer."""
        return f"{self.insertion(item.value)}\t{plain(item.help or '')}"

    def insertion(self, value: str) -> str:
        """Write a value as the shell inserts it; the home folder stays as it was written."""
        text, typed = written(value, self.typed.quote), self.typed
        home = value.startswith("~/") and typed.raw.removeprefix(typed.option).startswith("~/")
        return text.removeprefix("\\") if home else text


def _suggest(cli: click.Command, args: list[str]) -> None:
    """Tell click what the values of the command on the line may be."""
    command, context = cli, click.Context(cli)
    for word in args:
        if isinstance(command, click.Group):
            command = command.get_command(context, word) or command
    for parameter in command.params:
        if parameter.type is click.STRING and (give := candidates_of(command, parameter)):
            parameter.type = Suggested(give)


class BashComplete(_Shell):
    """Answer bash, which replaces only what comes after the last `:` or `=` of an unquoted word."""

    name = "bash"

    def insertion(self, value: str) -> str:
        """Leave out what bash keeps."""
        text, typed = super().insertion(value), self.typed
        replaced = os.environ.get("LEDGER_WORD", "")
        kept = typed.raw.removeprefix(typed.option).removesuffix(replaced)
        return text if typed.quote else text.removeprefix(kept)


class ZshComplete(_Shell):
    """Answer zsh, for which an unquoted `=` at the beginning stands for a command's path."""

    name = "zsh"

    def insertion(self, value: str) -> str:
        """Keep it from meaning that; zsh replaces the word whole."""
        text, option = super().insertion(value), self.typed.option
        return f"\\{text}" if text.startswith("=") and not self.typed.quote and not option else option + text


class FishComplete(_Shell):
    """Answer fish, which quotes by itself and replaces the word whole."""

    name = "fish"

    def insertion(self, value: str) -> str:
        """Give the value as it is."""
        return self.typed.option + value


SHELLS = (BashComplete, ZshComplete, FishComplete)
for _shell in SHELLS:
    add_completion_class(_shell)
