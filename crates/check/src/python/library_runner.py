# Holds the test text and runs it; the candidate is in another process. start.py and wire.py stand before this text.
#
# Never executes a line of the candidate. Exit code 0: the test ran through. 20: it did not. 22: the candidate's
# process did not start, which says nothing about the candidate.
import select
import time

PASSED, FAILED, NO_WORKER = 0, 20, 22
SETUP, STARTED, CONVERSATION = 3, 4, 5
LITERALS = (bool, int, float, complex, str, bytes)
CONTAINERS = (list, tuple, set, frozenset)


def literal(value):
    """The value, when it is one that crosses; a TypeError otherwise. Exact types only."""
    kind = type(value)
    if value is None or kind in LITERALS:
        return value
    if kind in CONTAINERS:
        for item in value:
            literal(item)
        return value
    if kind is dict:
        for key, item in value.items():
            literal(key)
            literal(item)
        return value
    raise TypeError("only plain literals can be handed over, not %s" % kind.__name__)


def refuse(*_):
    raise Malformed("not a plain literal")


class Candidate:
    """The other process, as the test sees it."""

    def __init__(self, call_seconds):
        self.channel, self.call_seconds, self.gone = Channel(CONVERSATION), call_seconds, None

    def reply(self, seconds):
        """The next message, or the end of the conversation, which nothing opens again."""
        if self.gone:
            raise RuntimeError(self.gone)
        until = time.monotonic() + seconds
        old = self.channel.exactly

        def within(count):
            parts = []
            while count:
                left = max(0.0, until - time.monotonic())
                if not select.select([CONVERSATION], [], [], left)[0]:
                    raise TimeoutError
                part = read_fd(CONVERSATION, min(count, 1 << 20))
                if not part:
                    raise EOFError
                parts.append(part)
                count -= len(part)
            return b"".join(parts)

        self.channel.exactly = within
        try:
            return self.channel.receive()
        except TimeoutError:
            self.gone = "the candidate did not answer in time"
        except EOFError:
            self.gone = "the candidate's process has ended"
        except Malformed as error:
            self.gone = "the candidate's process broke the protocol: %s" % error
        finally:
            self.channel.exactly = old
        raise RuntimeError(self.gone)

    def send(self, message):
        try:
            self.channel.send(message)
        except OSError:
            self.gone = self.gone or "the candidate's process has ended"
            raise RuntimeError(self.gone) from None

    def call(self, name, args, kwargs):
        if self.gone:
            raise RuntimeError(self.gone)
        places = mutable_arguments(args, kwargs)
        secret = os.urandom(16).hex()
        self.send({"call": name, "secret": secret, "a": encode(literal(args), refuse),
                   "k": encode(literal(kwargs), refuse), "w": [place for place, _ in places]})
        reply = self.reply(self.call_seconds)
        try:
            if reply.get("secret") != secret:
                raise Malformed("a reply without the secret of its call")
            if "e" in reply:
                raise raised(reply["e"], reply["t"])
            value = literal(decode(reply["v"], refuse))
            changed = [(old, literal(decode(node, refuse))) for (_, old), node in zip(places, reply["m"])]
        except (Malformed, LookupError, ValueError, TypeError) as error:
            if "e" in reply and not isinstance(error, Malformed):
                raise
            self.gone = "the candidate's process broke the protocol"
            raise RuntimeError(self.gone) from None
        for old, new in changed:
            update_argument(old, new)
        return value


def raised(name, text):
    """The exception of the candidate: a built-in class as itself, any other as a runtime error."""
    cls = NAMED_TYPES.get(name) if type(name) is str else None
    text = text if type(text) is str else ""
    if cls is None or not issubclass(cls, BaseException):
        return RuntimeError(text)
    if not issubclass(cls, Exception):
        return RuntimeError("%s: %s" % (name, text))  # an exit of the candidate is not an exit of the test
    try:
        return cls(text)
    except TypeError:
        return RuntimeError("%s: %s" % (name, text))


def entry(candidate, name):
    def function(*args, **kwargs):
        return candidate.call(name, args, kwargs)

    function.__name__ = function.__qualname__ = name
    return function


def ran_through(code, names):
    try:
        exec(code, names)
    except SystemExit as error:
        return error.code is None or error.code == 0
    except BaseException as error:
        say(error)
        return False
    return True


def say(error):
    """One line about a failure, for people."""
    try:
        sys.stderr.write("%s: %s\n" % (type(error).__name__, str(error).replace("\n", " ")[:500]))
        sys.stderr.flush()
    except BaseException:
        pass


def main():
    parts = []
    while not parts or parts[-1]:
        parts.append(read_fd(SETUP, 1 << 16))
    os.close(SETUP)
    setup = json.loads(b"".join(parts))
    for fd in (STARTED, CONVERSATION):
        os.set_inheritable(fd, False)
    if setup["bare"]:
        give_up_privileges(True)
    settle_start()
    sys.argv[:] = [""]
    os.write(STARTED, b"S")
    candidate = Candidate(setup["call_ms"] / 1000)
    try:
        up = candidate.reply(setup["start_ms"] / 1000)
    except RuntimeError:
        os._exit(NO_WORKER)
    if up != {"up": 1}:
        os._exit(NO_WORKER)
    os.write(STARTED, b"U")
    code = None
    try:
        if setup["test"].strip():
            code = compile(setup["test"] + "\n", "<test>", "exec", dont_inherit=True)
        candidate.send({"load": setup["candidate"], "secret": ""})
        ready = candidate.reply(setup["wall_ms"] / 1000)
    except (RuntimeError, SyntaxError, ValueError, MemoryError) as error:
        say(error)
        os._exit(FAILED)
    if code is None or ready.get("ready") != 1:
        os._exit(FAILED)
    functions = {name: entry(candidate, name) for name in setup["entry_points"]}
    names = {"__name__": "__vacant_test__", "__builtins__": builtins, "__vacant_ns": dict(functions)}
    names.update(functions)
    passed = ran_through(code, names)
    try:
        sys.stdout.flush()
    except BaseException:
        passed = False
    os._exit(PASSED if passed else FAILED)


main()
