"""Suites of frameworks that keep files at home: every run finds it empty, as files are no part of a tape."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from lctl.testing.integration_suite import IntegrationSuite
from tests.frameworks import outlines


class Threaded(IntegrationSuite):
    """Its threads race, so its outline is sorted."""

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        return outlines.outline(events)


class AtHome(Threaded):
    """In a home of its own."""

    home: ClassVar[Path]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.home = Path(tempfile.gettempdir()) / f"lctl-home-{cls.__name__}"
        home = str(cls.home)
        cls.environ = {**cls.environ, "HOME": home, "XDG_DATA_HOME": home}
        cls.rerun_options = ("--allow", f"write:{home}")

    @classmethod
    def _run(cls, command: list[str], folder: Path, environ: Mapping[str, str]) -> str:
        shutil.rmtree(cls.home, ignore_errors=True)
        cls.home.mkdir()
        try:
            return super()._run(command, folder, environ)
        finally:
            shutil.rmtree(cls.home, ignore_errors=True)
