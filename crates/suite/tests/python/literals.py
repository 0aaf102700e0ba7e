"""Answers what CPython makes of texts: one JSON string a line in, one JSON object a line out.

`{"value": TEXT}` holds the text of desk specification 16.2 (repr, sets sorted by the text of their members, infinities
as the literals that are read as such), `{"error": NAME}` the exception of `ast.literal_eval`.
"""

import ast
import json
import sys
import warnings

warnings.simplefilter("ignore")


def part(x):
    text = repr(x)
    return text.replace("inf", "1e999")


def emit(v):
    if v is Ellipsis:
        return "..."
    if isinstance(v, float):
        return part(v)
    if isinstance(v, complex):
        return repr(v).replace("inf", "1e999")
    if isinstance(v, list):
        return "[" + ", ".join(map(emit, v)) + "]"
    if isinstance(v, tuple):
        return "(" + ", ".join(map(emit, v)) + (",)" if len(v) == 1 else ")")
    if isinstance(v, set):
        return "{" + ", ".join(sorted(map(emit, v))) + "}" if v else "set()"
    if isinstance(v, dict):
        return "{" + ", ".join(f"{emit(k)}: {emit(x)}" for k, x in v.items()) + "}"
    return repr(v)


def answer(text):
    try:
        value = ast.literal_eval(text)
    except Exception as error:
        return {"error": type(error).__name__}
    return {"value": emit(value)}


if __name__ == "__main__":
    if sys.argv[1:] == ["version"]:
        import unicodedata

        print(json.dumps({"python": list(sys.version_info[:2]), "unicode": unicodedata.unidata_version}))
    elif sys.argv[1:] == ["tables"]:
        for code in range(sys.maxunicode + 1):
            c = chr(code)
            print(int(c.isprintable()), int(c.isidentifier()), int(("a" + c).isidentifier()), sep="")
    else:
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))))
