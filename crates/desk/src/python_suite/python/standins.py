# What a check sees of the candidate: modules, handles and exception classes that call the worker.
import importlib.util
import weakref
from importlib.machinery import PathFinder

# Of two operands; computed by the candidate only when both are its own objects. `abs(got - 1.5) < 0.01` must not be
# answered by whatever `got` is.
OF_TWO = frozenset("""
__lt__ __le__ __gt__ __ge__
__add__ __sub__ __mul__ __matmul__ __truediv__ __floordiv__ __mod__ __divmod__ __pow__ __lshift__ __rshift__
__and__ __xor__ __or__ __radd__ __rsub__ __rmul__ __rmatmul__ __rtruediv__ __rfloordiv__ __rmod__ __rdivmod__
__rpow__ __rlshift__ __rrshift__ __rand__ __rxor__ __ror__ __iadd__ __isub__ __imul__ __imatmul__ __itruediv__
__ifloordiv__ __imod__ __ipow__ __ilshift__ __irshift__ __iand__ __ixor__ __ior__
""".split())
# Special methods that a handle may relay. Absent on purpose: equality, hash and truth are never the candidate's.
RELAYED = OF_TWO | frozenset("""
__call__ __len__ __length_hint__ __getitem__ __setitem__ __delitem__ __contains__ __iter__ __next__ __reversed__
__enter__ __aenter__ __aiter__ __anext__ __neg__ __pos__ __abs__
__invert__ __int__ __float__ __complex__ __index__ __round__ __trunc__ __floor__ __ceil__ __fspath__ __bytes__
""".split())
EXITS = frozenset(["__exit__", "__aexit__"])
noticed = [False]  # whether handles were compared with something else, since the last hint


def hint():
    """What a reader of a failed assertion should know: an honest object was compared and equals only itself."""
    compared, noticed[0] = noticed[0], False
    return (" (an object of the candidate was compared with ==, and equals only itself here: compare its fields or "
            "str(), or let the suite say isolation = \"in-process\")" if compared else "")


LINK = None  # the one conversation of this process


class HandleType(type):
    """Marks the classes of handles, so that a handle is recognised without asking it."""


class Handle(metaclass=HandleType):
    """An object that stays in the candidate's process.

    Equal to itself only, hashed by identity, without a truth value. What else it can do is relayed.
    """

    __slots__ = ("_touchstone_key", "_touchstone_told", "__weakref__")

    def __eq__(self, other):
        noticed[0] |= self is not other
        return self is other

    def __ne__(self, other):
        noticed[0] |= self is not other
        return self is not other

    def __hash__(self):
        return id(self)

    def __bool__(self):
        raise TypeError("an object of the candidate has no truth value here; compare one of its plain values, "
                        "or let the suite say isolation = \"in-process\"")

    def __getattr__(self, name):
        return LINK.request("get", (self, name))

    def __setattr__(self, name, value):
        LINK.request("set", (self, name, value))

    def __delattr__(self, name):
        LINK.request("del", (self, name))

    def __dir__(self):
        return LINK.request("dir", (self,))

    def __instancecheck__(self, value):
        return relayed_instance_check(self, value)

    def __subclasscheck__(self, value):
        return is_remote(value) and LINK.request("subclass", (value, self)) is True

    def __str__(self):
        return relayed_text("str", self)

    def __repr__(self):
        return relayed_text("repr", self)

    def __format__(self, spec):
        return relayed_text("format", self, spec)

    def __copy__(self):
        return LINK.request("copy", (self,), name="copy")

    def __deepcopy__(self, memo):
        return LINK.request("copy", (self,), name="deepcopy")

    def __reduce_ex__(self, protocol):
        raise TypeError("an object of the candidate cannot be pickled here")

    def __del__(self):
        LINK.releases.append([self._touchstone_key, self._touchstone_told])

    __doc__ = property(lambda self: LINK.request("get", (self, "__doc__")))
    __module__ = property(lambda self: LINK.request("get", (self, "__module__")))


def is_remote(value):
    return isinstance(type(value), HandleType) or isinstance(value, StandinMeta)


def relayed_instance_check(cls, value):
    if isinstance(type(value), HandleType):
        return LINK.request("instance", (value, cls)) is True
    known = isinstance(value, BaseException) and getattr(value, "_touchstone_handle", None) is not None
    return known and LINK.request("instance", (value, cls)) is True


def relayed_text(name, *args):
    text = LINK.request("text", args, name=name)
    if type(text) is not str:
        raise TypeError("the candidate's %s() gave no text" % name)
    return text


def relay(name):
    if name in EXITS:
        def method(self, kind, error, trace):
            return LINK.request("exit", (self,), name=name, error=None if error is None else LINK.describe(error))
    elif name in OF_TWO:
        def method(self, *others):
            if not all(is_remote(other) for other in others):
                raise TypeError("an object of the candidate does not compute with plain values here; convert it first, "
                                "or let the suite say isolation = \"in-process\"")
            return LINK.request("special", (self,) + others, name=name)
    elif name == "__contains__":
        def method(self, wanted):
            # Looked for here, among what the candidate's iteration gives: its own word decides nothing.
            return any(item is wanted or item == wanted for item in iter(self))
    elif name == "__await__":
        def method(self):
            return LINK.request("await", (self,))
            yield
    else:
        def method(self, *args, **kwargs):
            return LINK.request("special", (self,) + args, kwargs, name=name)
    method.__name__ = name
    return method


HANDLE_CLASSES, HANDLES, EXCEPTION_CLASSES = {}, weakref.WeakValueDictionary(), {}


def handle_class(names):
    """A handle class that has exactly the given special methods, so that `callable`, `iter` and the abstract
    base classes of the library answer as they would for the object itself."""
    names = frozenset(name for name in names if name in RELAYED or name in EXITS or name == "__await__")
    if names not in HANDLE_CLASSES:
        members = {name: relay(name) for name in names}
        # A new class gets its own of these two, which would hide the inherited ones.
        members.update(__slots__=(), __doc__=Handle.__dict__["__doc__"], __module__=Handle.__dict__["__module__"])
        HANDLE_CLASSES[names] = HandleType("Handle", (Handle,), members)
    return HANDLE_CLASSES[names]


def handle(key, names):
    if type(key) is not int:
        raise Malformed("a handle without number")
    found = HANDLES.get(key)
    if found is None:
        found = object.__new__(handle_class(names))
        object.__setattr__(found, "_touchstone_key", key)
        object.__setattr__(found, "_touchstone_told", 0)
        HANDLES[key] = found
    object.__setattr__(found, "_touchstone_told", found._touchstone_told + 1)
    return found


class StandinMeta(type):
    """Class of the local exception classes that stand for the candidate's."""

    def __getattr__(cls, name):
        key = cls.__dict__.get("_touchstone_class")
        if key is None or name.startswith("_touchstone"):
            raise AttributeError(name)
        return LINK.request("get", (cls, name))


def exception_str(self):
    return self._touchstone_text if self._touchstone_text is not None else BaseException.__str__(self)


def exception_getattr(self, name):
    if name.startswith("_touchstone") or self._touchstone_handle is None:
        raise AttributeError(name)
    return LINK.request("get", (self, name))


def exception_class(node):
    """The class here for an exception class of the worker: a built-in one itself, one of the library itself if
    this process has loaded it, otherwise a stand-in over the same bases."""
    if node[0] == "ty":
        cls = NAMED_TYPES[node[1]]
        if not issubclass(cls, BaseException):
            raise Malformed("not an exception class")
        return cls
    _, key, module, name, bases = node
    known = getattr(sys.modules.get(module), name, None) if in_stdlib(module) else None
    if isinstance(known, type) and issubclass(known, BaseException):
        return known
    if key not in EXCEPTION_CLASSES:
        parents = tuple(exception_class(base) for base in bases)
        members = {"_touchstone_class": key, "_touchstone_handle": None, "_touchstone_text": None,
                   "__module__": module, "__str__": exception_str, "__getattr__": exception_getattr}
        EXCEPTION_CLASSES[key] = StandinMeta(name, parents, members)
    return EXCEPTION_CLASSES[key]


def make_exception(node):
    cls = exception_class(node["c"])
    args = [decode(item, decode_other) for item in node["a"]]
    try:
        error = cls(*args)
    except Exception:
        error = None
    if type(error) is not cls:
        error = cls.__new__(cls)
        error.args = tuple(args)
    for name, value in node["d"].items():
        if not name.startswith(("_touchstone", "__")):
            setattr(error, name, decode(value, decode_other))
    if isinstance(cls, StandinMeta):
        error.__dict__["_touchstone_text"] = decode(node["t"], decode_other)
    error.__dict__["_touchstone_handle"] = node["h"]
    if node.get("f") is not None:
        error.__cause__ = make_exception(node["f"])
    return error


def awaiting(target):
    async def candidate_coroutine():
        return LINK.request("await", (target,))

    return candidate_coroutine()


def decode_other(tag, rest):
    if tag == "h":
        return handle(rest[0], rest[1])
    if tag == "m":
        return importlib.import_module(rest[0]) if is_standin_name(rest[0]) else handle(0, ())
    if tag == "x":
        return exception_class(["x"] + rest)
    if tag == "co":
        return awaiting(handle(rest[0], ()))
    if tag == "cb":
        return LINK.callbacks[rest[0]]
    raise Malformed(tag)


def encode_other(value):
    kind = type(value)
    if isinstance(kind, HandleType):
        return ["h", value._touchstone_key]
    if kind is StandinModule:
        return ["m", value.__name__]
    if isinstance(value, StandinMeta):
        return ["x", value._touchstone_class]
    if isinstance(value, BaseException) and getattr(value, "_touchstone_handle", None) is not None:
        return ["h", value._touchstone_handle]
    if callable(value):
        LINK.callbacks[id(value)] = value
        return ["cb", id(value)]
    if hasattr(kind, "__next__"):
        return ["it", keep_iterator(value)]
    raise TypeError("a %s cannot be handed to the candidate, which runs in another process: plain values, "
                    "functions and iterators can; a suite that needs more says isolation = \"in-process\""
                    % kind.__name__)


def keep_iterator(value):
    for key, kept in LINK.callbacks.items():
        if getattr(kept, "__self__", None) is value:
            return key
    step = value.__next__
    LINK.callbacks[id(step)] = step
    return id(step)


# -- modules -------------------------------------------------------------------------------------------------


class StandinModule(types.ModuleType):
    """A module of the workspace. Every attribute is read from the candidate each time."""

    def __getattr__(self, name):
        if name in LOCAL_ATTRIBUTES or "__touchstone_loaded__" not in self.__dict__:
            raise AttributeError(name)  # the import system looks before the candidate has been asked
        if name == "__all__":  # asked for by `from module import *`
            return LINK.request("public", (self,))
        return LINK.request("get", (self, name))

    def __setattr__(self, name, value):
        if name in LOCAL_ATTRIBUTES:
            object.__setattr__(self, name, value)
        elif type(value) is not StandinModule:  # the import system hangs submodules into their package
            LINK.request("set", (self, name, value))

    def __delattr__(self, name):
        LINK.request("del", (self, name))

    def __dir__(self):
        return LINK.request("dir", (self,))

    __doc__ = property(lambda self: LINK.request("get", (self, "__doc__")))


LOCAL_ATTRIBUTES = ("__name__", "__loader__", "__package__", "__spec__", "__path__", "__cached__")


def is_standin_name(name):
    top = sys.modules.get(name.partition(".")[0])
    return type(top) is StandinModule or CandidateFinder.instance.claims(name.partition(".")[0])


class CandidateFinder:
    """Turns modules that lie in the workspace into stand-ins.

    Not shadowed: modules of the standard library and of the suite. A delivery with a `json.py` gets the
    library's `json` in the checker (its own process imports what it likes).
    """

    instance = None

    def __init__(self, setup):
        self.workspace, self.seen = setup["workspace"], set()
        self.look = finder_of_names()
        CandidateFinder.instance = self

    def places(self):
        """The workspace, and folders of it that the suite put on its import path (`sys.path.insert(0, "src")`)."""
        added = [os.path.abspath(path) for path in sys.path if type(path) is str and lies_in(path, self.workspace)]
        return added + [self.workspace]

    def claims(self, top):
        if in_stdlib(top) or top in ("__pycache__",):
            return False
        found = [spec for spec in (self.look(place, top) for place in self.places()) if spec is not None]
        if not found:
            return False
        # A plain folder is a module only where nothing else has the name.
        return any(spec.origin is not None for spec in found) or PathFinder.find_spec(top, sys.path) is None

    def find_spec(self, name, path=None, target=None):
        top, _, rest = name.partition(".")
        parent = sys.modules.get(top)
        if rest:
            if type(parent) is not StandinModule:
                return None
        elif not self.claims(name):
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType.__new__(StandinModule)
        types.ModuleType.__init__(module, spec.name)
        module.__dict__.pop("__doc__", None)
        return module

    def exec_module(self, module):
        name = module.__name__
        if sys.modules.get(name) is module and module.__dict__.get("__touchstone_loaded__"):
            LINK.request("reload", (module,))
            return
        # A check that dropped the module from sys.modules and imports it again wants it executed again.
        LINK.request("import", (name,), fresh=name in self.seen, places=self.places())
        self.seen.add(name)
        module.__dict__["__touchstone_loaded__"] = True


def lies_in(path, root):
    real = os.path.realpath(path)
    return real == root or real.startswith(root + os.sep)


def finder_of_names():
    """Says whether a folder has a module of a name, without loading anything. Taken before the hook below."""
    from importlib import machinery

    kinds = [(machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
             (machinery.SourceFileLoader, machinery.SOURCE_SUFFIXES),
             (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES)]

    def look(place, top):
        return machinery.FileFinder(place, *kinds).find_spec(top)

    return look


REFUSED = ("nothing of the delivery runs in the checker's process; import it as a module, or let the suite say "
           "isolation = \"in-process\"")
# What unpickling may name: classes that only hold data.
PICKLED = {"builtins": "set frozenset bytearray complex range slice", "collections": "OrderedDict deque Counter defaultdict",
           "datetime": "date time datetime timedelta timezone", "decimal": "Decimal", "fractions": "Fraction"}


def refuse_candidate_code(workspace):
    """Nothing of the workspace is executed in this process: no source, compiled file, archive, extension or library,
    and no pickle that names a function."""
    import importlib.machinery as machinery

    sys.path_hooks.insert(0, nothing_in(workspace))
    sys.path_importer_cache.clear()
    for loader, name in ((machinery.SourcelessFileLoader, "get_code"), (machinery.SourceFileLoader, "get_code"),
                         (machinery.ExtensionFileLoader, "create_module")):
        setattr(loader, name, guarded(getattr(loader, name), workspace))

    def audit(event, args):
        if event == "exec":
            path = getattr(args[0], "co_filename", "")
            if type(path) is str and not path.startswith("<") and lies_in(path, workspace):
                raise ImportError(REFUSED)
        elif event == "ctypes.dlopen":
            if type(args[0]) is str and os.sep in args[0] and lies_in(args[0], workspace):
                raise ImportError(REFUSED)
        elif event == "pickle.find_class":
            if args[1] not in PICKLED.get(args[0], "").split():
                raise ImportError(REFUSED)

    sys.addaudithook(audit)


class Nothing:
    """The finder of folders of the workspace: it finds nothing, `CandidateFinder` does."""

    @staticmethod
    def find_spec(name, target=None):
        return None


def nothing_in(workspace):
    from zipimport import zipimporter

    def choose(path):
        if lies_in(path, workspace):
            if not os.path.isdir(path):
                zipimporter(path)  # raises for what is no archive: then nobody imports from it
            return Nothing
        raise ImportError(path)  # the next hook answers

    return choose


def guarded(method, workspace):
    def checked(self, *args):
        if lies_in(self.path, workspace):
            raise ImportError(REFUSED)
        return method(self, *args)

    return checked
