def f(x):
    return first(memory(os.getppid()))
