"""A program that the server of warm programs runs finds what it would find in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.warm.starting import BOOTSTRAP

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="programs are handed over on Linux"),
]

_FOUND = """
import os, sys
loaded = sorted(name for name in sys.modules if name.startswith(("email", "tests")))
import email.message
print(loaded, "email.message" in sys.modules, email.message.Message().keys())
print(sys.argv, sys.path[0], [p for p in sys.path if "warm" in p], __name__, globals().get("__file__"))
print(os.getcwd(), os.environ["ASKED"], sys.stdout.encoding, sys.stdin.read())
print(os.environ["TOLD"] == str(os.getpid()))
"""
#: All that lctl's modules hold of what tells something of the process, of its environment or folder.
_HELD = """
import importlib, os, pathlib, sys
sys.path.insert(0, os.environ["ROOT"])
from tests.warm import own

def held(what, value, depth=0):
    if isinstance(value, (str, bytes, int, float, pathlib.Path, type(None))):
        print(what, repr(value))
    elif type(value).__module__.startswith("lctl.") and depth < 3:
        for name, inner in sorted(getattr(value, "__dict__", {}).items()):
            held(f"{what}.{name}", inner, depth + 1)

import contextvars
held_by_it = contextvars.copy_context().items()
print({one.name: repr(value) for one, value in held_by_it if one.name.startswith("lctl")})
for name in own.names():
    for attribute, value in sorted(vars(importlib.import_module(name)).items()):
        if not attribute.startswith("__"):
            held(f"{name}.{attribute}", value)
"""
#: A package that loads what is in it once it is asked for it, by how it does.
_LAZY = {
    "by a function": "def __getattr__(name):\n    from .inner import Thing\n    globals()[name] = Thing\n"
    "    return Thing",
    "by its class": "import sys\nfrom types import ModuleType\nclass Lazy(ModuleType):\n"
    "    def __getattr__(self, name):\n        if name != 'Thing':\n            raise AttributeError(name)\n"
    "        from .inner import Thing\n        setattr(self, name, Thing)\n        return Thing\n"
    "itself = Lazy(__name__)\nitself.__path__ = __path__\nsys.modules[__name__] = itself",
}
_ASKS = """
import sys, lazy
print("lazy.inner" in sys.modules)
from lazy import Thing
print("lazy.inner" in sys.modules, Thing.__module__)
"""
#: What a fork leaves behind, which every forked process has.
_OF_FORKS = ("streams._is_held", "thread.lane", "queueorder._generation", "exits._first", "watch.is_on")
_ENDS = {
    "exits": "import sys; print('said'); sys.exit(7)",
    "fails": "def f():\n    raise ValueError('no')\nf()",
    "is stopped": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "is interrupted": "import os, signal; os.kill(os.getpid(), signal.SIGINT)\nfor _ in range(10**9): pass",
    "takes its own apart": "import atexit, email.message\nclass One:\n    def __del__(self):\n"
    "        print('gone')\none = One()\nother = email.message.Message()\nother.one = One()\n"
    "atexit.register(print, 'last')",
    "cannot say it": "import os, sys\nos.close(1)\nos.open(os.devnull, os.O_RDONLY)\nprint('said')\n"
    "sys.exit(3)",
    "ends at last": "import atexit, threading; atexit.register(print, 'last')\n"
    "threading.Timer(0.05, print, ['late']).start()",
}


@pytest.fixture(scope="module", autouse=True)
def streams_are_not_flushed_at_once() -> Iterator[None]:
    """It says how the interpreter starts, and would have to be the server's, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONUNBUFFERED", raising=False)
        yield


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with _serving(tmp_path_factory, "email.message") as address:
        yield address


@contextmanager
def _serving(folders: pytest.TempPathFactory, module: str, beside: Path | None = None) -> Iterator[str]:
    path = str(folders.mktemp("warm") / "python")
    command = [sys.executable, "-m", "tests.warm.server", path, module]
    kept = {name: value for name, value in os.environ.items() if name not in ("WARM_PYTHON", "PYTHONPATH")}
    if beside is not None:
        kept["PYTHONPATH"] = str(beside)
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, env=kept, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield path
        server.kill()


def _run(words: list[str], folder: Path, address: str | None) -> tuple[int, str, str]:
    environ = {**os.environ, "PYTHONPATH": BOOTSTRAP, "ASKED": "this", "WARM_PYTHON": address or ""}
    # As `lctl run` tells its number to the program that it becomes.
    begun = (
        f"import os, sys; os.environ['TOLD'] = str(os.getpid()); os.execv({sys.executable!r}, sys.argv[1:])"
    )
    command = [sys.executable, "-S", "-c", begun, sys.executable, *words]
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, input="given", timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words", [["found.py", "a", "b"], ["-m", "found", "a"], ["-c", _FOUND], ["-P", "found.py"]]
)
def test_it_finds_the_same(words: list[str], address: str, tmp_path: Path) -> None:
    (tmp_path / "found.py").write_text(_FOUND)
    warm = _run(words, tmp_path, address)
    assert warm == _run(words, tmp_path, None)
    assert warm[0] == 0, warm[2]
    assert warm[1].startswith("[] True []"), warm[1]


@pytest.mark.parametrize("way", _ENDS)
def test_it_ends_the_same(way: str, address: str, tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(_ENDS[way])
    assert _run(["ends.py"], tmp_path, address) == _run(["ends.py"], tmp_path, None)


def test_lctl_finds_its_environment(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """Also what its modules ask for as they are loaded, which the server has done."""
    (tmp_path / "held.py").write_text(_HELD)
    steps = {"LCTL_STRICT": "1", "LCTL_FILES": "off", "LCTL_COMMANDS": "off", "TMPDIR": str(tmp_path)}
    told = {**steps, "LCTL_DIR": "logs", "HOME": str(tmp_path), "ROOT": str(Path(__file__).parents[2])}
    with pytest.MonkeyPatch.context() as patch, _serving(tmp_path_factory, "lctl") as address:
        for name, value in told.items():
            patch.setenv(name, value)
        warm, cold = (_run(["held.py"], tmp_path, one) for one in (address, None))
    assert (warm[0], warm[2]) == (0, "")
    lines = [
        [line for line in found.splitlines() if not line.split(" ")[0].endswith(_OF_FORKS)]
        for found in (warm[1], cold[1])
    ]
    assert lines[0] == lines[1]
    assert len(lines[0]) > 1000


@pytest.mark.parametrize("way", _LAZY)
def test_what_loads_lazily_loads_when_it_is_asked(
    way: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    package = tmp_path / "lazy"
    package.mkdir()
    (package / "__init__.py").write_text(_LAZY[way])
    (package / "inner.py").write_text("class Thing:\n    pass\n")
    (tmp_path / "asks.py").write_text(_ASKS)
    with _serving(tmp_path_factory, "lazy:Thing", tmp_path) as address:
        warm, cold = (_run(["asks.py"], tmp_path, one) for one in (address, None))
    assert warm == cold == (0, "False\nTrue lazy.inner\n", "")


def test_it_is_the_servers(address: str, tmp_path: Path) -> None:
    told = _run(["-c", "import sys; print('warm_server' in sys.modules)"], tmp_path, address)
    assert told == (0, "True\n", "")


@pytest.mark.parametrize("turn", ["first", "second"])
def test_what_a_test_leaves_in_the_environment_the_next_does_not_meet(turn: str) -> None:
    """A variable that steers Python or a library would keep all programs to come from the server."""
    assert "LITELLM_LEFT_BY_A_TEST" not in os.environ
    os.environ["LITELLM_LEFT_BY_A_TEST"] = turn
