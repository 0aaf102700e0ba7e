# Plain literals over a socket, both ways between checker and worker (ruling 21). Nothing is unpickled and no text
# is evaluated; a frame is four bytes of length and one JSON list or object.
import builtins
import json
import os
import sys
import types

FRAME_MAX = 16 << 20  # bytes of one message
DEPTH_MAX = 100  # nesting of one value
SMALL_INT = 1 << 62
# Types and exceptions that cross by name, because both sides have the same.
NAMED_TYPES = {name: value for name, value in vars(builtins).items() if isinstance(value, type)}
TYPE_NAMES = {value: name for name, value in NAMED_TYPES.items()}
STDLIB = getattr(sys, "stdlib_module_names", None)


class Malformed(Exception):
    """A message that the protocol does not allow."""


class TooLarge(Exception):
    """A value over the limits of the protocol."""


class Channel:
    """Frames over a stream socket."""

    def __init__(self, sock):
        self.sock = sock

    def frame(self, message):
        """The bytes of one message."""
        try:
            data = json.dumps(message, separators=(",", ":")).encode("ascii")
        except RecursionError:
            raise TooLarge("nested too deep") from None
        if len(data) > FRAME_MAX:
            raise TooLarge("larger than %d bytes" % FRAME_MAX)
        return len(data).to_bytes(4, "big") + data

    def send(self, message):
        self.sock.sendall(self.frame(message))

    def exactly(self, count):
        parts = []
        while count:
            part = self.sock.recv(min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def receive(self):
        length = int.from_bytes(self.exactly(4), "big")
        if length > FRAME_MAX:
            raise Malformed("a message of %d bytes" % length)
        try:
            message = json.loads(self.exactly(length))
        except (ValueError, RecursionError, MemoryError):
            raise Malformed("not a message") from None
        if type(message) is not dict:
            raise Malformed("not a message")
        return message


def encode(value, other, depth=0):
    """The JSON form of a value; `other(value)` answers for whatever is not a plain literal."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if -SMALL_INT < value < SMALL_INT else ["i", hex(value)]
    if kind is float:
        return value if value - value == 0 else ["f", repr(value)]
    if kind is str:
        return encode_text(value)
    if kind in (list, tuple, set, frozenset, dict):
        return encode_container(value, kind, other, depth)
    if kind is complex:
        return ["c", encode(value.real, other), encode(value.imag, other)]
    if kind in (bytes, bytearray):
        if len(value) > FRAME_MAX // 2:
            raise TooLarge("%d bytes" % len(value))
        return ["b" if kind is bytes else "B", value.hex()]
    if kind is range:
        return ["r"] + [encode(part, other) for part in (value.start, value.stop, value.step)]
    if kind is slice:
        return ["sl"] + [encode(part, other, depth + 1) for part in (value.start, value.stop, value.step)]
    if value is Ellipsis or value is NotImplemented:
        return ["e" if value is Ellipsis else "n"]
    if isinstance(value, type) and value in TYPE_NAMES:
        return ["ty", TYPE_NAMES[value]]
    return other(value)


def encode_text(value):
    if len(value) > FRAME_MAX:
        raise TooLarge("a text of %d characters" % len(value))
    try:
        value.encode()
        return value
    except UnicodeEncodeError:
        return ["u"] + [ord(char) for char in value]  # JSON would join two lone halves into one character


CONTAINER_TAGS = {list: "l", tuple: "t", set: "s", frozenset: "z", dict: "d"}


def encode_container(value, kind, other, depth):
    if depth >= DEPTH_MAX:
        raise TooLarge("nested deeper than %d" % DEPTH_MAX)
    if len(value) > FRAME_MAX // 2:
        raise TooLarge("%d members" % len(value))
    node = [CONTAINER_TAGS[kind]]
    if kind is dict:
        for key, member in value.items():
            node.append(encode(key, other, depth + 1))
            node.append(encode(member, other, depth + 1))
    else:
        node.extend([encode(member, other, depth + 1) for member in value])
    return node


def decode(node, other):
    """The value of a JSON form; `other(tag, rest)` answers for the tags that are not plain literals."""
    kind = type(node)
    if node is None or kind is bool or kind is int or kind is float or kind is str:
        return node
    if kind is not list or not node or type(node[0]) is not str:
        raise Malformed("not a value")
    tag, rest = node[0], node[1:]
    if tag in PLAIN_TAGS:
        return PLAIN_TAGS[tag](rest, other)
    return other(tag, rest)


def decode_all(rest, other):
    return [decode(member, other) for member in rest]


def decode_slice(rest, other):
    return slice(*decode_all(rest, other))


PLAIN_TAGS = {
    "i": lambda rest, other: int(rest[0], 16),
    "f": lambda rest, other: {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}[rest[0]],
    "u": lambda rest, other: "".join(map(chr, rest)),
    "l": decode_all,
    "t": lambda rest, other: tuple(decode_all(rest, other)),
    "s": lambda rest, other: set(decode_all(rest, other)),
    "z": lambda rest, other: frozenset(decode_all(rest, other)),
    "d": lambda rest, other: dict(zip(decode_all(rest[::2], other), decode_all(rest[1::2], other))),
    "c": lambda rest, other: complex(decode(rest[0], other), decode(rest[1], other)),
    "b": lambda rest, other: bytes.fromhex(rest[0]),
    "B": lambda rest, other: bytearray.fromhex(rest[0]),
    "r": lambda rest, other: range(*rest),
    "sl": decode_slice,
    "e": lambda rest, other: Ellipsis,
    "n": lambda rest, other: NotImplemented,
    "ty": lambda rest, other: NAMED_TYPES[rest[0]],
}


MUTABLE = (list, dict, set, bytearray)


def update(old, new):
    """Makes `old` equal to `new` in place, keeping inner objects that only changed inside.

    The caller of a function sees its list change; through another process that takes a copy back.
    """
    if type(old) is list:
        old[:] = [merged(old[index] if index < len(old) else None, item) for index, item in enumerate(new)]
    elif type(old) is dict:
        fresh = {key: merged(old.get(key), item) for key, item in new.items()}
        old.clear()
        old.update(fresh)
    elif type(old) is set:
        old.clear()
        old.update(new)
    else:
        old[:] = new


def merged(old, new):
    if type(old) is type(new) and type(old) in MUTABLE:
        update(old, new)
        return old
    return new


def mutable_arguments(args, kwargs):
    """[(place, object)] of the arguments that a callee may change, in call order."""
    named = list(enumerate(args)) + list(kwargs.items())
    return [(place, value) for place, value in named if has_mutable(value)]


def has_mutable(value, depth=0):
    if type(value) in MUTABLE:
        return True
    return type(value) is tuple and depth < DEPTH_MAX and any(has_mutable(item, depth + 1) for item in value)


def update_argument(old, new):
    if type(old) is tuple and type(new) is tuple and len(old) == len(new):
        for inner_old, inner_new in zip(old, new):
            update_argument(inner_old, inner_new)
    elif type(old) is type(new) and type(old) in MUTABLE:
        update(old, new)


def in_stdlib(name):
    """True for the modules that come with the interpreter."""
    top = name.partition(".")[0]
    if STDLIB is not None:
        return top in STDLIB
    from importlib.machinery import PathFinder  # Python 3.9

    if top in sys.builtin_module_names:
        return True
    home = os.path.dirname(os.__file__)
    return PathFinder.find_spec(top, [home, os.path.join(home, "lib-dynload")]) is not None
