# The checker's end of the conversation with the candidate's process.
import select
import threading


class WorkerGone(BaseException):
    """The candidate's process ended or broke the protocol. `except Exception` does not catch it, and the runner
    fails the case whatever the check does with it."""


class Link:
    """Requests to the worker, one at a time, each with exactly one reply."""

    def __init__(self, fd):
        self.channel, self.lock = Channel(fd), threading.RLock()
        self.gone, self.number, self.owner = None, 0, os.getpid()
        self.releases, self.callbacks = [], {}
        self.decode_other = self.encode_other = self.make_exception = None  # set by the stand-ins

    def break_off(self, reason):
        if self.gone is None:
            self.gone = reason
            os.close(self.channel.fd)
        raise WorkerGone(self.gone)

    def request(self, op, args=(), kwargs=None, **fields):
        """The value the worker answers with, or the exception it answers with, raised here."""
        if os.getpid() != self.owner:
            raise WorkerGone("the candidate cannot be called from a forked process")
        kwargs = kwargs or {}
        with self.lock:
            if self.gone is not None:
                raise WorkerGone(self.gone)
            frame = self.framed(dict(fields, op=op), args, kwargs)
            reply = self.exchange(frame)
            try:
                return self.conclude(reply, args, kwargs)
            except (StopIteration, StopAsyncIteration) as error:
                # Only `next()` may end an iteration: raised by a call it would end a loop of the check, and what was
                # to be compared in it would not be.
                if fields.get("name") in ("__next__", "__anext__") or op == "await":
                    raise
                raise RuntimeError("the candidate raised %s" % type(error).__name__) from error

    def framed(self, message, args, kwargs):
        """The bytes of a request. Arguments that cannot cross are the check's mistake and break nothing."""
        try:
            message["a"] = encode(tuple(args), self.encode_other)
            message["k"] = encode(kwargs, self.encode_other)
            message["n"], message["rel"] = self.number + 1, list(self.releases)
            frame = self.channel.frame(message)
        except TooLarge as error:
            raise TypeError("the arguments cannot be handed to the candidate: %s" % error) from None
        del self.releases[:len(message["rel"])]
        self.number += 1
        return frame

    def exchange(self, frame):
        number = self.number
        try:
            if select.select([self.channel.fd], [], [], 0)[0]:
                self.unasked()
            self.channel.write(frame)
            while True:
                reply = self.channel.receive()
                self.forward(reply.get("o", []))
                if "cb" in reply:
                    self.call_back(reply)
                elif reply.get("n") == number:
                    return reply
                else:
                    raise Malformed("an answer to a question that was not asked")
        except (EOFError, OSError):
            self.break_off("the candidate's process ended while the checks still needed it")
        except Malformed as error:
            self.break_off("the candidate's process broke the protocol: %s" % error)
        except BaseException as error:
            # For example a timer of the check that fired while a reply was on its way.
            self.break_off("the conversation with the candidate was interrupted by %s" % type(error).__name__)

    def unasked(self):
        if not os.read(self.channel.fd, 1):
            raise EOFError
        raise Malformed("a message that nobody asked for")

    def forward(self, outputs):
        for entry in outputs:
            stream, text = entry
            if type(text) is not str:
                raise Malformed("output that is no text")
            target = sys.stdout if stream == 1 else sys.stderr
            try:
                target.write(text)
            except Exception:
                pass  # a stream that the check closed

    def conclude(self, reply, args, kwargs):
        try:
            for place, node in reply["m"]:
                source = kwargs if type(place) is str else args
                update_argument(source[place], decode(node, self.decode_other))
            error = reply.get("e")
            raised = None if error is None else self.make_exception(error)
            value = None
            if raised is None:
                node = reply["v"]
                same = type(node) is list and node[:1] == ["arg"]
                value = (kwargs if type(node[1]) is str else args)[node[1]] if same else decode(
                    node, self.decode_other)
        except Exception as fault:
            self.break_off("the candidate's process broke the protocol: a value that cannot be read (%s)"
                           % type(fault).__name__)
        if raised is not None:
            raise raised
        return value

    def call_back(self, message):
        """Runs a callable of the check for the candidate."""
        try:
            function = self.callbacks[message["cb"]]
            args, kwargs = decode(message["a"], self.decode_other), decode(message["k"], self.decode_other)
            number = message["n"]
            places = [(place, (kwargs if type(place) is str else args)[place]) for place in message["w"]]
        except Exception:
            raise Malformed("a callback that cannot be read") from None
        answer = {"cbr": number, "m": [], "v": None, "e": None}
        try:
            answer["v"] = encode(function(*args, **kwargs), self.encode_other)
            answer["m"] = [[place, encode(value, self.encode_other)] for place, value in places]
            frame = self.channel.frame(answer)
        except WorkerGone:
            raise
        except BaseException as error:
            frame = self.channel.frame({"cbr": number, "m": [], "v": None, "e": self.describe(error)})
        self.channel.write(frame)

    def describe(self, error):
        """An exception of the check for the candidate: its own object again, or a built-in one of that name."""
        handle = getattr(error, "_touchstone_handle", None)
        name = TYPE_NAMES.get(type(error), type(error).__name__)
        try:
            args = encode(list(error.args), self.encode_other)
            self.channel.frame({"a": args})
        except (TypeError, TooLarge):
            args = ["l", encode_text(str(error)[:2000])]
        return {"c": name, "a": args, "t": encode_text(str(error)[:2000]), "h": handle}
