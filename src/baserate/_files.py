"""Files are written whole or not at all."""

import os
from pathlib import Path


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write next to the target, then rename: an existing file survives a failed run, and keeps its mode."""
    from secrets import token_hex  # slow to import, and rarely needed

    target = Path(path)
    draft = target.with_name(f".{target.name}.{token_hex(4)}")
    with draft.open("x", encoding="utf-8", newline="\n") as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            if target.exists():
                draft.chmod(target.stat().st_mode)
            draft.replace(target)
        except BaseException:
            draft.unlink()
            raise
