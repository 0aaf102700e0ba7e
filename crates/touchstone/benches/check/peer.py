# The peer's side of the bench: reads [{"suite", "candidate"}] on standard input, one line; then answers each line
# "go" with one JSON line [[accepted, seconds], ...], one entry per pair. Rendering is not timed.
import json
import sys
import time

from vacant_network.checks import run_python_check
from vacant_network.suitespec import render, validate


def main():
    pairs = []
    for pair in json.loads(sys.stdin.readline()):
        spec = validate(pair["suite"], entry_point=pair["suite"]["entry_point"])
        rendered = render(spec)
        pairs.append((pair["candidate"], getattr(rendered, "code", rendered)))
    for line in sys.stdin:
        if line.strip() != "go":
            break
        answers = []
        for candidate, test in pairs:
            started = time.perf_counter()
            accepted = run_python_check(candidate, test, allowed_imports=("collections", "math", "re"))
            answers.append([accepted, time.perf_counter() - started])
        print(json.dumps(answers), flush=True)


main()
