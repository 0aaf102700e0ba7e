"""Declared cases of suite files, by parsing only (desk specification 8.1).

Reads a JSON list of source texts from standard input and writes a JSON list of name lists. Nothing of the suite
is executed. A text that does not parse declares nothing.
"""
import ast
import json
import sys


def declared(text):
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    functions = [node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    checks = list(dict.fromkeys(name for name in functions if name.startswith("check_")))
    if checks:
        return checks
    return ["main"] if "main" in functions else []


sys.stdout.write(json.dumps([declared(text) for text in json.loads(sys.stdin.buffer.read())]))
