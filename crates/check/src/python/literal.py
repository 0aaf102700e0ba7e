# Values as texts of Python literals, as the desk reads them. Only exact types: a subclass may lie about what it is.
import sys

DEPTH_MAX = 100
LONG_INT = 1 << 63
TEXT_MAX = 4 << 20  # characters of one value


class NotLiteral(Exception):
    """A value that no literal stands for."""


def finite(value):
    return value - value == 0


def emit(value, depth=0):
    kind = type(value)
    if value is None or kind is bool or kind is bytes:
        return repr(value)
    if kind is int:
        return repr(value) if -LONG_INT < value < LONG_INT else hex(value)
    if kind is str:
        return ascii(value)
    if kind is float:
        if not finite(value):
            raise NotLiteral("a float that is not finite")
        return repr(value)
    if kind is complex:
        if not (finite(value.real) and finite(value.imag)):
            raise NotLiteral("a complex number that is not finite")
        return repr(value)
    if depth >= DEPTH_MAX:
        raise NotLiteral("nested deeper than %d" % DEPTH_MAX)
    return emit_container(value, kind, depth + 1)


def emit_container(value, kind, depth):
    if kind is list:
        return "[" + ", ".join([emit(item, depth) for item in value]) + "]"
    if kind is tuple:
        return "(" + "".join([emit(item, depth) + ", " for item in value]).rstrip() + ")"
    if kind is set or kind is frozenset:  # equal to each other, so one text will do
        return "{" + ", ".join([emit(item, depth) for item in value]) + "}" if value else "set()"
    if kind is dict or kind is counter():
        return "{" + ", ".join([emit(key, depth) + ": " + emit(item, depth) for key, item in value.items()]) + "}"
    if kind.__module__ == "re" and kind.__name__ == "Match":
        return "True"  # a match stands for its truth value
    raise NotLiteral("a value of type %s" % kind.__name__)


def counter():
    """The counting dictionary, when anybody has loaded it: it stands for a plain one."""
    return getattr(sys.modules.get("collections"), "Counter", dict)
