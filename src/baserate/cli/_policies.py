"""Policies that are named in a shell."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baserate._policy import Policy


def loaded(path: str) -> "Policy":
    """Read a policy; what is wrong with it is told with its name."""
    from baserate import BadFile, NoSuchFile, Policy

    try:
        return Policy.load(path)
    except BadFile as error:
        told = str(error) if str(path) in str(error) else f"{path} is no policy to use: {error}"
        raise BadFile(told) from error
    except OSError as error:
        raise NoSuchFile(f"the policy {path} cannot be opened: {error.strerror}; check the path.") from error
