//! Deliveries that try to be accepted without doing the work.

use crate::{PATIENT, judge, rows, story};
use desk::python_suite::{Isolation, SuiteResult};
use std::time::Duration;

/// An honest suite: `add` must add, `name` must return a certain text.
const CHECKS: &str = "
import solution
def check_add():
    assert solution.add(2, 3) == 5
def check_name():
    assert solution.name() == 'gold', 'not gold'
def check_list():
    assert solution.items() == [1, 2, 3]
";

const BOTH: [Isolation; 2] = [Isolation::Process, Isolation::InProcess];

fn attack(isolation: Isolation, candidate: &str) -> SuiteResult {
    attack_tree(isolation, &[("solution.py", candidate)])
}

fn attack_tree(isolation: Isolation, workspace: &[(&str, &str)]) -> SuiteResult {
    judge(isolation, workspace, &[("test_a.py", CHECKS)], PATIENT)
}

#[track_caller]
fn refused(isolation: Isolation, candidate: &str) -> SuiteResult {
    let result = attack(isolation, candidate);
    assert!(!result.all_pass(), "{isolation:?} accepted\n{}", story(&result));
    result
}

#[track_caller]
fn refused_in_both(candidate: &str) {
    for isolation in BOTH {
        refused(isolation, candidate);
    }
}

#[test]
fn honest_work_is_accepted_in_both_modes() {
    let honest = "def add(a, b): return a + b\ndef name(): return 'gold'\ndef items(): return [1, 2, 3]\n";
    for isolation in BOTH {
        let result = attack(isolation, honest);
        assert!(result.all_pass(), "{}", story(&result));
    }
}

/// Objects that claim to equal everything: in process mode a handle equals no literal.
#[test]
fn lying_objects_equal_nothing() {
    for base in ["object", "int", "str", "list", "dict", "float"] {
        let candidate = format!(
            "class Yes({base}):\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    \
             __hash__ = {base}.__hash__\n    def __bool__(self): return True\n    __class__ = property(lambda self: int)\n    \
             def __len__(self): return 3\n    def __str__(self): return 'gold'\n    __req__ = __eq__\n\
             def add(a, b): return Yes()\ndef name(): return Yes()\ndef items(): return Yes()\n"
        );
        let result = refused(Isolation::Process, &candidate);
        assert_eq!(result.passed(), 0, "{base}\n{}", story(&result));
        let inside = candidate.replace("return Yes()", "return [Yes()]");
        assert_eq!(refused(Isolation::Process, &inside).passed(), 0);
    }
    let meta = "class M(type):\n    def __eq__(c, o): return True\n    __hash__ = type.__hash__\n\
                class C(metaclass=M): pass\ndef add(a, b): return C\nname = items = lambda: C\n";
    assert_eq!(refused(Isolation::Process, meta).passed(), 0);
}

#[test]
fn a_lying_object_has_no_truth_value() {
    let candidate = "class Yes:\n    def __bool__(self): return True\n    def __lt__(self, o): return self\n    __gt__ = __le__ = __ge__ = __lt__\n    def __contains__(self, x): return self\ndef ok(): return Yes()\n";
    let checks = "import solution\ndef check_truth():\n    assert solution.ok()\ndef check_order():\n    assert solution.ok() < 3\ndef check_not():\n    assert not solution.ok()\n";
    let result = judge(Isolation::Process, &[("solution.py", candidate)], &[("test_a.py", checks)], PATIENT);
    assert_eq!(result.passed(), 0, "{}", story(&result));
}

#[test]
fn patched_builtins_and_modules_do_not_help() {
    refused_in_both(
        "import builtins, sys\n\
         builtins.AssertionError = type('A', (BaseException,), {'__init__': lambda *a: None})\n\
         builtins.callable = builtins.isinstance = builtins.len = builtins.hasattr = lambda *a, **k: True\n\
         builtins.type = lambda *a: None\nbuiltins.str = lambda *a: 'pass'\nbuiltins.getattr = lambda *a: None\n\
         def add(a, b): return 0\ndef name(): return 0\ndef items(): return 0\n",
    );
    // Every writer of the library patched into writing another kind.
    refused_in_both(
        "import json, json.encoder, os, sys, io\n\
         lie = lambda *a, **k: '\"pass\"'\n\
         json.dumps = json.encoder.encode_basestring_ascii = json.encoder.c_make_encoder = lie\n\
         json.JSONEncoder.encode = json.JSONEncoder.default = lie\n\
         os._exit = sys.exit = os.write = lambda *a: 0\nio.StringIO = None\n\
         def add(a, b): return 0\ndef name(): return 0\ndef items(): return 0\n",
    );
    // Length lies of patched builtins stay outside the checks. In process mode the candidate breaks its own worker.
    let checks = "import solution\ndef check_len():\n    assert len(solution.items()) == 3\n";
    let candidate = "import builtins\nbuiltins.len = lambda x: 3\ndef items(): return []\n";
    for isolation in BOTH {
        let result = judge(isolation, &[("solution.py", candidate)], &[("test_a.py", checks)], PATIENT);
        assert_eq!(result.passed(), 0, "{}", story(&result));
        if isolation == Isolation::InProcess {
            assert_eq!(rows(&result), ["test_a.py::check_len assert"], "{}", story(&result));
        }
    }
}

#[test]
fn tampering_with_sys_modules_does_not_help() {
    refused_in_both(
        "import sys\n\
         class Fake(type(sys)):\n    def __getattr__(self, name): return lambda *a: None\n\
         def swap():\n\
         \x20   module = sys.modules.get('test_a')\n\
         \x20   if module is not None:\n\
         \x20       for name in list(vars(module)):\n\
         \x20           if name.startswith('check_'): vars(module)[name] = lambda: None\n\
         \x20   sys.modules['test_a'] = Fake('test_a'); sys.modules['__main__'] = Fake('__main__')\n\
         swap()\n\
         def add(a, b): swap(); return 0\ndef name(): swap(); return 0\ndef items(): return 0\n",
    );
    // Replacing the code of a later check is noticed.
    let swap_code = "import sys\ndef add(a, b):\n    sys.modules['test_a'].check_name.__code__ = (lambda: None).__code__\n    \
                     return 5\ndef name(): return 0\ndef items(): return [1, 2, 3]\n";
    let result = refused(Isolation::InProcess, swap_code);
    assert!(rows(&result).contains(&"test_a.py::check_name protocol".to_owned()), "{}", story(&result));
    refused(Isolation::Process, swap_code);
}

#[test]
fn suite_helpers_cannot_be_shadowed() {
    let checks = [
        ("test_a.py", "import helper, solution\ndef check_a():\n    helper.same(solution.f(), 1)\n"),
        ("helper.py", "def same(a, b):\n    assert a == b\n"),
    ];
    let workspace = [
        ("solution.py", "def f(): return 2\n"),
        ("helper.py", "def same(a, b): pass\n"),
        ("test_a.py", "def check_a(): pass\n"),
        ("conftest.py", "raise SystemExit(0)\n"),
    ];
    for isolation in BOTH {
        let result = judge(isolation, &workspace, &checks, PATIENT);
        assert_eq!(rows(&result), ["test_a.py::check_a assert"], "{}", story(&result));
    }
}

#[test]
fn early_exits_are_incomplete() {
    for exit in ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.execv('/bin/true', ['true'])", "os.abort()"] {
        let late = format!(
            "import os\ndef add(a, b): return a + b\ndef name(): {exit}\ndef items(): return [1, 2, 3]\n"
        );
        let early = format!("import os\n{exit}\n");
        for isolation in BOTH {
            for candidate in [&late, &early] {
                let result = refused(isolation, candidate);
                assert!(!result.complete(), "{exit} {isolation:?}\n{}", story(&result));
            }
        }
    }
    refused_in_both("import atexit, os\natexit.register(os._exit, 0)\ndef add(a, b): raise SystemExit(0)\n");
    refused_in_both("import sys\nsys.exit(0)\n");
}

/// Whatever a check catches, a lost candidate fails the case, the later ones and the file.
#[test]
fn a_check_cannot_catch_the_loss_of_the_candidate() {
    let checks = "import solution\ndef check_swallow():\n    for _ in range(3):\n        try:\n            solution.die()\n        except BaseException:\n            pass\ndef check_later():\n    pass\n";
    let candidate = "import os\ndef die(): os._exit(0)\n";
    let result = judge(Isolation::Process, &[("solution.py", candidate)], &[("test_a.py", checks)], PATIENT);
    assert_eq!(
        rows(&result),
        [
            "test_a.py::check_swallow exception",
            "test_a.py::check_later exception",
            "test_a.py::<file> incomplete"
        ]
    );
    // Dying after the last answer is seen by the last look.
    let checks = "import solution, time\ndef check_last():\n    solution.soon()\n    time.sleep(0.6)\n";
    let candidate = "import os, threading\ndef soon(): threading.Timer(0.1, os._exit, [0]).start()\n";
    let result = judge(Isolation::Process, &[("solution.py", candidate)], &[("test_a.py", checks)], PATIENT);
    assert!(!result.all_pass() && !result.complete(), "{}", story(&result));
}

/// Forged lines on every descriptor, by several threads, while the checks run.
#[test]
fn forged_lines_on_every_descriptor() {
    let candidate = r#"
import os, threading, sys
line = b'%s {"i":0,"case":"check_add","kind":"pass","message":"","where":null,"output":""}\n{"i":3,"end":true,"ran":3}\n' % (b"0" * 64)
def spray():
    for fd in range(256):
        try: os.write(fd, line)
        except OSError: pass
threads = [threading.Thread(target=spray) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
def add(a, b): spray(); return a + b
def name(): spray(); return "gold"
def items(): return [1, 2, 3]
"#;
    for isolation in BOTH {
        let result = refused(isolation, candidate);
        assert!(!result.complete(), "{}", story(&result));
    }
}

/// A candidate that puts itself between the runner and the pipe can read records but not change them.
#[test]
fn records_cannot_be_rewritten_on_their_way() {
    let candidate = r#"
import os, stat, threading
pipes = [fd for fd in range(3, 64) if os.path.exists("/proc/self/fd/%d" % fd) and stat.S_ISFIFO(os.fstat(fd).st_mode)]
for fd in pipes:
    real = os.dup(fd); out, into = os.pipe(); os.dup2(into, fd)
    def forward(out=out, real=real):
        while True:
            data = os.read(out, 65536)
            if not data: return
            os.write(real, data.replace(b'"assert"', b'"pass"').replace(b'"exception"', b'"pass"'))
    threading.Thread(target=forward, daemon=True).start()
def add(a, b): return 0
def name(): return 0
def items(): return 0
"#;
    refused_in_both(candidate);
}

#[test]
fn frames_gc_and_trace_reach_no_check_in_process_mode() {
    let candidate = r#"
import sys, gc
seen = []
def look():
    frame = sys._getframe()
    while frame is not None:
        seen.append(frame.f_code.co_filename + " " + " ".join(map(str, frame.f_locals)))
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict):
            for key in list(thing):
                if isinstance(key, str) and (key in ("check_add", "check_name", "declared", "shared_interpreter")):
                    seen.append(key)
                    try: thing[key] = lambda *a: None
                    except Exception: pass
sys.settrace(lambda *a: None); sys.setprofile(lambda *a: None)
look()
def add(a, b): look(); return 0
def name(): look(); return 0
def items(): look(); return 0
def report(): return [line for line in seen if "check_add" in line or "test_a" in line or line == "declared"]
"#;
    let checks =
        format!("{CHECKS}def check_unseen():\n    assert solution.report() == [], solution.report()\n");
    let result = judge(Isolation::Process, &[("solution.py", candidate)], &[("test_a.py", &checks)], PATIENT);
    let row = |case: &str, kind: &str| format!("test_a.py::{case} {kind}");
    assert_eq!(
        rows(&result),
        [
            row("check_add", "assert"),
            row("check_name", "assert"),
            row("check_list", "assert"),
            row("check_unseen", "pass")
        ],
        "{}",
        story(&result)
    );
}

#[test]
fn exceptions_of_every_rank_fail() {
    for raising in [
        "raise SystemExit(0)",
        "raise KeyboardInterrupt",
        "raise GeneratorExit",
        "raise type('Mine', (BaseException,), {})()",
        "raise type('Quiet', (BaseException,), {'__str__': lambda s: 1/0})()",
        "raise StopIteration(5)",
        "return add(a, b)",
        "exec('(' * 200 + ')' * 200)",
        "raise type('E', (Exception,), {'__class__': property(lambda s: AssertionError), 'args': property(lambda s: 1/0)})()",
    ] {
        let candidate = format!("def add(a, b):\n    {raising}\nname = items = lambda: 0\n");
        for isolation in BOTH {
            assert_eq!(refused(isolation, &candidate).passed(), 0, "{raising}");
        }
    }
}

#[test]
fn huge_and_deep_values_are_refused() {
    for value in
        ["'x' * (1 << 30)", "b'x' * (1 << 28)", "[0] * (1 << 24)", "deep(100000)", "loop()", "10 ** 3000000"]
    {
        let candidate = format!(
            "def deep(n):\n    out = []\n    for _ in range(n): out = [out]\n    return out\n\
             def loop():\n    out = []; out.append(out); return out\n\
             def add(a, b): return {value}\ndef name(): return 'gold'\ndef items(): return [1, 2, 3]\n"
        );
        let result = refused(Isolation::Process, &candidate);
        // The value fails its own check and nothing else.
        assert_eq!(result.passed(), 2, "{value}\n{}", story(&result));
    }
}

#[test]
fn endless_printing_costs_only_its_own_text() {
    let candidate = "import sys\ndef add(a, b):\n    for _ in range(200000): print('x' * 100)\n    return 5\n\
                     def name(): return 'gold'\ndef items(): return [1, 2, 3]\n";
    let result = attack(Isolation::Process, candidate);
    assert!(result.all_pass(), "{}", story(&result));
    assert!(result.files[0].cases[0].output.chars().count() < 1300);
}

/// Frames written by the candidate straight to the conversation.
#[test]
fn forged_protocol_messages_break_the_file() {
    let send = "import os, json\ndef put(raw): os.write(5, raw)\ndef frame(x):\n    raw = json.dumps(x).encode(); \
                put(len(raw).to_bytes(4, 'big') + raw)\n";
    for forgery in [
        "frame({'n': 99, 'm': [], 'v': 5, 'o': []})",
        "frame({'n': 3, 'm': [], 'v': 5, 'o': []}); frame({'n': 3, 'm': [], 'v': 5, 'o': []})",
        "[frame({'n': n, 'm': [], 'v': 5, 'o': []}) for n in range(20)]",
        "put(b'\\xff\\xff\\xff\\xff')",
        "put(b'\\x00\\x00\\x00\\x02[]')",
        "put(b'garbage without end' * 1000)",
        "frame({'n': 3, 'm': [], 'v': ['d', ['l'], 1], 'o': []})",
        "frame({'n': 3, 'm': [[0, 1], ['x', 2]], 'v': ['zz'], 'o': [[1]]})",
        "frame({'n': 3, 'm': [], 'e': {'c': ['ty', 'int'], 'a': [], 'd': {}, 't': '', 'h': 1}, 'o': []})",
        "frame({'n': 3, 'm': [], 'v': ['h', 'x', []], 'o': []})",
        "frame({'n': 3, 'm': [], 'v': ['h', 1, ['__eq__', '__bool__', '__class__', '__del__']], 'o': []})",
        "frame({'cb': 1, 'n': 1, 'a': ['t'], 'k': ['d'], 'w': [], 'o': []})",
        "raw = b'[' * 5000; put(len(raw).to_bytes(4, 'big') + raw)",
        "os.close(5)",
        // A child that speaks too. One that speaks after the last check was answered is as if it had not spoken.
        "pid = os.fork(); pid or (frame({'n': 3, 'm': [], 'v': 5, 'o': []}), os._exit(0)); os.waitpid(pid, 0)",
    ] {
        let candidate = format!(
            "{send}def add(a, b):\n    {forgery}\n    return 5\ndef name(): return 'gold'\ndef items(): return [1, 2, 3]\n"
        );
        let result = attack(Isolation::Process, &candidate);
        assert!(!result.complete(), "{forgery}\n{}", story(&result));
        assert!(!result.files[0].timed_out, "{forgery}");
    }
}

/// What is named like a library module, and files that an interpreter or runner would read by itself.
#[test]
fn planted_files_have_no_effect() {
    let evil = "raise SystemExit('planted file ran')\n";
    let quiet = "import os\nos._exit(0)\n";
    let workspace = [
        (
            "solution.py",
            "def add(a, b): return a + b\ndef name(): return 'gold'\ndef items(): return [1, 2, 3]\n",
        ),
        ("sitecustomize.py", quiet),
        ("usercustomize.py", quiet),
        ("conftest.py", evil),
        ("evil.pth", "import os; os._exit(0)\n"),
        ("pyvenv.cfg", "home = /nonexistent\n"),
        ("json.py", evil),
        ("ast.py", evil),
        ("sys.py", evil),
        ("select.py", quiet),
        ("os.py", quiet),
        ("hashlib.py", quiet),
        ("threading.py", quiet),
        ("__main__.py", evil),
        ("encodings/__init__.py", evil),
        (".env", "PYTHONSTARTUP=evil.py\n"),
    ];
    let checks = format!(
        "import json, ast, os\n{CHECKS}def check_library():\n    assert json.loads('[1]') == [1] and ast.parse('1') and os.sep\n"
    );
    for isolation in BOTH {
        let result = judge(isolation, &workspace, &[("test_a.py", &checks)], PATIENT);
        if isolation == Isolation::Process {
            assert!(result.all_pass(), "{}", story(&result));
        } else {
            // `ast` is not loaded yet when the file imports it, and the workspace comes first, as for the peer.
            assert_eq!(result.passed(), 0, "{}", story(&result));
        }
    }
}

/// A compiled file that was planted beside an honest-looking source is never loaded, nor is anything imported from the
/// folders that the workspace hash leaves out.
#[test]
fn stale_bytecode_and_hidden_folders_are_not_imported() {
    let plant = r#"
import sys, os, importlib.util, py_compile
folder = sys.argv[1]
def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(text)
good = "def add(a, b): return a + b\ndef name(): return 'gold'\ndef items(): return [1, 2, 3]\n"
bad = "def add(a, b): return 0\nname = items = add\n"
search = """import sys
for p in ('.git', '__pycache__', '.pytest_cache'):
    sys.path.insert(0, p)
    sys.path.insert(0, __file__[:-11] + p)
try:
    from hidden import *
except ImportError:
    pass
"""
for name, text in (("solution.py", bad + search), ("other.py", bad)):
    source = os.path.join(folder, name)
    put(source, good)
    cache = importlib.util.cache_from_source(source)
    py_compile.compile(source, cfile=cache, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    put(source, text)
for name in (".git", "__pycache__", ".pytest_cache"):
    put(os.path.join(folder, name, "hidden.py"), good)
"#;
    for isolation in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let python = crate::interpreter();
        let made =
            std::process::Command::new(&python.program).args(["-I", "-c", plant]).arg(folder.path()).status();
        assert!(made.unwrap().success());
        let options = desk::python_suite::Options { isolation, wall: PATIENT, python, ..Default::default() };
        let suite = crate::suite(&[("test_a.py", CHECKS)]);
        let result = desk::python_suite::run(&crate::plain::Plain, &suite, folder.path(), &options).unwrap();
        assert_eq!(result.passed(), 0, "{isolation:?}\n{}", story(&result));
        // An interpreter that a check starts does not load the planted file either. (Its imports from `.git` only
        // the sandbox can hide.)
        let program = "import subprocess, sys\ndef check_program():\n    code = 'import sys; sys.path.insert(0, \".\"); \
                       import other; print(other.add(1, 2))'\n    done = subprocess.run([sys.executable, '-c', code], \
                       capture_output=True, text=True)\n    assert done.stdout == '0\\n', done\n";
        let suite = crate::suite(&[("test_a.py", program)]);
        let result = desk::python_suite::run(&crate::plain::Plain, &suite, folder.path(), &options).unwrap();
        assert!(result.all_pass(), "{isolation:?}\n{}", story(&result));
    }
}

/// A program that a check starts finds neither the result pipe nor the checker's memory.
#[test]
fn programs_started_by_checks_cannot_reach_the_checker() {
    let program = r#"
import os, sys
reached = []
for pid in {os.getppid(), os.getpid()}:
    if pid != os.getpid():
        for path in ("/proc/%d/fd/4" % pid, "/proc/%d/fd/5" % pid, "/proc/%d/mem" % pid):
            try: reached.append((path, os.open(path, os.O_WRONLY)))
            except OSError: pass
for fd in range(3, 256):
    try: os.fstat(fd); reached.append(fd)
    except OSError: pass
print(reached)
"#;
    let checks = "import subprocess, sys, solution\ndef check_program():\n    done = subprocess.run([sys.executable, 'program.py'], capture_output=True, text=True)\n    assert done.stdout == '[]\\n', done\ndef check_worker():\n    assert solution.reach() == []\n";
    let worker = r#"
import os
def reach():
    reached = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try: words = open("/proc/%s/cmdline" % name).read()
            except OSError: continue
            if "/checker/main.py" in words and str(os.getpgid(int(name))) == name:
                # Only checkers of this very run: the worker lies in the same folder.
                import sys
                if os.path.dirname(os.path.dirname(words.split("\0")[-2])) == HOME:
                    try: reached.append(os.open("/proc/%s/fd/4" % name, os.O_WRONLY))
                    except OSError: pass
    return reached
HOME = os.path.dirname(os.environ["TMPDIR"])
"#;
    let result = judge(
        Isolation::Process,
        &[("program.py", program), ("solution.py", worker)],
        &[("test_a.py", checks)],
        PATIENT,
    );
    assert!(result.all_pass(), "{}", story(&result));
}

/// A suite that loads a delivered file by its path does not move it into the checker.
#[test]
fn delivered_code_does_not_run_in_the_checker() {
    for load in [
        "import runpy; runpy.run_path('solution.py')",
        "import importlib.util as u; s = u.spec_from_file_location('x', 'solution.py'); m = u.module_from_spec(s); s.loader.exec_module(m)",
        "exec(compile(open('solution.py').read(), 'solution.py', 'exec'))",
    ] {
        let checks = format!("def check_load():\n    {load}\n");
        let result =
            judge(Isolation::Process, &[("solution.py", "X = 1\n")], &[("test_a.py", &checks)], PATIENT);
        assert_eq!(rows(&result), ["test_a.py::check_load exception"], "{load}\n{}", story(&result));
        assert!(result.files[0].cases[0].message.contains("in-process"));
    }
}

#[test]
fn a_hanging_candidate_times_out() {
    for isolation in BOTH {
        let result = judge(
            isolation,
            &[("solution.py", "import time\ndef add(a, b):\n    while True: time.sleep(0.01)\n")],
            &[("test_a.py", CHECKS)],
            Duration::from_millis(1500),
        );
        assert_eq!(rows(&result).last().unwrap(), "test_a.py::<file> timeout", "{}", story(&result));
        assert_eq!(result.passed(), 0);
    }
}

/// A process that the candidate leaves behind with the pipe open does not hold the desk.
#[test]
fn a_left_behind_process_does_not_hold_the_desk() {
    let candidate = "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(20); os._exit(0)\n\
                     def add(a, b): return a + b\ndef name(): return 'gold'\ndef items(): return [1, 2, 3]\n";
    let result = attack(Isolation::InProcess, candidate);
    assert!(result.all_pass() && result.files[0].wall_ms < 15_000, "{}", story(&result));
}
