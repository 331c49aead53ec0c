"""The floors that modules stand on, the fences around third parties, and what the hot commands do without."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.support.cli import ROOT, SOUND, environment, log

FLOORS = {
    "ledger": 0,
    "ledger.base": 0,
    "ledger.log": 1,
    "ledger.fold": 2,
    "ledger.dialects": 3,
    "ledger.rules": 4,
    "ledger.reading": 5,
    "ledger.session": 6,
    "ledger.repair": 6,
    "ledger.merge": 6,
    "ledger.telling": 7,
    "ledger.loop": 8,
    "ledger.mirror": 8,
    "ledger.exports": 9,
    "ledger.importing": 9,
    "ledger.report": 10,
    "ledger.serve": 11,
    "ledger.mcp": 11,
    "ledger.cli": 12,
    "ledger.__main__": 12,
}
"""The floor of each module, or of the package that it is in. A new module has to be given one."""

EXPECTED = {
    ("ledger.fold.state", "ledger.fold.segment"),
    ("ledger.dialects.autoresearch.records", "ledger.dialects.base"),
    ("ledger.rules.sequence", "ledger.fold.state"),
    ("ledger.reading.reader", "ledger.rules"),
    ("ledger.reading.reader", "ledger.dialects.base"),
    ("ledger.reading.whole_log", "ledger.reading.reader"),
    ("ledger.mirror.ingest", "ledger.reading.reader"),
    ("ledger.mirror.sync_one", "ledger.log.source"),
    ("ledger.exports", "ledger.exports.csv"),
    ("ledger.importing", "ledger.importing.results"),
    ("ledger.telling.findings", "ledger.reading.whole_log"),
    ("ledger.cli.commands.views", "ledger.mirror.views"),
    ("ledger.cli.commands.status", "ledger.telling.status"),
    ("ledger.telling.status", "ledger.telling.sparkline"),
    ("ledger.report.data", "ledger.report.segment_spans"),
    ("ledger.serve.site", "ledger.report.data"),
    ("ledger.mcp.roots", "ledger.session.files"),
    ("ledger.__main__", "ledger.cli"),
}
"""Edges that must be seen, lest a broken reader of imports finds every floor in order."""

FENCES = {
    "orjson": ("ledger.log.jsontext", "ledger.dialects.*", "ledger.exports.*", "ledger.telling.findings",
               "ledger.cli.*", "ledger.mirror.postgres_copy", "ledger.mirror.foldtext"),
    "sqlalchemy": ("ledger.mirror.*", "migrations.*"),
    "alembic": ("ledger.mirror.engine", "migrations.*"),
    "tabulate": ("ledger.exports.table",),
    "click": ("ledger.cli", "ledger.cli.*", "ledger.telling.findings"),
    "yaml": ("ledger.session.settings",),
    "portalocker": ("ledger.base.locks",),
    "platformdirs": ("ledger.mirror.location",),
    "wcwidth": ("ledger.base.text",),
    "psycopg": ("ledger.mirror.postgres", "ledger.mirror.postgres_types"),
    "jinja2": ("ledger.report.page",),
    "markupsafe": ("ledger.report.page",),
    "mcp": ("ledger.mcp.stdio",),
    "mcp_types": ("ledger.mcp.stdio", "ledger.mcp.handler", "ledger.mcp.replies"),
    "anyio": ("ledger.mcp.*",),
    "jsonschema": ("ledger.mcp.handler",),
    "waitress": ("ledger.serve.http",),
    "pyarrow": ("ledger.exports.lake.*",),
    "xlsxwriter": ("ledger.exports.workbook.*",),
}  # fmt: skip
"""Where a library may be imported. What is not named here may be imported nowhere."""


def modules(folder: str) -> dict[str, ast.Module]:
    found = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text("utf-8"))
    return found


MODULES = modules("ledger")


def imports(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a module imports, anywhere in it; a name may be a module as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module is not None, "imports name the whole module"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def edges() -> set[tuple[str, str]]:
    return {
        (name, used) for name, tree in MODULES.items() for used in imports(tree) if used in MODULES and used != name
    }


def floor(module: str) -> int:
    """Give a module's floor: its own, or that of the nearest package around it that has one."""
    name = module
    while name not in FLOORS or name == "ledger" != module:
        name, _, last = name.rpartition(".")
        assert last, f"{module} stands on no floor: give it one"
    return FLOORS[name]


def test_every_module_stands_on_a_floor():
    assert all(floor(name) in range(13) for name in MODULES)
    missing = {name for name in FLOORS if name not in MODULES}
    assert not missing, "a floor without a module"
    with pytest.raises(AssertionError, match="stands on no floor"):
        floor("ledger.unheard_of")


def test_the_edges_are_seen():
    seen = edges()
    assert seen >= EXPECTED, EXPECTED - seen
    assert len(seen) > 100


def test_imports_go_down_or_sideways():
    up = {f"{name} -> {used}" for name, used in edges() if floor(used) > floor(name) and used != "ledger"}
    assert not up


def taken(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a module takes something from: of a package the module in it that is named, if one is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else str(node.module) for name in inside)


NEEDS = {name: {used for used in taken(tree) if used in MODULES} for name, tree in MODULES.items()}


def circle(needs: Mapping[str, set[str]]) -> list[str]:
    """List what is in a circle, or needs what is; empty where all can be put in one order."""
    left = dict(needs)
    while free := [name for name, used in left.items() if not used & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


def test_modules_run_in_no_circle():
    """Imports within functions count as well: a circle that is closed late is one."""
    assert circle(NEEDS) == []
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["a", "b", "c"]


def test_no_two_folders_import_each_other():
    folders: dict[str, set[str]] = {}
    for name, used in NEEDS.items():
        mine = ".".join(name.split(".")[:2])
        folders.setdefault(mine, set()).update(".".join(one.split(".")[:2]) for one in used)
    pairs = {(one, other) for one, used in folders.items() for other in used - {one, "ledger"}}
    assert not {(one, other) for one, other in pairs if (other, one) in pairs}
    assert len(pairs) > 50


def test_libraries_stay_within_their_fences():
    seen = set()
    for name, tree in {**MODULES, **modules("migrations")}.items():
        for used in {used.split(".")[0] for used in imports(tree)} - {"ledger"} - sys.stdlib_module_names:
            assert used in FENCES, f"{name} imports {used}"
            assert any(fnmatchcase(name, fence) for fence in FENCES[used]), f"{name} imports {used}"
            seen.add(used)
    assert seen == set(FENCES)


def test_findings_take_only_style_from_click():
    used = {one for one in imports(MODULES["ledger.telling.findings"]) if one.startswith("click")}
    assert used == {"click", "click.style"}


def test_no_file_is_a_drawer():
    assert not [name for name in MODULES if name.rpartition(".")[2] in ("utils", "helpers", "misc", "common")]


HOT = """
import sys
from ledger.cli import ledger
try:
    ledger.main(sys.argv[1:], standalone_mode=False)
except SystemExit as done:
    assert done.code == 0, done.code
assert {"orjson", "ledger.rules"} <= set(sys.modules)
heavy = {"sqlalchemy", "alembic", "tabulate", "wcwidth", "yaml", "platformdirs", "sqlite3", "psycopg"}
heavy &= set(sys.modules)
sys.exit(", ".join(sorted(heavy)) or 0)
"""
YAML = """
import sys
from pathlib import Path
from ledger.session.settings import find
assert find(Path()).max_iterations == 3 and "yaml" not in sys.modules
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["verdict"],
        ["status"],
        ["brief"],
        ["report", "-o", "page.html"],
        ["explain", "L106"],
        ["check", "--format", "json"],
        ["log", "--metric", "3", "--status", "discard", "--description", "x", "--metrics", '{"mem":5}'],
    ],
    ids=" ".join,
)
def test_hot_commands_leave_heavy_libraries_out(arguments: list[str], tmp_path: Path):
    log(tmp_path, SOUND)
    done = subprocess.run(
        [sys.executable, "-c", HOT, *arguments],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["check", "verdict"])
def test_who_only_reads_does_without_what_a_loop_asks(command: str, tmp_path: Path):
    log(tmp_path, SOUND)
    read = HOT.rpartition("heavy = ")[0] + 'assert "ledger.dialects.policy" not in sys.modules\n'
    subprocess.run(
        [sys.executable, "-c", read, command], cwd=tmp_path, env=environment(tmp_path), timeout=60, check=True
    )


def test_settings_files_of_json_need_no_yaml(tmp_path: Path):
    log(tmp_path, SOUND)
    log(tmp_path, b'{"maxIterations": 3}', ".auto/config.json")
    subprocess.run([sys.executable, "-c", YAML], cwd=tmp_path, env=environment(tmp_path), timeout=60, check=True)
