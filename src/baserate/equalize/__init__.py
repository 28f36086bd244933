"""{group: Curve} -> Policy: how groups differ, and what to do so that they do not.

May import the nouns and every room below, `decide` among them. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.equalize._account import account as account
    from baserate.equalize._blind import blind as blind
    from baserate.equalize._crossing import (
        Crossing as Crossing,
        Scale as Scale,
        crossing as crossing,
        crossings as crossings,
    )
    from baserate.equalize._deterministic import deterministic as deterministic
    from baserate.equalize._differences import differences as differences
    from baserate.equalize._frontier import frontier as frontier
    from baserate.equalize._gaps import gaps as gaps
    from baserate.equalize._goal import Goal as Goal
    from baserate.equalize._groups import groups as groups
    from baserate.equalize._held_out import Deal as Deal, HeldOut as HeldOut, held_out as held_out
    from baserate.equalize._optimum import optimum as optimum
    from baserate.equalize._parity import PARITIES as PARITIES, Parity as Parity, parity as parity
    from baserate.equalize._reject import reject_option as reject_option
    from baserate.equalize._table import group_table as group_table

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.equalize._eligibility import MIN_SIZE as MIN_SIZE
    from baserate.equalize._optimum import RULE as RULE
    from baserate.equalize._words import SAME as SAME

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
