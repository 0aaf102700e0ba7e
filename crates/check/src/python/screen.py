# Parses a candidate and says what of it is refused before anything runs, and what it offers (desk specification
# 15.1, 15.2). Reads one JSON object on standard input, writes one on standard output, executes nothing it reads.
#
# Hardening, not a boundary: whoever wants to reach a forbidden name finds another way to spell it.
import ast
import builtins
import json
import sys

NAMES = frozenset("""__builtins__ __import__ builtins breakpoint compile delattr dir eval exec exit getattr globals help
input locals open quit setattr vars""".split())
ATTRIBUTES = frozenset("""_exit ag_frame cr_frame execv execve f_builtins f_globals f_locals fork gi_frame kill popen
remove rmdir spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe system tb_frame unlink""".split())
RESERVED = frozenset(["__vacant_ns"])  # what the runner puts before the test text


def refusal(tree, allowed_imports):
    """The first thing that the screen does not let through, or None."""
    allowed = allowed_imports | {"__future__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in NAMES:
            return "the name %s" % node.id
        if isinstance(node, ast.Attribute) and (node.attr.startswith("__") or node.attr in ATTRIBUTES):
            return "the attribute %s" % node.attr
        if isinstance(node, ast.ImportFrom) and node.level:
            return "a relative import"
        roots = []
        if isinstance(node, ast.Import):
            roots = [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            roots = [(node.module or "").partition(".")[0]]
        for root in roots:
            if root not in allowed:
                return "the import %s" % root
    return None


def entry_points(tree, allowed):
    """Top-level functions and names bound to a lambda, in order, each once."""
    found = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Lambda):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.extend(target.id for target in targets if isinstance(target, ast.Name))
    taken = RESERVED | frozenset(vars(builtins))
    return [name for name in dict.fromkeys(found) if name in allowed or name not in taken]


def answer(question):
    imports, points = question["allowed_imports"], question["allowed_entry_points"]
    for name in imports + points:
        if not name.isidentifier():
            return {"refused": "the allowed name %s is no identifier" % name, "entry_points": []}
    try:
        tree = ast.parse(question["candidate"])
        why = refusal(tree, set(imports))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"refused": "the candidate does not parse: %s" % type(error).__name__, "entry_points": []}
    names = entry_points(tree, set(points))
    if why is None and not names:
        why = "no entry point"
    return {"refused": why, "entry_points": names}


def main():
    json.dump(answer(json.loads(sys.stdin.buffer.read())), sys.stdout)


main()
