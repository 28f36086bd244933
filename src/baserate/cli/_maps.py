"""Maps that are named in a shell."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baserate._class_map import ClassMap
    from baserate._map import Map


def loaded(path: str) -> "Map | ClassMap":
    """Read a map; what is wrong with it is told with its name."""
    from baserate import BadFile, NoSuchFile, load_map

    try:
        return load_map(path)
    except BadFile as error:
        told = str(error) if str(path) in str(error) else f"{path} is no map to use: {error}"
        raise BadFile(told) from error
    except OSError as error:
        raise NoSuchFile(f"the map {path} cannot be opened: {error.strerror}; check the path.") from error


def columns(map_: "Map | ClassMap", text: str | None) -> str | dict[str, str] | None:
    """Names as they are typed: one, or for several classes CLASS=NAME,…."""
    from baserate import ClassMap

    if text is None or not isinstance(map_, ClassMap):
        return text
    pairs = [part.rpartition("=") for part in text.split(",")]
    return {label.strip(): name.strip() for label, _, name in pairs}
