//! Enclosed agents: what they cannot reach, what they still can, which tier follows, and what happens where no enclosure is
//! to be had (desk specification 29, 31.20).

use super::calls::{KEY, Model, RIGHT, command};
use super::stage::{MUL, Ran, Stage, has, ran, reasons, touchstone};
use canon::{Reader, Value};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An agent asks its model once, does `more`, and delivers.
pub(crate) fn agent(more: &str) -> String {
    format!(
        "import os, json, socket, sys, time, urllib.request\n\
         def ask():\n\
         \x20   request = urllib.request.Request(os.environ['OPENAI_BASE_URL'] + '/chat/completions', b'{{}}', headers={{\n\
         \x20       'Authorization': 'Bearer ' + os.environ['OPENAI_API_KEY'], 'Content-Type': 'application/json'}})\n\
         \x20   return urllib.request.urlopen(request).status\n\
         assert ask() == 200\n\
         {more}\n\
         open('solution.py', 'w').write('''{RIGHT}''')\n"
    )
}

/// A run with the interpreter's installation and no home of anybody.
pub(crate) fn enclosed(stage: &Stage, model: &Model, options: &[&str], script: &str) -> Command {
    let all = [&["--enclose"], options].concat();
    let mut command = command(stage, Some(model), &all, &["python3", "-c", script]);
    fs::create_dir_all(stage.path("home")).unwrap();
    command.env("HOME", stage.path("home"));
    command
}

fn run(stage: &Stage, model: &Model, options: &[&str], script: &str) -> Ran {
    ran(enclosed(stage, model, options, script).output().unwrap())
}

/// What the agent wrote down.
pub(crate) fn tried(stage: &Stage) -> Value {
    Reader::strict().read(&fs::read(stage.path("workspace/tried.json")).unwrap()).unwrap()
}

/// Whether this machine gives an enclosure at all; says so aloud when not.
pub(crate) fn can(test: &str) -> bool {
    if !has(test, "python3") {
        return false;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    let probe = run(&stage, &model, &[], &agent(""));
    let trouble = probe.text("trouble");
    // Any other trouble is ours.
    let of_machine = ["sandbox_userns_", "sandbox_outer_seccomp", "sandbox_no_landlock"];
    if of_machine.iter().any(|cause| trouble.contains(cause)) {
        vectors::skip(test, &trouble);
        return false;
    }
    probe.is(0, "visible_pass");
    true
}

fn verify_tier(stage: &Stage, tier: &str) -> (Option<i32>, Vec<String>) {
    let run = stage.path("run");
    let output = touchstone().args(["verify", "--json", "--require-tier", tier]).arg(run).output().unwrap();
    (output.status.code(), reasons(&Reader::strict().read(&output.stdout).unwrap()))
}

/// What an agent tries that wants out; each line of the dictionary is a way.
const WAYS: &str = r#"
def tcp(port, host='127.0.0.1'):
    s = socket.create_connection((host, port), 2); s.sendall(b'x')
def udp(port, host='127.0.0.1'):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2); s.connect((host, port)); s.send(b'x'); s.recv(1)
def unix(path, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind); s.connect(path); s.send(b'x')
def pair(path):
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b'x', path)
def netlink(kind):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, kind)
def interfaces():
    names = [line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line]
    if names == ['lo'] and [name for _, name in socket.if_nameindex()] == ['lo']: raise OSError('lo alone')
def descriptors():
    import stat
    found = [n for n in range(3, 4096) if os.path.exists('/proc/self/fd/%d' % n)]
    if not found: raise OSError('none')
def write(path):
    open(path, 'w').write('x')
def read(path):
    open(path, 'rb').read(1)
def memory():
    import glob
    for path in glob.glob('/proc/[0-9]*/mem'):
        if path.split('/')[2] != str(os.getpid()): open(path, 'rb').close(); return
    raise OSError('nobody else')
def secrets():
    import glob
    seen = b''
    for path in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline'):
        try: seen += open(path, 'rb').read()
        except OSError: pass
    if KEY not in seen: raise OSError('no key')
def processes():
    me = {os.getpid()}
    others = [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in me]
    if not others: raise OSError('nobody else')
def signal(pid):
    os.kill(pid, 0)
def libc(name, *args):
    import ctypes
    lib = ctypes.CDLL(None, use_errno=True)
    if getattr(lib, name)(*args) != 0: raise OSError(ctypes.get_errno(), name)
def names():
    socket.getaddrinfo('example.com', 80)
def tried(ways):
    out = {}
    for name, way in ways.items():
        try: way(); out[name] = 'reached'
        except Exception as error: out[name] = 'refused: ' + type(error).__name__ + ' ' + ascii(str(error))
    json.dump(out, open('tried.json', 'w'))
"#;

#[test]
fn an_enclosed_agent_reaches_its_model_and_nothing_else() {
    if !can("an_enclosed_agent_reaches_its_model_and_nothing_else") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    // Services of the host: by TCP, by datagram, by name, by path, also in the workspace itself.
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = format!("touchstone-test-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let inside = UnixListener::bind(stage.path("workspace/service.sock")).unwrap();
    let beside = UnixListener::bind(stage.path("service.sock")).unwrap();
    stage.write("home/.ssh/id_ed25519", "secret");
    let [root, home] =
        [stage.root.path().to_path_buf(), stage.path("home")].map(|path| path.display().to_string());
    let script = agent(&format!(
        "KEY = b'{key}'[::-1]\n{WAYS}\n\
         tried({{\n\
         'tcp': lambda: tcp({tcp}), 'model directly': lambda: tcp({model}), 'elsewhere': lambda: tcp(80, '192.0.2.1'),\n\
         'udp': lambda: udp({udp}), 'udp elsewhere': lambda: udp(53, '192.0.2.1'), 'dns': lambda: udp(53), 'names': names,\n\
         'abstract': lambda: unix('\\0{name}'), 'abstract pair': lambda: pair('\\0{name}'),\n\
         'workspace socket': lambda: unix('service.sock'), 'workspace pair': lambda: pair('service.sock'),\n\
         'beside': lambda: unix('{root}/service.sock'),\n\
         'uevent': lambda: netlink(15), 'audit': lambda: netlink(9), 'generic': lambda: netlink(16), 'interfaces': interfaces,\n\
         'vsock': lambda: socket.socket(40, socket.SOCK_STREAM), 'packet': lambda: socket.socket(17, socket.SOCK_RAW, 3),\n\
         'descriptors': descriptors,\n\
         'etc': lambda: write('/etc/touchstone-test'), 'usr': lambda: write('/usr/touchstone-test'), 'root': lambda: write('/x'),\n\
         'suite': lambda: write('{root}/suite/test_0.py'), 'receipts': lambda: write('{root}/run/receipts_RUN-ON.ndjson'),\n\
         'run': lambda: os.listdir('{root}/run'),\n\
         'run file': lambda: read('{root}/run/receipts_RUN-ON.ndjson'), 'suite file': lambda: read('{root}/suite/test_0.py'),\n\
         'ssh': lambda: read('{home}/.ssh/id_ed25519'), 'shadow': lambda: read('/etc/shadow'),\n\
         'memory': memory, 'secrets': secrets, 'processes': processes, 'desk': lambda: signal({desk}), 'keeper': lambda: read('/proc/1/environ'),\n\
         'unshare': lambda: libc('unshare', 0x10000000), 'setns': lambda: libc('setns', 0, 0), 'ptrace': lambda: libc('ptrace', 16, 1, 0, 0),\n\
         'mount': lambda: libc('mount', b'none', b'/tmp', b'tmpfs', 0, None), 'chroot': lambda: libc('chroot', b'/tmp'),\n\
         }})\n\
         open(os.environ['HOME'] + '/mine', 'w').write('x'); open('/tmp/touchstone-test-mine', 'w').write('x')\n\
         open('{root}/file', 'w').write('x')\n",
        tcp = tcp.local_addr().unwrap().port(),
        model = model.base.rsplit(':').next().unwrap().trim_end_matches("/v1"),
        udp = udp.local_addr().unwrap().port(),
        desk = std::process::id(),
        // Not as it is: the script itself is among the command lines.
        key = KEY.chars().rev().collect::<String>(),
    ));
    // A descriptor that the desk itself was given.
    let leak = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let done = run(&stage, &model, &[], &script);
    done.is(0, "visible_pass");
    let tried = tried(&stage);
    let Value::Object(tried) = tried else { panic!("{tried:?}") };
    let mut n = 0;
    for (way, what) in tried.iter() {
        n += 1;
        assert!(what.as_str().unwrap().starts_with("refused"), "{way}: {what:?}");
    }
    assert_eq!(n, 39, "ways that were tried");
    // What was seen out here agrees.
    for listener in [&tcp, &leak] {
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err());
    }
    udp.set_nonblocking(true).unwrap();
    assert!(udp.recv(&mut [0]).is_err());
    for listener in [hidden, inside, beside] {
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err());
    }
    nothing_was_written_on_the_host(&stage);
    // One call of the model, and the receipt says B.
    assert_eq!(model.heads().len(), 1);
    signed_as_b(&stage, &done);
}

fn nothing_was_written_on_the_host(stage: &Stage) {
    let own = ["home/mine", "home/.touchstone", "file"].map(|name| stage.path(name));
    let of_host = ["/tmp/touchstone-test-mine", "/etc/touchstone-test", "/x", "/usr/touchstone-test"];
    for path in own.iter().map(|path| path.as_path()).chain(of_host.iter().map(Path::new)) {
        assert!(!path.exists(), "{} was written on the host", path.display());
    }
}

fn signed_as_b(stage: &Stage, done: &Ran) {
    assert_eq!((done.text("tier"), stage.verify().0), ("B".to_owned(), "OK".to_owned()));
    assert_eq!(verify_tier(stage, "B"), (Some(0), vec![]));
    assert_eq!(verify_tier(stage, "A"), (Some(1), vec!["tier_below_required".to_owned()]));
    let verdict = stage.payload("ws_verdict");
    let enclosure = verdict.get("enclosure").unwrap();
    let at_end = enclosure.get("end").unwrap().get("answers").unwrap();
    let of_agents =
        ["descriptors", "dns", "keeper_memory", "netlink", "other_families", "tcp_outside", "udp"];
    for name in of_agents {
        assert_eq!(vectors::text(at_end, name), "blocked", "{name}");
    }
    assert_eq!(enclosure.get("start").unwrap().get("answers"), enclosure.get("end").unwrap().get("answers"));
    assert_eq!(stage.payload("ws_attempt").get("enclosure"), Some(enclosure));
    assert_eq!(ledger_says(enclosure), None);
}

fn ledger_says(enclosure: &Value) -> Option<String> {
    desk::run::lacks(enclosure)
}

/// Who edits a signed tier, or what it follows from, breaks the signature; who signs anew is found out all the same.
#[test]
fn what_is_signed_of_an_enclosure_is_what_the_tier_follows_from() {
    if !can("what_is_signed_of_an_enclosure_is_what_the_tier_follows_from") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    run(&stage, &model, &[], &agent("")).is(0, "visible_pass");
    let verdict = stage.payload("ws_verdict");
    let enclosure = verdict.get("enclosure").unwrap();
    let text = String::from_utf8(canon::canonical(enclosure)).unwrap();
    for (from, to) in [
        ("\"udp\":\"blocked\"", "\"udp\":\"reachable\""),
        ("\"door\":\"reachable\"", "\"door\":\"blocked\""),
        ("\"challenge\":\"", "\"challenge\":\"0"),
        ("\"v\":1", "\"v\":2"),
    ] {
        let edited = text.replacen(from, to, 1);
        assert_ne!(edited, text, "{from}");
        let edited = Reader::strict().read(edited.as_bytes()).unwrap();
        assert!(ledger_says(&edited).is_some(), "{from}");
    }
    let chain = stage.path("run/receipts_RUN-ON.ndjson");
    let lines = fs::read_to_string(&chain).unwrap();
    fs::write(&chain, lines.replace("\"dns\":\"blocked\"", "\"dns\":\"reachable\"")).unwrap();
    assert_eq!(stage.verify().0, "BROKEN");
}

#[test]
fn its_installation_remains_readable_and_its_home_is_empty() {
    if !can("its_installation_remains_readable_and_its_home_is_empty") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    let tool = "#!/bin/sh\necho tool of $0\n";
    for place in ["home/.local/bin/one", "node_modules/.bin/two", "opt/v1/bin/three", "shared/four"] {
        stage.write(place, tool);
        fs::set_permissions(stage.path(place), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (name, text) in
        [("opt/v1/lib/data", "data"), ("home/.aws/credentials", "secret"), ("notes/plan", "plan")]
    {
        stage.write(name, text);
    }
    std::os::unix::fs::symlink("v1", stage.path("opt/current")).unwrap();
    let root = stage.root.path().display();
    let script = agent(&format!(
        "import subprocess\n\
         out = [subprocess.check_output([name], text=True).split()[0] for name in ['one', 'two', 'three']]\n\
         out.append(open('{root}/opt/v1/lib/data').read())\n\
         out.append(subprocess.check_output(['{root}/shared/four'], text=True).split()[0])\n\
         out.append(','.join(sorted(os.listdir(os.environ['HOME']))))\n\
         out.append(str(os.path.exists('{root}/notes')))\n\
         a, b = os.openpty(); out.append('pty')\n\
         json.dump(out, open('tried.json', 'w'))\n"
    ));
    let readable = stage.path("shared");
    let mut command = enclosed(&stage, &model, &["--readable", readable.to_str().unwrap()], &script);
    let path = std::env::var_os("PATH").unwrap();
    let own = ["home/.local/bin", "node_modules/.bin", "opt/current/bin"].map(|name| stage.path(name));
    let all = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).unwrap();
    let done = ran(command.env("PATH", all).output().unwrap());
    done.is(0, "visible_pass");
    let want = ["tool", "tool", "tool", "data", "tool", ".local", "False", "pty"].map(Value::from);
    assert_eq!(tried(&stage), Value::Array(want.into()));
}

#[test]
fn what_it_leaves_running_is_ended_and_its_relay_is_no_stray() {
    if !can("what_it_leaves_running_is_ended_and_its_relay_is_no_stray") {
        return;
    }
    let model = Model::start(200);
    for (more, strays) in [
        ("", false),
        ("if os.fork() == 0:\n    os.setsid()\n    os.fork() and os._exit(0)\n    time.sleep(987654)", true),
    ] {
        let stage = Stage::python(&[MUL]);
        let done = run(&stage, &model, &[], &agent(more));
        done.is(0, "visible_pass");
        assert_eq!(done.summary.get("orphans_killed"), Some(&Value::from(strays)));
        assert_eq!(done.text("tier"), "B");
        assert_eq!(left(&stage), Vec::<String>::new());
    }
}

/// Who works in the workspace: agents, and what they left behind.
fn left(stage: &Stage) -> Vec<String> {
    let workspace = stage.path("workspace").canonicalize().unwrap();
    let works_there =
        |pid: u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&workspace));
    processes().filter(|(pid, _)| works_there(*pid)).map(|(_, words)| words).collect()
}

/// Numbers and command lines of all processes.
fn processes() -> impl Iterator<Item = (u32, String)> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let words = fs::read(entry.path().join("cmdline")).ok()?;
        Some((pid, String::from_utf8_lossy(&words).replace('\0', " ")))
    })
}

/// The process that passes the agent's calls on is ended from outside while the agent runs.
#[test]
fn an_enclosure_that_did_not_last_is_refused_or_named() {
    if !can("an_enclosure_that_did_not_last_is_refused_or_named") {
        return;
    }
    let model = Model::start(200);
    for (options, code, stop) in
        [(&[][..], 20, "delivery_unfit"), (&["--require-tier", "C"][..], 0, "visible_pass")]
    {
        let stage = Stage::python(&[MUL]);
        let wait = "open('ready', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)";
        let mut command = enclosed(&stage, &model, options, &agent(wait));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        while !stage.path("workspace/ready").exists() {
            assert!(Instant::now() < end, "the agent does not begin");
            std::thread::sleep(Duration::from_millis(10));
        }
        let relay = relay_of(child.id()).expect("a relay");
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(relay).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
        stage.write("workspace/go", "");
        let done = ran(child.wait_with_output().unwrap());
        done.is(code, stop);
        assert_eq!(done.text("tier"), "C");
        let why = done.text("enclosure_why");
        assert!(why.contains("end: the door to the proxy"), "{why}");
        let refused = done.text("trouble").split(':').next() == Some("enclosure_changed");
        assert_eq!(refused, code == 20, "{}", done.text("trouble"));
        assert_eq!(stage.verify().0, "OK");
        assert_eq!(verify_tier(&stage, "B"), (Some(1), vec!["tier_below_required".to_owned()]));
    }
}

/// Child of the keeper, and in no list of processes of its own.
fn relay_of(desk: u32) -> Option<i32> {
    let field = |pid: u32, name: &str| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        line.map(str::to_owned).unwrap_or_default()
    };
    let children = |parent: u32| {
        let all: Vec<u32> = processes().map(|(pid, _)| pid).collect();
        all.into_iter().filter(move |pid| field(*pid, "PPid:") == parent.to_string()).collect::<Vec<_>>()
    };
    let keepers = children(desk).into_iter();
    let relay = keepers.flat_map(children).find(|pid| {
        field(*pid, "NSpid:").split_whitespace().count() == field(desk, "NSpid:").split_whitespace().count()
    });
    relay.and_then(|pid| i32::try_from(pid).ok())
}

#[test]
fn a_tier_that_nobody_can_measure_is_void_before_the_agent_starts() {
    if !can("a_tier_that_nobody_can_measure_is_void_before_the_agent_starts") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    let done = run(&stage, &model, &["--require-tier", "A"], &agent(""));
    done.is(22, "tier_not_reached");
    assert!(done.text("trouble").contains("--require-tier B"), "{}", done.text("trouble"));
    assert_eq!(done.summary.get("accepted"), Some(&Value::Null));
    assert!(!stage.path("workspace/solution.py").exists() && model.heads().is_empty());
    assert_eq!(stage.entry_types(), ["run_start", "run_void"]);
    assert_eq!(stage.verify().0, "VOID");
    // B' asks for less than what was measured.
    let stage = Stage::python(&[MUL]);
    run(&stage, &model, &["--require-tier", "B'"], &agent("")).is(0, "visible_pass");
}

/// A machine without user namespaces, as the kernel of one shows itself.
#[test]
fn where_it_cannot_be_had_the_run_is_void_or_goes_on_aloud() {
    let test = "where_it_cannot_be_had_the_run_is_void_or_goes_on_aloud";
    if !has(test, "python3") || !has(test, "unshare") {
        return;
    }
    const WORLD: &str = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let model = Model::start(200);
    let on_it = |stage: &Stage, options: &[&str]| {
        let inner = enclosed(stage, &model, options, &agent(""));
        let mut outer = Command::new("unshare");
        outer.args(["-Ur", "sh", "-c", WORLD, "sh"]).arg(inner.get_program()).args(inner.get_args());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => outer.env(name, value),
                None => outer.env_remove(name),
            };
        }
        ran(outer.output().unwrap())
    };
    let stage = Stage::python(&[MUL]);
    let refused = on_it(&stage, &[]);
    if refused.code == Some(1) && refused.summary == Value::Null {
        return vectors::skip(test, &refused.stderr);
    }
    refused.is(22, "enclosure_unavailable");
    let trouble = refused.text("trouble");
    for part in ["sandbox_userns_zero", "sysctl user.max_user_namespaces", "--require-tier C"] {
        assert!(trouble.contains(part), "{trouble}");
    }
    assert!(!stage.path("workspace/solution.py").exists());
    assert_eq!(stage.verify().0, "VOID");
    // As the user asked: it goes on, and says so.
    let stage = Stage::python(&[MUL]);
    let aloud = on_it(&stage, &["--require-tier", "C"]);
    aloud.is(0, "visible_pass");
    assert_eq!(aloud.text("tier"), "C");
    assert!(aloud.text("enclosure_why").contains("sandbox_userns_zero"), "{}", aloud.text("enclosure_why"));
    let verdict = stage.payload("ws_verdict");
    assert_eq!(verdict.get("enclosure_applied"), Some(&Value::from(false)));
    assert_eq!((stage.verify().0.as_str(), verify_tier(&stage, "B'").0), ("OK", Some(1)));
}

#[test]
fn without_it_no_tier_is_written_and_words_that_need_it_are_refused() {
    let stage = Stage::python(&[MUL]);
    for (options, words) in [
        (&["--require-tier", "B"][..], "add --enclose"),
        (&["--readable", "/opt"][..], "add --enclose"),
        (&["--enclose", "--calls", "ignore"][..], "the way out of an enclosure is the proxy"),
        (&["--enclose", "--require-tier", "D"][..], "D"),
    ] {
        let refused = stage.run(options, "true");
        assert_eq!(refused.code, Some(64), "{}", refused.stderr);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    stage.run(&[], super::stage::GOOD).is(0, "visible_pass");
    let verdict = stage.payload("ws_verdict");
    assert_eq!((verdict.get("tier"), verdict.get("enclosure")), (Some(&Value::Null), None));
}

/// Each attempt has an enclosure of its own, and the verdict the least tier of all.
#[test]
fn every_attempt_is_enclosed_anew() {
    if !can("every_attempt_is_enclosed_anew") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    let more = "mark = os.environ['HOME'] + '/mark'\n\
                assert not os.path.exists(mark) and not os.path.exists('/tmp/mark')\n\
                open(mark, 'w').close(); open('/tmp/mark', 'w').close()\n\
                if not os.path.exists('VACANT_FEEDBACK.md'): open('solution.py', 'w').close(); sys.exit(0)";
    let done = run(&stage, &model, &["--retry", "revise"], &agent(more));
    done.is(0, "visible_pass");
    assert_eq!(
        (done.summary.get("attempts_used"), done.text("tier")),
        (Some(&Value::from(2_i64)), "B".to_owned())
    );
    let chain = super::stage::entries(&fs::read(stage.path("run/receipts_RUN-ON.ndjson")).unwrap());
    let challenges: Vec<String> = chain
        .iter()
        .filter_map(|entry| {
            entry.get("payload")?.get("enclosure")?.get("challenge")?.as_str().map(str::to_owned)
        })
        .collect();
    // Two attempts and the verdict, which repeats the last one.
    assert_eq!((challenges.len(), &challenges[1]), (3, &challenges[2]));
    assert_ne!(challenges[0], challenges[1]);
    assert_eq!(verify_tier(&stage, "B"), (Some(0), vec![]));
}

/// Told to stop, the desk does not wait for a measurement, and nothing is left.
#[test]
fn an_interrupt_ends_an_enclosure_at_once() {
    if !can("an_interrupt_ends_an_enclosure_at_once") {
        return;
    }
    let (stage, model) = (Stage::python(&[MUL]), Model::start(200));
    let mut command = enclosed(&stage, &model, &[], &agent("open('ready', 'w').close()\ntime.sleep(1000)"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !stage.path("workspace/ready").exists() {
        assert!(Instant::now() < end, "the agent does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!left(&stage).is_empty());
    let desk = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(desk, rustix::process::Signal::TERM).unwrap();
    let done = ran(child.wait_with_output().unwrap());
    done.is(22, "interrupted");
    assert_eq!(stage.verify().0, "VOID");
    assert_eq!(left(&stage), Vec::<String>::new());
}

/// What passes through the relay: an end of one direction, many connections at once, a body larger than a buffer.
#[test]
fn the_way_out_passes_on_what_it_gets() {
    if !can("the_way_out_passes_on_what_it_gets") {
        return;
    }
    // Answers when the request has ended, with as many bytes as it had.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let (mut got, mut buffer) = (Vec::new(), [0; 65536]);
                let length = loop {
                    let n = stream.read(&mut buffer).unwrap_or(0);
                    got.extend_from_slice(&buffer[..n]);
                    let text = String::from_utf8_lossy(&got[..got.len().min(4096)]).to_lowercase();
                    if let Some(head) = text.find("\r\n\r\n") {
                        let length =
                            text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                        let length: usize = length.unwrap_or(0);
                        if got.len() >= head + 4 + length {
                            break length;
                        }
                    }
                    if n == 0 {
                        return;
                    }
                };
                let head = format!(
                    "HTTP/1.1 200 x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
                );
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.write_all(&vec![b' '; length]);
            });
        }
    });
    let stage = Stage::python(&[MUL]);
    let model = Model::start(200);
    let script = format!(
        "import os, socket, threading, urllib.parse\n\
         at = urllib.parse.urlparse(os.environ['OPENAI_BASE_URL'])\n\
         got = []\n\
         def one(length):\n\
         \x20   s = socket.create_connection((at.hostname, at.port))\n\
         \x20   s.sendall(b'POST /v1/chat/completions HTTP/1.1\\r\\nhost: x\\r\\ncontent-type: application/json\\r\\nconnection: close\\r\\ncontent-length: %d\\r\\n\\r\\n' % length)\n\
         \x20   s.sendall(b' ' * length); s.shutdown(socket.SHUT_WR)\n\
         \x20   data = b''\n\
         \x20   while True:\n\
         \x20       piece = s.recv(65536)\n\
         \x20       if not piece: break\n\
         \x20       data += piece\n\
         \x20   head, body = data.split(b'\\r\\n\\r\\n', 1)\n\
         \x20   got.append(head.startswith(b'HTTP/1.1 200') and len(body) == length)\n\
         all = [threading.Thread(target=one, args=(length,)) for length in [2, 3000000] + [1000 * n for n in range(1, 63)]]\n\
         [t.start() for t in all]; [t.join() for t in all]\n\
         assert got == [True] * 64, got\n\
         open('solution.py', 'w').write('''{RIGHT}''')\n"
    );
    let mut command = enclosed(&stage, &model, &[], &script);
    let done = ran(command.env("OPENAI_BASE_URL", base).output().unwrap());
    done.is(0, "visible_pass");
    assert_eq!(done.summary.get("requests_seen").and_then(Value::as_i64), Some(64));
    assert_eq!(done.text("tier"), "B");
}
