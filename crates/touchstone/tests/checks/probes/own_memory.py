def f(x):
    return first(memory("self"))
