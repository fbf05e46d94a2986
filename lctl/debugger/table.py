"""The table of routes. Streams are beside it: `live`, `forkrunning`."""

from __future__ import annotations

from lctl.debugger.asking import OfRun, Question, Route
from lctl.debugger.shapes import conversation as talk
from lctl.debugger.shapes import events as seen
from lctl.debugger.shapes import findings, state
from lctl.debugger.shapes import runs as folder
from lctl.debugger.views import (
    aside,
    calldiff,
    calls,
    comparing,
    conversations,
    costs,
    events,
    facts,
    flow,
    forking,
    header,
    images,
    neighbours,
    querying,
    runs,
    searching,
    timeline,
    trends,
    whatif,
)
from lctl.debugger.views import state as states

_SERVER = (
    ("/api/session", Question, folder.Session, runs.session, "What this server is"),
    ("/api/runs", runs.RunsAsked, folder.Runs, runs.runs, "Runs of the folder"),
    ("/api/runs/spark", runs.SparksAsked, folder.Sparks, runs.sparks, "Shapes of runs in time"),
    ("/api/lineage", Question, folder.Lineage, runs.lineage, "What came of which run"),
    ("/api/run", header.HeaderAsked, folder.RunHeader, header.header, "One run"),
    ("/api/compare", comparing.CompareAsked, findings.Comparison, comparing.compare, "Two runs compared"),
    ("/api/compare/rows", comparing.CompareAsked, findings.Pairs, comparing.compare_rows, "Side by side"),
)
_RUN = (
    ("/api/timeline", timeline.TimelineAsked, seen.Timeline, timeline.timeline, "The time bar"),
    ("/api/neighbour", neighbours.NeighbourAsked, seen.Neighbour, neighbours.neighbour, "The next of a kind"),
    ("/api/ticks", neighbours.TicksAsked, seen.Ticks, neighbours.ticks, "Times of events, to play them"),
    ("/api/events", events.EventsAsked, seen.Events, events.events, "Events as rows"),
    ("/api/aside", OfRun, seen.Aside, aside.aside, "Events that only a rerun needs"),
    ("/api/event/{seq}", events.EventAsked, seen.EventView, events.event, "One event in full"),
    ("/api/raw/{seq}", events.EventAsked, None, events.raw, "An event's line as it stands"),
    ("/api/blob", images.BlobAsked, None, images.blob, "An image of a message"),
    ("/api/state", states.StateAsked, state.StateView, states.state, "The state at an event"),
    ("/api/facts", facts.FactsAsked, state.Facts, facts.facts, "Facts, paged"),
    ("/api/state/diff", states.DiffAsked, state.StateDiff, states.state_diff, "Two states compared"),
    ("/api/trend", trends.TrendAsked, state.Trend, trends.trend, "A value over the run"),
    ("/api/flow", flow.FlowAsked, state.Flow, flow.flow, "Agents and what passes between them"),
    ("/api/steps", flow.StepsAsked, state.Steps, flow.steps, "Steps as a flame graph"),
    (
        "/api/conversations",
        conversations.ConversationsAsked,
        talk.Conversations,
        conversations.conversations,
        "The conversations there are",
    ),
    (
        "/api/conversation",
        conversations.ConversationAsked,
        talk.Conversation,
        conversations.conversation,
        "The path to a message",
    ),
    ("/api/calls", calls.CallsAsked, talk.Calls, calls.calls, "Model calls"),
    ("/api/call/{step}", calls.CallAsked, talk.CallView, calls.call, "What a model read and answered"),
    ("/api/calls/diff", calldiff.CallDiffAsked, talk.CallDiff, calldiff.call_diff, "Two contexts compared"),
    ("/api/costs", costs.CostsAsked, findings.Costs, costs.costs, "Cost and time"),
    ("/api/search", searching.SearchAsked, findings.Found, searching.found, "Events that match"),
    ("/api/sql", querying.SqlAsked, findings.Table, querying.sql, "Rows of one SELECT"),
    ("/api/search/help", OfRun, findings.SearchHelp, searching.search_help, "What a query may say"),
)

ROUTES: tuple[Route, ...] = (
    *(Route("GET", path, asked, answer, view, "server", said) for path, asked, answer, view, said in _SERVER),
    *(Route("GET", path, asked, answer, view, "run", said) for path, asked, answer, view, said in _RUN),
    Route(
        "POST",
        "/api/whatif",
        findings.WhatIfAsked,
        findings.WhatIf,
        whatif.whatif,
        "run",
        "What would be otherwise",
    ),
    Route(
        "POST",
        "/api/fork/prepare",
        findings.ForkAsked,
        findings.ForkPrepared,
        forking.fork_prepare,
        "server",
        "A fork made ready",
    ),
)
