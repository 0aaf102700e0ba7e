def f(x):
    return first(of(module, "__dict__") for module in list(sys.modules.values()))
