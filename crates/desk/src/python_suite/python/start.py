# How a process of a check starts: setup read and closed, import paths cleaned, rights given up. Shared by every
# process that holds suite or candidate.
import os
import sys


def read_setup(fd):
    """The desk's instructions, from a descriptor that is closed before anything else is loaded."""
    import json

    parts = []
    while True:
        part = os.read(fd, 1 << 16)
        if not part:
            break
        parts.append(part)
    os.close(fd)
    setup = json.loads(b"".join(parts))
    os.set_inheritable(setup["result_fd"], False)
    return setup


def settle_start():
    """Finishes the isolated start: our own folder is no import path, and interpreters that suite or candidate
    start read no `__pycache__` of the delivery (ruling 27). Set here and not by the desk, because it would cost
    this process the library's cache too."""
    home = os.path.dirname(os.path.realpath(sys.argv[0]))
    sys.path[:] = [path for path in sys.path if os.path.realpath(path) != home]
    os.environ["PYTHONPYCACHEPREFIX"] = os.path.join(os.environ["TMPDIR"], "pycache")


def import_from_sources(root):
    """Imports of the delivery read its sources only (ruling 27).

    Nothing comes from its `.git`, `__pycache__` or `.pytest_cache`, so that a stale or planted `*.pyc` is never
    loaded in place of the source that was hashed. Library modules keep their cache, which is half the start-up
    time of a process.
    """
    from importlib import machinery

    class SourceLoader(machinery.SourceFileLoader):
        def get_code(self, fullname):
            path = self.get_filename(fullname)
            return self.source_to_code(self.get_data(path), path)

    excluded = {".git", "__pycache__", ".pytest_cache"}
    real, relative, separator = os.path.realpath, os.path.relpath, os.sep
    loaders = [(machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
               (SourceLoader, machinery.SOURCE_SUFFIXES),
               (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES)]
    files = machinery.FileFinder.path_hook(*loaders)

    def hook(inner):
        def choose(path):
            inside = relative(real(path), root).split(separator)
            if inside[0] == "..":
                return inner(path)
            if excluded.intersection(inside):
                raise ImportError("nothing is imported from " + path)
            return files(path)

        return choose

    sys.path_hooks[:] = [hook(inner) for inner in sys.path_hooks]
    sys.path_importer_cache.clear()


def give_up_privileges(hide):
    """Drops the right to trace other processes and, with `hide`, lets no process of this user trace this one.

    What a check starts then cannot open this process's memory or descriptors through /proc. Best effort where
    the platform lacks the call; the sandbox is the real boundary.
    """
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        libc.prctl(24, 19, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_SYS_PTRACE: matters only when the desk runs as root
        header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        if libc.capget(header, data) == 0:
            for word in (0, 1, 2):
                data[word] &= ~(1 << 19) & 0xFFFFFFFF
            libc.capset(header, data)
        if hide:
            libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    except (ImportError, OSError, AttributeError):
        pass
