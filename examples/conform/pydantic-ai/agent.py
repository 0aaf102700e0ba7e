#!/usr/bin/env python3
"""A Pydantic AI agent with two tools and the package's own TestModel, which calls every tool once.

Prints `all_messages_json()`, untouched: one receipt for each message.
"""

import sys

from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

agent = Agent(TestModel(), instructions="Review the file.")


@agent.tool_plain
def size(path: str) -> int:
    """How long the file is."""
    return 120 + len(path)


@agent.tool_plain
def owners(path: str) -> list[str]:
    """Who looks after the file."""
    return ["anna", "ben"]


sys.stdout.buffer.write(agent.run_sync("Review a.py").all_messages_json())
