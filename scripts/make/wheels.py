"""Makes the wheels for Linux on one machine, without containers: zig is the C++ compiler for both architectures.

auditwheel shows the oldest C library on which each runs.

pip install build ziglang wheel auditwheel
python -m scripts.make.wheels dist
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURES = ("x86_64", "aarch64")
GLIBC = "2.28"  # the oldest C library on which the wheels run, as in pyproject.toml


def main() -> None:
    """Builds a wheel per architecture into a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the wheels are written")
    parser.add_argument("--architectures", nargs="+", choices=ARCHITECTURES, default=ARCHITECTURES)
    arguments = parser.parse_args()
    for architecture in arguments.architectures:
        make_wheel(architecture, arguments.folder)


def make_wheel(architecture: str, folder: Path) -> None:
    """Builds the wheel of one architecture, and gives it the tag of the C libraries on which it runs."""
    compiler = f"{sys.executable} -m ziglang c++ -target {architecture}-linux-gnu.{GLIBC}"
    settings = {"CXX": compiler, "_PYTHON_HOST_PLATFORM": f"linux-{architecture}", "DMR_CUDA_ARCHITECTURES": "none"}
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{architecture}"
    with tempfile.TemporaryDirectory() as made:
        build = (sys.executable, "-m", "build", "--wheel", "--outdir", made, ROOT)
        subprocess.run(build, check=True, env={**os.environ, **settings})
        (wheel,) = Path(made).glob("*.whl")
        # zig links the C++ library statically, so that there is nothing to add to the wheel.
        tagging = (sys.executable, "-m", "wheel", "tags", "--platform-tag", tag, "--remove", wheel)
        subprocess.run(tagging, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = Path(made).glob("*.whl")
        subprocess.run((sys.executable, "-m", "auditwheel", "show", wheel), check=True)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(wheel, folder / wheel.name)


if __name__ == "__main__":
    main()
