//! Names that an entry point may not have (desk specification 16.3, 4).

use crate::literal::keyword;

/// Names of the peer's renderer and runner, and the built-ins of Python 3.11 but for 38 harmless ones.
#[rustfmt::skip]
const DENIED: [&str; 154] = [
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup",
    "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError",
    "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
    "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning", "EnvironmentError", "Exception",
    "ExceptionGroup", "False", "FileExistsError", "FileNotFoundError", "FloatingPointError", "FutureWarning",
    "GeneratorExit", "IOError", "ImportError", "ImportWarning", "IndentationError", "IndexError",
    "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError",
    "ModuleNotFoundError", "NameError", "None", "NotADirectoryError", "NotImplemented", "NotImplementedError",
    "OSError", "OverflowError", "PendingDeprecationWarning", "PermissionError", "ProcessLookupError",
    "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning",
    "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit",
    "TabError", "TimeoutError", "True", "TypeError", "UnboundLocalError", "UnicodeDecodeError",
    "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError", "UnicodeWarning", "UserWarning",
    "ValueError", "Warning", "ZeroDivisionError", "__aeq", "__build_class__", "__canon", "__debug__",
    "__doc__", "__entry", "__got", "__import__", "__loader__", "__name__", "__ns", "__package__", "__spec__",
    "__t", "__tests", "__vacant_ns", "__vacant_re", "__vacant_regex_predicate", "__vacant_set_equivalent",
    "_nonce", "_protocol", "_read_fd", "_ready_deadline", "_selector", "_vacant_call", "_wire_decode",
    "_wire_encode", "_wire_tag", "_worker", "_worker_env", "_write_fd", "aiter", "anext", "ast", "breakpoint",
    "builtins", "bytearray", "callable", "classmethod", "compile", "copyright", "credits", "delattr", "dict",
    "dir", "enumerate", "eval", "exec", "exit", "getattr", "globals", "hasattr", "help", "input",
    "isinstance", "issubclass", "iter", "json", "license", "line", "locals", "math", "memoryview", "object",
    "open", "os", "print", "property", "quit", "ready", "response", "selectors", "setattr", "staticmethod",
    "subprocess", "super", "sys", "time", "type", "vars",
];

/// True for a name that would shadow what the check program itself needs, or that is no name at all.
pub(super) fn reserved(name: &str) -> bool {
    keyword(name) || name.starts_with("__") || DENIED.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_is_sorted() {
        assert!(super::DENIED.is_sorted());
    }
}
