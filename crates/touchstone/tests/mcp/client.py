"""Calls of a plan through the official Python client, over standard input and output or over HTTP.

usage: client.py PLAN, a JSON object {"stdio": [program, ...]} or {"http": url, "token": token}, with "calls": [[tool, arguments], ...].
Prints one JSON line for the list of tools and one for each call: what the client gave back, or what it raised.
"""

import asyncio
import contextlib
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def field(thing, snake):
    """Version 1 of the client says isError, version 2 is_error."""
    head, *rest = snake.split("_")
    camel = head + "".join(part.capitalize() for part in rest)
    return getattr(thing, snake) if hasattr(thing, snake) else getattr(thing, camel)


@contextlib.asynccontextmanager
async def over_http(url, token):
    headers = {"Authorization": "Bearer " + token}
    try:
        from mcp.client.streamable_http import streamablehttp_client

        async with streamablehttp_client(url, headers=headers) as (read, write, _):
            yield read, write
    except ImportError:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            async with streamable_http_client(url, http_client=http) as streams:
                yield streams[0], streams[1]


def say(**members):
    print(json.dumps(members), flush=True)


async def call(session, tool, arguments):
    try:
        result = await session.call_tool(tool, arguments)
    except Exception as raised:  # The test asks that there is none.
        return say(tool=tool, raised=repr(raised))
    text = "".join(block.text for block in result.content if block.type == "text")
    say(
        tool=tool,
        error=bool(field(result, "is_error")),
        answer=field(result, "structured_content"),
        same=json.loads(text) == field(result, "structured_content"),
    )


async def main():
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    if "http" in plan:
        door = over_http(plan["http"], plan["token"])
    else:
        program, *words = plan["stdio"]
        door = stdio_client(StdioServerParameters(command=program, args=words))
    async with door as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            say(tools={tool.name: [tool.description, field(tool, "input_schema")] for tool in tools})
            if plan.get("together"):
                await asyncio.gather(*(call(session, *one) for one in plan["calls"]))
            else:
                for one in plan["calls"]:
                    await call(session, *one)


asyncio.run(main())
