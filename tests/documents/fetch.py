#!/usr/bin/env python3
"""Download the documents that sources.json lists: fetch.py FOLDER

Each document is written as NAME.KIND. A document that is there with the right sum is skipped.
"""
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    return done.stdout.strip() if done.returncode == 0 else ""


def get(url):
    request = urllib.request.Request(url, headers={"Accept": "text/html, */*;q=0.1"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read()


def from_pypi(name, version, archive_sum):
    index = os.environ.get("PIP_INDEX_URL") or run(sys.executable, "-m", "pip", "config", "get", "global.index-url")
    page = (index or "https://pypi.org/simple").rstrip("/") + f"/{name}/"
    link = re.search(rf'href="([^"#]+)#sha256={archive_sum}"', get(page).decode())
    if not link:
        sys.exit(f"{name} {version}: the index lists no archive with this sum")
    return get(urllib.parse.urljoin(page, link[1]))


def from_npm(name, version, _):
    with tempfile.TemporaryDirectory() as folder:
        run("npm", "pack", f"{name}@{version}", "--ignore-scripts", "--silent", cwd=folder)
        return b"".join(path.read_bytes() for path in pathlib.Path(folder).glob("*.tgz"))


def from_crates(name, version, _):
    home = pathlib.Path(os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo")
    with tempfile.TemporaryDirectory() as folder:
        run("cargo", "info", "--quiet", f"{name}@{version}", cwd=folder)
    cached = sorted(home.glob(f"registry/cache/*/{name}-{version}.crate"))
    return cached[-1].read_bytes() if cached else b""


def members(archive, wanted):
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as pack:
            return {path: pack.read(path) for path in wanted}
    with tarfile.open(fileobj=io.BytesIO(archive)) as pack:
        return {path: pack.extractfile(path).read() for path in wanted}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    sources = {"sdist": from_pypi, "npm": from_npm, "crate": from_crates}
    for package in json.loads((HERE / "sources.json").read_text(encoding="utf-8")):
        targets = {f["path"]: (folder / f"{f['name']}.{f['kind']}", f["sha256"]) for f in package["files"]}
        missing = {path: t for path, t in targets.items() if not t[0].exists() or sha256(t[0].read_bytes()) != t[1]}
        if not missing:
            continue
        name, version = package["package"].split(":", 1)[1].split("==")
        archive = sources[package["archive_url_kind"]](name, version, package["archive_sha256"])
        if sha256(archive) != package["archive_sha256"]:
            sys.exit(f"{package['package']}: the archive is missing or has another sum")
        for path, data in members(archive, missing).items():
            to, want = missing[path]
            if sha256(data) != want:
                sys.exit(f"{package['package']}: {path} has another sum")
            to.write_bytes(data)
        print(package["package"], len(missing), flush=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__))
