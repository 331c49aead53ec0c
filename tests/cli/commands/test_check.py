"""`ledger check` and `ledger explain`, as processes: what goes to stdout, what to stderr, and the exit status."""

import json
import os
import shutil
from pathlib import Path

import pytest

from ledger.rules import RULES
from tests.support.cli import BAD, HEADER, SAMPLES, SOUND, ledger, lines, log, run

NAN = "3:19: L106 NaN is no JSON number"
CODEX = SAMPLES / "table-reader" / "autoresearch-results"


def codex(folder: Path) -> Path:
    return Path(shutil.copytree(CODEX, folder / "autoresearch-results"))


def test_a_sound_log(tmp_path: Path):
    log(tmp_path, lines(HEADER, run(1, 100)))
    assert ledger(tmp_path, "check", "autoresearch.jsonl") == (0, "1 log, 1 sound; 0 errors, 0 warnings, 0 info\n", "")


def test_warnings_alone_are_clean(tmp_path: Path):
    log(tmp_path)
    code, out, err = ledger(tmp_path, "check", "autoresearch.jsonl")
    assert (code, err) == (0, "")
    assert out.startswith("autoresearch.jsonl:4:") and out.endswith("1 log, 1 sound; 0 errors, 1 warning, 0 info\n")


def test_an_error(tmp_path: Path):
    log(tmp_path, BAD)
    expected = f"autoresearch.jsonl:{NAN}\n1 log, 0 sound; 1 error, 0 warnings, 0 info\n"
    assert ledger(tmp_path, "check", "autoresearch.jsonl") == (1, expected, "")


def test_several_files_and_each_once(tmp_path: Path):
    log(tmp_path, BAD, "b.jsonl")
    log(tmp_path, BAD, "a.jsonl")
    code, out, err = ledger(tmp_path, "check", "b.jsonl", "a.jsonl", "b.jsonl", "./a.jsonl")
    assert (code, err) == (1, "")
    assert out == f"b.jsonl:{NAN}\na.jsonl:{NAN}\n2 logs, 0 sound; 2 errors, 0 warnings, 0 info\n"


def test_a_folder_is_searched(tmp_path: Path):
    log(tmp_path, BAD, "x/autoresearch.jsonl")
    log(tmp_path, BAD, "x/y/.auto/log.jsonl")
    log(tmp_path, BAD, "x/.git/autoresearch.jsonl")
    log(tmp_path, BAD, "x/node_modules/autoresearch.jsonl")
    log(tmp_path, b"", "x/env/pyvenv.cfg")
    log(tmp_path, BAD, "x/env/autoresearch.jsonl")
    log(tmp_path, BAD, "x/other.jsonl")
    code, out, err = ledger(tmp_path, "check", "x")
    assert (code, err) == (1, "")
    assert [line.split(":")[0] for line in out.splitlines()[:-1]] == ["x/autoresearch.jsonl", "x/y/.auto/log.jsonl"]


def test_standard_input(tmp_path: Path):
    assert ledger(tmp_path, "check", "-", stdin=BAD) == (
        1,
        f"-:{NAN}\n1 log, 0 sound; 1 error, 0 warnings, 0 info\n",
        "",
    )
    found = json.loads(ledger(tmp_path, "check", "-", "--format", "json", stdin=SOUND).out)
    assert (found["logs"][0]["path"], found["logs"][0]["ok"], found["logs"][0]["lines"]) == ("-", True, 4)


def test_json(tmp_path: Path):
    log(tmp_path, BAD)
    log(tmp_path, lines(HEADER), "good.jsonl")
    code, out, err = ledger(tmp_path, "check", "--format", "json", "autoresearch.jsonl", "good.jsonl")
    assert (code, err) == (1, "")
    path = str(tmp_path.resolve() / "autoresearch.jsonl")
    finding = {
        "path": path, "code": "L106", "name": "nan-or-infinity", "severity": "error", "line": 3, "column": 19,
        "message": "NaN is no JSON number", "accepted": False, "fix": None,
    }  # fmt: skip
    bad, good = json.loads(out)["logs"]
    assert bad == {
        "path": path, "dialect": "autoresearch", "lines": 3, "records": 2, "ok": False, "diagnostics": [finding],
    }  # fmt: skip
    assert (good["ok"], good["diagnostics"]) == (True, [])


def test_github(tmp_path: Path):
    log(tmp_path, BAD)
    expected = "::error file=autoresearch.jsonl,line=3,col=19,title=L106 nan-or-infinity::NaN is no JSON number\n"
    assert ledger(tmp_path, "check", "--format", "github", ".") == (1, expected, "")


@pytest.mark.parametrize(
    ("options", "code", "codes"),
    [
        (["--select", "L106"], 1, ["L106"]),
        (["--select", "s4"], 0, ["S403"]),
        (["--select", "L106,S403"], 1, ["L106", "S403"]),
        (["--select", "L", "--select", "S"], 1, ["L106", "S403"]),
        (["--ignore", "L106"], 0, ["S403"]),
        (["--ignore", "L1, S4"], 0, []),
        (["--select", "L", "--ignore", "L106"], 0, []),
        (["--select", "E3"], 0, []),
    ],
)
def test_select_and_ignore(options: list[str], code: int, codes: list[str], tmp_path: Path):
    log(tmp_path, BAD + lines(run(9, 1)))
    done = ledger(tmp_path, "check", "--format", "json", *options, "autoresearch.jsonl")
    found = json.loads(done.out)["logs"][0]
    assert (done.code, done.err, found["ok"]) == (code, "", code == 0)
    assert [one["code"] for one in found["diagnostics"]] == codes


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_code_is_a_mistake(option: str, tmp_path: Path):
    log(tmp_path)
    code, out, err = ledger(tmp_path, "check", option, "L106,x9", "autoresearch.jsonl")
    assert (code, out) == (2, "")
    assert err.endswith("Error: no rule has a code like X9; ledger explain lists them\n")


def test_a_missing_file_hides_nothing_of_the_others(tmp_path: Path):
    log(tmp_path, BAD)
    assert ledger(tmp_path, "check", "no.jsonl", "autoresearch.jsonl", "empty") == (
        2,
        f"autoresearch.jsonl:{NAN}\n1 log, 0 sound; 1 error, 0 warnings, 0 info\n",
        "ledger: cannot read no.jsonl: no such file or folder\nledger: cannot read empty: no such file or folder\n",
    )


def test_a_missing_file_alone(tmp_path: Path):
    reason = "ledger: cannot read no.jsonl: no such file or folder\n"
    assert ledger(tmp_path, "check", "no.jsonl") == (2, "", reason)
    code, out, err = ledger(tmp_path, "check", "no.jsonl", "--format", "json")
    assert (code, json.loads(out), err) == (2, {"logs": []}, reason)


def test_a_folder_without_logs(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    code, out, err = ledger(tmp_path, "check", "empty")
    assert (code, out) == (2, "")
    assert err.startswith("ledger: no log in empty: looked for autoresearch.jsonl, .auto/log.jsonl and ")


def test_the_current_folders_session(tmp_path: Path):
    code, out, err = ledger(tmp_path, "check")
    assert (code, out) == (2, "")
    assert err.startswith("ledger: No active session in ")
    log(tmp_path, BAD, ".auto/log.jsonl")
    log(tmp_path, SOUND)
    assert ledger(tmp_path, "check").out.startswith(f".auto/log.jsonl:{NAN}\n")


def test_a_binary_file(tmp_path: Path):
    log(tmp_path, bytes(range(256)) * 4, "core")
    code, out, err = ledger(tmp_path, "check", "core")
    assert (code, err) == (1, "")
    assert "core:1:1: S400 no known protocol: it has no readable record and looks like a binary file\n" in out
    assert all(char.isprintable() for char in out.replace("\n", ""))


def test_an_empty_file(tmp_path: Path):
    log(tmp_path, b"", "empty.jsonl")
    code, out, err = ledger(tmp_path, "check", "empty.jsonl")
    assert (code, err) == (1, "")
    assert out.startswith("empty.jsonl:0:1: S400 no known protocol: the log is empty\n")


def test_a_torn_tail_is_an_error(tmp_path: Path):
    log(tmp_path, lines(HEADER, run(1, 100)) + b'{"run":2')
    code, out, err = ledger(tmp_path, "check")
    assert (code, err) == (1, "")
    assert out.startswith("autoresearch.jsonl:3:1: L115 ")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read every file")
def test_an_unreadable_file(tmp_path: Path):
    log(tmp_path).chmod(0)
    log(tmp_path, BAD, "b.jsonl")
    code, out, err = ledger(tmp_path, "check", "autoresearch.jsonl", "b.jsonl")
    assert code == 2
    assert out.startswith(f"b.jsonl:{NAN}\n")
    assert err == f"ledger: cannot read {tmp_path.resolve()}/autoresearch.jsonl: permission denied\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_does_not_hang(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for arguments in (("check", "pipe"), ("verdict", "pipe"), ("status", "pipe"), ("sync", "pipe")):
        reason = f"ledger: cannot read {tmp_path.resolve()}/pipe: it is no regular file\n"
        assert ledger(tmp_path, *arguments) == (2, "", reason)


@pytest.mark.parametrize("name", ["events.jsonl", "run.json", ""])
def test_codex_by_any_of_its_names(name: str, tmp_path: Path):
    folder = codex(tmp_path)
    code, out, err = ledger(tmp_path, "check", "--format", "json", folder / name)
    found = json.loads(out)["logs"][0]
    assert (code, err) == (0, "")
    assert (found["path"], found["dialect"]) == (str(folder.resolve() / "events.jsonl"), "codex")


def test_a_finding_in_run_json_carries_its_path(tmp_path: Path):
    folder = codex(tmp_path)
    config = folder / "run.json"
    config.write_bytes(config.read_bytes().replace(b'"target"', b'"aim"'))
    found = json.loads(ledger(tmp_path, "check", "--format", "json", folder).out)["logs"][0]
    assert found["path"] == str(folder.resolve() / "events.jsonl")
    assert {one["path"] for one in found["diagnostics"] if one["code"][0] == "R"} == {str(config.resolve())}
    code, out, err = ledger(tmp_path, "check", folder)
    assert (code, err) == (1, "")
    assert out.startswith("autoresearch-results/run.json:")


def test_run_json_without_its_history(tmp_path: Path):
    folder = codex(tmp_path)
    (folder / "events.jsonl").unlink()
    reason = "ledger: autoresearch-results/run.json has no events.jsonl beside it; name the log itself\n"
    assert ledger(tmp_path, "check", "autoresearch-results/run.json") == (2, "", reason)


def test_history_without_its_run_json(tmp_path: Path):
    folder = codex(tmp_path)
    (folder / "run.json").unlink()
    code, out, err = ledger(tmp_path, "check", "autoresearch-results/events.jsonl")
    assert (code, err) == (1, "")
    assert out.startswith("autoresearch-results/run.json:0:1: E330 there is no run.json beside the history\n")


def test_another_protocol_by_option(tmp_path: Path):
    log(tmp_path, lines({"iter": 0, "keep": True}))
    code, out, err = ledger(tmp_path, "check")
    assert (code, err) == (1, "")
    assert "the keys 'iter', 'keep'; name it with --dialect" in out
    assert "S400" not in ledger(tmp_path, "check", "--dialect", "autoresearch").out
    code, out, err = ledger(tmp_path, "check", "--dialect", "other")
    assert (code, out) == (2, "")
    assert "'other' is not one of 'autoresearch', 'state-protocol', 'codex'" in err


@pytest.mark.skipif(os.name == "nt", reason="such a name is no file name there")
def test_names_and_texts_steer_no_terminal(tmp_path: Path):
    log(tmp_path, lines(HEADER, run(1, 1, status="\x1b[2Jkept")), "a\x1b[2J\n.jsonl")
    code, out, err = ledger(tmp_path, "check", "a\x1b[2J\n.jsonl")
    assert (code, err) == (1, "")
    assert out.startswith("a\\x1b[2J\\n.jsonl:2:")
    assert all(line.isprintable() for line in out.splitlines())
    assert ledger(tmp_path, "check", "\x1b[2J").err == "ledger: cannot read \\x1b[2J: no such file or folder\n"


@pytest.mark.parametrize("code", ["L106", "l106", "nan-or-infinity", "NaN-or-infinity"])
def test_explain(code: str, tmp_path: Path):
    done = ledger(tmp_path, "explain", code)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"L106 nan-or-infinity (error)\n\n{RULES['L106'].doc}\n"


@pytest.mark.parametrize("code", ["X999", "L1", ""])
def test_explain_an_unknown_code(code: str, tmp_path: Path):
    done = ledger(tmp_path, "explain", code)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"Error: no rule has the code {code}; ledger explain lists them\n")


def test_explain_lists_every_code(tmp_path: Path):
    done = ledger(tmp_path, "explain")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == sorted(RULES)
