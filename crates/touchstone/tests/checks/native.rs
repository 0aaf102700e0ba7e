use super::{Texts, evaluator, honest, place, places};
use check::{Candidate, CheckInfraError, Detail, Evaluation, Evaluator, Language, Options, Reuse};
use std::time::Duration;

fn adds() -> Texts {
    Texts::new("add", &[("[2, 3]", "5"), ("['a', 'b']", "'ab'"), ("[[1], [2]]", "[1, 2]")])
}

fn run(evaluator: &mut Evaluator<'_>, suite: &Texts, source: &str) -> Evaluation {
    evaluator.evaluate(suite, &Candidate::python(source)).unwrap()
}

#[test]
fn python_candidates_fresh_and_forked_at_every_level() {
    for place in places() {
        for reuse in [Reuse::Fresh, Reuse::Fork] {
            let mut evaluator = evaluator(&place, reuse);
            let good = run(&mut evaluator, &adds(), "def add(a, b):\n    return a + b\n");
            assert!(good.ok && good.loads_ok && good.n_tests == 3, "{good:?}");
            let second = run(&mut evaluator, &adds(), "def add(a, b):\n    return 5\n");
            assert_eq!((second.first_failing_test, second.detail), (Some(1), Some(Detail::WrongValue)));
            let raises = run(&mut evaluator, &adds(), "def add(a, b):\n    raise KeyError('no')\n");
            assert_eq!((raises.detail, raises.message.as_str()), (Some(Detail::Raised), "KeyError: 'no'"));
        }
    }
}

#[test]
fn each_way_to_fail_has_its_code() {
    let place = place();
    let mut evaluator = Evaluator::new(
        &place,
        Options { timeout: Duration::from_secs(2), reuse: Reuse::Fork, ..Options::default() },
    );
    let cases = [
        ("def add(a, b:\n", Detail::NotLoaded, None),
        ("def sub(a, b):\n    return a\n", Detail::NotLoaded, None),
        ("import os\nos._exit(0)\n", Detail::WorkerEnded, None),
        ("while True:\n    pass\n", Detail::TimedOut, None),
        ("def add(a, b):\n    return object()\n", Detail::NotLiteral, Some(0)),
        ("def add(a, b):\n    return float('nan')\n", Detail::NotLiteral, Some(0)),
        ("def add(a, b):\n    import os\n    os._exit(0)\n", Detail::WorkerEnded, Some(0)),
        ("def add(a, b):\n    while True:\n        pass\n", Detail::TimedOut, Some(0)),
        ("def add(a, b):\n    import os\n    os.write(3, b'5\\n')\n", Detail::ProtocolBroken, Some(0)),
    ];
    for (source, detail, test) in cases {
        let seen = run(&mut evaluator, &adds(), source);
        assert_eq!((seen.detail, seen.first_failing_test, seen.ok), (Some(detail), test, false), "{source}");
        assert_eq!(seen.loads_ok, test.is_some(), "{source}");
        assert!(honest(&mut evaluator), "{source}");
    }
}

/// After some starts our programs are compiled; nothing else changes.
#[test]
fn many_fresh_processes_start_from_compiled_programs() {
    let place = place();
    let compiled = place.folder_of_desk().join("code/fresh.pyc");
    let mut evaluator = evaluator(&place, Reuse::Fresh);
    assert!(honest(&mut evaluator) && !compiled.exists());
    for _ in 0..5 {
        assert!(honest(&mut evaluator));
    }
    assert!(compiled.exists());
}

/// Somebody takes the desk's own folder away: that is nobody's failure but the desk's.
#[test]
fn a_desk_without_its_folder_measures_nothing() {
    let place = place();
    let mut evaluator = evaluator(&place, Reuse::Fresh);
    std::fs::remove_dir_all(place.folder_of_desk()).unwrap();
    let error =
        evaluator.evaluate(&adds(), &Candidate::python("def add(a, b):\n    return a + b\n")).unwrap_err();
    assert_eq!((error.code(), matches!(error, CheckInfraError::Io(_))), ("check_io", true));
}

/// They harm their own run and nothing after it.
#[test]
fn harm_stays_with_its_candidate() {
    let place = place();
    let harm = [
        "def f(x):\n    import os\n    while True:\n        os.fork()\n",
        "def f(x):\n    return 'x' * (1 << 40)\n",
        "def f(x):\n    return 'x' * (20 << 20)\n",
        "def f(x):\n    r = []\n    for _ in range(100000):\n        r = [r]\n    return r\n",
        "def f(x):\n    while True:\n        print('x' * 10000)\n",
        "def f(x):\n    import os\n    os.closerange(0, 1000)\n    return 1\n",
        "def f(x):\n    import os, signal\n    os.kill(os.getppid(), signal.SIGKILL)\n    return 1\n",
        "def f(x):\n    import os, signal\n    os.kill(os.getppid(), signal.SIGSTOP)\n    return 1\n",
        "def f(x):\n    import os, time\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\n    return 1\n",
        "def f(x):\n    import os, tempfile\n    open(os.environ['TMPDIR'] + '/left', 'w').write('for the next')\n    return 1\n",
        "def f(x):\n    import threading\n    threading.Thread(target=threading.Event().wait).start()\n    return 1\n",
        "def f(x):\n    import sys\n    sys.setrecursionlimit(10**9)\n    return f(x)\n",
    ];
    let suite = Texts::new("f", &[("[1]", "2")]);
    for reuse in [Reuse::Fresh, Reuse::Fork] {
        let options = Options { timeout: Duration::from_secs(2), reuse, ..Options::default() };
        let mut evaluator = Evaluator::new(&place, options);
        for source in harm {
            let seen = run(&mut evaluator, &suite, source);
            assert!(!seen.ok && seen.first_failing_test == Some(0), "{source}: {seen:?}");
            assert!(honest(&mut evaluator), "{source}");
        }
    }
}

/// What one candidate leaves behind, the next one does not find.
#[test]
fn nothing_passes_from_one_candidate_to_the_next() {
    let leaves = "import builtins, ctypes, os, sys\n\
        def f(x):\n    builtins.left = 1\n    os.environ['LEFT'] = '1'\n    sys.modules['left'] = os\n\
        \x20   for place in (os.environ['TMPDIR'], '/tmp'):\n\
        \x20       try:\n            open(place + '/left', 'w').close()\n\
        \x20       except OSError:\n            pass\n\
        \x20   ctypes.CDLL(None).shmget(4711, 4096, 0o1666)\n    return 'left'\n";
    let finds = "import builtins, ctypes, os, sys\n\
        def f(x):\n    found = []\n    if hasattr(builtins, 'left'): found.append('builtins')\n\
        \x20   if 'LEFT' in os.environ: found.append('environment')\n    if 'left' in sys.modules: found.append('module')\n\
        \x20   for place in (os.environ['TMPDIR'], '/tmp'):\n        if os.path.exists(place + '/left'): found.append('file')\n\
        \x20   if ctypes.CDLL(None).shmget(4711, 0, 0) >= 0: found.append('memory')\n    return found\n";
    // The control: both in one process.
    let both = format!(
        "{leaves}\nleave = f\n{finds}\nfind = f\ndef f(x):\n    leave(x)\n    return 'builtins' in find(x)\n"
    );
    let place = place();
    let mut evaluator = evaluator(&place, Reuse::Fork);
    let control = Texts::new("f", &[("[1]", "True")]);
    assert!(run(&mut evaluator, &control, &both).ok);
    for _ in 0..3 {
        assert!(run(&mut evaluator, &Texts::new("f", &[("[1]", "'left'")]), leaves).ok);
        let seen = run(&mut evaluator, &Texts::new("f", &[("[1]", "[]")]), finds);
        assert!(seen.ok, "{seen:?}");
    }
}

#[test]
fn values_of_all_kinds_cross() {
    let place = place();
    let mut evaluator = evaluator(&place, Reuse::Fork);
    let same = "def f(x):\n    return x\n";
    let tests = [
        "None",
        "True",
        "0",
        "-5",
        "1.5",
        "1e-07",
        "(1+2j)",
        "\"it's\"",
        "b'\\x00a'",
        "[]",
        "()",
        "(1,)",
        "[(1, [2]), {}]",
        "{'a': [1], 2: (3,)}",
        "{1}",
        "'\\u4e2d\\U0001f600\\n'",
    ];
    for text in tests {
        let seen = run(&mut evaluator, &Texts::new("f", &[(&format!("[{text}]"), text)]), same);
        assert!(seen.ok, "{text}: {seen:?}");
    }
    let stands_for = [
        ("import re\ndef f(x):\n    return re.match('a', 'a')\n", "True"),
        ("import collections\ndef f(x):\n    return collections.Counter('aa')\n", "{'a': 2}"),
        ("def f(x):\n    return frozenset([1])\n", "{1}"),
        ("def f(x):\n    return 1 << 100\n", "0x10000000000000000000000000"),
    ];
    for (source, text) in stands_for {
        let seen = run(&mut evaluator, &Texts::new("f", &[("[1]", text)]), source);
        assert!(seen.ok, "{text}: {seen:?}");
    }
}

fn in_language(language: Language, tool: &str, good: &str, wrong: &str, broken: &str) {
    if std::process::Command::new(tool).arg("--version").output().is_err() {
        return vectors::skip("a candidate in another language", &format!("{tool} is not installed"));
    }
    let place = place();
    let mut evaluator = evaluator(&place, Reuse::Fresh);
    let suite = Texts::new("join", &[("[['a', 'é', '\\U0001f600'], 2]", "'aé😀aé😀'"), ("[[], 3]", "''")]);
    let mut run =
        |source: &str| evaluator.evaluate(&suite, &Candidate { language, source: source.into() }).unwrap();
    let seen = run(good);
    assert!(seen.ok, "{seen:?}");
    let seen = run(wrong);
    assert_eq!((seen.first_failing_test, seen.loads_ok), (Some(0), true), "{seen:?}");
    let seen = run(broken);
    assert!(!seen.ok && !seen.loads_ok, "{seen:?}");
    let refuses = if language == Language::Rust { Detail::NotCompiled } else { Detail::NotLoaded };
    assert_eq!(seen.detail, Some(refuses));
}

#[test]
fn javascript() {
    let good = "console.log('noise'); const join = (parts, times) => parts.join('').repeat(times);";
    let exported =
        "exports.join = (parts, times) => { console.log('{\"nonce\":\"1\",\"value\":\"1\"}'); return 1; };";
    in_language(Language::JavaScript, "node", good, exported, "const join = ;");
}

#[test]
fn rust() {
    let good = "pub fn join(parts: Vec<String>, times: u32) -> String {\n    println!(\"noise\");\n    \
                parts.concat().repeat(times as usize)\n}\n";
    let wrong =
        "pub fn join(_: Vec<String>, _: u32) -> Result<String, String> {\n    Err(\"no\".into())\n}\n";
    in_language(Language::Rust, "rustc", good, wrong, "pub fn join(");
}

#[test]
fn rust_takes_and_gives_tuples() {
    if std::process::Command::new("rustc").arg("--version").output().is_err() {
        return vectors::skip("rust_takes_and_gives_tuples", "rustc is not installed");
    }
    let place = place();
    let mut evaluator = evaluator(&place, Reuse::Fresh);
    let suite = Texts::new(
        "f",
        &[("[(1, 'a', 2.5), [(1, 2)]]", "(3, 'a', 2.5, 1)"), ("[(0, '', 0.0), []]", "(0, '', 0.0, 0)")],
    );
    let source = "pub fn f(t: (i64, String, f64), l: Vec<(i64, i64)>) -> (i64, String, f64, usize) {\n    \
                  (t.0 + l.iter().map(|p| p.1).sum::<i64>(), t.1, t.2, l.len())\n}\n";
    let seen = evaluator.evaluate(&suite, &Candidate { language: Language::Rust, source: source.into() });
    let seen = seen.unwrap();
    assert!(seen.ok, "{seen:?}");
}

/// What the desk cannot hand over is no fault of the candidate, and no candidate can say that it is (ruling 16).
#[test]
fn arguments_that_a_language_cannot_be_given_are_nobodys_fault() {
    let place = place();
    let mut evaluator = evaluator(&place, Reuse::Fresh);
    let cases = [
        ("[1j]", &[Language::JavaScript, Language::Rust][..]),
        ("[[(1, {2: 1j})]]", &[Language::JavaScript, Language::Rust]),
        ("['\\ud800']", &[Language::Rust]),
        ("[170141183460469231731687303715884105728]", &[Language::Rust]),
    ];
    for (arguments, languages) in cases {
        let suite = Texts::new("f", &[("[0]", "0"), (arguments, "0")]);
        for language in languages {
            let candidate = Candidate { language: *language, source: "whatever".into() };
            let error = evaluator.evaluate(&suite, &candidate).unwrap_err();
            assert_eq!(error.code(), "check_not_for_language", "{arguments} {language:?}");
            assert!(error.to_string().contains("test 2"), "{error}");
        }
        let python = Candidate::python("def f(x): return 0");
        assert!(evaluator.evaluate(&suite, &python).unwrap().ok, "{arguments}");
    }
}

#[test]
fn a_desk_that_is_told_to_stop_measures_nothing() {
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let place = place().ended_by(&stop);
    let mut evaluator = evaluator(&place, Reuse::Fresh);
    let suite = Texts::new("f", &[("[0]", "0")]);
    let soon = std::sync::Arc::clone(&stop);
    let teller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        soon.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let endless = Candidate::python("def f(x):\n    while True: pass");
    for _ in 0..2 {
        let error = evaluator.evaluate(&suite, &endless).unwrap_err();
        assert_eq!(error.code(), "check_interrupted");
    }
    teller.join().unwrap();
}
