def f(x):
    return first([sys.argv, of(sys, "orig_argv")])
