#!/usr/bin/env python3
"""Runs the tests that an installed package brings along, and prints pytest's JUnit report as JSON Lines.

    python junit_to_json.py toolz

One receipt for each suite and each test case, every attribute of the XML kept. This script starts pytest itself and
reads the file that pytest wrote, so each receipt says `measured`, with the command and the time. Two things are changed:
numbers are written as numbers, and the folder of the installed package becomes `{root}`.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

NUMBERS = {"tests", "errors", "failures", "skipped", "time"}
OUTCOMES = ("failure", "error", "skipped")


def receipt(kind: str, element: ElementTree.Element, evidence: dict) -> dict:
    """The attributes of one element."""
    attributes = {name: float(value) if name in NUMBERS else value for name, value in element.attrib.items()}
    return {"record": kind} | attributes | evidence


def case(element: ElementTree.Element, root: str, evidence: dict) -> dict:
    """A test case; its outcome is the name of its first child, as JUnit has it."""
    found = receipt("case", element, evidence) | {"outcome": "passed", "message": None, "text": None}
    for child in element:
        if child.tag in OUTCOMES and found["outcome"] == "passed":
            found |= {"outcome": child.tag, "message": child.get("message"), "text": child.text}
        elif child.tag in ("system-out", "system-err", "properties"):
            found[child.tag] = "".join(child.itertext())
        else:
            sys.exit(f"not expected in a test case: {child.tag}")
    return {name: value.replace(root, "{root}") if isinstance(value, str) else value for name, value in found.items()}


def main() -> None:
    package = sys.argv[1]
    root = pathlib.Path(importlib.util.find_spec(package).origin).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.xml")
        options = ["-q", "-p", "no:cacheprovider", f"--rootdir={root}", f"--junitxml={report}", "--pyargs", package]
        # Without the plugins that happen to be installed.
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run([sys.executable, "-m", "pytest", *options], cwd=root, env=environment, stdout=sys.stderr)
        if done.returncode not in (0, 1):
            sys.exit(f"pytest could not run the tests: exit {done.returncode}")
        suites = ElementTree.parse(report).getroot()
    evidence = {"evidence_class": "measured", "measure_source": f"python -m pytest --pyargs {package} --junitxml",
                "measure_ts": time.time()}
    for suite in suites.iter("testsuite"):
        print(json.dumps(receipt("suite", suite, evidence)))
        for element in suite.iter("testcase"):
            print(json.dumps(case(element, str(root), evidence)))


main()
