"""Asks the peer package: one JSON object a line in, one a line out.

`{"literal": TEXT}` its text of a literal or its code; `{"spec": VALUE}` suite and render digests or the code;
`{"agree": [GOT, EXPECTED], "dialect": NAME, "sets": FLAG, "truth": FLAG, "atol": NUMBER}` whether its check program takes
the one literal for the other; `{"check": SPEC, "answer": TEXT}` what its check and its projection say.
"""

import ast
import hashlib
import json
import sys
import warnings

from vacant_network import checks, suitespec

warnings.simplefilter("ignore")


def agree(case):
    got, expected = map(ast.literal_eval, case["agree"])
    lcb = case["dialect"] == "lcb"
    prelude = suitespec.lcb_prelude() if lcb else suitespec.mbpp_prelude(case["truth"], case["sets"])
    names = {"__vacant_ns": {}}
    exec(prelude, names)
    try:
        return bool(names["__aeq"](got, expected) if lcb else names["__aeq"](got, expected, case["atol"]))
    except Exception:
        return False


def answer(case):
    if "agree" in case:
        return {"value": agree(case)}
    if "literal" in case:
        return {"value": suitespec.canonical_literal(case["literal"])}
    if "spec" in case:
        spec = suitespec.validate(case["spec"])
        return {"value": hashlib.sha256(suitespec.render(spec).encode()).hexdigest()}
    if "check" in case:
        projected = checks.project_checked_answer(case["answer"], case["check"])
        return {"value": projected, "ok": checks.compile_check(case["check"])(case["answer"])}
    raise AssertionError(case)


for line in sys.stdin:
    try:
        out = answer(json.loads(line))
    except suitespec.SuiteSpecError as error:
        out = {"error": error.code}
    except Exception as error:
        out = {"error": type(error).__name__}
    print(json.dumps(out, default=str))
