import inspect


def f(x):
    return first(of(entry.frame, name) for entry in inspect.stack(0) for name in ("f_locals", "f_globals"))
