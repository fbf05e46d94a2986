"""Names of recordings that are begun at the same time, and where those of processes go."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lctl.session import naming


def test_of_many_one_gets_a_name(tmp_path: Path) -> None:
    """And an empty file is there, in a folder that may have to be made."""
    place = tmp_path / "new" / "run.lctl.json"
    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(naming.claim, [place] * 40)) == [False] * 39 + [True]
    assert place.read_bytes() == b""


_BESIDE = """
import os, subprocess, sys
from lctl.session import LCTLSession
if sys.argv[1:]:
    with LCTLSession() as session:
        session.emit("t", {})
        if sys.argv[1] == "child":
            subprocess.run([sys.executable, __file__, "grandchild"], cwd="/", check=True)
else:
    with LCTLSession("c", "kept/run.lctl.json") as session:
        session.emit("t", {})
        os.mkdir("far")
        subprocess.run([sys.executable, __file__, "child"], cwd="far", check=True)
        env = {**os.environ, "LCTL_DIR": "own"}
        subprocess.run([sys.executable, __file__, "last"], cwd="far", env=env, check=True)
    subprocess.run([sys.executable, __file__, "after"], cwd="far", check=True)
"""


def test_processes_keep_theirs_beside_a_given_path(folder: Path) -> None:
    """And those that they start; not one that is told another folder, nor one started afterwards."""
    program = folder / "beside.py"
    program.write_text(_BESIDE)
    subprocess.run([sys.executable, str(program)], check=True)
    logs = [path for path in folder.rglob("*.lctl.json") if not path.name.startswith(".")]
    found = sorted(str(path.parent.relative_to(folder)) for path in logs)
    assert found == ["far/.lctl", "far/own", "kept", "kept", "kept"]
