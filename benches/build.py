#!/usr/bin/env python3
"""Prints what it takes to build Figaro, and to try a change.

benches/build.py release     a release build from an empty target folder: time, largest compiler process, sizes
benches/build.py dist        the same with the profile of what is published
benches/build.py small       a release build with one job in 2 GB of memory without swap, by a cgroup: needs root
benches/build.py change      after touching a file of the turn, and one of a screen: one integration test built and run

Dependencies are downloaded before. Nothing here passes or fails by time.
"""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMIT = 2 << 30
FEATURES = {"dist": ["--features", "local-embedder,local-transcriber"]}
TOUCHED = {
    "turn": "crates/figaro-agent/src/turn/end.rs",
    "screen": "crates/figaro-telegram/src/commands/notes.rs",
}


def run(arguments, before=None, **environment):
    begun = time.monotonic()
    done = subprocess.run(arguments, cwd=ROOT, env=os.environ | environment, preexec_fn=before, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout[-2000:] + done.stderr[-4000:])
    return time.monotonic() - begun


def build(profile, before=None, jobs=None):
    run(["cargo", "fetch", "--locked"])
    with tempfile.TemporaryDirectory(prefix="figaro-build-") as target:
        arguments = ["cargo", "build", "--profile", profile, "--locked", *FEATURES.get(profile, [])]
        arguments += ["--jobs", str(jobs)] if jobs else []
        seconds = run(arguments, before, CARGO_TARGET_DIR=target)
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        binary = pathlib.Path(target) / profile / "figaro"
        print(f"{profile}: {seconds / 60:.1f} min, largest process {largest:.0f} MB, {os.cpu_count()} cores")
        if shutil.which("size"):
            print(subprocess.check_output(["size", binary], text=True).replace(target, ""))
        print(f"{binary.stat().st_size / 1e6:.0f} MB with debug information")


def small():
    is_v2 = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
    group = pathlib.Path("/sys/fs/cgroup") / ("" if is_v2 else "memory") / "figaro-build"
    limit, peak = ("memory.max", "memory.peak") if is_v2 else ("memory.limit_in_bytes", "memory.max_usage_in_bytes")
    group.mkdir(exist_ok=True)
    try:
        (group / limit).write_text(str(LIMIT))
        for swap in ("memory.swap.max", "memory.swappiness"):
            if (group / swap).exists():
                (group / swap).write_text("0")
        build("release", lambda: (group / "cgroup.procs").write_text(str(os.getpid())), jobs=1)
        # Files that the kernel keeps in memory count too, up to the limit.
        print(f"built within {LIMIT >> 20} MB; peak with files in memory {int((group / peak).read_text()) >> 20} MB")
    finally:
        group.rmdir()


def change():
    test = ["cargo", "test", "-p", "figaro", "--test", "it", "--", "private::a_secret_in_the_wrong_variable"]
    run(test)
    for name, file in TOUCHED.items():
        for _ in range(3):
            (ROOT / file).touch()
            print(f"{name}: {run(test):.1f} s after touching {file}", flush=True)


{"release": lambda: build("release"), "dist": lambda: build("dist"), "small": small, "change": change}[
    sys.argv[1] if len(sys.argv) > 1 else "release"
]()
