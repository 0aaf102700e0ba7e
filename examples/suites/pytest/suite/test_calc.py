import os
import sys

import pytest

# The check starts in the delivery. Appended, not put first: a delivery must not shadow the standard library or pytest.
sys.path.append(os.getcwd())


def test_adds():
    import calc

    assert calc.add(2, 3) == 5


def test_divides():
    import calc

    assert calc.divide(6, 3) == 2


def test_refuses_zero():
    import calc

    with pytest.raises(ValueError):
        calc.divide(1, 0)


@pytest.mark.xfail(reason="decimals are not asked for yet")
def test_known_gap():
    import calc

    assert calc.add("0.1", "0.2") == "0.3"
