# One candidate and the calls of the desk (docs/check-protocol.md). literal.py stands before this text.
#
# The candidate may take this whole process over: all that it gains is to choose its own answers, which it does
# anyway. It never sees an expected value, nor the arguments of a call that has not been made.
import os

try:  # the bare C functions: importing `json` takes as long as starting the interpreter
    from _json import encode_basestring_ascii as quote, scanstring
except ImportError:
    from json import dumps as quote
    from json.decoder import scanstring

REQUESTS, REPLIES = 10, 3
MESSAGE_MAX = 500


def members(line):
    """The members of a flat JSON object of strings."""
    found, place = {}, line.index("{")
    while line[place] != "}":
        name, place = scanstring(line, line.index('"', place) + 1, True)
        text, place = scanstring(line, line.index('"', place) + 1, True)
        found[name] = text
    return found


def reply(**texts):
    line = "{" + ",".join([quote(name) + ":" + quote(text) for name, text in texts.items()]) + "}\n"
    data = memoryview(line.encode("ascii"))
    while data:
        data = data[os.write(REPLIES, data):]


def next_line(kept=[b""]):
    parts = kept
    while b"\n" not in parts[-1]:
        part = os.read(REQUESTS, 1 << 16)
        if not part:
            os._exit(0)
        parts.append(part)
    line, _, rest = b"".join(parts).partition(b"\n")
    kept[:] = [rest]
    return line.decode("utf-8")


def described(error):
    try:
        message = str(error)[:MESSAGE_MAX]
        message.encode("utf-8")
    except BaseException:
        message = "(its text cannot be shown)"
    return {"error": type(error).__name__, "message": message}


def load(source, entry_point):
    module = type(sys)("candidate")
    sys.modules["candidate"] = module
    exec(compile(source, "candidate.py", "exec", dont_inherit=True), module.__dict__)
    function = module.__dict__.get(entry_point)
    if not callable(function):
        raise LookupError("no callable %s" % entry_point)
    return function


def call(function, text):
    # `text` was read and written anew by the desk's own reader of literals: it holds nothing but literals.
    value = function(*eval(text, {"__builtins__": {}, "set": set}))
    answer = emit(value)
    if len(answer) > TEXT_MAX:
        raise NotLiteral("a value of %d characters" % len(answer))
    return answer


def converse():
    """Answers the desk until it closes the pipe. Never returns."""
    function = None
    reply(ready="1")
    while True:
        request = members(next_line())
        nonce = request["nonce"]
        try:
            if "load" in request:
                function = load(request["load"], request["entry_point"])
                answer = {"loaded": request["entry_point"]}
            else:
                answer = {"value": call(function, request["call"])}
        except BaseException as error:
            answer = described(error)
            error.__traceback__ = None
        reply(nonce=nonce, **answer)


def quiet():
    """Standard streams of the candidate's own: nothing to read, nowhere to print, shared with nobody."""
    for fd in (0, 1, 2):
        os.close(fd)
        os.open(os.devnull, os.O_RDWR)
        os.set_inheritable(fd, True)
