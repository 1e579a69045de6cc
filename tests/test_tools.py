"""The linter, run as any other test (the type checker: test_signatures)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_a_linter_finds_nothing():
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "."],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_ci_runs_the_second_shell_block_of_the_readme(tmp_path):
    """In a tree of a readme and nothing else, whose command tells where and what it is."""
    (tmp_path / ".ci").mkdir()
    script = tmp_path / ".ci" / "run"
    script.write_text((ROOT / ".ci" / "run").read_text())
    readme = tmp_path / "README.md"

    def run(command):
        readme.write_text(f"```sh\nexit 7\n```\n\n```python\n1\n```\n\n```sh\n{command}\n```\n")
        return subprocess.run(["bash", script], capture_output=True, text=True, check=False)

    done = run("ls -A && .venv/bin/python -c 'print(6 * 7)'")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "42"
    assert {".ci", ".venv", "README.md"} <= set(done.stdout.split())
    assert run("exit 3").returncode == 3
    assert run("false | cat").returncode == 1
    assert not (tmp_path / ".venv").exists()
