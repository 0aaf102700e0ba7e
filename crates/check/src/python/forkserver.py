# A started interpreter that forks once per candidate; start.py, literal.py and call.py stand before this text.
#
# No candidate runs in this process, none shares a process with another, and there is one at a time. `R` on the
# control socket with two descriptors (requests, replies) starts one; `E` ends it with everything it started, and is
# answered with `C` when nothing of it can be left, with `D` otherwise. After `D` the desk ends this server.
import ctypes
import fcntl
import gc
import resource
import signal
import socket
import time

CONTROL = 3
PRELOAD = "bisect collections copy datetime functools heapq itertools math operator re string typing".split()
TRIES = 50


def left_in_kernel(libc):
    """Whether System V memory, queues or semaphores exist: they outlive their maker. Where the sandbox refuses them,
    there are none."""
    info = (ctypes.c_int * 32)()
    for control, command, arguments, place in ((libc.shmctl, 14, 1, 0), (libc.msgctl, 12, 1, 0),
                                               (libc.semctl, 19, 2, 7)):
        if control(*[0] * arguments, command, info) >= 0 and info[place]:
            return True
    return False


class Server:
    def __init__(self, level, cpu_seconds):
        self.cpu_seconds = cpu_seconds
        self.libc = ctypes.CDLL(None, use_errno=True)
        # Whatever a candidate leaves behind becomes our child, so that it can be missed.
        self.adopts = self.libc.prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
        self.own_memory = level == "full"
        self.places = [os.environ["TMPDIR"]] + (["/tmp"] if level == "full" else [])
        self.before = self.listing()

    def listing(self):
        return [(sorted(os.listdir(place)), os.stat(place).st_mode) for place in self.places]

    def fork(self, control, fds):
        pid = os.fork()
        if pid:
            for fd in fds:
                os.close(fd)
            return pid
        os.setsid()
        control.detach()
        quiet()
        # Far above both numbers, so that placing one never closes the other.
        requests, replies = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in fds]
        for fd in fds:
            os.close(fd)
        os.dup2(requests, REQUESTS, inheritable=False)
        os.dup2(replies, REPLIES, inheritable=False)  # closes the control socket here
        os.close(requests)
        os.close(replies)
        resource.setrlimit(resource.RLIMIT_CPU, (self.cpu_seconds, self.cpu_seconds))
        sys.modules["__main__"] = type(sys)("__main__")
        converse()

    def end(self, pid):
        """Whether nothing of the candidate can be left."""
        for kill in (os.kill, os.killpg):
            try:
                kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.waitpid(pid, 0)
        for _ in range(TRIES):
            try:
                other, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                left = self.own_memory and left_in_kernel(self.libc)
                return self.adopts and self.listing() == self.before and not left
            if other == 0:
                time.sleep(0.001)
        return False

    def serve(self):
        control = socket.socket(fileno=CONTROL)
        control.sendall(b"S")
        pid = None
        while True:
            word, fds, _, _ = socket.recv_fds(control, 1, 2)
            if word == b"R" and len(fds) == 2 and pid is None:
                for fd in fds:
                    os.set_inheritable(fd, False)
                pid = self.fork(control, fds)
            elif word == b"E" and pid is not None:
                control.sendall(b"C" if self.end(pid) else b"D")
                pid = None
            else:
                os._exit(0)  # the desk is done


def main():
    level, cpu_seconds = sys.argv[1], int(sys.argv[2])
    os.set_inheritable(CONTROL, False)
    quiet()
    give_up_privileges(True)
    settle_start()
    sys.argv[:] = [""]
    for name in PRELOAD:
        __import__(name)
    # What an interpreter makes when it first compiles (a millisecond and a half) is made here, for all.
    exec(compile("def warm(x):\n    return [x]\n", "warm.py", "exec", dont_inherit=True), {})
    emit(eval(members('{"a":"[1, {2: 3}]"}')["a"], {"__builtins__": {}}))
    server = Server(level, cpu_seconds)
    gc.collect()
    gc.freeze()
    server.serve()


main()
