"""The patch language: one thing changed, said in one line (spec/patch.md).

    edits = [parse_edit("prompt.system+=Ask first."), parse_edit('tool:read_file={"text": ""}', results=True)]
    str(edits[0])                     # the line again; a log keeps edits so

Used by forks, by what-if and by whoever edits an event. Pure values: what a target means on a provider's
wire is said by `lctl.rerun.edits.rules`, in an event by `lctl.analysis.whatif`.
"""

from lctl.patch.changing import Unaddressed, change
from lctl.patch.edits import Before, Edit, Scope
from lctl.patch.reading import PatchError, parse_edit
from lctl.patch.rewriting import rewrite
from lctl.patch.writing import print_path

__all__ = [
    "Before",
    "Edit",
    "PatchError",
    "Scope",
    "Unaddressed",
    "change",
    "parse_edit",
    "print_path",
    "rewrite",
]
