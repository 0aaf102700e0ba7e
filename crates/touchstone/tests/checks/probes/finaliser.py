SEEN = []
Watcher = type("Watcher", (), {"__del__": lambda self: SEEN.append(first(frames(sys._getframe())))})


def f(x):
    watcher = Watcher()
    del watcher
    return first(SEEN)
