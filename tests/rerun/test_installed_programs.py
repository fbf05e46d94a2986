"""Programs that are installed themselves: what they read is theirs, though they are where libraries are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.rerun.harness import LCTL

pytestmark = pytest.mark.slow

_MAIN = """
import random, time, uuid
import lctl

@lctl.traced
def main():
    print(random.random(), time.time(), uuid.uuid4())

if __name__ == "__main__":
    main()
"""
_SCRIPT = """\
#!{python}
# -*- coding: utf-8 -*-
import re
import sys
from {name}.main import main
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])
    sys.exit(main())
"""


class Installed:
    """A package as an installer leaves it, and runs of it."""

    def __init__(self, folder: Path, name: str, *, url: str = "", requires: str = "click>=8") -> None:
        self._folder = folder
        site = folder / "site-packages"
        package, about = site / name, site / f"{name}-1.0.dist-info"
        package.mkdir(parents=True)
        about.mkdir()
        (package / "__init__.py").write_text("")
        (package / "main.py").write_text(_MAIN)
        (package / "__main__.py").write_text(f"from {name}.main import main\nmain()\n")
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nRequires-Dist: {requires}\n"
        )
        (about / "RECORD").write_text(f"{name}/__init__.py,,\n{name}/main.py,,\n")
        if url:
            (about / "direct_url.json").write_text(json.dumps({"url": url, "dir_info": {}}))
        self.script = folder / "bin" / name
        self.script.parent.mkdir()
        self.script.write_text(_SCRIPT.format(python=sys.executable, name=name))
        self.script.chmod(0o755)
        paths = [str(site), os.environ.get("PYTHONPATH", "")]
        self._environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        for variable in [name for name in self._environ if name.startswith("LCTL_RUN")]:
            del self._environ[variable]

    def lctl(self, *words: object) -> subprocess.CompletedProcess[str]:
        command = [*LCTL, *map(str, words)]
        return subprocess.run(
            command, cwd=self._folder, env=self._environ, capture_output=True, text=True, timeout=120
        )

    def record(self, *words: object) -> object:
        """Packages that are the program's own, as the log has it."""
        (self._folder / "run.lctl.json").unlink(missing_ok=True)
        done = self.lctl("run", "-o", "run.lctl.json", *words)
        assert done.returncode == 0, done.stderr
        program = open_log(self._folder / "run.lctl.json").chain["program"]
        return program.get("own")

    def reruns_exactly(self) -> bool:
        done = self.lctl("rerun", "run.lctl.json", "-o", "again.lctl.json")
        (self._folder / "again.lctl.json").unlink(missing_ok=True)
        return done.returncode == 0 and "exact" in done.stderr and "output equal" in done.stderr


def test_one_that_was_installed_from_a_folder(tmp_path: Path) -> None:
    shop = Installed(tmp_path, "teashop", url="file:///home/me/teashop")
    for words in (("-m", "teashop"), ("-m", "teashop.main"), ("--", shop.script), (shop.script,)):
        assert shop.record(*words) == ["teashop"]
        assert shop.reruns_exactly()


def test_one_of_an_index_that_asks_models(tmp_path: Path) -> None:
    shop = Installed(tmp_path, "teashop", requires="openai>=2")
    assert shop.record("-m", "teashop") == ["teashop"]
    assert shop.reruns_exactly()


def test_a_tool_is_a_library_unless_it_is_said(tmp_path: Path) -> None:
    shop = Installed(tmp_path, "teashop")
    assert shop.record("-m", "teashop") is None
    assert not shop.reruns_exactly()
    assert shop.record("--own", "teashop", "-m", "teashop") == ["teashop"]
    assert shop.reruns_exactly()


@pytest.mark.parametrize("name", ["granian", "luigi"])
def test_what_runs_programs_of_others_is_none(tmp_path: Path, name: str) -> None:
    tool = Installed(tmp_path, name, url="file:///wheels/it.whl", requires="openai")
    assert tool.record("-m", f"{name}.main") is None


def test_a_package_that_a_script_uses_and_what_it_starts(tmp_path: Path) -> None:
    """By processes that the program starts it is inherited."""
    shop = Installed(tmp_path, "teashop", url="file:///home/me/teashop")
    (tmp_path / "agent.py").write_text(
        "import multiprocessing, teashop.main\n"
        "if __name__ == '__main__':\n"
        "    multiprocessing.set_start_method('spawn')\n"
        "    teashop.main.main()\n"
        "    child = multiprocessing.Process(target=teashop.main.main)\n"
        "    child.start()\n"
        "    child.join()\n"
    )
    assert shop.record("agent.py") is None
    assert not shop.reruns_exactly()
    assert shop.record("--own", "teashop", "agent.py") == ["teashop"]
    assert shop.reruns_exactly()
