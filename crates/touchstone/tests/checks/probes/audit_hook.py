SEEN = []
sys.addaudithook(lambda event, args: SEEN.append(args) if len(SEEN) < 10000 else None)


def f(x):
    return first(list(SEEN))
