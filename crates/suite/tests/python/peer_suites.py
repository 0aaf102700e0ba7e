"""Asks the peer package: one JSON object a line in, one a line out.

`{"literal": TEXT}` its text of a literal or its code; `{"spec": VALUE}` suite and render digests or the code;
`{"agree": [GOT, EXPECTED], "dialect": NAME, "sets": FLAG, "truth": FLAG, "atol": NUMBER}` whether its check program takes
the one literal for the other; `{"check": SPEC, "answer": TEXT}` what its check and its projection say.
"""

import ast
import functools
import hashlib
import json
import sys
import warnings

from vacant_network import checks, suitespec

warnings.simplefilter("ignore")


@functools.cache
def comparison(lcb, truth, sets):
    names = {"__vacant_ns": {}}
    exec(suitespec.lcb_prelude() if lcb else suitespec.mbpp_prelude(truth, sets), names)
    return names["__aeq"]


def agree(case):
    got, expected = map(ast.literal_eval, case["agree"])
    lcb = case["dialect"] == "lcb"
    compare = comparison(lcb, case["truth"], case["sets"])
    try:
        return bool(compare(got, expected) if lcb else compare(got, expected, case["atol"]))
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
