"""`explain`: what a code means."""

import click

from ledger.rules import RULES, by_code
from ledger.telling import findings


@click.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Say what a code means, why it matters, and what to do.

    Without CODE it lists them all.

    \b
    Example:
      ledger explain S405
    """
    if code is None:
        click.echo("\n".join(f"{rule.code}  {rule.severity.value:<7}  {rule.name}" for rule in by_code()))
        return
    known = RULES.get(code.upper()) or next((rule for rule in RULES.values() if rule.name == code.lower()), None)
    if known is None:
        raise click.UsageError(f"no rule has the code {code}; ledger explain lists them")
    click.echo(findings.explain(known), nl=False)
