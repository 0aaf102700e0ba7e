#!/usr/bin/env python3
"""Writes the problems of HumanEval as suites of data, one JSON object a line.

    examples/humaneval/specs.py HumanEval.jsonl.gz > specs.jsonl

A line holds `task_id`, `entry_point` and either `spec` or `why`, the reason for which there is none. With `spec` stand
`reference`, the published solution, `outcomes`, what the published solution returns for each test as a literal (null where it raises), `notes`, where
the suite says less or more than the assertions it was made of, and `skipped`, the number of assertions without a call.

What converts: assertions of `check` of the forms

    candidate(ARGS) == VALUE      VALUE is evaluated; if it needs the problem's own functions, by the published solution
    candidate(ARGS) is VALUE      for True, False and None
    candidate(ARGS)               the value True        not candidate(ARGS)     the value False
    tuple(candidate(ARGS)) == VALUE, list(...) == VALUE: lists and tuples are the same to the dialect
    abs(candidate(ARGS) - VALUE) < EPSILON

The solutions are executed here, in this process: they are published and harmless. Never do so with a delivery.
"""

import ast
import copy
import gzip
import json
import sys

class No(Exception):
    """The problem does not convert, and why."""


def call_of(node):
    """The arguments of `candidate(...)`, also inside `tuple()`, `list()` or a copy."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id == "candidate":
            return node.args
        if node.func.id in ("tuple", "list") and len(node.args) == 1:
            return call_of(node.args[0])
    return None


def mentions(node, name):
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


class Converter:
    def __init__(self, problem):
        self.entry_point = problem["entry_point"]
        self.reference = {}
        self.solution = problem["prompt"] + problem["canonical_solution"]
        exec(self.solution, self.reference)
        self.local = {}
        self.tests, self.epsilons, self.notes, self.skipped = [], set(), set(), 0
        module = ast.parse(problem["test"])
        check = [part for part in module.body if isinstance(part, ast.FunctionDef) and part.name == "check"][0]
        for statement in check.body:
            self.statement(statement)
        if not self.tests:
            raise No("no assertion about a call")
        if len(self.epsilons) > 1:
            raise No("several tolerances")
        if self.epsilons and any(not approximate for _, _, approximate in self.tests):
            self.notes.add("the tolerance holds for the exact tests too")

    def value(self, node):
        """An expression without the candidate, from Python alone or else with the published solution."""
        code = compile(ast.Expression(node), "test", "eval")
        try:
            return eval(code, dict(self.local))
        except NameError:
            self.notes.add("a value comes from the published solution")
        try:
            return eval(code, {**self.reference, **self.local})
        except Exception as error:
            raise No(f"a value cannot be evaluated: {type(error).__name__}") from error

    def statement(self, node):
        if isinstance(node, ast.Assert):
            self.assertion(node.test)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) \
                and not mentions(node.value, "candidate"):
            self.local[node.targets[0].id] = self.value(node.value)
        elif isinstance(node, (ast.Pass, ast.Expr)) and not mentions(node, "candidate"):
            pass
        else:
            raise No(f"a statement that is no assertion: {type(node).__name__}")

    def add(self, args, expected, approximate=False):
        self.tests.append(([self.value(arg) for arg in args], expected, approximate))

    def assertion(self, test):
        if not mentions(test, "candidate"):
            self.skipped += 1
            return
        if (args := call_of(test)) is not None:
            self.notes.add("a truth value has to be True itself")
            return self.add(args, True)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and (args := call_of(test.operand)) is not None:
            self.notes.add("a truth value has to be False itself")
            return self.add(args, False)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, operator, right = test.left, test.ops[0], test.comparators[0]
            if isinstance(operator, (ast.Eq, ast.Is)) and not mentions(right, "candidate"):
                if (args := call_of(left)) is not None:
                    if isinstance(operator, ast.Is):
                        self.notes.add("identity is compared as equality")
                    return self.add(args, self.value(right))
            if isinstance(operator, (ast.Lt, ast.LtE)) and (found := self.difference(left)):
                args, expected = found
                self.epsilons.add(float(self.value(right)))
                return self.add(args, float(expected), approximate=True)
        raise No("an assertion of another form: " + ast.unparse(test)[:60])

    def difference(self, node):
        """`abs(candidate(ARGS) - VALUE)`"""
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("abs", "math.fabs") and len(node.args) == 1:
            inner = node.args[0]
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub) and not mentions(inner.right, "candidate"):
                if (args := call_of(inner.left)) is not None:
                    return args, self.value(inner.right)
        return None

    def outcome(self, args):
        try:
            return repr(self.reference[self.entry_point](*copy.deepcopy(args)))
        except Exception:
            return None

    def line(self):
        spec = {
            "v": 1,
            "dialect": "mbpp",
            "entry_point": self.entry_point,
            "tests": [{"args": repr(args), "expected": repr(expected)} for args, expected, _ in self.tests],
            "cmp": {"atol": min(self.epsilons)} if self.epsilons else {},
        }
        outcomes = [self.outcome(args) for args, _, _ in self.tests]
        notes = sorted(self.notes)
        return {"spec": spec, "reference": self.solution, "outcomes": outcomes, "notes": notes, "skipped": self.skipped}


def main(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        for problem in map(json.loads, lines):
            out = {"task_id": problem["task_id"], "entry_point": problem["entry_point"]}
            try:
                out |= Converter(problem).line()
            except No as why:
                out["why"] = str(why)
            print(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1])
