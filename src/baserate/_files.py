"""Files are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write next to the target, then rename: an existing file survives a failed run, and keeps its mode."""
    with drafted(path) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def drafted(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make an empty file next to the target, which takes its place once the body is through, or else is removed."""
    from secrets import token_hex  # slow to import, and rarely needed

    target = Path(path)
    draft = target.with_name(f".{target.name}.{token_hex(4)}")
    ours = True
    try:
        # Within, since an interrupt may come as soon as the file is there.
        try:
            draft.touch(exist_ok=False)
        except FileExistsError:
            ours = False
            raise
        yield draft
        if target.exists():
            draft.chmod(target.stat().st_mode)
        draft.replace(target)
    except BaseException:
        if ours:
            draft.unlink(missing_ok=True)
        raise
