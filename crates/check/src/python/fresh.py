# Entry of a worker for one candidate: start.py, wire.py (for a process without a sandbox only), literal.py and
# call.py stand before this text.


def main():
    os.dup2(0, REQUESTS, inheritable=False)
    os.set_inheritable(REPLIES, False)
    quiet()
    if sys.argv[1] == "bare":
        give_up_privileges(False)
    settle_start()
    sys.argv[:] = [""]
    sys.modules["__main__"] = type(sys)("__main__")
    converse()


main()
