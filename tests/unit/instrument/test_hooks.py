"""Import hooks: fired on import or at once, in any thread, and gone without a trace."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from lctl.guard import guard
from lctl.instrument import hooks
from lctl.instrument.hooks import on_import


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package `hooked` whose code imports its own `hooked._inner`, as SDKs do."""
    folder = tmp_path / "hooked"
    folder.mkdir()
    (folder / "__init__.py").write_text("from hooked._inner import value\n")
    (folder / "_inner.py").write_text("value = 1\n")
    (folder / "data.txt").write_text("resource")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(guard, "policy", "raise")
    yield "hooked"
    for name in [name for name in sys.modules if name.split(".")[0] == "hooked"]:
        del sys.modules[name]


class TestOnImport:
    def test_modules_of_a_zip_archive_share_a_loader(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where one was looked for and another is loaded, the hook waits for its own."""
        archive = tmp_path / "modules.zip"
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("zipped_one.py", "value = 1")
            file.writestr("zipped_other.py", "value = 2")
        monkeypatch.syspath_prepend(str(archive))
        seen: list[str] = []
        hook = on_import("zipped_one", lambda module: seen.append(module.__name__))
        try:
            for _ in range(2):
                assert importlib.util.find_spec("zipped_one") is not None
            importlib.import_module("zipped_other")
            assert seen == []
            importlib.import_module("zipped_one")
            assert seen == ["zipped_one"]
        finally:
            hook.remove()
            for name in ("zipped_one", "zipped_other"):
                sys.modules.pop(name, None)

    @pytest.mark.parametrize("seen_by_us", [False, True])
    def test_a_module_that_asks_while_it_is_loaded_is_whole_when_it_is_patched(
        self, package: str, monkeypatch: pytest.MonkeyPatch, seen_by_us: bool
    ) -> None:
        """As a framework does that imports an SDK, at which entry points are read, and so its own."""
        seen: list[tuple[str, bool]] = []

        def note(module: ModuleType) -> None:
            seen.append((module.__name__, hasattr(module, "value")))

        placed = [on_import("hooked._inner", lambda _: placed.append(on_import("hooked", note)))]
        if seen_by_us:
            placed.append(on_import("hooked", lambda _: None))
        module = importlib.import_module(package)
        assert seen == [("hooked", True)]
        assert type(module.__spec__) is importlib.machinery.ModuleSpec
        for hook in placed:
            hook.remove()

    def test_fires_after_the_module_ran(self, package: str) -> None:
        """The callback sees the module with its contents."""
        seen: list[object] = []
        hook = on_import("hooked._inner", lambda module: seen.append(module.value))
        assert seen == []
        importlib.import_module(package)
        assert seen == [1]
        hook.remove()

    def test_fires_at_once_when_loaded(self, package: str) -> None:
        """A module that is there already is handed over before `on_import` returns."""
        importlib.import_module(package)
        seen: list[ModuleType] = []
        hook = on_import("hooked._inner", seen.append)
        assert seen == [sys.modules["hooked._inner"]]
        hook.remove()

    def test_before_can_hook_what_the_module_imports(self, package: str) -> None:
        """A `before` hook of the package is in time for its submodules."""
        order: list[str] = []
        placed = []

        def before(module: ModuleType) -> None:
            order.append("before")
            placed.append(on_import("hooked._inner", lambda inner: order.append("inner")))

        placed.append(on_import(package, before, before=True))
        placed.append(on_import(package, lambda module: order.append("after")))
        importlib.import_module(package)
        assert order == ["before", "inner", "after"]
        for hook in placed:
            hook.remove()

    def test_fires_again_for_a_module_imported_again(self, package: str) -> None:
        """A module dropped and imported anew has new classes, so it is told again."""
        seen: list[ModuleType] = []
        hook = on_import(package, seen.append)
        importlib.import_module(package)
        del sys.modules[package]
        importlib.import_module(package)
        assert len(seen) == 2
        assert seen[0] is not seen[1]
        hook.remove()

    def test_asking_for_a_spec_is_not_importing(self, package: str) -> None:
        """importlib.util.find_spec fires nothing."""
        seen: list[ModuleType] = []
        hook = on_import(package, seen.append)
        assert importlib.util.find_spec(package) is not None
        assert seen == []
        hook.remove()

    def test_the_module_is_as_without_hooks(self, package: str) -> None:
        """Loader and spec have no attribute of ours, resources are read as before."""
        from importlib.machinery import SourceFileLoader
        from importlib.resources import files

        hook = on_import(package, lambda module: None)
        module = importlib.import_module(package)
        assert type(module.__loader__) is SourceFileLoader
        assert "exec_module" not in vars(module.__loader__)
        assert files(package).joinpath("data.txt").read_text() == "resource"
        hook.remove()

    def test_a_failing_callback_does_not_stop_the_import(
        self, package: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The import succeeds and the failure is counted."""
        monkeypatch.setattr(guard, "policy", "report")
        monkeypatch.setattr(guard, "_report", lambda place: None)
        before = guard.total()
        hook = on_import(package, lambda module: 1 / 0)  # type: ignore[arg-type]
        assert importlib.import_module(package).value == 1
        assert guard.total() == before + 1
        hook.remove()

    def test_a_failing_module_is_the_hosts_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A module whose code raises fires no hook, and can be imported again later."""
        (tmp_path / "broken_module.py").write_text("import missing_thing_of_lctl\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        seen: list[ModuleType] = []
        hook = on_import("broken_module", seen.append)
        with pytest.raises(ModuleNotFoundError, match="missing_thing"):
            importlib.import_module("broken_module")
        assert seen == []
        hook.remove()

    @pytest.mark.parametrize("line", ["import missing_thing", "import json\njson.loads('{')"])
    def test_the_traceback_of_a_broken_import_has_no_line_of_ours(
        self, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nor importlib's, which Python hides where nothing stands between them."""
        (tmp_path / "broken_inner.py").write_text(line)
        (tmp_path / "broken_outer.py").write_text("import broken_inner")
        monkeypatch.syspath_prepend(str(tmp_path))
        names = ("broken_inner", "broken_outer")
        placed = [on_import(name, lambda module: None) for name in names]
        with pytest.raises((ModuleNotFoundError, ValueError)) as raised:
            import broken_outer  # type: ignore[import-not-found] # noqa: F401
        files = [Path(entry.path).name for entry in raised.traceback]
        assert files[:3] == ["test_hooks.py", "broken_outer.py", "broken_inner.py"]
        for hook in placed:
            hook.remove()

    def test_removing_the_last_hook_removes_the_finder(self) -> None:
        """sys.meta_path is as before."""
        before = list(sys.meta_path)
        hooks_there = hooks._finder in before
        first, second = (on_import("never_imported_xyz", lambda module: None) for _ in range(2))
        assert sys.meta_path[0] is hooks._finder or hooks_there
        first.remove()
        second.remove()
        second.remove()
        assert list(sys.meta_path) == before

    def test_a_module_being_imported_by_another_thread_is_waited_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A hook placed in the middle of another thread's import sees the whole module."""
        (tmp_path / "slow_module.py").write_text(
            "import threading, gates\ngates.entered.set()\ngates.go.wait(5)\nvalue = 2\n"
        )
        gates = ModuleType("gates")
        entered, go = threading.Event(), threading.Event()
        gates.__dict__.update(entered=entered, go=go)
        monkeypatch.setitem(sys.modules, "gates", gates)
        monkeypatch.syspath_prepend(str(tmp_path))
        importer = threading.Thread(target=importlib.import_module, args=("slow_module",))
        importer.start()
        assert entered.wait(5)
        seen: list[object] = []
        threading.Timer(0.05, go.set).start()
        hook = on_import("slow_module", lambda module: seen.append(module.value))
        importer.join()
        assert seen == [2]
        hook.remove()
        del sys.modules["slow_module"]
