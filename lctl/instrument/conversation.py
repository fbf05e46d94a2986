"""Which messages of a request are new, and which answer follows them (CONVERSATIONS D8, D9).

One `Conversations` per session holds the forest of what was recorded. A plan gives the drafts of one
write; the forest is changed as the plan is made, because another plan may be made before the write
is confirmed, and changed back when the write failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.clock import Clock, system_clock
from lctl.conversation.identity import identity, marks, references
from lctl.instrument.codecs.assistants import RUNS
from lctl.instrument.codecs.bodies import read_object
from lctl.instrument.codecs.model import Codec, ModelAnswer, ModelRequest
from lctl.instrument.continuing import KEPT, KEPT_WHOLE, NAMED, Continuing, comes_later
from lctl.instrument.forest import Forest, Node
from lctl.instrument.plans import Plan
from lctl.instrument.prefixes import SMALL, Prefixes, locate
from lctl.instrument.spelling import Spelling
from lctl.instrument.subagents import SubAgents
from lctl.instrument.threads import Threads
from lctl.instrument.toolcalls import ToolCalls
from lctl.instrument.toolsets import ToolSets
from lctl.record.recorder import Draft
from lctl.session.messagegraph.registry import Graphs, marked

if TYPE_CHECKING:
    from lctl.session.messagegraph.graph import MessageGraph

# They read a prompt and say nothing.
_COUNTING = frozenset({"messages.count_tokens", "responses.input_tokens"})


class Conversations(Continuing):
    """Matches prompts against everything recorded in one chain, and plans the events of what is new.

    `plan_request`, `plan_answer`, `tools_fields` and `rollback` belong under the recorder's lock (inside
    `record_many`'s build function); `read_request` may run anywhere.
    """

    def __init__(self, clock: Clock = system_clock, graphs: Graphs | None = None) -> None:
        self._graphs = graphs or Graphs()
        self._monotonic_ns = clock.monotonic_ns
        self._forest = Forest()
        self._prefixes = Prefixes()
        self._tools = ToolCalls()
        self._tips = {}
        self._led = set()
        self.begun = {}
        self._blobs = self._graphs.blobs
        self._told = []
        self.toolsets = ToolSets()
        self.threads = Threads()
        self._pending: Plan | None = None  # not known to be written yet
        self._agents = SubAgents()
        self._spelling = Spelling()

    # -- reading ---------------------------------------------------------------------------

    def read_request(self, codec: Codec, operation: str, url: str, body: bytes) -> ModelRequest:
        """`codec.read_request`, faster for a conversation that grows.

        `messages` of the result may lack a beginning that this forest knows (`known`).

        Raises:
            ValueError: the body is not this operation's.
        """
        if len(body) >= SMALL:
            request = self._prefixes.read(codec, operation, url, body)
            if request is not None:
                return request
        document = read_object(body)
        request = codec.read_document(operation, url, document)
        if len(body) >= SMALL:
            locate(codec, operation, url, body, document, request)
        return request

    # -- planning --------------------------------------------------------------------------

    def plan_request(self, request: ModelRequest, first_seq: int, agent: str, step: int | None) -> Plan:
        """What this prompt adds to the forest; the first of it gets seq `first_seq`.

        Args:
            agent: of the events.
            step: the step the model call happens in.
        """
        plan = self._begin(first_seq, agent, step)
        if request.operation in RUNS:
            tip = self._tips.get(request.continues or "")
            self.threads.complete(plan, request, is_led=tip is None or tip.place.top in self._led)
        used = self._graphs.used or marked() is not None
        graph = self._follow_graphs(plan, request) if used else None
        if request.continues is not None:
            leaf = self._plan_continued(plan, request)
        elif graph is not None:
            leaf = graph.wire[-1]
            if request.operation not in _COUNTING:
                graph.called(request.model, self.toolsets.name(request.tools))
        else:
            leaf = self._plan_path(plan, request)
        if self._told:
            told, self._told = self._told, []
            self._derive_tool_calls(plan, told)
        if request.instructions and request.operation in KEPT:
            self._led.add(leaf.place.top)
        plan.leaf = leaf.id
        plan.reserialized = self._spelling.changed(request.messages)
        if request.read_from is not None:
            plan.sent = request, leaf
        return plan

    def _follow_graphs(self, plan: Plan, request: ModelRequest) -> MessageGraph | None:
        """Plan what the session's graphs have not recorded yet; the one whose path the request is."""
        from lctl.instrument import graphs  # here: most programs have none, and it is slow to load

        found = graphs.find(self._graphs, self._forest, request, plan.first_seq, plan.agent, plan.step)
        plan.drafts += found.drafts
        plan.nodes += found.nodes
        plan.undo += found.undo
        self._derive_tool_calls(plan, found.fresh)
        return found.graph

    def _plan_path(self, plan: Plan, request: ModelRequest) -> Node:
        """The leaf of a request that sends all its messages: what of them is known is walked along."""
        place = request.known if request.known is not None else self._forest.root.place
        messages = request.messages
        matched = 0
        key = b""
        told: Node | None = None  # the last message that is known to be this one of several with its words
        keys: list[bytes] = []  # of those after it
        for message in messages:
            key = identity(message)
            child = place.children.get(key)
            if child is None:
                child = place.referred_to(references(message)) if message.get("role") == "assistant" else None
                if child is None:
                    break
                key = child.identity
            place = child
            matched += 1
            if told is not None:
                keys.append(key)
            if len(place.nodes) > 1 and (said := marks(message)) is not None:
                one = place.told_by(said)
                if one is not None:
                    told, keys = one, []
        if told is None:
            parent = place.nodes[0] if len(place.nodes) == 1 else place.best()
        else:
            below = self._forest.walk_below(told, keys)
            parent = below[-1] if below else told
            if len(below) < len(keys):  # what follows is known below another one of them only
                matched -= len(keys) - len(below)
                key = keys[len(below)]
        if matched == len(messages):
            return parent
        fresh = messages[matched:] if matched else messages
        for message in fresh:
            parent = self._add(plan, message, key or identity(message), parent)
            key = b""  # was that of the first
        self._derive_tool_calls(plan, zip(fresh, plan.nodes[-len(fresh) :], strict=True))
        return parent

    def plan_answer(
        self,
        answer: ModelAnswer,
        request: ModelRequest,
        leaf: str | None,
        first_seq: int,
        agent: str,
        step: int | None,
        *,
        status: str | None = None,
    ) -> tuple[list[Draft], list[str]]:
        """Drafts of the sampled messages below `leaf`, and their ids in the order of the choices.

        Args:
            leaf: as `plan_request` gave it.
            step: the model call's own step.
            status: "complete", "aborted" or "error"; by default as far as the answer itself tells.
        """
        plan = self._begin(first_seq, agent, step)
        if status is None:
            status = "error" if answer.error else "complete" if answer.complete else "aborted"
        prompt = tip = self._forest.node(leaf)
        now = self._monotonic_ns()
        ids: list[str] = []
        for message in answer.messages:
            node = self._add(plan, message, identity(message), prompt, status=status)
            tip = node if not ids else tip
            ids.append(str(node.id))
            if prompt.home is not None:
                tools = self.toolsets.name(request.tools)
                learnt = prompt.home.learn(prompt.id, str(node.id), message, request.model, tools)
                plan.undo.append(learnt)
            asked, agents = self._tools.ask(message, now, str(node.id)), self._agents
            if asked:
                agents.asked(asked, str(node.id))
                self._spelling.learn(message)
            if agents.asks:
                agents.answered(prompt.place.top, message)
        keeps = request.operation in KEPT or request.operation in KEPT_WHOLE or "thread" in request.params
        keeps = keeps or comes_later(request)
        if answer.response_id and keeps:
            self._set_tip(plan, answer.response_id, tip)
            if self.begun or comes_later(request):
                self._note_begun(plan, answer, answer.response_id, request, leaf)
            if "conversation" in request.params and request.continues is not None:
                self._set_tip(plan, request.continues, tip)
        if request.operation in RUNS:
            self.threads.note_answer(answer, request)
        if request.operation in NAMED and request.continues is not None:
            self._set_tip(plan, request.continues, tip)
        if answer.conversation is not None:
            self._set_tip(plan, answer.conversation, tip)
        return plan.drafts, ids

    def is_tip(self, name: str, leaf: str | None) -> bool:
        """Whether nothing follows that message in a conversation that the provider keeps."""
        tip = self._tips.get(name)
        return tip is None or tip.id == leaf

    def fields_below(self, leaf: str | None) -> dict[str, Any]:
        """What messages below this one have beside what they say."""
        home = self._forest.node(leaf).home
        return {} if home is None else dict(home.fields)

    def tools_fields(self, request: ModelRequest) -> dict[str, Any]:
        """As `ToolSets.fields`, with the plan that is made: forgotten with it."""
        fields, undo = self.toolsets.fields(request.tools)
        if undo is not None and self._pending is not None:
            self._pending.undo.append(undo)
        return fields
