"""Policies applied to files of every format; failures keep the old target."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from baserate import (
    BaserateError,
    Cut,
    MissingValuesError,
    OptionError,
    Policy,
    RandomizedCut,
    UnknownLabelError,
    UnknownNameError,
    apply,
)
from baserate._cut import Treatment
from tests.apply.policy_rows import COLUMNS, HALF, IDS, POLICIES, THREE, expected_action, rows_of, table
from tests.apply.tables import read, write
from tests.tiers import take_in_tiers

OF_FILES = ("combinations", "of three")
"""Those that every kind of file meets."""
KINDS = ("in.csv", "in.tsv", "in.csv.gz", "in.parquet", "in.jsonl", "in.arrow")


@pytest.mark.quick(3)
@pytest.mark.parametrize("source", KINDS)
@pytest.mark.parametrize("ids", take_in_tiers(IDS))
def test_files_of_every_format_agree_with_the_policy(source: str, ids: str, tmp_path: Path) -> None:
    # An empty cell of CSV is nothing, and so no id.
    rows = [row for row in rows_of(IDS[ids] * 3, seed=1) if row["who"] != "" or ".json" in source]
    write(table(rows, pa.uint64() if ids == "large" else None), tmp_path / source)
    for policy in (POLICIES[name] for name in OF_FILES):
        written = apply.file(policy, tmp_path / source, tmp_path / "out.jsonl")
        result = [row["action"] for row in read(tmp_path / "out.jsonl")]
        assert written.rows == len(rows)
        assert result == [expected_action(policy, row) for row in rows]


def test_ids_are_hashed_by_their_text(tmp_path: Path) -> None:
    rows = rows_of(range(200))
    write(table(rows, pa.int16()), tmp_path / "in.parquet")
    write(table(rows, pa.uint64()), tmp_path / "in.arrow")
    for name in ("in.csv", "in.jsonl"):
        write(table(rows), tmp_path / name)
    texts = [{**row, "who": str(row["who"])} for row in rows]
    write(table(texts), tmp_path / "text.parquet")
    result = []
    for name in ("in.parquet", "in.arrow", "in.csv", "in.jsonl", "text.parquet"):
        apply.file(POLICIES["groups"], tmp_path / name, tmp_path / "out.jsonl")
        result.append([row["action"] for row in read(tmp_path / "out.jsonl")])
    assert all(each == result[0] for each in result)


def test_splits_and_order_do_not_matter(tmp_path: Path) -> None:
    rows, policy = rows_of([f"p{at}" for at in range(300)]), POLICIES["groups"]
    folder = tmp_path / "parts"
    folder.mkdir()
    write(table(rows), tmp_path / "in.parquet")
    apply.file(policy, tmp_path / "in.parquet", tmp_path / "out.parquet", chances=True)
    wanted = read(tmp_path / "out.parquet")
    for part in range(7):
        write(table(rows[part * 43 : (part + 1) * 43]), folder / f"part-{part}.parquet")
    for source in (folder, folder / "part-*.parquet", [folder / f"part-{part}.parquet" for part in range(7)]):
        assert apply.file(policy, source, tmp_path / "again.parquet", chances=True).rows == 300
        assert read(tmp_path / "again.parquet") == wanted
    write(table(rows[::-1]), tmp_path / "back.parquet")
    apply.file(policy, tmp_path / "back.parquet", tmp_path / "again.parquet", chances=True)
    assert read(tmp_path / "again.parquet") == wanted[::-1]


def test_groups_from_folder_names(tmp_path: Path) -> None:
    for site in ("f", "m"):
        (tmp_path / f"site={site}").mkdir()
        part = table([{**row, "site": None} for row in rows_of(range(20))]).drop_columns(["site"])
        write(part, tmp_path / f"site={site}" / "part.parquet")
    apply.file(POLICIES["groups"], tmp_path / "site=*" / "*.parquet", tmp_path / "out.jsonl")
    result = read(tmp_path / "out.jsonl")
    assert {row["site"] for row in result} == {"f", "m"}
    assert [row["action"] for row in result] == [expected_action(POLICIES["groups"], row) for row in result]


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", POLICIES)
def test_chances_follow_the_action(name: str, tmp_path: Path) -> None:
    policy, rows = POLICIES[name], rows_of(IDS["numbers"], seed=2)
    write(table(rows), tmp_path / "in.parquet")
    apply.file(policy, tmp_path / "in.parquet", tmp_path / "out.parquet", chances=True, name="do")
    for row in read(tmp_path / "out.parquet"):
        assert [*row][5:] == ["do", *(f"do_chance_{action}" for action in policy.actions)]
        treatment = policy.treatment([row[name] for name in policy.attributes])
        assert {each: row[f"do_chance_{each}"] for each in policy.actions} == action_chances(
            policy, treatment, row["risk"]
        )


def action_chances(policy: Policy, treatment: Treatment, score: float) -> dict[str, float]:
    if isinstance(treatment, RandomizedCut):
        return dict.fromkeys(policy.actions, 0.0) | treatment.chances_at(score)
    return {each: float(each == treatment.action(score)) for each in policy.actions}


def test_many_groups_and_many_rows_keep_their_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sites, risk = rng.integers(0, 300, 100_000), rng.random(100_000)
    levels = {f"s{at}": Cut((at / 300,)) if at % 9 else Cut((0.5,)) for at in range(300)}
    policy = Policy(by_group={(name,): cut for name, cut in levels.items()}, otherwise="refuse", attributes=("site",))
    source = pa.table({"at": np.arange(len(risk)), "risk": risk, "site": [f"s{at}" for at in sites]})
    write(source, tmp_path / "in.parquet")
    apply.file(policy, tmp_path / "in.parquet", tmp_path / "out.parquet", score="risk")
    result = pq.read_table(tmp_path / "out.parquet")
    assert result.drop_columns(["action"]).to_pydict() == source.to_pydict()
    at = np.array([cut.threshold for cut in levels.values()])
    assert np.array_equal(result["action"].to_numpy() == "flag", risk >= at[sites])


def test_randomized_actions_in_files_have_the_expected_frequency(tmp_path: Path) -> None:
    n = 100_000
    write(pa.table({"who": np.arange(n), "risk": np.full(n, 0.5)}), tmp_path / "in.parquet")
    policy = Policy(by_group={(): RandomizedCut((Cut((0.3,)), Cut((0.6,))), (0.2, 0.8))}, otherwise="refuse")
    apply.file(policy, tmp_path / "in.parquet", tmp_path / "out.parquet", score="risk", id="who")
    flagged = np.mean([row["action"] == "flag" for row in read(tmp_path / "out.parquet")])
    assert abs(flagged - 0.2) < 5 * np.sqrt(0.2 * 0.8 / n)


def test_duplicate_ids_are_noted(tmp_path: Path) -> None:
    rows = [{"who": who, "risk": risk, "site": None} for who, risk in zip("aabbbc", [0.5, 0.9] * 3, strict=True)]
    rows += [{"who": "c", "risk": 0.4, "site": None}] * 2
    write(table(rows), tmp_path / "in.csv")
    written = apply.file(POLICIES["lottery"], tmp_path / "in.csv", tmp_path / "out.csv")
    [note] = written.notes
    assert note.startswith("2 of 5 randomized rows share an id in 'who' with another, and so its ")
    assert apply.file(POLICIES["lottery"], tmp_path / "in.csv", tmp_path / "out.csv", id="risk").notes != ()
    assert apply.file(POLICIES["plain"], tmp_path / "in.csv", tmp_path / "out.csv").notes == ()
    (tmp_path / "kept.csv").write_text("who,risk\na,\na,\na,0.1\n")
    everywhere = Policy(by_group={(): THREE}, otherwise="refuse", columns=COLUMNS)
    assert apply.file(everywhere, tmp_path / "kept.csv", tmp_path / "out.csv", missing="keep").notes == ()
    write(table(rows_of(range(50))), tmp_path / "in.parquet")
    assert apply.file(POLICIES["lottery"], tmp_path / "in.parquet", tmp_path / "out.csv").notes == ()


def json_lines(**columns: Sequence[Any]) -> str:
    return "".join(
        json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in zip(*columns.values(), strict=True)
    )


STRICT = Policy(by_group={("f",): HALF}, otherwise="refuse", attributes=("site",), columns=COLUMNS)
BAD: dict[str, tuple[str, dict[str, Any], type[BaserateError], str]] = {
    "missing scores": (
        json_lines(who="abc", risk=[None, 0.5, "NA"], site="fxf"),
        {},
        MissingValuesError,
        "2 of 3 rows have a score that is missing, NaN or infinite in 'risk' (rows 1, 3, counted from 1); fill them in",
    ),
    "groups that are refused": (
        json_lines(who=range(9), risk=[0.5] * 9, site=["f", "x", "x", None, "a", "b", "c", "d", "e"]),
        {},
        UnknownLabelError,
        "'x' (2 rows), site = 'a' (1 row), site = 'b' (1 row), site = 'c' (1 row), site = 'd' (1 row) and 2 more",
    ),
    "a group that is missing": (
        json_lines(who="a", risk=[0.5], site=[None]),
        {},
        UnknownLabelError,
        "1 of 1 rows are of groups that this policy refuses: site missing (1 row); leave them out",
    ),
    "no id": (
        json_lines(who=["a", None], risk=[0.5, 0.9], site="ff"),
        {},
        MissingValuesError,
        "1 of 2 rows have no id in 'who' (row 2, counted from 1), which this randomized policy needs; give every row",
    ),
    "ids with a fraction": (
        json_lines(who=[1, 2.5], risk=[0.5] * 2, site="ff"),
        {},
        OptionError,
        "numbers that are not",
    ),
    "ids that are too large": (
        json_lines(who=[2**64], risk=[0.5], site="f"),
        {},
        OptionError,
        "or too large; expected",
    ),
    "ids of two kinds": (
        json_lines(who=[1, "1"], risk=[0.5] * 2, site="ff"),
        {},
        OptionError,
        "ids in 'who' hold whole numbers and text; expected whole numbers or text, all of one kind",
    ),
    "booleans for ids": (
        json_lines(who=[True], risk=[0.5], site="f"),
        {},
        OptionError,
        "hold booleans; expected whole",
    ),
    "objects for ids": (
        json_lines(who=[{"a": 1}], risk=[0.5], site="f"),
        {},
        OptionError,
        "hold objects; expected whole",
    ),
    "no column of ids": (json_lines(risk=[0.5], site="f"), {}, UnknownNameError, "there is no column 'who'"),
    "no column of groups": (json_lines(who="a", risk=[0.5]), {}, UnknownNameError, "there is no column 'site'"),
    "a name that is taken": (
        json_lines(who="a", risk=[0.5], site="f"),
        {"name": "site"},
        OptionError,
        "a column 'site' already",
    ),
    "an option of maps": (
        json_lines(who="a", risk=[0.5], site="f"),
        {"bounds": True},
        OptionError,
        "bounds is not an option",
    ),
    "two groups for one": (
        json_lines(who="a", risk=[0.5], site="f"),
        {"group": ["site", "who"]},
        OptionError,
        "group names 2 columns, but this policy requires site; name one for each.",
    ),
}


@pytest.mark.quick(5)
@pytest.mark.parametrize("name", BAD)
def test_undecidable_rows_raise_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    text, query, error, message = BAD[name]
    (tmp_path / "in.jsonl").write_text(text)
    (tmp_path / "out.jsonl").write_text("precious")
    with pytest.raises(error) as refused:
        apply.file(STRICT, tmp_path / "in.jsonl", tmp_path / "out.jsonl", **query)
    assert message in str(refused.value)
    assert (tmp_path / "out.jsonl").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("in.csv", "is one of the files that are read; name another to write."),
        ("folder.csv", "is a folder; name a file in it."),
        ("no/out.csv", "(No such file or directory); name another file."),
    ],
)
def test_source_as_target_raises(target: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    write(table(rows_of(range(5))), tmp_path / "in.csv")
    before = (tmp_path / "in.csv").read_text()
    with pytest.raises(OptionError) as refused:
        apply.file(POLICIES["plain"], tmp_path / "in.csv", tmp_path / target)
    assert str(refused.value).endswith(message)
    assert (tmp_path / "in.csv").read_text() == before
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder.csv", "in.csv"]


def test_unnamed_id_column_raises() -> None:
    nameless = Policy(by_group={(): HALF}, otherwise="refuse")
    with pytest.raises(OptionError, match="name it, such as id='patient'"):
        apply.file(nameless, "in.csv", "out.csv", score="risk")


def test_row_without_a_score_can_stay_undecided(tmp_path: Path) -> None:
    write(pa.table({"who": [1, 2, 3], "risk": [0.5, 1.5, None]}), tmp_path / "in.parquet")
    apply.file(POLICIES["plain"], tmp_path / "in.parquet", tmp_path / "out.csv", missing="keep")
    assert [row["action"] for row in read(tmp_path / "out.csv")] == ["flag", "flag", ""]


@pytest.mark.quick(2)
@pytest.mark.parametrize("source", KINDS)
def test_rows_without_a_score_can_be_kept(source: str, tmp_path: Path) -> None:
    rows = [{**row, "risk": row["risk"] if row["who"] % 2 else None} for row in rows_of(IDS["numbers"])]
    write(table(rows), tmp_path / source)
    for policy in (POLICIES[name] for name in OF_FILES):
        apply.file(policy, tmp_path / source, tmp_path / "out.jsonl", missing="keep", chances=True)
        for row, new in zip(rows, read(tmp_path / "out.jsonl"), strict=True):
            result = [new[name] for name in [*new][5:]]
            if row["risk"] is None:
                assert result == [None] * len(result)
            else:
                assert result[0] == expected_action(policy, row)
                assert sum(result[1:]) == pytest.approx(1)


FULL = """
import resource, sys
from baserate import OptionError, Policy, apply
if sys.argv[3] == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    apply.file(Policy.load(sys.argv[1]), sys.argv[2], sys.argv[4])
except OptionError as error:
    print(error)
"""


def apply_without_room(folder: Path, target: Path, how: str) -> str:
    """Apply a policy to 300 000 rows in a separate process."""
    n = 300_000
    write(pa.table({"who": np.arange(n), "risk": np.random.default_rng(0).random(n)}), folder / "in.parquet")
    POLICIES["lottery"].save(folder / "policy.json")
    paths = [folder / "policy.json", folder / "in.parquet", how, target]
    command = [sys.executable, "-c", FULL, *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_file_size_limit_keeps_the_old_target(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("precious")
    output = apply_without_room(tmp_path, tmp_path / name, "limit")
    assert output == f"cannot write {tmp_path / name} (File too large); make room there, or name another file.\n"
    assert (tmp_path / name).read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["in.parquet", name, "policy.json"])


@pytest.fixture
def small_folder(tmp_path: Path) -> Iterator[Path]:
    """Mount a folder of 200 kB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no program to mount a small tmpfs")
    if done.returncode:
        pytest.skip(f"a small tmpfs cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607  (where it is differs)


def test_unwritable_folder_raises(small_folder: Path, tmp_path: Path) -> None:
    (small_folder / "out.csv").write_text("precious")
    subprocess.run(["mount", "-o", "remount,ro", str(small_folder)], check=True)  # noqa: S607  (root may write anything else)
    write(table(rows_of(range(5))), tmp_path / "in.csv")
    with pytest.raises(OptionError, match=r"cannot write .*out\.csv \(Read-only file system\); name another file"):
        apply.file(POLICIES["plain"], tmp_path / "in.csv", small_folder / "out.csv")
    assert (small_folder / "out.csv").read_text() == "precious"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_full_disk_keeps_the_old_target(name: str, small_folder: Path, tmp_path: Path) -> None:
    (small_folder / name).write_text("precious")
    output = apply_without_room(tmp_path, small_folder / name, "disk")
    reason = "(No space left on device); make room there, or name another file."
    assert output == f"cannot write {small_folder / name} {reason}\n"
    assert [path.name for path in small_folder.iterdir()] == [name]
    assert (small_folder / name).read_text() == "precious"
