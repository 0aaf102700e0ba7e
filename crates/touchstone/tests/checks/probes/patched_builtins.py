SEEN = []
originals = importlib.import_module("builtins")
names = of(originals, "__dict__")
for name in ("compile", "eval", "exec", "repr", "len", "isinstance"):
    def spy(*args, _original=names[name], **kwargs):
        SEEN.append(args)
        return _original(*args, **kwargs)

    if isinstance(names[name], type(len)):
        names[name] = spy


def f(x):
    return first(list(SEEN))
