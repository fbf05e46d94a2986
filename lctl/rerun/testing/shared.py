"""What tests share: fixtures of a class, a module, a package or the session that ask a model.

What one asks as it is set up is in a cassette of its own, if a test that has one uses it. It is torn down as
it always was.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lctl.rerun.testing import cassettefiles
from lctl.rerun.testing.telling import told

if TYPE_CHECKING:
    from lctl.rerun.testing.cassette import Cassette

#: As pytest names the fixtures that it makes of `setup_class`, `setUpClass`, `setup_module`.
_OF_METHOD = re.compile(r"_?(?:xunit|unittest)_(\w+?)_fixture_")


class Shared:
    """Of one run of pytest: the fixtures that tests with a cassette share."""

    def __init__(self) -> None:
        self._known: set[Any] = set()
        self._claimed: dict[Path, Any] = {}

    def learn(self, items: Iterable[pytest.Item]) -> None:
        """Fixtures of these tests are recorded. Where pytest no longer tells which those are, none is."""
        for item in items:
            found = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
            for definitions in found.values():
                self._known.update(one for one in definitions if one.scope != "function")

    def set_up(
        self, fixture: Any, request: pytest.FixtureRequest, mode: str, folder: str, unused: list[str]
    ) -> Generator[None, Any, Any]:
        """As `pytest_fixture_setup`: record it, or replay. `unused` gets what a replay did not ask for."""
        path = self._place(fixture, request, folder) if fixture in self._known else None
        if path is None or (mode == "none" and not path.exists()):
            return (yield)
        try:
            with told(lambda: path):
                cassette = self._cassette(path, mode)
                cassette.base = partial(cassettefiles.base, request.config)
                cassette.begin()
                passed = False
                try:
                    result = yield
                    passed = True
                finally:
                    cassette.end(passed=passed)
                    unused += cassette.unused
                return result
        except pytest.fail.Exception as error:  # for the other tests that share it, too
            fixture.cached_result = (None, fixture.cache_key(request), (error, error.__traceback__))
            raise

    @staticmethod
    def _cassette(path: Path, mode: Any) -> Cassette:
        from lctl.rerun.testing.cassette import Cassette

        return Cassette(path, mode, shared=True)

    def _place(self, fixture: Any, request: pytest.FixtureRequest, folder: str) -> Path:
        node = request.node
        method = _OF_METHOD.match(fixture.argname)
        name = method[1] if method else fixture.argname
        if fixture.params is not None:
            name += f"[{getattr(request, 'param_index', 0)}]"
        classes = [one.name for one in node.listchain() if isinstance(one, pytest.Class)]
        root = request.config.rootpath
        where = root if isinstance(node, pytest.Session) else _folder_of(node)
        path = cassettefiles.shared_place(where, classes, name, folder, root)
        while self._claimed.setdefault(path, fixture) is not fixture:  # one that goes in the place of another
            path = path.with_name("_" + path.name)
        return path


def _folder_of(node: Any) -> Path:
    """The file of a module or class; of a package, whose path its `__init__.py` may be, the folder."""
    path: Path = node.path
    return path.parent if isinstance(node, pytest.Package) and path.is_file() else path
