"""docs/trust.md names tests, and each of them is there."""

import ast
import re

import pytest

from tests.support.cli import ROOT

PAGE = (ROOT / "docs" / "trust.md").read_text("utf-8")
NAMED = re.findall(r"^`(tests/[\w/]+\.py)::(\w+)`$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[name for _, name in NAMED])
def test_a_named_test_is_there(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_promise_names_a_test() -> None:
    promises = re.split(r"\n\*\*", PAGE.partition("\n## What is not promised")[0])[1:]
    assert len(promises) > 15
    assert [promise for promise in promises if "::test_" not in promise] == []
    assert PAGE.count("::test_") == len(NAMED)  # none is written in another way and goes unchecked
