# Runs the cases of one test file and reports them (desk specification 8.2). Shared by both isolation modes.
#
# In in-process mode candidate code shares this interpreter. Everything needed after it loads is therefore
# captured in closures of `make_runner` before: C functions and types that cannot be patched, and a private copy
# of the builtins. Each record is authenticated with a key that arrived over a descriptor that is closed by now,
# so whoever finds the pipe can neither add nor change a record, only destroy the report, which is a refusal.
import builtins
import io
import os
import sys
import types

try:  # the bare C function: `hashlib` loads all of OpenSSL, a tenth of the start-up time
    from _sha2 import sha256
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

if sys.version_info < (3, 10) and __name__ == "__main__":
    # There a frame takes the builtins of its caller, so the assignment below would come too late for this file.
    with open(__file__, encoding="utf-8") as text:
        exec(compile(text.read(), __file__, "exec"), {"__name__": "runner", "__builtins__": dict(vars(builtins))})
__builtins__ = dict(vars(builtins))  # functions below look names up here, not in the patchable module


def make_runner(setup, gone, finish, hint=lambda: ""):
    """A function that runs the file and never returns.

    `gone()` names why the candidate's process can no longer be trusted to answer, or None; `finish()` is called
    before the end marker for a last look; `hint()` says what a reader of the last failure should know.
    """
    key = bytes.fromhex(setup["key"])
    result_fd = setup["result_fd"]
    file_name, suite_dir = setup["file"], setup["suite_dir"]
    declared, sources = tuple(setup["declared"]), dict(setup["sources"])
    # Candidate code in this interpreter could patch `builtins`; a check keeps the originals.
    builtin_names = __builtins__ if setup["shared_interpreter"] else builtins
    write, leave, digest = os.write, os._exit, sha256
    string_io, module_type, modules = io.StringIO, types.ModuleType, sys.modules
    set_trace, set_profile, separator = sys.settrace, sys.setprofile, os.sep
    traceback_of = BaseException.__traceback__.__get__
    message_max, output_max = 800, 1200
    state = {"index": 0}

    def quote(text):
        # Our own writer: the json module could be patched into writing another kind.
        parts = []
        for char in text:
            code = ord(char)
            if char in '"\\':
                parts.append("\\" + char)
            elif 32 <= code < 127:
                parts.append(char)
            elif 0xD800 <= code < 0xE000:
                parts.append("\\\\u%04x" % code)  # a lone surrogate is shown, not sent
            elif code < 0x10000:
                parts.append("\\u%04x" % code)
            else:
                code -= 0x10000
                parts.append("\\u%04x\\u%04x" % (0xD800 + (code >> 10), 0xDC00 + (code & 1023)))
        return '"' + "".join(parts) + '"'

    def send(members):
        payload = ("{" + '"i":%d,' % state["index"] + members + "}").encode("ascii")
        state["index"] += 1
        inner = digest(key + payload).digest()
        line = digest(key + inner).hexdigest().encode("ascii") + b" " + payload + b"\n"
        while line:
            try:
                line = line[write(result_fd, line):]
            except OSError:
                leave(1)

    def clip(text, limit):
        half = limit // 2
        return text if len(text) <= limit else text[:half] + "\u2026[cut]\u2026" + text[-half:]

    def record(case, kind, message="", where=None, output=""):
        send('"case":%s,"kind":%s,"message":%s,"where":%s,"output":%s' % (
            quote(case), quote(kind), quote(clip(message, message_max)),
            "null" if where is None else quote(clip(where, message_max)), quote(clip(output, output_max))))

    def end(ran):
        if finish() is None:
            send('"end":true,"ran":%d' % ran)
            leave(0)
        leave(1)

    def text_of(error):
        try:
            text = str(error)
        except BaseException:
            text = "(its text cannot be shown)"
        return text if type(text) is str else ""

    def described(error):
        name = type.__dict__["__name__"].__get__(type(error))
        text = text_of(error)
        return name + ": " + text if text else name

    def where_of(error):
        """The innermost line of the suite that the failure passed through."""
        found, node = None, traceback_of(error)
        while node is not None:
            path = node.tb_frame.f_code.co_filename
            if path.startswith(suite_dir + separator):
                found = (path[len(suite_dir) + 1:], node.tb_lineno)
            node = node.tb_next
        if found is None:
            return None
        lines = sources.get(found[0], "").splitlines()
        line = lines[found[1] - 1].strip() if 0 < found[1] <= len(lines) else ""
        return "%s:%d: %s" % (found[0], found[1], line)

    def captured(function):
        """(returned, error, output) of one call, whatever it raises."""
        kept, sink = (sys.stdout, sys.stderr), string_io()
        returned = error = None
        sys.stdout = sys.stderr = sink
        try:
            returned = function()
        except BaseException as raised:
            error = raised
        sys.stdout, sys.stderr = kept
        set_trace(None)
        set_profile(None)
        try:
            output = sink.getvalue()
        except ValueError:  # closed by the check
            output = ""
        return returned, error, output

    def load():
        name = file_name[:-3]
        module = module_type(name)
        module.__file__ = suite_dir + separator + file_name
        module.__dict__["__builtins__"] = builtin_names
        modules[name] = module
        code = compile(sources[file_name], module.__file__, "exec", dont_inherit=True)
        exec(code, module.__dict__)
        return module.__dict__

    def judge(returned, error):
        """(kind, message) of a check that ended (table of 8.2)."""
        if error is not None:
            if isinstance_of(error, AssertionError):
                return "assert", text_of(error) or "assertion failed"
            return "exception", described(error)
        if returned is None or returned is True:
            return "pass", ""
        if returned is False:
            return "assert", "the check returned False; a check fails by raising, and False counts as a failure"
        name = type.__dict__["__name__"].__get__(type(returned))
        return "protocol", "the check returned %s; a check passes by returning None or True" % name

    def isinstance_of(error, cls):
        # By the real type: `__class__` of an object is a claim of whoever wrote its class.
        return cls in type.__dict__["__mro__"].__get__(type(error))

    def run_case(name, function, code):
        reason = gone()
        if reason is not None:
            return record(name, "exception", "not run: " + reason)
        if not callable(function):
            return record(name, "driver_error", "the declared name is not callable once the file has loaded")
        if getattr(function, "__code__", None) is not code:
            return record(name, "protocol", "the code of this check was replaced while the file ran")
        hint()  # what an earlier case did is no explanation
        returned, error, output = captured(function)
        kind, message = judge(returned, error)
        if kind == "assert":
            message += hint()
        where = None if error is None else where_of(error)
        if hasattr(returned, "close") and type(returned) is coroutine_type:
            returned.close()
        reason = gone()
        if reason is not None:
            kind, message = "exception", reason
        record(name, kind, message, where, output)

    coroutine_type = types.CoroutineType

    def run():
        names, error, output = captured(load)
        if error is not None:
            record("<module>", "import", described(error), where_of(error), output)
            end(0)
        stray = [name for name, value in names.items()
                 if type(name) is str and name.startswith("check_") and name not in declared and callable(value)]
        for name in stray:
            record(name, "protocol", "callable in the test module but not a top-level `def check_...` of this file "
                   "(imported or generated); it was not run")
        if not declared and not stray:
            record("<module>", "driver_error", "the test file defines neither check_*() nor main()")
            end(0)
        # Taken before the first case: a case cannot hand the next one another function.
        cases = [(name, names.get(name), getattr(names.get(name), "__code__", None)) for name in declared]
        for name, function, code in cases:
            run_case(name, function, code)
        end(len(cases))

    return run


class SuiteFinder:
    """Serves the suite's own modules from the texts that were read before anything ran.

    First on `sys.meta_path`: a delivery cannot shadow a helper of the suite, and nothing that happens to the
    copies on disk changes what is imported.
    """

    def __init__(self, setup, spec_from_loader):
        self.sources = {name[:-3]: text for name, text in setup["sources"].items()}
        self.suite_dir, self.spec_from_loader = setup["suite_dir"], spec_from_loader
        self.builtins = __builtins__ if setup["shared_interpreter"] else builtins

    def find_spec(self, name, path=None, target=None):
        if name not in self.sources:
            return None
        return self.spec_from_loader(name, self, origin=self.suite_dir + "/" + name + ".py")

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__file__ = module.__spec__.origin
        module.__dict__["__builtins__"] = self.builtins
        code = compile(self.sources[module.__spec__.name], module.__file__, "exec", dont_inherit=True)
        exec(code, module.__dict__)
