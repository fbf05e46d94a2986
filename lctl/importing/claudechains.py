"""Which row of a Claude Code session follows which: parents found again, sub-agents at their tool calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lctl.importing.draft import Agent, Draft
from lctl.importing.source import Row
from lctl.importing.values import dicts, items, mapping, text


@dataclass(slots=True)
class Entry:
    """A row that is a message. `parent` is the message it follows."""

    row: Row
    id: str
    parent: str | None
    response: str  # id of the model's answer it is a part of; "" for the user's
    chain: str  # "" of the main chain, else what names the sub-agent


class Chains:
    """The messages of a session in the order of the file.

    Attributes:
        nested: first message of a sub-agent -> the message and tool call it is inside.
    """

    def __init__(self, rows: list[Row], draft: Draft) -> None:
        self._draft = draft
        self._passed: dict[str, str | None] = {}  # rows that are no messages -> the row above
        self._by_id: dict[str, Entry] = {}
        self.entries: list[Entry] = []
        for row in rows:
            self._take(row)
        self._names = _names(rows)
        self._types: dict[str, str] = {}  # chain -> the kind of agent that its tool call asked for
        self.nested: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            entry.parent = self._parent(entry)
        self._part_chains()
        self._chain_results()
        self._hosts = _Hosts(self.entries)
        for entry in self.entries:
            if entry.chain and (entry.parent is None or self._chain_of(entry.parent) != entry.chain):
                self._begin(entry)

    def _take(self, row: Row) -> None:
        id = text(row.value.get("uuid"))
        parent = row.value.get("parentUuid")
        above = parent if isinstance(parent, str) and parent else None
        own = row.value.get("message")
        said = row.value.get("type") in ("user", "assistant") and not is_failure(row)
        if not said or not isinstance(own, dict):
            if id:
                self._passed[id] = above
            return
        if not id:
            id = f"row:{row.where}"
            self._draft.lose("message without uuid; named by its place", row.where)
        chain = ""
        if row.value.get("isSidechain") is True:
            chain = text(row.value.get("agentId")) or "?"
        response = text(own.get("id")) if row.value.get("type") == "assistant" else ""
        entry = Entry(row, id, above, response, chain)
        self.entries.append(entry)
        self._by_id.setdefault(id, entry)

    def message_above(self, id: str | None) -> str | None:
        """The message a row stands for or follows; None where there is none."""
        seen: set[str] = set()
        while id is not None and id not in self._by_id and id in self._passed and id not in seen:
            seen.add(id)
            id = self._passed[id]
        return id if id in self._by_id else None

    def _parent(self, entry: Entry) -> str | None:
        declared = entry.parent
        if declared is None or declared in self._by_id:
            return declared
        if declared not in self._passed:
            self._draft.lose(
                "message whose parent is not in the file", f"{entry.row.where} (parent {declared})"
            )
            return declared
        seen: set[str] = set()
        at: str | None = declared
        while at is not None and at not in self._by_id:
            if at not in self._passed or at in seen:
                self._draft.lose(
                    "message whose parent is not in the file", f"{entry.row.where} (parent {at})"
                )
                return at
            seen.add(at)
            at = self._passed[at]
        return at

    # -- sub-agents --------------------------------------------------------------------------

    def _part_chains(self) -> None:
        """Names for sub-agents that the rows do not name: each is known by its first message. A message of
        the main chain that follows a sub-agent's is put after the tool call instead."""
        for entry in self.entries:
            if entry.chain == "?":
                entry.chain = self._unnamed(entry)
        for entry in self.entries:
            above = self._by_id.get(entry.parent or "")
            if not entry.chain and above is not None and above.chain:
                self._draft.lose(
                    "message of the main chain that followed a sub-agent's; put after its call",
                    entry.row.where,
                )
                entry.parent = self._main_above(above)

    def _unnamed(self, entry: Entry) -> str:
        way: list[Entry] = []
        at: Entry | None = entry
        while at is not None and at.chain == "?" and at not in way:
            way.append(at)
            at = self._by_id.get(at.parent or "")
        name = at.chain if at is not None and at.chain not in ("", "?") else f"sidechain-{way[-1].id[:8]}"
        for one in way:
            one.chain = name
        return name

    def _main_above(self, entry: Entry | None) -> str | None:
        seen: set[str] = set()
        while entry is not None and entry.chain and entry.id not in seen:
            seen.add(entry.id)
            entry = self._by_id.get(entry.parent or "")
        return entry.id if entry is not None and not entry.chain else None

    def _begin(self, entry: Entry) -> None:
        """The first message of a sub-agent, inside the tool call that started it."""
        if entry.parent is not None and entry.parent not in self._by_id:
            return  # its parent is missing: that has been said
        found = self._hosts.find(entry, self._names.get(entry.chain, {}))
        if found is None and entry.parent is not None:
            found = (entry.parent, None)
        entry.parent = None
        if found is None:
            self._draft.lose(
                "sub-agent whose tool call is not in the file; a conversation of its own", entry.row.where
            )
            return
        message, call = found
        if call and (kind := self._hosts.kind(call)):
            self._types.setdefault(entry.chain, kind)
        self.nested[entry.id] = {"message_id": message} | ({"tool_call_id": call} if call else {})

    def _chain_of(self, id: str) -> str:
        entry = self._by_id.get(id)
        return entry.chain if entry is not None else ""

    def conversation(self, entry: Entry) -> str | None:
        return entry.chain or None

    def agents(self) -> dict[str, Agent]:
        """Each sub-agent's chain, and who and what for it is."""
        found: dict[str, Agent] = {}
        for entry in self.entries:
            if not entry.chain or entry.chain in found:
                continue
            named = self._names.get(entry.chain, {})
            call = text(self.nested.get(entry.id, {}).get("tool_call_id"))
            intent = self._hosts.described(call) or text(named.get("description"))
            found[entry.chain] = Agent(self.agent(entry), intent, call)
        return found

    def agent(self, entry: Entry) -> str:
        if not entry.chain:
            return ""
        return text(self._names.get(entry.chain, {}).get("agentType")) or self._types.get(
            entry.chain, entry.chain
        )

    # -- parallel tools ----------------------------------------------------------------------

    def _chain_results(self) -> None:
        """Results of one answer's tool calls are one path, not branches, wherever the rows hang them: after
        the answer's last row, in their order. What follows one of them follows all."""
        self._join_answers()
        last: dict[str, str] = {}
        for entry in self.entries:
            if entry.response and self._by_id[entry.id] is entry:
                last[f"{entry.chain}/{entry.response}"] = entry.id
        tails: dict[str, str] = dict(last)
        answered: dict[tuple[str, str], str | None] = {}  # (answer, call) -> parent of its first result
        members: dict[str, str] = {}
        for entry in self.entries:
            above = self._by_id.get(entry.parent or "")
            calls = results(entry)
            if above is None or not calls:
                continue
            group = f"{above.chain}/{above.response}" if above.response else members.get(above.id, "")
            if group not in tails or entry.id in members:
                continue
            again = [answered[group, call] for call in calls if (group, call) in answered]
            if again:
                entry.parent = again[0]  # answered once more: an alternative
                continue
            entry.parent = tails[group]
            for call in calls:
                answered[group, call] = entry.parent
            tails[group] = entry.id
            members[entry.id] = group
        for entry in self.entries:
            if entry.id not in members and not results(entry) and entry.parent in members:
                entry.parent = tails[members[entry.parent]]

    def _join_answers(self) -> None:
        """A row of an answer that hangs below the result of a call of the same answer (a tool ran while it
        was still given) follows the answer's row before."""
        for entry in self.entries:
            above = self._by_id.get(entry.parent or "")
            seen: set[str] = set()
            while entry.response and above is not None and results(above) and above.id not in seen:
                seen.add(above.id)
                above = self._by_id.get(above.parent or "")
            if seen and above is not None and (above.chain, above.response) == (entry.chain, entry.response):
                entry.parent = above.id


class _Hosts:
    """Tool calls that may have started a sub-agent."""

    def __init__(self, entries: list[Entry]) -> None:
        self._by_call: dict[str, str] = {}
        self._by_prompt: dict[str, list[tuple[str, str]]] = {}
        self._by_agent: dict[str, str] = {}  # agent id -> call id, as the tool's result tells
        self._inputs: dict[str, dict[str, Any]] = {}
        for entry in entries:
            for part in dicts(mapping(entry.row.value.get("message")).get("content")):
                if part.get("type") == "tool_use" and isinstance(part.get("id"), str):
                    self._by_call.setdefault(part["id"], entry.id)
                    self._inputs[part["id"]] = mapping(part.get("input"))
                    prompt = text(self._inputs[part["id"]].get("prompt"))
                    if prompt:
                        self._by_prompt.setdefault(prompt, []).append((entry.id, part["id"]))
            agent = text(mapping(entry.row.value.get("toolUseResult")).get("agentId"))
            calls = results(entry)
            if agent and calls:
                self._by_agent.setdefault(agent, calls[0])

    def described(self, call: str) -> str:
        return text(self._inputs.get(call, {}).get("description"))

    def kind(self, call: str) -> str:
        return text(self._inputs.get(call, {}).get("subagent_type"))

    def find(self, entry: Entry, named: dict[str, Any]) -> tuple[str, str | None] | None:
        """(message, tool call): as the sub-agent's own file says, by the tool's result, by its prompt."""
        for call in (text(named.get("toolUseId")), self._by_agent.get(entry.chain, "")):
            if call in self._by_call:
                return self._by_call[call], call
        waiting = self._by_prompt.get(words(entry.row), [])
        return waiting.pop(0) if waiting else None


def results(entry: Entry) -> list[str]:
    """Ids of the calls that a row answers, if it does nothing else."""
    parts = items(mapping(entry.row.value.get("message")).get("content"))
    found = [
        text(mapping(part).get("tool_use_id")) for part in parts if mapping(part).get("type") == "tool_result"
    ]
    return found if found and len(found) == len(parts) else []


def is_failure(row: Row) -> bool:
    """Whether it tells of a call that failed, in an answer's words."""
    return row.value.get("isApiErrorMessage") is True


def words(row: Row) -> str:
    content = mapping(row.value.get("message")).get("content")
    return content if isinstance(content, str) else "".join(text(part.get("text")) for part in dicts(content))


def _names(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """What the files beside a session say of each sub-agent."""
    return {text(row.value["agentId"]): row.value for row in rows if row.where.endswith(".meta.json")}
