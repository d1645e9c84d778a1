# SPDX-License-Identifier: Apache-2.0
"""usage: registries.py FOLDER

A package index of each kind on the loopback interface, each with `greeter` 1.0.0 whose one function gives "hello". Writes below FOLDER what it serves
and the lockfiles that name it (go.sum, Cargo.lock, package-lock.json, requirements.txt), prints its port, and serves until its input ends.
"""

import base64
import functools
import gzip
import hashlib
import http.server
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import threading
import zipfile


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def tarred(files):
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def pip(folder):
    information = "greeter-1.0.0.dist-info"
    wheel = zipped({"greeter.py": "def greet():\n    return 'hello'\n", f"{information}/METADATA": "Metadata-Version: 2.1\nName: greeter\nVersion: 1.0.0\n",
                    f"{information}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n", f"{information}/RECORD": ""})
    write(folder / "served/pip/greeter/greeter-1.0.0-py3-none-any.whl", wheel)
    write(folder / "requirements.txt", f"greeter==1.0.0 --hash=sha256:{hashlib.sha256(wheel).hexdigest()}\n")


def go(folder):
    module = "module example.com/greeter\n\ngo 1.16\n"
    files = {"example.com/greeter@v1.0.0/go.mod": module, "example.com/greeter@v1.0.0/greeter.go": 'package greeter\n\nfunc Greet() string { return "hello" }\n'}
    place = folder / "served/go/example.com/greeter/@v"
    write(place / "list", "v1.0.0\n")
    write(place / "v1.0.0.info", '{"Version": "v1.0.0"}')
    write(place / "v1.0.0.mod", module)
    write(place / "v1.0.0.zip", zipped(files))

    def summed(named):
        lines = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(named.items()))
        return "h1:" + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()
    write(folder / "go.sum", f"example.com/greeter v1.0.0 {summed(files)}\nexample.com/greeter v1.0.0/go.mod {summed({'go.mod': module})}\n")


def cargo(folder, port):
    crate = tarred({"greeter-1.0.0/Cargo.toml": '[package]\nname = "greeter"\nversion = "1.0.0"\nedition = "2018"\n',
                    "greeter-1.0.0/src/lib.rs": "pub fn greet() -> &'static str { \"hello\" }\n"})
    write(folder / "served/crates/greeter/1.0.0/download", crate)
    checksum = hashlib.sha256(crate).hexdigest()
    index = folder / "index"
    write(index / "config.json", json.dumps({"dl": f"http://127.0.0.1:{port}/crates/{{crate}}/{{version}}/download"}))
    write(index / "gr/ee/greeter", json.dumps({"name": "greeter", "vers": "1.0.0", "deps": [], "cksum": checksum, "features": {}, "yanked": False}) + "\n")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for command in (("init", "-q", "-b", "master"), ("add", "-A"), ("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "index")):
        subprocess.run(["git", *command], cwd=index, env=environment, check=True)
    write(folder / "Cargo.lock", 'version = 3\n\n[[package]]\nname = "greeter"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n'
          f'checksum = "{checksum}"\n\n[[package]]\nname = "project"\nversion = "0.1.0"\ndependencies = [\n "greeter",\n]\n')


def npm(folder, port):
    manifest = {"name": "greeter", "version": "1.0.0", "main": "index.js", "scripts": {"install": "touch was-run"}}
    package = tarred({"package/package.json": json.dumps(manifest), "package/index.js": "exports.greet = () => 'hello'\n"})
    write(folder / "served/npm/greeter-1.0.0.tgz", package)
    address = f"http://127.0.0.1:{port}/npm/greeter-1.0.0.tgz"
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(package).digest()).decode()
    write(folder / "package-lock.json", json.dumps({
        "name": "project", "version": "1.0.0", "lockfileVersion": 3, "requires": True,
        "packages": {"": {"name": "project", "version": "1.0.0", "dependencies": {"greeter": "1.0.0"}},
                     "node_modules/greeter": {"version": "1.0.0", "resolved": address, "integrity": integrity, "hasInstallScript": True}}}))


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "served").mkdir(parents=True)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder / "served")))
    port = server.server_address[1]
    pip(folder)
    go(folder)
    cargo(folder, port)
    npm(folder, port)
    if pathlib.Path("/usr/share/maven-repo").exists():
        (folder / "served/maven").symlink_to("/usr/share/maven-repo")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
