"""A model server on the loopback address that speaks five protocols and has one answer: write this file.

    python3 stub.py STYLE FILE TEXT LOG

Prints its port on standard output and serves until standard input closes. STYLE says what an answer looks like:

    tool      the agent's own shell tool writes FILE, then "Done."; whichever tool of the request looks like a shell
    fence     one code block with FILE's name above it, for agents that edit by text
    code      one block of Python in the manner of smolagents

Every request leaves one JSON line in LOG: method, path, whether it streams, and the values of its key headers, so that
the test can see that the real key came here. Protocols: chat completions, Responses, Messages, Ollama, Gemini.
"""

import http.server
import json
import shlex
import sys
import threading

STYLE, FILE, TEXT, LOG = sys.argv[1:5]
# One line: open-interpreter puts marks of its own between lines. The last word ends mini-swe-agent.
COMMAND = "printf '%%s\\n' %s > %s && echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" % (
    " ".join(shlex.quote(line) for line in TEXT.split("\n")), FILE)
DONE = "Done. The file is written and all checks pass."
SHELLS = ["bash", "shell", "exec_command", "run_shell_command", "run_command", "run_commands", "execute_command",
          "shell_command", "local_shell", "terminal", "execute"]
WORDS = ["command", "cmd", "commands", "script", "code"]
KEYS = ["authorization", "x-api-key", "x-goog-api-key"]
LOCK = threading.Lock()


def tools(body):
    """Name and parameters of each tool of a request, whatever the protocol."""
    for tool in body.get("tools") or []:
        if not isinstance(tool, dict):
            continue
        for each in tool.get("functionDeclarations") or tool.get("tools") or [tool]:
            inner = each.get("function", each)
            schema = (inner.get("parameters") or inner.get("input_schema") or inner.get("parametersJsonSchema") or {})
            yield inner.get("name", each.get("type", "")), schema


def filled(schema):
    """Arguments for a shell tool: the command where one belongs, something harmless elsewhere."""
    properties = schema.get("properties") or {}
    place = next((word for word in WORDS if word in properties), "command")
    is_list = "array" in str((properties.get(place) or {}).get("type", ""))
    words = [COMMAND] if place == "commands" else ["bash", "-c", COMMAND]
    made = {place: words if is_list else COMMAND}
    for name in schema.get("required") or []:
        choices = (properties.get(name) or {}).get("enum")
        if choices:
            made.setdefault(name, "shell" if "shell" in choices else choices[0])
        kind = str((properties.get(name) or {}).get("type", "string")).lower()
        plain = {"boolean": False, "integer": 10000, "number": 10000, "array": [], "object": {}}
        made.setdefault(name, plain.get(kind, "writes the file"))
    return made


def shell(body):
    """The tool to call, or nothing when the request has none or has seen its result."""
    found = dict(tools(body))
    for name in SHELLS:
        for tool in found:
            if tool.lower() == name:
                return tool, filled(found[tool])
    return None


def went_on(body):
    """Whether the agent has an answer of ours already: what we said, or the result of the tool that we called."""
    turns = json.dumps([body.get(name) for name in ("messages", "contents", "input")])
    return any(mark in turns for mark in (DONE, "call_1", "toolu_1", "functionResponse", '"role": "tool"'))


def reply(body):
    """Text and, maybe, a tool call: (text, (name, arguments) or nothing)."""
    if STYLE == "fence":
        return "%s\n```python\n%s\n```\n" % (FILE, TEXT), None
    if went_on(body):
        return DONE, None
    if STYLE == "code":
        code = "import pathlib\npathlib.Path(%r).write_text(%r)\nfinal_answer(%r)" % (FILE, TEXT, DONE)
        return "Thought: I write the file.\n<code>\n%s\n</code>" % code, None
    call = shell(body)
    # A request without tools asks for a title or the like.
    return ("" if call else "Write a file"), call


def chat(body):
    text, call = reply(body)
    model = body.get("model", "stub")
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    calls = [{"index": 0, "id": "call_1", "type": "function",
              "function": {"name": call[0], "arguments": json.dumps(call[1])}}] if call else None
    finish = "tool_calls" if call else "stop"
    base = {"id": "chatcmpl-1", "created": 1, "model": model}
    if not body.get("stream"):
        message = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [{k: v for k, v in calls[0].items() if k != "index"}]
        return json_body({**base, "object": "chat.completion", "usage": usage,
                          "choices": [{"index": 0, "message": message, "finish_reason": finish}]})
    part = lambda delta, end=None, **more: {**base, "object": "chat.completion.chunk", **more,
                                            "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
    parts = [part({"role": "assistant", "content": ""})]
    parts += [part({"content": piece}) for piece in pieces(text)]
    parts += [part({"tool_calls": calls})] if calls else []
    parts.append(part({}, finish, usage=usage))
    return "text/event-stream", ["data: %s\n\n" % json.dumps(each) for each in parts] + ["data: [DONE]\n\n"]


def responses(body):
    text, call = reply(body)
    if call:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed",
                "name": call[0], "arguments": json.dumps(call[1])}
    else:
        item = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
             "model": body.get("model", "stub"), "output": [item], "parallel_tool_calls": False, "tools": [],
             "usage": {"input_tokens": 11, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 7,
                       "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 18}}
    if not body.get("stream"):
        return json_body(whole)
    at = {"item_id": item["id"], "output_index": 0}
    begun = {**item, "status": "in_progress"}
    begun.update({"arguments": ""} if call else {"content": []})
    events = [("response.created", {"response": {**whole, "status": "in_progress", "output": [], "usage": None}}),
              ("response.output_item.added", {"output_index": 0, "item": begun})]
    if call:
        events += [("response.function_call_arguments.delta", {**at, "delta": item["arguments"]}),
                   ("response.function_call_arguments.done", {**at, "arguments": item["arguments"]})]
    else:
        at["content_index"] = 0
        events.append(("response.content_part.added",
                       {**at, "part": {"type": "output_text", "text": "", "annotations": []}}))
        events += [("response.output_text.delta", {**at, "delta": piece}) for piece in pieces(text)]
        events += [("response.output_text.done", {**at, "text": text}),
                   ("response.content_part.done", {**at, "part": item["content"][0]})]
    events += [("response.output_item.done", {"output_index": 0, "item": item}),
               ("response.completed", {"response": whole})]
    return named_events(events)


def messages(body):
    text, call = reply(body)
    block = ({"type": "tool_use", "id": "toolu_1", "name": call[0], "input": call[1]} if call
             else {"type": "text", "text": text})
    reason = "tool_use" if call else "end_turn"
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "stub"),
             "content": [block], "stop_reason": reason, "stop_sequence": None,
             "usage": {"input_tokens": 11, "output_tokens": 7}}
    if not body.get("stream"):
        return json_body(whole)
    begun = {**block, "input": {}} if call else {**block, "text": ""}
    deltas = ([{"type": "input_json_delta", "partial_json": json.dumps(call[1])}] if call
              else [{"type": "text_delta", "text": piece} for piece in pieces(text)])
    return named_events(
        [("message_start", {"message": {**whole, "content": [], "stop_reason": None}}),
         ("content_block_start", {"index": 0, "content_block": begun})]
        + [("content_block_delta", {"index": 0, "delta": delta}) for delta in deltas]
        + [("content_block_stop", {"index": 0}),
           ("message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 7}}),
           ("message_stop", {})])


def ollama(body):
    text, call = reply(body)
    message = {"role": "assistant", "content": text}
    if call:
        message["tool_calls"] = [{"function": {"name": call[0], "arguments": call[1]}}]
    end = {"model": body.get("model", "stub"), "created_at": "2000-01-01T00:00:00Z", "done": True,
           "done_reason": "stop", "total_duration": 1, "load_duration": 1, "prompt_eval_count": 11,
           "prompt_eval_duration": 1, "eval_count": 7, "eval_duration": 1}
    if body.get("stream") is False:
        return json_body({**end, "message": message})
    part = {"model": end["model"], "created_at": end["created_at"], "done": False, "message": message}
    last = {**end, "message": {"role": "assistant", "content": ""}}
    return "application/x-ndjson", [json.dumps(part) + "\n", json.dumps(last) + "\n"]


def gemini(body, streams):
    text, call = reply(body)
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": text}
    whole = {"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}],
             "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}}
    return ("text/event-stream", ["data: %s\r\n\r\n" % json.dumps(whole)]) if streams else json_body(whole)


def pieces(text):
    """The text in pieces of a few words, as a model would send it."""
    return [text[start:start + 12] for start in range(0, len(text), 12)]


def named_events(events):
    line = lambda name, value: "event: %s\ndata: %s\n\n" % (name, json.dumps({"type": name, **value}))
    return "text/event-stream", [line(name, value) for name, value in events]


def json_body(value):
    return "application/json", [json.dumps(value)]


def answer(path, body):
    """Content type and the pieces of the body, or nothing for a path that is not known."""
    if path.endswith("/chat/completions"):
        return chat(body)
    if path.endswith("/responses"):
        return responses(body)
    if path.endswith("/count_tokens"):
        return json_body({"input_tokens": 11})
    if path.endswith("/messages"):
        return messages(body)
    if path.endswith("/api/chat"):
        return ollama(body)
    if path.endswith("/api/show"):
        return json_body({"model_info": {"general.architecture": "stub", "stub.context_length": 8192},
                          "template": "", "capabilities": ["completion", "tools"], "details": {"family": "stub"}})
    if "enerateContent" in path:
        return gemini(body, "stream" in path)
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        """Says nothing on the terminal."""

    def note(self, body):
        line = {"method": self.command, "path": self.path, "stream": bool(body.get("stream")),
                "keys": [value for name, value in self.headers.items() if name.lower() in KEYS]}
        with LOCK, open(LOG, "a") as log:
            log.write(json.dumps(line) + "\n")

    def send(self, status, kind, parts):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if len(parts) == 1:
            self.send_header("Content-Length", str(len(parts[0].encode())))
            self.end_headers()
            return self.wfile.write(parts[0].encode())
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in [*parts, ""]:
            data = part.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    def do_GET(self):
        self.note({})
        if self.path.split("?")[0].endswith("/api/version"):
            return self.send(200, *json_body({"version": "0.13.4"}))
        if self.path.split("?")[0].endswith(("/models", "/api/tags")):
            return self.send(200, *json_body({"object": "list", "data": [], "models": []}))
        self.send(404, *json_body({"error": {"message": "not here"}}))

    do_HEAD = do_GET

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            body = {}
        self.note(body)
        made = answer(self.path.split("?")[0], body)
        self.send(200, *made) if made else self.send(404, *json_body({"error": {"message": "not here"}}))


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
