#!/usr/bin/env python3
"""Two runs of one task with the Python peer (vacant-network 0.9.1), in two fresh processes.

    python two_runs.py OUT      writes OUT/a and OUT/b, run directories as the peer leaves them

The agent asks a model on loopback that always gives the same answer, and writes the answer down. The suite, the task
and the model are the same for both runs; folders and ports are not.
"""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading

CODE = "def add(a, b):\n    return a + b\n"

AGENT = """
import json, os, urllib.request
body = json.dumps({"model": "fixed", "messages": [{"role": "user", "content": "write add"}]}).encode()
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body,
                                 {"Content-Type": "application/json"})
answer = json.load(urllib.request.urlopen(request, timeout=30))
open("solution.py", "w").write(answer["choices"][0]["message"]["content"])
"""

CHECKS = """
from solution import add

def check_small():
    assert add(2, 3) == 5

def check_negative():
    assert add(2, -3) == -1
"""


class Model(http.server.BaseHTTPRequestHandler):
    """A model that has one answer."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        message = {"role": "assistant", "content": CODE}
        body = json.dumps({"object": "chat.completion", "choices": [{"index": 0, "message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def run(folder: pathlib.Path, name: str, port: int) -> None:
    """One run in a process of its own."""
    workspace = folder / "workspaces" / name
    workspace.mkdir(parents=True)
    (workspace / "TASK.md").write_text("Write add(a, b) into solution.py.\n")
    environment = os.environ | {"VACANT_RUN_UPSTREAM_OPENAI": f"http://127.0.0.1:{port}/v1", "no_proxy": "127.0.0.1"}
    command = [sys.executable, "-m", "vacant_network.vrun.launcher", "--task-id", "add", "--sandbox", "none",
               "--workspace", workspace, "--suite", folder / "suite", "--run-dir", folder / name,
               "--", sys.executable, folder / "agent.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"run {name}: exit {done.returncode}\n{done.stderr}{done.stdout}")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: two_runs.py OUT")
    folder = pathlib.Path(sys.argv[1]).resolve()
    (folder / "suite").mkdir(parents=True)
    (folder / "suite" / "test_add.py").write_text(CHECKS)
    (folder / "agent.py").write_text(AGENT)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ("a", "b"):
        run(folder, name, server.server_address[1])
    server.shutdown()


main()
