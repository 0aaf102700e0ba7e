# Holds the candidate and nothing else. start.py and wire.py stand before this text.
CONVERSATION = 5
MESSAGE_MAX = 500
LITERALS = (bool, int, float, complex, str, bytes)


def projected(value, depth=0):
    """The plain literal that a value stands for; a TypeError where there is none. Exact types only."""
    kind = type(value)
    if value is None or kind in LITERALS:
        return value
    if depth > DEPTH_MAX:
        raise TypeError("nested deeper than %d" % DEPTH_MAX)
    if kind in (list, tuple, set, frozenset):
        return kind([projected(item, depth + 1) for item in value])
    if kind is dict or kind is getattr(sys.modules.get("collections"), "Counter", dict):
        return {projected(key, depth + 1): projected(item, depth + 1) for key, item in value.items()}
    if kind.__module__ == "re" and kind.__name__ == "Match":
        return True  # a match stands for its truth value
    raise TypeError("the candidate returned a value of type %s, which is no plain literal" % kind.__name__)


def refuse(*_):
    raise TypeError("not a plain literal")


def crossing(value):
    return encode(projected(value), refuse)


def described(error):
    cls = type(error)
    name = TYPE_NAMES.get(cls, "")
    try:
        text = str(error)[:MESSAGE_MAX]
        text.encode("utf-8")
    except BaseException:
        text = ""
    return name, text


def answer(namespace, request):
    try:
        args, kwargs = decode(request["a"], refuse), decode(request["k"], refuse)
        value = namespace[request["call"]](*args, **kwargs)
        places = [(kwargs if type(place) is str else args)[place] for place in request["w"]]
        return {"v": crossing(value), "m": [crossing(place) for place in places]}
    except TooLarge as error:
        return {"e": "ValueError", "t": "the value cannot be handed over: %s" % error}
    except BaseException as error:
        name, text = described(error)
        error.__traceback__ = None
        return {"e": name, "t": text}


def main():
    os.set_inheritable(CONVERSATION, False)
    if sys.argv[1] == "bare":
        give_up_privileges(False)
    settle_start()
    sys.argv[:] = [""]
    sys.modules["__main__"] = types.ModuleType("__main__")
    channel = Channel(CONVERSATION)
    channel.send({"up": 1})
    module = types.ModuleType("candidate")
    sys.modules["candidate"] = module
    while True:
        try:
            request = channel.receive()
        except (EOFError, OSError):
            os._exit(0)
        if "load" in request:
            exec(compile(request["load"], "candidate.py", "exec", dont_inherit=True), module.__dict__)
            channel.send({"ready": 1})
            continue
        reply = answer(module.__dict__, request)
        reply["secret"] = request["secret"]
        try:
            channel.send(reply)
        except TooLarge as error:
            channel.send({"e": "ValueError", "t": str(error), "secret": request["secret"]})


main()
