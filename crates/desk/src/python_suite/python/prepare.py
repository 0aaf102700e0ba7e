"""What is asked of the interpreter before the agent starts (desk specification 8.1, ruling 20).

Reads `{"texts": [...], "programs": [...]}` from standard input and writes the declared cases of each text, by parsing
only, and each of our own programs compiled, in hex (null where the interpreter is too old for that). Nothing of the
suite is executed. A text that does not parse declares nothing.
"""
import ast
import json
import marshal
import sys
from importlib.util import MAGIC_NUMBER


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


def compiled(program):
    if sys.version_info < (3, 10):
        return None  # runner.py reads its own source text there
    # The head of a .pyc file: magic number, no flags, no time, no size.
    return (MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(program, "main.py", "exec"))).hex()


question = json.loads(sys.stdin.buffer.read())
sys.stdout.write(json.dumps({
    "declared": [declared(text) for text in question["texts"]],
    "programs": [compiled(program) for program in question["programs"]],
}))
