def f(x):
    return first(content("/proc/self/fd/%s" % fd) for fd in os.listdir("/proc/self/fd") if int(fd) > 2)
