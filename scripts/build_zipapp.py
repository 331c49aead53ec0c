"""Make one file of a wheel and all that it needs, for several Pythons on this platform; pex does the work.

Compiled modules cannot be imported out of a zip file, and each Python has its own. So the file holds them for every
version, and unpacks what its Python needs, once, into the user's cache.

Example: python scripts/build_zipapp.py dist/autoresearch_ledger-0.1.0-py3-none-any.whl dist/ledger.pyz 3.12 3.13
"""

import json
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from packaging import tags
from packaging.utils import parse_wheel_filename

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = "web,mcp"
"""Not those of databases and Parquet, whose libraries are larger than all the rest, once for each Python."""

GLIBC = (2, 28)
"""The C library that Linux must have at least; that of Debian 10, RHEL 8 and Ubuntu 18.10."""


def main() -> None:
    """Gather the wheels, then put them together."""
    wheel, target, *versions = sys.argv[1:]
    name = f"{parse_wheel_filename(Path(wheel).name)[0]}[{EXTRAS}]"
    chosen = versions or VERSIONS
    with tempfile.TemporaryDirectory() as folder:
        for version in chosen:
            gather(f"{wheel}[{EXTRAS}]", version, folder)
        options = [word for version in chosen for word in ("--complete-platform", json.dumps(described(version)))]
        run(
            "pex", name, "--pre-resolved-dists", folder, *options, "--console-script", "ledger", "--venv",
            "--python-shebang", "/usr/bin/env python3", "--no-emit-warnings", "--output-file", target,
        )  # fmt: skip
    size = Path(target).stat().st_size / 1e6
    sys.stdout.write(f"{target}: {size:.1f} MB, for Python {', '.join(chosen)} on {sysconfig.get_platform()}\n")


def gather(wheel: str, version: str, folder: str) -> None:
    """Download the wheels that a Python needs."""
    wanted = [word for name in platforms() for word in ("--platform", name)]
    run(
        "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--dest", folder,
        "--implementation", "cp", "--python-version", version, *wanted, wheel,
    )  # fmt: skip


def platforms() -> list[str]:
    """Name the platforms whose wheels run here and on any machine that the file is for, the best first."""
    return [name for name in tags.platform_tags() if is_old_enough(name)]


def is_old_enough(name: str) -> bool:
    """Tell whether what was built for a platform runs with the oldest C library."""
    found = re.match(r"manylinux_(\d+)_(\d+)_", name)
    return found is None or (int(found[1]), int(found[2])) <= GLIBC


def described(version: str) -> dict[str, object]:
    """Describe a Python of this platform that need not be installed: the tags of its wheels, and what markers ask."""
    major, minor = map(int, version.split("."))
    held, interpreter = platforms(), f"cp{major}{minor}"
    fitting = [
        *tags.cpython_tags((major, minor), platforms=held),
        *tags.compatible_tags((major, minor), interpreter, held),
    ]
    markers = {
        "implementation_name": "cpython", "implementation_version": f"{version}.0", "os_name": "posix",
        "platform_machine": platform.machine(), "platform_python_implementation": "CPython",
        "platform_system": platform.system(), "python_full_version": f"{version}.0", "python_version": version,
        "sys_platform": sys.platform,
    }  # fmt: skip
    return {"marker_environment": markers, "compatible_tags": [str(tag) for tag in fitting]}


def run(module: str, *arguments: str) -> None:
    """Run a module of this Python; what it says goes to standard error."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], check=False, stdout=sys.stderr)
    if done.returncode:
        sys.exit(f"build_zipapp: {module} failed")


if __name__ == "__main__":
    main()
