"""What verbs share that write maps and policies as code."""

import click

DIALECT = click.option(
    "--dialect",
    type=click.Choice(["duckdb", "postgresql", "spark"], case_sensitive=False),
    help="Whose SQL; otherwise duckdb.",
)
OUTPUT = click.option(
    "-o", "--output", type=click.Path(allow_dash=True), metavar="FILE", help="Write there instead of to stdout."
)


def in_columns(found: str | dict[str, str], dialect: str) -> str:
    """One expression as it is, several as columns with their names."""
    from baserate.apply import dialect as spoken

    if isinstance(found, str):
        return found
    return ",\n".join(f"{each} AS {spoken(dialect).quoted(name)}" for name, each in found.items())
