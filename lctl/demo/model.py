"""What the models of the demo say: chosen by the seed, from what the tools really found."""

from __future__ import annotations

import re
from random import Random
from typing import Any, NamedTuple

import orjson

from lctl.demo.turns import Turns
from lctl.testing import ModelServer, Reply, Request

ANALYST, REVIEWER, FIXER = "gpt-4.1-mini", "claude-sonnet-4-6", "gpt-4.1"


class Weakness(NamedTuple):
    """Something `pattern` finds, and how one speaks about it."""

    pattern: str
    words: tuple[str, str]
    confidence: float


SQL = Weakness(
    r"execute\(.*\+",
    ("SQL query is built from user input", "User input is concatenated into a SQL query"),
    0.85,
)
#: area -> what its analyst looks for: in the code the first and one of the others, else one.
AREAS: dict[str, tuple[Weakness, ...]] = {
    "code": (
        SQL,
        Weakness(r"shell=True", ("Shell command takes a report name", "Report name reaches a shell"), 0.8),
        Weakness(r"md5\(", ("Passwords are hashed with MD5", "Password digest is unsalted MD5"), 0.75),
        Weakness(r"pickle\.loads", ("Drafts are unpickled unchecked", "Untrusted bytes are unpickled"), 0.7),
    ),
    "settings": (
        Weakness(r"DEBUG = True", ("Debug mode is on", "DEBUG is left on"), 0.6),
        Weakness(r"ALLOWED_HOSTS", ("Any Host header is accepted", "ALLOWED_HOSTS is a wildcard"), 0.55),
        Weakness(
            r"SECURE = False", ("Session cookie goes over plain HTTP", "Session cookie is not Secure"), 0.65
        ),
    ),
}
_FIXES = (
    'return db.execute("SELECT id, name FROM users WHERE name = ?", (name,)).fetchall()',
    'by_name = "SELECT id, name FROM users WHERE name = ?"\nreturn db.execute(by_name, [name]).fetchall()',
)


_CONFIDENCE = "(confidence "  # only the reviewer is told any


def teach(server: ModelServer, turns: Turns) -> None:
    """Write the rules by which `server` answers the three agents, whatever model a fork of theirs asks."""
    seed = server.seed
    for area in AREAS:
        said = f"review the {area}"
        server.when(contains=said).reply(lambda r, a=area: _analyst(r, seed, a, turns))
    server.when(contains=_CONFIDENCE).fault(429, retry_after=0.05, times=1)
    server.when(contains=_CONFIDENCE).reply(lambda r: _reviewer(r, seed))
    server.when(contains="Fix this").reply(lambda r: _fixer(r, seed))


def _analyst(request: Request, seed: int, area: str, turns: Turns) -> Reply:
    turns.wait(area)
    random = Random(f"{seed} {area}")
    first, *rest = AREAS[area]
    chosen = [first, random.choice(rest)] if area == "code" else [random.choice(AREAS[area])]
    if not request.tool_results:
        return Reply(tool_calls=[("grep", {"pattern": weakness.pattern}) for weakness in chosen])
    findings: list[dict[str, Any]] = []
    for weakness, result in zip(chosen, request.tool_results, strict=True):
        for hit in orjson.loads(result)["hits"]:
            text = f"{random.choice(weakness.words)} ({hit['file']}:{hit['line']})"
            confidence = round(weakness.confidence + random.uniform(-0.08, 0.08), 2)
            findings.append({"text": text, "confidence": confidence})
    return Reply(json={"findings": findings})


def _reviewer(request: Request, seed: int) -> Reply:
    random = Random(f"{seed} reviewer")
    lines: list[str] = []
    for fact, text, said in re.findall(r"(F\d+): (.+) \(confidence ([\d.]+)\)", request.last_text):
        confirmed = float(said) >= 0.6
        verdict = "CONFIRMED" if confirmed else "UNCERTAIN"
        moved = random.uniform(0.04, 0.12) if confirmed else -random.uniform(0.08, 0.2)
        reason = random.choice(_REASONS[confirmed])
        lines.append(f"{fact} {verdict} {min(0.99, float(said) + moved):.2f} {text}: {reason}.")
    return Reply("\n".join(lines) + "\nFix F1 first.")


_REASONS = {
    True: (
        "the value comes straight from a request",
        "nothing checks it on the way",
        "it is reachable unauthenticated",
    ),
    False: ("the deployment may override it", "a proxy in front may take care of it"),
}


def _fixer(request: Request, seed: int) -> Reply:
    random = Random(f"{seed} fixer")
    replacement = random.choice(_FIXES)
    if not request.tool_results:
        found = re.search(r"\((\w+\.py):(\d+)\)", request.last_text)
        file, line = (found[1], int(found[2])) if found else ("users.py", 5)
        return Reply(tool_calls=[("apply_fix", {"file": file, "line": line, "replacement": replacement})])
    tried = orjson.loads(request.tool_results[-1])
    if not (isinstance(tried, dict) and "exploit_rows" in tried):  # of a fork that did not run the tool
        return Reply("The fix was not applied.")
    before, after = tried["exploit_rows"]
    closing = random.choice(("The query takes a parameter now", "The name is bound, not concatenated"))
    return Reply(f"{closing}: the exploit returned {before} rows before and {after} after.")
