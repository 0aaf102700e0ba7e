SEEN = []


def watch(frame, event, arg):
    if len(SEEN) < 2000:
        hit = first(frames(frame))
        if hit != NOTHING:
            SEEN.append(hit)


sys.setprofile(watch)


def f(x):
    return first(SEEN)
