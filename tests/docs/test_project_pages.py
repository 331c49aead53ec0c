"""CONTRIBUTING.md and RELEASING.md name what is there, and the version is the same wherever it stands."""

import re
import tomllib

import pytest

from ledger import __version__
from tests.support.cli import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "RELEASING.md"])
def test_what_is_named_is_there(name: str):
    page = (ROOT / name).read_text("utf-8")
    paths = re.findall(r"(?<![\w/.-])((?:ledger|migrations|scripts|tests|\.ci)/[\w./-]*)", page)
    assert len(paths) > 3
    assert [path for path in paths if "CODE" not in path and not (ROOT / path.rstrip(".")).exists()] == []


def test_the_version_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__


def test_the_changelog_keeps_its_form():
    headings = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - 20\d\d-\d\d-\d\d", heading) for heading in headings[1:])
    assert headings[1].startswith(f"[{__version__}] - ")
    kinds = set(re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
