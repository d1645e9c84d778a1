# SPDX-License-Identifier: Apache-2.0
"""An installed AgentForge, for the tests of this folder: put to a temporary prefix, and moved away from there.

What ctest says by the environment: AGENTFORGE_BUILD, AGENTFORGE_SOURCE (folders), AGENTFORGE_CMAKE, AGENTFORGE_COMPILER.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(os.environ["AGENTFORGE_SOURCE"])
BUILD = pathlib.Path(os.environ["AGENTFORGE_BUILD"])
CMAKE = os.environ["AGENTFORGE_CMAKE"]
COMPILER = os.environ["AGENTFORGE_COMPILER"]


def run(*words, **options):
    """The finished process, output and errors in `stdout`."""
    words = [str(word) for word in words]
    return subprocess.run(words, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "check": False, "timeout": 300, **options})

CCACHE_DIR = run("ccache", "--get-config", "cache_dir").stdout.strip() if shutil.which("ccache") else ""


class Product:
    """`folder` holds all that a test makes; `prefix` is the installation in it."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="agentforge-packaging-")
        self.folder = pathlib.Path(self.temporary.name).resolve()
        self.home = self.folder / "home"
        self.home.mkdir()
        first = self.folder / "first"
        installed = run(CMAKE, "--install", BUILD, "--prefix", first, env={**os.environ, "DESTDIR": ""})
        assert installed.returncode == 0, installed.stdout
        self.first = first
        self.prefix = self.folder / "prefix"
        # A package may be unpacked anywhere: nothing in it may name the place it was installed to.
        first.rename(self.prefix)
        self.program = self.prefix / "bin" / "agentforge"

    def environment(self, **more):
        """What a user with this installation has, and nothing of whoever runs the test."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG", "CCACHE_DIR") if name in os.environ}
        # ccache then knows a source again though the folder has another name each time, and keeps it though HOME is another.
        kept |= {"CCACHE_DIR": CCACHE_DIR, "CCACHE_BASEDIR": str(self.folder), "CCACHE_NOHASHDIR": "true"}
        return {**kept, "HOME": str(self.home), "AGENTFORGE_STATE_HOME": str(self.folder / "state"),
                "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.invalid", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.invalid", **more}

    def agentforge(self, *words, cwd=None, **more):
        return run(self.program, *words, cwd=cwd or self.folder, env=self.environment(**more))

    def configure(self, source, build, *options):
        """cmake of a project outside the tree, against the prefix alone. `Quick` is a build type without flags, the one that compiles fastest."""
        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={shutil.which('ccache')}"] if shutil.which("ccache") else []
        return run(CMAKE, "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={COMPILER}",
                   "-DCMAKE_BUILD_TYPE=Quick", *launcher, *options,
                   cwd=self.folder, env=self.environment())

    def build(self, build):
        return run(CMAKE, "--build", build, "--parallel", "2", env=self.environment())

    def close(self):
        self.temporary.cleanup()
