def f(x):
    return first(frames(sys._getframe()))
