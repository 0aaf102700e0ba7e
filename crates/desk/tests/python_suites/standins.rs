//! What checks can do with a candidate in another process.

use crate::{PATIENT, judge, rows, story};
use desk::python_suite::Isolation;

/// Every check of `checks` passes against `candidate` in process mode.
#[track_caller]
fn passes(candidate: &str, checks: &str) {
    passes_tree(&[("solution.py", candidate)], checks);
}

#[track_caller]
fn passes_tree(workspace: &[(&str, &str)], checks: &str) {
    let result = judge(Isolation::Process, workspace, &[("test_a.py", checks)], PATIENT);
    assert!(result.all_pass(), "{}", story(&result));
}

#[test]
fn literals_cross_both_ways_unchanged() {
    passes(
        "def same(x): return x\ndef kind(x): return type(x).__name__\ndef show(x): return repr(x)\n",
        r#"
import solution, math
VALUES = [None, True, False, 0, -1, 2**80, -2**200, 1.5, -0.0, 1e308, 5e-324, 1e16, 2+3j, "", "a\x00b", "é\u4e2d\U0001f600",
          "\ud800", "\ud83d\ude00", b"", b"\x00\xff", [], [1, [2, [3]]], (), (1,), (1, (2,)), set(), {1, "a"}, frozenset({1, (2, 3)}),
          {}, {1: "a", "b": [1], (1, 2): {3}, None: 0}, range(1, 10, 3), slice(1, None, 2), Ellipsis, int, str, ValueError]
def check_same():
    for value in VALUES:
        back = solution.same(value)
        assert type(back) is type(value), value
        assert back == value or back is value, value
        assert solution.show(value) == repr(value)
        assert solution.kind(value) == type(value).__name__
def check_signs_and_nan():
    assert math.copysign(1, solution.same(-0.0)) == -1
    assert math.isnan(solution.same(float("nan")))
    assert solution.same(float("-inf")) == float("-inf")
    assert len(solution.same("\ud83d\ude00")) == 2
    back = solution.same(complex("nan+infj"))
    assert math.isnan(back.real) and back.imag == float("inf")
def check_bytearray():
    assert solution.same(bytearray(b"ab")) == bytearray(b"ab")
"#,
    );
}

#[test]
fn arguments_are_updated_in_place() {
    passes(
        r#"
def change(items, table=None, names=None):
    items.append(4); items[0][0] = "x"
    if table is not None: table["k"] = [1]
    if names is not None: names.discard("a"); names.add("b")
    return items
def fail_after(items):
    items.clear()
    raise ValueError("late")
def untouched(items): return sorted(items)
def fill(buffer): buffer[:] = b"xyz"
def pair(both): both[0].append(1)
"#,
        r#"
import solution
def check_in_place():
    inner = [1]; items = [inner, 2]; table = {"k": 0, "j": 1}; names = {"a"}
    back = solution.change(items, table=table, names=names)
    assert back is items and items == [["x"], 2, 4] and items[0] is inner
    assert table == {"k": [1], "j": 1} and names == {"b"}
def check_also_when_it_raises():
    items = [1]
    try:
        solution.fail_after(items)
    except ValueError as error:
        assert str(error) == "late"
    else:
        assert False
    assert items == []
def check_untouched():
    items = [2, 1]
    assert solution.untouched(items) == [1, 2] and items == [2, 1]
def check_buffer_and_tuple():
    buffer = bytearray(b"a"); solution.fill(buffer); assert buffer == b"xyz"
    inner = []; solution.pair((inner, 2)); assert inner == [1]
"#,
    );
}

#[test]
fn handles_relay_what_objects_do() {
    passes(
        r#"
import functools
@functools.total_ordering
class Money:
    currency = "EUR"
    def __init__(self, n): self.n = n
    def __add__(self, other): return Money(self.n + (other.n if isinstance(other, Money) else other))
    __radd__ = __add__
    def __lt__(self, other): return self.n < other.n
    def __eq__(self, other): return self.n == other.n
    def __repr__(self): return "Money(%d)" % self.n
    def __format__(self, spec): return "%s:%d" % (spec, self.n)
    def __float__(self): return float(self.n)
    @classmethod
    def zero(cls): return cls(0)
    @staticmethod
    def rate(): return 1.5
    @property
    def double(self): return self.n * 2
class Box:
    "a box"
    def __init__(self): self.items = {}; self.log = []
    def __len__(self): return len(self.items)
    def __getitem__(self, key): return self.items[key]
    def __setitem__(self, key, value): self.items[key] = value
    def __delitem__(self, key): del self.items[key]
    def __contains__(self, key): return key in self.items
    def __iter__(self): return iter(self.items)
    def __enter__(self): self.log.append("in"); return self
    def __exit__(self, kind, error, trace):
        self.log.append(kind.__name__ if kind else "out"); return kind is KeyError
def numbers(n):
    for i in range(n):
        got = yield i
        if got: yield got
class Plain: pass
def make(): return Plain()
"#,
        r#"
import solution, collections.abc
def check_arithmetic_and_order():
    a, b = solution.Money(1), solution.Money(2)
    assert (a + b).n == 3
    assert a < b and b > a and a <= b
    assert max([a, b]) is b and sorted([b, a])[0] is a
    assert repr(a) == "Money(1)" and str(b) == "Money(2)" and f"{a:x}" == "x:1"
    assert float(b) == 2.0 and a.double == 2
    assert solution.Money.zero().n == 0 and solution.Money.rate() == 1.5 and solution.Money.currency == "EUR"
def check_containers():
    box = solution.Box()
    box["a"] = 1; box["b"] = [1]
    assert len(box) == 2 and box["a"] == 1 and "a" in box and "z" not in box and list(box) == ["a", "b"]
    del box["a"]
    assert len(box) == 1
    try:
        box["zz"]
    except KeyError as error:
        assert error.args == ("zz",)
    else:
        assert False
def check_context():
    box = solution.Box()
    with box as inner:
        assert inner is box
    with box:
        raise KeyError("swallowed")
    try:
        with box:
            raise ValueError("kept")
    except ValueError:
        pass
    else:
        assert False
    assert box.log == ["in", "out", "in", "KeyError", "in", "ValueError"]
def check_generators():
    assert list(solution.numbers(3)) == [0, 1, 2]
    gen = solution.numbers(2)
    assert next(gen) == 0 and gen.send("x") == "x" and next(gen) == 1
    assert next(gen, "end") == "end"
    assert isinstance(gen, collections.abc.Iterator)
def check_kinds():
    thing = solution.make()
    assert isinstance(thing, solution.Plain) and not isinstance(thing, solution.Box)
    assert not isinstance(3, solution.Plain) and not isinstance(thing, int)
    assert not callable(thing) and callable(solution.make) and not hasattr(thing, "nope")
    assert issubclass(solution.Plain, solution.Plain) and not issubclass(int, solution.Plain)
    assert not isinstance(thing, collections.abc.Iterable)
    assert solution.Box.__doc__ == "a box" and solution.make.__name__ == "make"
    thing.colour = "red"
    assert thing.colour == "red"
    del thing.colour
    assert not hasattr(thing, "colour")
def check_identity_only():
    a = solution.make()
    assert a == a and a != solution.make() and len({a, a}) == 1
    assert a != 1 and not (a == None)
    for reading in (bool, lambda x: not x, lambda x: 1 if x else 2):
        try:
            reading(a)
        except TypeError:
            continue
        assert False
"#,
    );
}

#[test]
fn exceptions_arrive_as_what_they_are() {
    passes(
        r#"
import json
class MyError(ValueError):
    LEVEL = 3
    def __init__(self, code): super().__init__("code %d" % code); self.code = code
class Sub(MyError): pass
class Odd(Exception):
    def __str__(self): return "odd text"
def go(name, *args): raise {"V": ValueError, "K": KeyError, "My": MyError, "Sub": Sub, "Odd": Odd, "Exit": SystemExit,
                            "Os": OSError, "Ass": AssertionError, "Key": KeyboardInterrupt, "Stop": StopIteration}[name](*args)
def parse(text): return json.loads(text)
def decode(): return b"\xff".decode()
def chain():
    try: 1 / 0
    except ZeroDivisionError as error: raise ValueError("wrapped") from error
"#,
        r#"
import solution, json
def raised(kind, call):
    try:
        call()
    except kind as error:
        return error
    assert False, "nothing raised"
def check_builtin():
    error = raised(ValueError, lambda: solution.go("V", "m", 1))
    assert type(error) is ValueError and error.args == ("m", 1)
    assert type(raised(FileNotFoundError, lambda: solution.go("Os", 2, "x"))) is FileNotFoundError
    assert raised(SystemExit, lambda: solution.go("Exit", 3)).code == 3
    assert type(raised(KeyboardInterrupt, lambda: solution.go("Key"))) is KeyboardInterrupt
    assert raised(UnicodeDecodeError, solution.decode).reason == "invalid start byte"
def check_own_classes():
    error = raised(solution.MyError, lambda: solution.go("My", 7))
    assert type(error) is solution.MyError and isinstance(error, ValueError)
    assert error.code == 7 and str(error) == "code 7" and type(error).__name__ == "MyError" and solution.MyError.LEVEL == 3
    assert raised(solution.MyError, lambda: solution.go("Sub", 8)).code == 8
    assert issubclass(solution.Sub, solution.MyError) and issubclass(solution.Sub, ValueError)
    assert str(raised(solution.Odd, lambda: solution.go("Odd"))) == "odd text"
    assert type(raised(Exception, lambda: solution.go("Sub", 1))) is solution.Sub
def check_library_classes():
    error = raised(json.JSONDecodeError, lambda: solution.parse("{"))
    assert error.pos == 1 and isinstance(error, ValueError)
def check_cause():
    assert type(raised(ValueError, solution.chain).__cause__) is ZeroDivisionError
def check_missing():
    assert raised(AttributeError, lambda: solution.nope)
    raised(TypeError, lambda: solution.parse())
"#,
    );
}

#[test]
fn an_assertion_of_the_candidate_is_a_failure() {
    let files = [("solution.py", "def f():\n    assert False, 'mine'\n")];
    let checks = [("test_a.py", "import solution\ndef check_a():\n    solution.f()\n")];
    let result = judge(Isolation::Process, &files, &checks, PATIENT);
    assert_eq!(rows(&result), ["test_a.py::check_a assert"]);
}

#[test]
fn callbacks_and_iterators_of_a_check() {
    passes(
        r#"
import threading
def apply(f, *args, **kw): return f(*args, **kw)
def mapped(f, items): return [f(item) for item in items]
def total(items): return sum(items)
def best(items, key): return max(items, key=key)
def twice(f): return lambda x: f(f(x))
def guard(f):
    try: f()
    except ValueError as error: return "caught %s" % error
def grow(f):
    items = [1]; f(items); return items
def keep(f): global kept; kept = f
def back(): return kept
def in_thread(f):
    out = []
    thread = threading.Thread(target=lambda: out.append(f(2))); thread.start(); thread.join(); return out
"#,
        r#"
import solution, operator
def add(a, b=1): return a + b
def check_called_back():
    assert solution.apply(add, 1, b=5) == 6
    assert solution.mapped(lambda x: x * x, [1, 2]) == [1, 4]
    assert solution.best(["a", "ccc"], key=len) == "ccc"
    assert solution.twice(lambda x: x + 1)(5) == 7
    assert solution.apply(operator.mul, 2, 3) == 6
    assert solution.in_thread(lambda x: x + 1) == [3]
def check_iterators():
    assert solution.total(i for i in range(4)) == 6
    assert solution.total(iter([1, 2])) == 3
    assert solution.total(range(3)) == 3
def check_exceptions_both_ways():
    def fails(): raise ValueError("v")
    assert solution.guard(fails) == "caught v"
    try:
        solution.apply(lambda: 1 / 0)
    except ZeroDivisionError:
        pass
    else:
        assert False
def check_nested_and_mutating():
    assert solution.apply(lambda: solution.total([1, solution.apply(lambda: 2)])) == 3
    assert solution.grow(lambda items: items.append(9)) == [1, 9]
def check_own_function_comes_back():
    solution.keep(add)
    assert solution.back() is add
def check_what_cannot_cross():
    class Thing: pass
    try:
        solution.apply(add, Thing())
    except TypeError as error:
        assert "another process" in str(error)
    else:
        assert False
    assert solution.apply(add, 1) == 2
"#,
    );
}

#[test]
fn coroutines_run_when_awaited() {
    passes(
        r#"
import asyncio
async def add(a, b):
    await asyncio.sleep(0)
    return a + b
async def boom(): raise KeyError("k")
async def count(n):
    for i in range(n): yield i
class Door:
    async def __aenter__(self): return "open"
    async def __aexit__(self, *exc): return False
"#,
        r#"
import solution, asyncio
def check_run():
    assert asyncio.run(solution.add(1, 2)) == 3
def check_gather():
    async def main(): return await asyncio.gather(solution.add(1, 1), solution.add(2, 2))
    assert asyncio.run(main()) == [2, 4]
def check_raises():
    try: asyncio.run(solution.boom())
    except KeyError as error: assert error.args == ("k",)
    else: assert False
def check_async_for_and_with():
    async def main():
        async with solution.Door() as door: assert door == "open"
        return [i async for i in solution.count(3)]
    assert asyncio.run(main()) == [0, 1, 2]
"#,
    );
}

#[test]
fn modules_are_read_fresh_and_can_be_patched() {
    passes_tree(
        &[
            (
                "solution.py",
                "import time\nCOUNT = 0\nHIDDEN = 'x'\n_private = 1\ndef bump():\n    global COUNT\n    COUNT += 1\ndef fetch(): return 'real'\ndef use(): return fetch()\ndef now(): return time.time()\n",
            ),
            ("pkg/__init__.py", "from .inner import value\nfrom .twin import twin\n"),
            ("pkg/inner.py", "value = 5\ndef get(): return value\n"),
            ("pkg/twin.py", "def twin(): return 2\n"),
            ("pkg/deep/__init__.py", ""),
            ("pkg/deep/leaf.py", "LEAF = 'leaf'\n"),
            ("plainfolder/mod.py", "X = 1\n"),
        ],
        r#"
import importlib, sys
from unittest import mock
import solution, pkg, pkg.inner, pkg.deep.leaf
from pkg import inner as other, twin
from solution import *
import plainfolder.mod
def check_fresh():
    before = solution.COUNT
    solution.bump()
    assert solution.COUNT == before + 1 and solution.HIDDEN == 'x'
def check_patch():
    with mock.patch.object(solution, "fetch", lambda: "fake"):
        assert solution.use() == "fake"
    assert solution.use() == "real"
    with mock.patch("solution.time.time", lambda: 12):
        assert solution.now() == 12
    solution.EXTRA = 3
    assert solution.EXTRA == 3
    del solution.EXTRA
    assert not hasattr(solution, "EXTRA")
def check_packages():
    assert pkg.value == 5 and pkg.inner.get() == 5 and other is pkg.inner and pkg.deep.leaf.LEAF == "leaf"
    assert twin() == 2 and plainfolder.mod.X == 1
def check_star():
    assert use() == "real" and "_private" not in globals()
    assert "use" in dir(solution) and solution.__name__ == "solution" and solution.__file__.endswith("solution.py")
def check_again():
    solution.bump()
    assert solution.COUNT > 0
    importlib.reload(solution)
    assert solution.COUNT == 0
    solution.bump()
    del sys.modules["solution"]
    assert importlib.import_module("solution").COUNT == 0
def check_missing():
    for name in ("nothing_here", "pkg.nothing", "solution.nothing"):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            assert error.name == name
        else:
            assert False, name
"#,
    );
}

#[test]
fn printed_text_is_captured() {
    passes(
        "import sys\ndef say(x): print(x); print('err', file=sys.stderr); sys.stdout.buffer.write(b'raw\\n')\ndef ask():\n    try: return input()\n    except EOFError: return 'closed'\n",
        r#"
import solution, io, contextlib
def check_redirect():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        solution.say("é")
    assert "é\n" in out.getvalue() and "raw\n" in out.getvalue() and err.getvalue() == "err\n"
def check_stdin_is_closed():
    assert solution.ask() == "closed"
"#,
    );
}

#[test]
fn checks_read_files_and_start_programs() {
    passes(
        "import sys\nif __name__ == '__main__':\n    print(sum(map(int, sys.stdin.read().split())))\n",
        r#"
import subprocess, sys, os, ast
def check_cwd():
    assert os.path.exists("solution.py") and "stdin" in open("solution.py").read()
    ast.parse(open("solution.py").read())
    assert os.getcwd() not in sys.path
def check_program():
    done = subprocess.run([sys.executable, "solution.py"], input="1 2 3", capture_output=True, text=True)
    assert done.stdout == "6\n", done
"#,
    );
}
