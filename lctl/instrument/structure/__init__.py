"""What integrations of agent frameworks share: who acts, for whom, through which tool.

A framework's module says which of its functions or callbacks mean what; how that becomes events is here.
The wire records every model call (law 6), so nothing here makes a second copy of one.

    steps       `around_step(place, describe)`: a wrapper for `patches.wrap`; each run of the function is a
                step. `describe(instance, args, kwargs)` gives a `Step`, or None: just run it.
                Functions, coroutines, generators and async generators alike.
    callbacks   `Runs()`: steps by the framework's own run ids, where it tells of begin and end apart:
                `begin(id, agent, kind=, parent=id)`, `end(id, error)`, `within(id)`, `emit(id, ...)`.
                Nesting follows `parent`, then the running code; ends may come in any thread or order.
                `Runs.locate(f)`: f() gives the id of the run that the running code is in.
    tools       `around_tool(place, describe)`: each run is one `tool_call`, as `call_tool` makes it: in a
                rerun it is served from the tape and its function does not run. `describe` gives a `Tool`; its
                `shown` reads the value for the event, as a `Failure(type, message)` where it tells of one,
                or a `Pause(waits)`;
                `beside` is what it can change that is no argument (`changeable(context, ...)`).
                A call made inside the body of a call of the same name with the same input is that call
                (an MCP tool beneath an agent's tool, `@lctl.tool` beneath a framework's decorator).
    models      `ModelCall.begin(...)`, `.end(...)`: a model call as the framework tells it. It stands only if
                no exchange was seen beneath it: weights in the process, gRPC, a fake of a test.
    hand-offs   `Runs.handoff(id, to)`, or `session.handoff(to, from_=)` where the code runs in the step.
    pauses      end the step with `outcome="paused"` and `interrupts=[...]`: nothing failed.

Kinds of steps are "agent", "task", "chain", "node", "retriever"; intent says what for.
A wrapper of your own, through which the program's exceptions pass, takes its line off their traceback:
`except BaseException as error: step_aside(error); raise`.
`data` is what the framework knows of it and is the same in every run: no run ids, uuids or times.

Every callback of a framework is decorated `@guarded("LangChain's on_chain_start")`, and `describe` runs under
the guard of its `place`: what fails there is counted, told by `lctl doctor`, and never reaches the program.
A test raises in each of them through `guard.trial`.
"""

from lctl.guard import guarded
from lctl.instrument.structure.around import Step, Tool, around_step, around_tool, changeable
from lctl.instrument.structure.models import ModelCall
from lctl.instrument.structure.runs import Runs
from lctl.session.runs.wrappedruns import step_aside
from lctl.session.tooling.toolcalls import Failure, Pause
from lctl.session.tooling.tools import call_tool, call_tool_async

__all__ = [
    "Failure",
    "ModelCall",
    "Pause",
    "Runs",
    "Step",
    "Tool",
    "around_step",
    "around_tool",
    "call_tool",
    "call_tool_async",
    "changeable",
    "guarded",
    "step_aside",
]
