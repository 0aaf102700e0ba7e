def f(x):
    return first(values for frame in sys._current_frames().values() for values in frames(frame))
