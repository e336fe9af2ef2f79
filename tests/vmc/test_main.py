import subprocess
import sys

import pytest

from logspace.__main__ import arguments, recipe


def test_recipe() -> None:
    plain, ours = recipe()
    assert plain != plain
    assert ours == 1.0


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--sites", "10"], "requires 8, 12, 16 or 20"),
        (["--steps", "3"], "requires at least 10"),
        (["--seed", "-1"], "not negative"),
    ],
)
def test_bad_options(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        arguments(argv)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        arguments(["--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--sites", "--steps", "--seed", "--plot"))


@pytest.mark.full
def test_the_whole_command(tmp_path) -> None:
    file = tmp_path / "energies.png"
    done = subprocess.run(
        [sys.executable, "-m", "logspace", "--sites", "8", "--steps", "60", "--plot", str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "psi is exactly 0 on 36 of 70 configurations" in done.stdout
    assert file.stat().st_size > 10_000
    assert "Warning" not in done.stderr
