"""`completion`: the script with which a shell completes ledger's commands."""

import click

from ledger.cli.support.shell_completion import SHELLS


@click.command()
@click.argument("shell", type=click.Choice([known.name for known in SHELLS]))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete commands, options, logs, sessions and codes.

    \b
    For bash, a line in ~/.bashrc; for zsh, one with zsh in ~/.zshrc, below compinit
      eval "$(ledger completion bash)"

    \b
    For fish once
      ledger completion fish > ~/.config/fish/completions/ledger.fish

    \b
    Example:
      ledger completion bash
    """
    script = next(known for known in SHELLS if known.name == shell)
    context = click.get_current_context().find_root()
    click.echo(script(context.command, {}, "ledger", "").source(), nl=False)
