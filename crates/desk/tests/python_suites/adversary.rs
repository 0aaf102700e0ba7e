//! What somebody found who tried to get a wrong delivery accepted.

use crate::{PATIENT, judge, rows, story};
use desk::python_suite::Isolation;

/// What a suite computes from a returned object is not the object's own word: differences, order and membership against
/// plain values of the check.
#[test]
fn objects_do_not_answer_for_themselves() {
    let liar = r#"
class Liar:
    def __getattribute__(self, name): return object.__getattribute__(self, name)
    def same(self, *others): return 0.0
    __sub__ = __rsub__ = __add__ = __radd__ = __mul__ = __truediv__ = __mod__ = __pow__ = same
    def yes(self, *others): return True
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__ = __bool__ = yes
    def __iter__(self): return iter([])
    def __len__(self): return 3
def f(*args): return Liar()
"#;
    for check in [
        "abs(solution.f(1) - 1.5) < 0.01",
        "solution.f(1) < 5",
        "5 > solution.f(1)",
        "3 in solution.f(10)",
        "solution.f(1) - 2 == 0.0",
        "solution.f(1) == 2",
    ] {
        let checks = format!("import solution\ndef check_it():\n    assert {check}\n");
        let result = judge(Isolation::Process, &[("solution.py", liar)], &[("test_a.py", &checks)], PATIENT);
        assert_eq!(result.passed(), 0, "{check}\n{}", story(&result));
    }
}

/// A call that raises StopIteration must not end the check's own loop.
#[test]
fn a_call_cannot_end_a_loop_of_the_check() {
    let candidate = "def f(x): raise StopIteration\n";
    let checks = "import solution\ndef check_it():\n    for got, want in zip(map(solution.f, [1, 2]), [2, 4]):\n        assert got == want\n";
    let result = judge(Isolation::Process, &[("solution.py", candidate)], &[("test_a.py", checks)], PATIENT);
    assert_eq!(rows(&result), ["test_a.py::check_it exception"], "{}", story(&result));
}

/// A suite that puts a folder of the delivery on its import path still reaches it through the worker only; compiled
/// files, archives, libraries and pickles of the delivery run nowhere near the checks.
#[test]
fn import_paths_into_the_delivery_lead_to_the_worker() {
    let checks = "import sys\nsys.path.insert(0, 'src')\nimport calc\ndef check_it():\n    assert calc.add(2, 3) == 5\n";
    let judge_with = |source: &str| {
        judge(Isolation::Process, &[("src/calc.py", source)], &[("test_a.py", checks)], PATIENT)
    };
    let good = judge_with("def add(a, b): return a + b\n");
    assert!(good.all_pass(), "{}", story(&good));
    let forger = judge_with(
        "import os, sys\nfor fd in range(3, 64):\n    try: os.write(fd, b'x')\n    except OSError: pass\nsys.settrace(None)\ndef add(a, b): return 0\n",
    );
    assert_eq!(forger.passed(), 0, "{}", story(&forger));
    for load in [
        "import importlib.machinery as m; m.SourcelessFileLoader('x', 'x.pyc').get_code('x')",
        "import importlib.machinery as m, importlib.util as u; s = u.spec_from_file_location('x', 'x.so', loader=m.ExtensionFileLoader('x', 'x.so')); u.module_from_spec(s)",
        "import ctypes; ctypes.CDLL('./x.so')",
        "import pickle; pickle.loads(b\"cos\\nsystem\\n(S'true'\\ntR.\")",
    ] {
        let checks = format!("def check_load():\n    {load}\n");
        let files = [("x.pyc", "x"), ("x.so", "x")];
        let result = judge(Isolation::Process, &files, &[("test_a.py", &checks)], PATIENT);
        assert_eq!(rows(&result), ["test_a.py::check_load exception"], "{load}\n{}", story(&result));
        assert!(result.files[0].cases[0].message.contains("in-process"), "{load}: {}", story(&result));
    }
    let data = "import pickle\ndef check_data():\n    assert pickle.loads(pickle.dumps({1: {2, 3}})) == {1: {2, 3}}\n";
    let result = judge(Isolation::Process, &[], &[("test_a.py", data)], PATIENT);
    assert!(result.all_pass(), "{}", story(&result));
}

/// A program of the delivery that a check starts finds no text of the suite.
#[test]
fn started_programs_find_no_suite() {
    let program = r#"
import os, sys
for root, folders, files in os.walk(os.path.dirname(os.environ["TMPDIR"])):
    for name in files:
        try: text = open(os.path.join(root, name), errors="replace").read()
        except OSError: continue
        if "SECRET-EXPECTED" in text and name != "program.py": print("found", name)
print("end")
"#;
    let checks = "import subprocess, sys\ndef check_it():\n    out = subprocess.run([sys.executable, 'program.py'], capture_output=True, text=True).stdout\n    assert out == 'end\\n', out  # SECRET-EXPECTED\n";
    let result = judge(Isolation::Process, &[("program.py", program)], &[("test_a.py", checks)], PATIENT);
    assert!(result.all_pass(), "{}", story(&result));
}

/// Plain values and objects of the candidate do not mix in arithmetic and order.
#[test]
fn objects_do_not_compute_with_plain_values() {
    let candidate = "class Money:\n    def __init__(self, n): self.n = n\n    def __add__(self, o): return Money(self.n + getattr(o, 'n', o))\n    __radd__ = __add__\n    def __lt__(self, o): return True\n";
    for compute in ["a + 1", "1 + a", "a < 2", "2 > a"] {
        let checks = format!(
            "import solution\ndef check_it():\n    a = solution.Money(1)\n    assert (a + a).n == 2\n    {compute}\n"
        );
        let result =
            judge(Isolation::Process, &[("solution.py", candidate)], &[("test_a.py", &checks)], PATIENT);
        assert_eq!(rows(&result), ["test_a.py::check_it exception"], "{compute}\n{}", story(&result));
    }
}

/// An honest object that was compared with an equal one fails, and the reader is told why.
#[test]
fn a_compared_object_is_explained() {
    let candidate =
        "class P:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == o.x\n";
    let checks = "import solution\ndef check_plain():\n    assert 1 == 2\ndef check_objects():\n    assert solution.P(1) == solution.P(1)\ndef check_fields():\n    assert solution.P(1).x == solution.P(1).x\n";
    let result = judge(Isolation::Process, &[("solution.py", candidate)], &[("test_a.py", checks)], PATIENT);
    let cases = &result.files[0].cases;
    assert!(!cases[0].message.contains("in-process"), "{}", story(&result));
    assert!(cases[1].message.contains("in-process"), "{}", story(&result));
    assert!(cases[2].ok(), "{}", story(&result));
}
