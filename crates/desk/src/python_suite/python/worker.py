# The candidate's process: runner.py, start.py and wire.py stand before this text.
#
# It imports the delivery and answers the checker's requests. The candidate may take this whole process over;
# all it gains is to choose its own answers, which it does anyway.
import importlib
import io
import threading

EXCLUDED_OPERATIONS = {"__eq__", "__ne__", "__hash__", "__bool__", "__class__", "__init__", "__new__", "__del__",
                       "__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__repr__", "__str__",
                       "__format__", "__dir__", "__sizeof__", "__reduce__", "__reduce_ex__", "__init_subclass__",
                       "__subclasshook__", "__doc__", "__module__", "__dict__", "__weakref__", "__slots__"}
OUTPUT_MAX = 1 << 20  # bytes of printed text kept for one reply


class Kept(list):
    """Printed pieces and how many bytes they are together."""

    size = 0


class Printed(io.RawIOBase):
    """Where the candidate's prints go until the next message carries them to the checker."""

    def __init__(self, stream, kept):
        self.stream, self.kept = stream, kept  # `kept` is shared by both streams: [(stream, bytes)]

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        room = OUTPUT_MAX - self.kept.size
        if room > 0:
            self.kept.append((self.stream, data[:room]))
            self.kept.size += len(data[:room])
        return len(data)


class Remote:
    """A callable of the check, called back in the checker."""

    def __init__(self, worker, key):
        self._worker, self._key = worker, key

    def __call__(self, *args, **kwargs):
        return self._worker.call_back(self._key, args, kwargs)


class RemoteIterator(Remote):
    """An iterator of the check."""

    def __iter__(self):
        return self

    def __next__(self):
        return self()


class Worker:
    def __init__(self, channel, workspace):
        self.channel, self.workspace = channel, workspace
        self.objects, self.handles, self.next_handle = {}, {}, 1
        self.remotes, self.depth, self.sequence = {}, 0, 0
        self.lock = threading.RLock()
        self.loop, self.printed = None, Kept()
        self.operations = {}
        self.builtin_exceptions = {cls for cls in NAMED_TYPES.values() if issubclass(cls, BaseException)}

    # -- objects that stay here ------------------------------------------------------------------------------

    def handle(self, value):
        key = self.handles.get(id(value))
        if key is None:
            key, self.next_handle = self.next_handle, self.next_handle + 1
            self.handles[id(value)] = key
            self.objects[key] = [value, 0]
        self.objects[key][1] += 1  # how often the checker was told: it gives back as many
        return key

    def release(self, pairs):
        for key, count in pairs:
            entry = self.objects[key]
            entry[1] -= count
            if entry[1] <= 0:
                del self.objects[key], self.handles[id(entry[0])]

    def special_names(self, cls):
        """The special methods that `cls` itself defines and the checker may relay."""
        names = self.operations.get(cls)
        if names is None:
            names = [name for name in dir(cls) if name.startswith("__") and name.endswith("__")
                     and name not in EXCLUDED_OPERATIONS
                     and callable(getattr(cls, name, None))
                     and getattr(cls, name) is not getattr(object, name, None)]
            self.operations[cls] = names
        return names

    def encode(self, value):
        return encode(value, self.encode_other)

    def encode_other(self, value):
        if type(value) in (Remote, RemoteIterator):
            return ["cb", value._key]
        if isinstance(value, types.ModuleType) and self.of_workspace(value):
            return ["m", value.__name__]
        if isinstance(value, type) and issubclass(value, BaseException):
            return self.encode_class(value)
        if isinstance(value, types.CoroutineType):
            return ["co", self.handle(value)]
        return ["h", self.handle(value), self.special_names(type(value))]

    def of_workspace(self, module):
        places = [getattr(module, "__file__", None) or ""] + list(getattr(module, "__path__", []))
        return any(place.startswith(self.workspace + os.sep) for place in places)

    def encode_class(self, cls):
        if cls in self.builtin_exceptions:
            return ["ty", TYPE_NAMES[cls]]
        bases = [self.encode_class(base) for base in cls.__bases__ if issubclass(base, BaseException)]
        return ["x", self.handle(cls), str(cls.__module__), cls.__qualname__, bases]

    def decode(self, node):
        return decode(node, self.decode_other)

    def decode_other(self, tag, rest):
        if tag in ("h", "x", "co"):
            return self.objects[rest[0]][0]
        if tag == "m":
            return sys.modules[rest[0]]
        if tag in ("cb", "it"):
            remote = self.remotes.get(rest[0])
            if remote is None:
                remote = (Remote if tag == "cb" else RemoteIterator)(self, rest[0])
                self.remotes[rest[0]] = remote
            return remote
        raise Malformed(tag)

    # -- exceptions ------------------------------------------------------------------------------------------

    def encode_exception(self, error, depth=0):
        cause = error.__cause__
        args = [self.encode_or_text(item) for item in error.args]
        members = {key: value for key, value in vars(error).items() if type(key) is str}
        if isinstance(error, (ImportError, NameError, AttributeError)):
            members.update({key: getattr(error, key) for key in ("name", "path") if hasattr(error, key)})
        literals = {}
        for key, value in members.items():
            try:
                literals[key] = encode(value, self.no_literal)
            except (TooLarge, TypeError):
                pass
        try:
            text = encode_text(str(error)[:FRAME_MAX // 64])
        except BaseException:
            text = ""
        return {"c": self.encode_class(type(error)), "a": args, "d": literals, "t": text, "h": self.handle(error),
                "f": None if cause is None or depth > 4 else self.encode_exception(cause, depth + 1)}

    def no_literal(self, value):
        raise TypeError

    def encode_or_text(self, value):
        try:
            return encode(value, self.no_literal)
        except (TooLarge, TypeError):
            try:
                return encode_text(str(value)[:2000])
            except BaseException:
                return None

    def decode_exception(self, node):
        if node.get("h") is not None:
            return self.objects[node["h"]][0]
        cls = NAMED_TYPES.get(node["c"])
        if cls is None or not issubclass(cls, BaseException):
            return RuntimeError("%s: %s" % (node["c"], node["t"]))
        try:
            return cls(*self.decode(node["a"]))
        except Exception:
            return RuntimeError("%s: %s" % (node["c"], node["t"]))

    # -- conversation ----------------------------------------------------------------------------------------

    def outputs(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        parts, self.printed[:], self.printed.size = list(self.printed), [], 0
        return [[stream, data.decode("utf-8", "replace")] for stream, data in parts]

    def send(self, message):
        message["o"] = self.outputs()
        self.channel.send(message)

    def receive(self):
        try:
            return self.channel.receive()
        except (EOFError, OSError):
            os._exit(0)  # the checker is done

    def call_back(self, key, args, kwargs):
        with self.lock:
            if self.depth == 0:
                raise RuntimeError("a callback of the check was called after the call had returned")
            self.sequence += 1
            number = self.sequence
            arguments = mutable_arguments(args, kwargs)
            self.send({"cb": key, "n": number, "a": self.encode(tuple(args)), "k": self.encode(kwargs),
                       "w": [place for place, _ in arguments]})
            reply = self.serve(number)
            for place, node in reply["m"]:
                update_argument((kwargs if type(place) is str else args)[place], self.decode(node))
            if reply.get("e") is not None:
                raise self.decode_exception(reply["e"])
            return self.decode(reply["v"])

    def serve(self, awaited):
        """Answers requests until the reply to callback number `awaited` comes (for ever with None)."""
        while True:
            message = self.receive()
            if "cbr" in message:
                if message["cbr"] != awaited:
                    os._exit(3)
                return message
            self.answer(message)

    def answer(self, message):
        self.release(message["rel"])
        reply = {"n": message["n"], "m": []}
        args, kwargs, arguments, before = (), {}, [], []
        self.depth += 1
        try:
            args, kwargs = self.decode(message["a"]), self.decode(message["k"])
            arguments = mutable_arguments(args, kwargs) if message["op"] in ("call", "special") else []
            before = [self.encode(value) for _, value in arguments]
            value = getattr(self, "do_" + message["op"])(message, args, kwargs)
            same = [place for place, argument in arguments if argument is value and type(value) in MUTABLE]
            reply["v"] = ["arg", same[0]] if same else self.encode(value)
        except TooLarge as error:
            reply["e"] = self.encode_exception(RuntimeError("the value cannot be handed over: %s" % error))
        except BaseException as error:
            reply["e"] = self.encode_exception(error)
            error.__traceback__ = None
        try:
            after = [(place, self.encode(value)) for place, value in arguments]
            reply["m"] = [[place, node] for (place, node), old in zip(after, before) if node != old]
            self.finish(reply)
        except TooLarge as error:
            error = RuntimeError("the value cannot be handed over: %s" % error)
            self.finish({"n": message["n"], "m": [], "e": self.encode_exception(error)})

    def finish(self, reply):
        with self.lock:
            self.depth -= 1
            try:
                self.send(reply)
            except BaseException:
                self.depth += 1
                raise

    # -- requests --------------------------------------------------------------------------------------------

    def do_import(self, message, args, kwargs):
        name = args[0]
        if message.get("fresh"):
            sys.modules.pop(name, None)
        for place in reversed(message.get("places", [])):  # where the suite looks, this process looks too
            if place not in sys.path:
                sys.path.insert(0, place)
        importlib.import_module(name)

    def do_reload(self, message, args, kwargs):
        importlib.reload(args[0])

    def do_get(self, message, args, kwargs):
        return getattr(*args)

    def do_set(self, message, args, kwargs):
        setattr(*args)

    def do_del(self, message, args, kwargs):
        delattr(*args)

    def do_call(self, message, args, kwargs):
        return args[0](*args[1:], **kwargs)

    def do_special(self, message, args, kwargs):
        target, name = args[0], message["name"]
        return getattr(type(target), name)(target, *args[1:], **kwargs)

    def do_text(self, message, args, kwargs):
        return {"str": str, "repr": repr, "format": format}[message["name"]](*args)

    def do_instance(self, message, args, kwargs):
        return isinstance(*args)

    def do_subclass(self, message, args, kwargs):
        return issubclass(*args)

    def do_dir(self, message, args, kwargs):
        return [str(name) for name in dir(args[0])]

    def do_public(self, message, args, kwargs):
        module = args[0]
        names = getattr(module, "__all__", None)
        return list(names) if names is not None else [name for name in vars(module) if not name.startswith("_")]

    def do_copy(self, message, args, kwargs):
        import copy

        return (copy.deepcopy if message["name"] == "deepcopy" else copy.copy)(args[0])

    def do_exit(self, message, args, kwargs):
        target, node = args[0], message["error"]
        error = None if node is None else self.decode_exception(node)
        parts = (None, None, None) if error is None else (type(error), error, error.__traceback__)
        result = getattr(type(target), message["name"])(target, *parts)
        return bool(result) if message["name"] == "__exit__" else result

    def do_await(self, message, args, kwargs):
        import asyncio

        async def awaiting():
            return await args[0]

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(awaiting())

    def do_close(self, message, args, kwargs):
        args[0].close()

    def do_ping(self, message, args, kwargs):
        return None


def main():
    setup = json.loads(os.fsdecode(os.read(3, 1 << 20)))
    os.close(3)
    os.set_inheritable(5, False)
    give_up_privileges(False)
    settle_start()
    sys.modules["__main__"] = types.ModuleType("__main__")
    import_from_sources(setup["workspace"])
    sys.path[:] = [setup["workspace"]] + sys.path + setup["packages"]
    sys.argv[:] = [""]
    worker = Worker(Channel(5), setup["workspace"])
    sys.stdout, sys.stderr = [
        io.TextIOWrapper(io.BufferedWriter(Printed(stream, worker.printed)), "utf-8", "backslashreplace")
        for stream in (1, 2)]
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
    threading.current_thread().name = "MainThread"
    worker.serve(None)


main()
