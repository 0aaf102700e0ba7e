#!/usr/bin/env python3
"""Gates HumanEval through `touchstone run`: `python3 gate.py HumanEval.jsonl.gz [TOUCHSTONE]`.

Every reference solution must be accepted, no emptied and no swapped one, and every receipt must verify. Prints how many
were accepted of each kind; exits 1 when the numbers are others than all, none and none.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import convert

WANTED = {"canonical": 0, "emptied": 20, "swapped": 20}  # exit codes of `touchstone run`


def gate(touchstone, folder):
    """Runs a trivial agent that hands in the delivery; gives its exit code and what was not as it should be."""
    (folder / "workspace").mkdir()
    agent = ["cp", folder / "solution.py", "solution.py"]
    places = ["--suite", folder / "suite", "--workspace", folder / "workspace", "--run-dir", folder / "run"]
    run = subprocess.run([touchstone, "run", "--json", *places, "--", *agent], capture_output=True)
    verify = subprocess.run([touchstone, "verify", folder / "run"], capture_output=True)
    trouble = ""
    if run.returncode not in (0, 20):
        trouble = f"run exits {run.returncode}: {run.stderr.decode()}{run.stdout.decode()[:2000]}"
    elif verify.returncode != 0:
        trouble = f"verify exits {verify.returncode}: {verify.stdout.decode()}"
    return run.returncode, trouble


def main(bank, touchstone):
    good = True
    try:
        problems = convert.read(bank)
    except (OSError, EOFError, ValueError) as error:
        sys.exit(f"gate.py: {bank}: not a HumanEval.jsonl.gz: {error}")
    with tempfile.TemporaryDirectory(prefix="humaneval-") as root:
        convert.write(problems, root)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            for kind, wanted in WANTED.items():
                folders = sorted(pathlib.Path(root, kind).iterdir())
                accepted = 0
                for folder, (code, trouble) in zip(folders, pool.map(lambda one: gate(touchstone, one), folders)):
                    accepted += code == 0
                    if trouble or code != wanted:
                        good = False
                        print(f"{kind} {folder.name}: exit {code} {trouble}", file=sys.stderr)
                print(f"{kind}: {accepted} of {len(folders)} accepted", flush=True)
    return 0 if good and problems else 1


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    data, name = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "touchstone"
    if not os.path.isfile(data):
        sys.exit(f"gate.py: {data}: no such file; HumanEval.jsonl.gz comes from github.com/openai/human-eval")
    found = shutil.which(name)
    if found is None:
        sys.exit(f"gate.py: {name}: no such program; `cargo build --release` makes target/release/touchstone")
    sys.exit(main(data, os.path.abspath(found)))
