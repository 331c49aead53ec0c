"""A protocol is a folder: outside it nothing compares, matches, looks up or names anything by a protocol's name."""

import ast
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import TypeGuard

import pytest

from ledger.dialects import DIALECTS, names
from tests.support.cli import ROOT

FOLDERS = {name.replace("-", "_") for name in names()}
NAMES = {*names(), *FOLDERS}
HOME = ROOT / "ledger" / "dialects"
LOOKUPS = {"get", "pop", "setdefault", "startswith", "endswith", "removeprefix", "removesuffix", "index", "count"}
"""Methods whose argument is looked up or compared."""


def sources() -> Iterator[Path]:
    """Yield the modules that belong to no single protocol."""
    for path in sorted((ROOT / "ledger").rglob("*.py")):
        if not (path.is_relative_to(HOME) and path.relative_to(HOME).parts[0] in FOLDERS):
            yield path


def leaks(source: str) -> list[int]:
    """List the lines on which code goes by a protocol's name."""
    tree = ast.parse(source)
    named = constants(tree)
    found = set()
    for node in ast.walk(tree):
        found |= {part.lineno for part in asked_of(node) if speaks(part, named)}
        if is_named(node) or imports_one(node):
            found.add(node.lineno)
    return sorted(found)


def asked_of(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the parts of a node that something is compared with, matched with or looked up by."""
    if isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.match_case):
        yield from (part.value for part in ast.walk(node.pattern) if isinstance(part, ast.MatchValue))
        yield from (key for part in ast.walk(node.pattern) if isinstance(part, ast.MatchMapping) for key in part.keys)
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif isinstance(node, ast.DictComp):
        yield node.key
    elif isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKUPS:
        yield from node.args
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        yield from (ast.copy_location(ast.Constant(keyword.arg), keyword) for keyword in node.keywords)


def speaks(part: ast.expr, named: set[str]) -> bool:
    """Tell whether such a part has a protocol's name in it: spelt out, under another name, or as half of a key."""
    if isinstance(part, ast.Constant):
        return isinstance(part.value, str) and part.value.partition(":")[0] in NAMES
    if isinstance(part, ast.Name):
        return part.id in named
    if isinstance(part, ast.JoinedStr):
        inside = {node.attr for node in ast.walk(part) if isinstance(node, ast.Attribute)}
        inside |= {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
        literals = [node for node in part.values if isinstance(node, ast.Constant)]
        return "dialect" in inside or any(speaks(literal, named) for literal in literals)
    if isinstance(part, ast.Tuple | ast.List | ast.Set):
        return any(speaks(element, named) for element in part.elts)
    if isinstance(part, ast.Starred):
        return speaks(part.value, named)
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in ("set", "frozenset", "tuple"):
        return any(speaks(argument, named) for argument in part.args)
    if isinstance(part, ast.BinOp | ast.BoolOp | ast.IfExp | ast.NamedExpr):
        return any(speaks(child, named) for child in ast.iter_child_nodes(part) if isinstance(child, ast.expr))
    return False


def constants(tree: ast.Module) -> set[str]:
    """Collect the names that a module gives to a protocol's name, or to a collection with one."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs: list[tuple[ast.expr, ast.expr]] = [(node.target, node.value)]
        elif isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        else:
            continue
        for target, value in pairs:
            both: list[tuple[ast.expr, ast.expr]] = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                both = list(zip(target.elts, value.elts, strict=False))
            found |= {name.id for name, one in both if isinstance(name, ast.Name) and speaks(one, set())}
    return found


def is_named(node: ast.AST) -> TypeGuard[ast.stmt | ast.arg]:
    """Tell whether a function, a class or an argument is named for a protocol."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = node.name
    elif isinstance(node, ast.arg):
        name = node.arg
    else:
        return False
    return any(f"_{folder}_" in f"_{name.lower()}_" for folder in FOLDERS)


def imports_one(node: ast.AST) -> TypeGuard[ast.stmt]:
    """Tell whether a protocol's folder is imported; only the registry does so."""
    if isinstance(node, ast.Import):
        used = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        used = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        return False
    return any(one.startswith(f"ledger.dialects.{folder}") for one in used for folder in FOLDERS)


def test_nothing_goes_by_the_name_of_a_protocol_outside_its_folder() -> None:
    registry = HOME / "__init__.py"
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources()
        for line in leaks(path.read_text("utf-8"))
        if not (path == registry and "import" in path.read_text("utf-8").splitlines()[line - 1])
    }
    assert not found, f"ask the dialect instead: {sorted(found)}"


def test_every_dialect_has_a_folder_and_every_folder_a_dialect() -> None:
    assert {path.parent.name for path in HOME.glob("*/__init__.py")} == FOLDERS
    assert len(names()) == len(DIALECTS)
    assert len(list(sources())) > 200


@pytest.mark.parametrize(
    "planted",
    [
        'state.dialect == "codex"',
        'state.dialect != "state-protocol"',
        '"autoresearch" == log.dialect',
        'log.dialect is "codex"',
        'log.dialect is not "codex"',
        'log.dialect in ("codex", "autoresearch")',
        'log.dialect not in {"codex"}',
        'log.dialect in frozenset(("state-protocol",))',
        'log.dialect in (*KNOWN, "codex")',
        '"codex" in kinds',
        'name == (own or "codex")',
        'folder.name == "state_protocol"',
        'WORDS = {"codex": 1}',
        'WORDS = {**others, "state-protocol": 1}',
        "WORDS = dict(codex=1)",
        'WORDS = {f"{dialect.name}:run": 1}',
        'rules["codex"]',
        'rules[dialect, "codex"]',
        'rules["codex:iteration"]',
        'rules[f"{dialect.name}:any"]',
        'rules[f"codex:{kind}"]',
        'rules.get("codex")',
        'rules.get(f"{self.dialect}:any", ())',
        'rules.pop("autoresearch", None)',
        'key.startswith("codex:")',
        'key.removeprefix("codex:")',
        "def codex_mark(): ...",
        "def _begin_codex(): ...",
        "class State_Protocol: ...",
        "def note(codex): ...",
        "import ledger.dialects.codex.records",
        "from ledger.dialects.codex.records import RUN_JSON",
        "from ledger.dialects import codex",
        """
        match state.dialect:
            case "codex":
                pass
        """,
        """
        match state.dialect:
            case "autoresearch" | None if state.ended:
                pass
        """,
        """
        match record:
            case {"codex": found}:
                pass
        """,
        """
        HISTORY = "codex"
        if state.dialect == HISTORY:
            pass
        """,
        """
        AUTO, OWN = "auto", "codex"
        found = layouts[OWN]
        """,
        """
        STRICT: tuple[str, ...] = ("codex",)
        is_strict = state.dialect in STRICT
        """,
    ],
)
def test_each_way_to_go_by_a_name_is_seen(planted: str) -> None:
    assert leaks(dedent(planted)), "planted, and not seen"


@pytest.mark.parametrize(
    "harmless",
    [
        '"""What a codex history is."""',
        'def run():\n    """Run in codex, state-protocol or autoresearch."""',
        'option(help="Why; a codex history asks for it.")',
        'raise LedgerError("codex")',
        'def begin(dialect: str = "autoresearch"): ...',
        'option("--dialect", default="autoresearch")',
        'text(*names(), "codex")',
        'log.name == "autoresearch.jsonl"',
        'log.name.startswith("autoresearch.")',
        'places["autoresearch-results/events.jsonl"]',
        'f"{dialect.name}: {message}"',
        "ours.dialect != theirs.dialect",
        "dialect.name in names()",
        'OWN = "codex"',
        "from ledger.dialects import by_name, names",
        "from ledger.dialects.base import Dialect",
    ],
)
def test_what_only_tells_of_a_protocol_is_left_alone(harmless: str) -> None:
    assert leaks(harmless) == []
