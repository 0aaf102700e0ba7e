def f(x):
    own = [dict(os.environ)]
    return first(own + [content("/proc/%s/environ" % pid) for pid in os.listdir("/proc") if pid.isdigit()])
