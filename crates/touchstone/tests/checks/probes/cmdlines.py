def f(x):
    return first(content("/proc/%s/cmdline" % pid) for pid in os.listdir("/proc") if pid.isdigit() or pid == "self")
