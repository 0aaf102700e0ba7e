def f(x):
    of(os, "_exit")(0)
