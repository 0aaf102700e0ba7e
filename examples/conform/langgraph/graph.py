#!/usr/bin/env python3
"""A LangGraph graph without a model service: a fake chat model, three parallel branches, a checkpointer.

Prints what LangGraph itself reports of the run, untouched: every event of its stream `debug` in the order of arrival,
then the final state. Ids, times and the order of parallel branches are LangGraph's own.
"""

import json
import operator
import random
import time
from typing import Annotated, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages


class State(TypedDict):
    """What the graph carries."""

    messages: Annotated[list[AnyMessage], add_messages]
    findings: Annotated[list[dict], operator.add]
    report: str


def plan(state: State) -> dict:
    """Asks the model for a plan."""
    model = GenericFakeChatModel(messages=iter(["Look at size, style and tests."]))
    return {"messages": [model.invoke(state["messages"])]}


def reader(topic: str, score: float):
    """A branch that takes as long as it takes."""

    def read(state: State) -> dict:
        time.sleep(random.uniform(0, 0.05))
        return {"findings": [{"topic": topic, "score": score}]}

    return read


def report(state: State) -> dict:
    """Puts the findings together and has the model say so."""
    lines = ", ".join(f"{found['topic']} {found['score']}" for found in state["findings"])
    model = GenericFakeChatModel(messages=iter([f"Findings: {lines}."]))
    return {"report": lines, "messages": [model.invoke(state["messages"])]}


def shown(value):
    """Messages by LangChain's own serializer; anything else that is not JSON is an error."""
    if isinstance(value, BaseMessage):
        return dumpd(value)
    raise TypeError(f"not JSON: {type(value).__name__}")


def main() -> None:
    graph = StateGraph(State)
    graph.add_node("plan", plan)
    graph.add_node("report", report)
    graph.add_edge(START, "plan")
    for topic, score in [("size", 0.1 + 0.2), ("style", 0.5), ("tests", 2)]:
        graph.add_node(topic, reader(topic, score))
        graph.add_edge("plan", topic)
        graph.add_edge(topic, "report")
    graph.add_edge("report", END)
    app = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "review-1"}}
    question = {"messages": [HumanMessage("Review the change.")]}
    events = list(app.stream(question, config, stream_mode="debug"))
    snapshot = app.get_state(config)
    state = {"values": snapshot.values, "metadata": snapshot.metadata, "created_at": snapshot.created_at,
             "config": snapshot.config, "next": snapshot.next}
    print(json.dumps({"graph": "review", "events": events, "state": state}, default=shown))


main()
