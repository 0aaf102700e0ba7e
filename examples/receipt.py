#!/usr/bin/env python3
"""Runs a command and writes one evidence receipt (JSON Lines) for each line that it prints.

    examples/receipt.py 'cargo bench -q -p canon' >> docs/measurements.jsonl

A receipt says what was run, when, and what it printed; it does not say that the conclusion is true.
"""
import json
import subprocess
import sys
import time

command = sys.argv[1]
began = int(time.time())
done = subprocess.run(command, shell=True, capture_output=True, text=True)
if done.returncode:
    sys.exit(f"{command}: exit status {done.returncode}\n{done.stderr}")
for line in filter(None, (line.strip() for line in done.stdout.splitlines())):
    receipt = {
        "evidence_class": "measured",
        "measure_source": command,
        "measure_ts": began,
        "printed": line,
    }
    print(json.dumps(receipt, sort_keys=True))
