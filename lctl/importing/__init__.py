"""Conversations of other programs as logs: `lctl import`.

Each form has a module of its own, named in `registry.FORMS`; it fills a `Draft`, which becomes an ordinary
log. What a form holds that a log does not is counted in `losses`, never passed over in silence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lctl.errors import NotImportable

if TYPE_CHECKING:
    from lctl.codec import Log
    from lctl.importing.cleaning import Cleaner
    from lctl.importing.draft import Draft
    from lctl.importing.losses import Loss
    from lctl.importing.source import Source


class Imported(NamedTuple):
    """What came of an import.

    Attributes:
        form: name of the importer that read it.
        shown: what the form was told by; "" where it was given.
        log: an ordinary log, in memory.
        messages: how many messages are in it.
        lost: what could not be taken over.
    """

    form: str
    shown: str
    log: Log
    messages: int
    lost: list[Loss]


def convert(source: Source, form: str = "auto", cleaner: Cleaner | None = None) -> Imported:
    """The conversations of a source as a log.

    Args:
        cleaner: takes secrets out; None leaves what the source says as it is.

    Raises:
        UsageError: there is no such form.
        NotImportable: the source is not of it, or holds no message.
    """
    from lctl.importing.draft import Draft
    from lctl.importing.registry import detected, importer
    from lctl.importing.writing import log_of

    shown = ""
    if form == "auto":
        form, shown = detected(source)
    draft = Draft(form)
    importer(form).read(source, draft)
    if not len(draft) and not draft.events:
        raise NotImportable(f"{source.name}: no message in it could be read as {form}{_reasons(draft)}")
    for place in source.broken:
        draft.lose("line that is no JSON object (cut short?)", place)
    if source.goes_on:
        draft.lose("pages after the last one in the file", "has_more")
    if source.damage:
        draft.lose(source.damage)
    log = log_of(draft, source, cleaner)  # first: what it takes out is counted
    return Imported(form, shown, log, len(draft), draft.losses.all())


def _reasons(draft: Draft) -> str:
    lost = draft.losses.all()
    return f" ({lost[0].times} times: {lost[0].what})" if lost else ""


def load(path: str, form: str = "auto") -> Imported:
    """As `convert`, of the file at a path.

    Raises:
        LogError: the file cannot be read.
    """
    from lctl.importing.source import Source

    return convert(Source.open(path), form)
