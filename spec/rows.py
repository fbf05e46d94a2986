"""What conversations, sessions, message graphs and training data must do, row by row, and the tests of each.

A test belongs to a row if its name begins with the row's id: `test_t7_...`. `python spec/rows.py` writes
`spec/conversations.md` anew; the test suite fails while the page differs, or while a row has no test.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "spec" / "conversations.md"

SECTIONS = {
    "T": "The tree of messages",
    "M": "Streamed messages",
    "R": "Reply chains",
    "V": "Views",
    "S": "Sessions",
    "G": "Message graphs and training data",
    "X": "Across all of them",
}

ROWS = {
    "T1": "Each message has an id; a delivery repeated changes nothing, of two contents the first stands.",
    "T2": "A message's place is its parent: null begins a conversation, none goes on with it.",
    "T3": "The same messages make the same tree in whatever order they come.",
    "T4": "An unknown parent is an error that names it; what there is is given when asked for.",
    "T5": "Circles of parents, versions, aliases or copies are said, and everything ends.",
    "T6": "Siblings are ordered by serial, then as they came; a serial given late counts.",
    "T7": "A regenerated answer is another answer beside the first.",
    "T8": "Regenerations of regenerations are versions of one message.",
    "T9": "An edit forks where the message stood; what followed it stays below it.",
    "T10": "No edit, regeneration or change of id loses a message.",
    "T11": "Every change is told once, also on branches nobody looks at.",
    "T12": "The results of one turn's tool calls are one path; a call answered again is an alternative.",
    "T13": "The hash of a tree is the same in every process, and differs if anything visible does.",
    "T14": "A complete message does not change; facts about it and tombstones may come.",
    "M1": "A start, pieces and an end are one message, at any event what had come by then.",
    "M2": "Pieces delivered again or out of order are put right; gaps are said.",
    "M3": "A whole message of the same id finishes a stream and stands.",
    "M4": "An aborted message keeps its text, and is left out of what a model reads.",
    "M5": "Streams at once stay apart.",
    "M6": "Pieces that come before their start are kept.",
    "M7": "A hundred thousand pieces are linear work.",
    "R1": "A reply continues after the turn it answers, and only there.",
    "R2": "A reply to something unknown begins a conversation; a failing store is an error.",
    "R3": "Replies to one message share what came before it.",
    "R4": "What was sent out is an alias of its message.",
    "R5": "A transcript is the walk from the leaf to the root, in order.",
    "R6": "A missing message is an error; cutting there must be asked for.",
    "R7": "Depth counts what user and assistant said.",
    "R8": "A depth prefix is written and read back.",
    "R9": "Messages are loaded when needed, within a bound.",
    "R10": "What was recorded before a crash is there after it, once.",
    "R11": "Messages outlive what announced them.",
    "R12": "A turn is one unit with a tail.",
    "R13": "Replying sets the parent; sending begins a conversation.",
    "V1": "A view is one path: the context of a model.",
    "V2": "Views of one tree do not disturb each other.",
    "V3": "A selection names a message, never a place in a list.",
    "V4": "A fork made elsewhere does not move a view; one's own does.",
    "V5": "Each fork remembers what was selected below it.",
    "V6": "Alternatives of a message can be listed and stepped through.",
    "V7": "A view shows the newest messages; older ones are loaded on demand.",
    "V8": "Paging and branching go together.",
    "V9": "A view tells of what changes on its path, and of nothing else.",
    "V10": "Sending, editing and regenerating through a view set the right parent and version.",
    "V11": "What a view gives a model is valid for its provider.",
    "V12": "Switching costs what changes.",
    "V13": "A selection that was recorded is found again.",
    "V14": "A closed view is silent and leaves nothing behind.",
    "V15": "Readers see a whole state while a writer appends.",
    "S1": "Starting a session twice is starting it once.",
    "S2": "Seed messages are exactly what the model saw.",
    "S3": "Session and message number are the key of a delivery.",
    "S4": "Messages are recorded before the step that made them ends.",
    "S5": "What a step produced is a range of numbers.",
    "S6": "Updates can be derived again from tool results.",
    "S7": "Totals are right at every event.",
    "S8": "Status goes from running to completed or failed.",
    "S9": "State is kept with each step, and found at any event.",
    "S10": "A hydrated session equals the live one, at every event.",
    "S11": "The latest session of a conversation is the one that started last.",
    "S12": "Sessions of a conversation are listed with those they came from.",
    "S13": "A fork has the prefix up to and with a message, new ids, and totals of its own.",
    "S14": "A fork may change model, system prompt and tools.",
    "S15": "A session runs again from a message, with tools recorded, mocked or live.",
    "S16": "Original and rerun are compared message by message.",
    "S17": "An exported bundle comes back under new ids.",
    "G1": "A message graph is a list: every operation, every client takes it.",
    "G2": "An edit of a message in the list is recorded.",
    "G3": "What a past call read never changes.",
    "G4": "An edit that no answer depends on makes no further sample.",
    "G5": "An edit before an answer keeps the old path and makes a new one.",
    "G6": "Setting an equal message changes nothing.",
    "G7": "Edits between two calls are one.",
    "G8": "Compaction is a path of its own; the old one stays.",
    "G9": "A sub-agent's conversation hangs in the tool call, and never in the parent's path.",
    "G10": "A call's settings stay with the message it gave; a failed call gives none.",
    "G11": "Versions and previous contents can be asked for, also after a reload.",
    "G12": "The graph has no circles, and seq is an order of it.",
    "G13": "Each sampled message is trained once, after exactly the prompt it had.",
    "G14": "Why rows break is counted.",
    "G15": "With token ids, rows extend only where the tokens do.",
    "G16": "Every written row is valid for its consumer.",
    "G17": "Alternatives become preference pairs.",
    "X1": "Folding is pure: in two parts as in one, from a saved state as from the start.",
    "X2": "A tree at an event is the fold of the events up to it.",
    "X3": "Logs of the seven core types fold as ever; unknown types are passed over and kept.",
    "X4": "Nothing recurses: a million messages deep.",
    "X5": "Conversations of other programs are imported; what is lost is counted and listed.",
    "X6": "Branches are compared at the message where they part; every command reads at any event.",
    "X7": "Two writers of one chain are told apart; nothing of either is lost.",
    "X8": "Facts and costs stand at their messages; a branch costs its path, a tree each call once.",
}

_TEST = re.compile(r"^\s*(?:async )?def (test_([a-z]\d+)_\w+)", re.MULTILINE)


def tests() -> dict[str, dict[str, list[str]]]:
    """Row id -> file -> names of the tests that carry it, in the order of the file."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = path.relative_to(ROOT).as_posix()
        for test, row in _TEST.findall(path.read_text(encoding="utf-8")):
            found.setdefault(row.upper(), {}).setdefault(name, []).append(test)
    return found


def page() -> str:
    """The whole page."""
    found = tests()
    parts = [
        "# Conversations: what is promised, and the tests of it",
        "Made by `python spec/rows.py`. A test belongs to a row if its name begins with the row's id.",
    ]
    for letter, title in SECTIONS.items():
        rows = [
            f"| {id} | {text} | {_listed(found.get(id, {}))} |"
            for id, text in ROWS.items()
            if id[0] == letter
        ]
        parts.append(f"## {letter}: {title}\n\n| row | promise | tests |\n|---|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _listed(files: dict[str, list[str]]) -> str:
    return "<br>".join(
        f"`{file.removeprefix('tests/')}`: {', '.join(f'`{name}`' for name in names)}"
        for file, names in files.items()
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
