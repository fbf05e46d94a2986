"""The OpenAI Agents SDK: a trace around a run, begun before anything is recorded; it is sent when the program ends."""

import asyncio
import os

import lctl

if "BY_ITSELF" in os.environ:
    lctl.auto_instrument()

from agents import Agent, Runner, trace

with trace("whole"):
    print(asyncio.run(Runner.run(Agent(name="helper", instructions="Help."), "Hello?")).final_output)
