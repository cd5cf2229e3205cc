"""The programs of examples/python run, and say what they should."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
EXPECTED = {
    "falling_parts.py": r"ball   rests at 0\.06\d+ m",
    "slider_crank_forces.py": r"joints are closed to \d\.\de-\d+",
    "arm.py": r"[0-2]\.\d\d mm from the goal",
    "comparison.py": r"affine",
    "batch.py": r"load 5\.00 kg: .* out of balance by \d\.\de-0[4-9]",
    "system_identification.py": r"found \[1\.7\d* 0\.6\d*|found \[1\.7\s+0\.6",
    "reading_runs.py": r"status done",
    "plotting.py": r"swing\.svg: \d+ steps",
}


def test_all_are_known():
    assert {file.name for file in FOLDER.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", list(EXPECTED))
def test_runs(name, tmp_path):
    done = subprocess.run([sys.executable, str(FOLDER / name)], cwd=tmp_path, capture_output=True, text=True, timeout=120, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert re.search(EXPECTED[name], done.stdout), done.stdout
