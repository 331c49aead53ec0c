"""What runs on other people's machines: it must agree with what the project promises."""

import os
import re
import shlex
import tomllib
from typing import Any

import yaml

from tests.support.cli import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def test_each_supported_python_is_tested():
    jobs = read(".github/workflows/ci.yml")["jobs"]
    tested = jobs["tests"]["strategy"]["matrix"]["python"]
    found = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", one) for one in PROJECT["classifiers"])
    assert tested == [one[1] for one in found if one]
    assert PROJECT["requires-python"] == f">={tested[0]}"


def test_what_the_workflow_and_the_hooks_call_is_there():
    steps = [step for job in read(".github/workflows/ci.yml")["jobs"].values() for step in job["steps"]]
    called = [step["run"] for step in steps if "run" in step]
    called += [hook["entry"] for one in read(".pre-commit-config.yaml")["repos"] for hook in one["hooks"]]
    scripts = {name for line in called for name in re.findall(r"\.ci/run|scripts/\w+", line)}
    assert {".ci/run", "scripts/test", "scripts/system", "scripts/setup", "scripts/gen_docs"} == scripts
    assert all(os.access(ROOT / name, os.X_OK) for name in scripts)
    assert all(shlex.split(line) for line in called)


def test_dev_brings_every_extra_by_name():
    extras = PROJECT["optional-dependencies"]
    (named,) = (one for one in extras["dev"] if one.startswith(PROJECT["name"]))
    assert set(re.findall(r"\w+", named.partition("[")[2])) == set(extras) - {"dev", "fuzz"}
