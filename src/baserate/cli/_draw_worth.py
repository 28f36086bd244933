"""Figures of what scores are worth: as probabilities, at costs, at other prevalences, to groups."""

import click

WORTH: tuple[click.Command, ...] = ()
