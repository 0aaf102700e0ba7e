"""Turns HumanEval into suites and deliveries: `python3 convert.py HumanEval.jsonl.gz FOLDER`.

FOLDER/<kind>/<number>/suite/test_problem.py  the problem's own tests as a check
FOLDER/<kind>/<number>/solution.py            a delivery: `canonical`, `emptied` or `swapped`
"""

import gzip
import json
import pathlib
import re
import sys

KINDS = ("canonical", "emptied", "swapped")


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_file(problem):
    """The bank's `check(candidate)` as a check. Some tests use helpers of the prompt, so every top-level function of
    it is imported by name; names that look like cases would be refused as generated ones."""
    names = re.findall(r"^def (\w+)", problem["prompt"], re.MULTILINE)
    imports = "".join(f"from solution import {name}\n" for name in names if not name.startswith("check_"))
    call = f"def check_the_problem():\n    check(delivery.{problem['entry_point']})\n"
    return f"import solution as delivery\n{imports}\n{problem['test']}\n\n{call}"


def canonical(problem):
    return f"{problem['prompt']}{problem['canonical_solution']}\n"


def emptied(problem):
    return f"{problem['prompt']}    pass\n"


def swapped(problem, other):
    """Another problem's solution under this one's name, with this one's helpers."""
    rename = f"{problem['entry_point']} = {other['entry_point']}\n"
    return f"{emptied(problem)}\n{canonical(other)}\n{rename}"


def delivery(kind, bank, index):
    if kind == "canonical":
        return canonical(bank[index])
    if kind == "emptied":
        return emptied(bank[index])
    return swapped(bank[index], bank[(index + 1) % len(bank)])


def write(bank, folder):
    for kind in KINDS:
        for index, problem in enumerate(bank):
            suite = pathlib.Path(folder, kind, f"{index:03}", "suite")
            suite.mkdir(parents=True)
            (suite / "test_problem.py").write_text(test_file(problem), encoding="utf-8")
            (suite.parent / "solution.py").write_text(delivery(kind, bank, index), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(read(sys.argv[1]), sys.argv[2])
