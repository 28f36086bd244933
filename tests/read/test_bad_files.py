"""Bad files raise errors of baserate, with a remedy."""

from pathlib import Path

import pytest

from baserate import read
from tests.bad_files import BAD, BadFile


@pytest.mark.quick(17)
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_bad_files_raise_a_clear_message(bad: BadFile, tmp_path: Path) -> None:
    bad.make(tmp_path)
    path = tmp_path / bad.source
    message = bad.message.replace("{path}", str(path)).replace("{folder}", str(tmp_path))
    with pytest.raises(bad.error) as caught:
        read.tallies(path, truth="y", score="p")
    assert message in str(caught.value)
    assert str(caught.value).rstrip().endswith((".", "?"))
