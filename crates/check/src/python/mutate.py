# Makes the mutants of a reference (desk specification 17). Reads one JSON object on standard input, writes one on
# standard output; parses and unparses, executes nothing it reads.
#
# One place is changed per mutant, also where the same operator stands in several places.
import ast
import difflib
import json
import sys

OPERATORS = ("num_plus_1", "num_minus_1", "bool_const_flip", "cmp_flip", "bool_op_swap", "not_remove", "not_insert",
             "bin_op_swap", "continue_to_pass", "break_to_pass", "str_truncate", "return_const")
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
               ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
              ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
              ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd}
BOOLEAN = {ast.And: ast.Or, ast.Or: ast.And}


def places(tree):
    """(node, parent, field, index) of every node below the top, breadth first."""
    queue = [tree]
    for parent in queue:
        for field, value in ast.iter_fields(parent):
            for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST):
                    yield node, parent, field, index
                    queue.append(node)


def docstrings(tree):
    """The texts that say something and do nothing."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found.add(id(first.value))
    return found


def of_constant(value):
    if isinstance(value, bool):
        return [("bool_const_flip", ast.Constant(value=not value))]
    if isinstance(value, (int, float)):
        return [("num_plus_1", ast.Constant(value=value + 1)), ("num_minus_1", ast.Constant(value=value - 1))]
    if isinstance(value, str) and len(value) >= 2:
        return [("str_truncate", ast.Constant(value=value[:-1]))]
    return []


def of_return(node):
    gives_none = isinstance(node.value, ast.Constant) and node.value.value is None
    return ast.Return(value=ast.Constant(value=0 if gives_none else None))


def alternatives(node, parent, field, silent):
    """[(operator, other node)] for one place."""
    found, kind = [], type(node)
    if kind is ast.Constant and id(node) not in silent:
        found = of_constant(node.value)
    for operator, table in (("cmp_flip", COMPARISONS), ("bin_op_swap", ARITHMETIC), ("bool_op_swap", BOOLEAN)):
        if kind in table:
            found.append((operator, table[kind]()))
    if kind is ast.UnaryOp and isinstance(node.op, ast.Not):
        found.append(("not_remove", node.operand))
    if kind is ast.Continue:
        found.append(("continue_to_pass", ast.Pass()))
    if kind is ast.Break:
        found.append(("break_to_pass", ast.Pass()))
    if kind is ast.Return and node.value is not None:
        found.append(("return_const", of_return(node)))
    if field == "test" and isinstance(parent, (ast.If, ast.While)):
        found.append(("not_insert", ast.UnaryOp(op=ast.Not(), operand=node)))
    return found


def changed(source, number, which):
    """The text with the alternative `which` at place `number`; None where it cannot be written down."""
    tree = ast.parse(source)
    silent = docstrings(tree)
    for index, (node, parent, field, position) in enumerate(places(tree)):
        if index == number:
            other = alternatives(node, parent, field, silent)[which][1]
            break
    if position is None:
        setattr(parent, field, other)
    else:
        getattr(parent, field)[position] = other
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, RecursionError):
        return None


def first_difference(base, code):
    a, b = base.splitlines(), code.splitlines()
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(a=a, b=b, autojunk=False).get_opcodes():
        if tag != "equal":
            return i1 + 1, "; ".join(a[i1:i2]).strip(), "; ".join(b[j1:j2]).strip()
    return 0, "", ""


def mutants(source):
    tree = ast.parse(source)
    base, silent = ast.unparse(tree), docstrings(tree)
    groups = {operator: [] for operator in OPERATORS}
    for number, (node, parent, field, _) in enumerate(list(places(tree))):
        for which, (operator, _) in enumerate(alternatives(node, parent, field, silent)):
            groups[operator].append((number, which))
    seen, found = {base}, []
    for operator in OPERATORS:
        for number, which in groups[operator]:
            code = changed(source, number, which)
            if code is None or code in seen:
                continue
            seen.add(code)
            line, before, after = first_difference(base, code)
            found.append({"operator": operator, "line": line, "before": before, "after": after, "code": code})
    return {"base": base, "mutants": found}


def main():
    source = json.loads(sys.stdin.buffer.read())["source"]
    try:
        answer = mutants(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        answer = {"error": "%s: %s" % (type(error).__name__, error)}
    json.dump(answer, sys.stdout)


main()
