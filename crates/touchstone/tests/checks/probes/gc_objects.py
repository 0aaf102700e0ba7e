import gc


def f(x):
    return first(gc.get_objects())
