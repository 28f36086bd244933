"""Files are written whole or not at all."""

import os
from pathlib import Path


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write next to the target, then rename: an existing file survives a failed run."""
    from tempfile import NamedTemporaryFile  # slow to import, and rarely needed

    target = Path(path)
    with NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as draft:
        try:
            draft.write(text)
            draft.flush()
            os.fsync(draft.fileno())
            Path(draft.name).replace(target)
        except BaseException:
            Path(draft.name).unlink()
            raise
