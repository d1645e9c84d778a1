# SPDX-License-Identifier: Apache-2.0
"""Each source compiles alone, as in a build without AGENTFORGE_UNITY_BUILD.

The build compiles several sources of a folder at once, so a source may lack an include that the one before it has, until the list of
sources changes. This checks the syntax of one part of the sources each day, and of all of them in PARTS days.
AGENTFORGE_DAY chooses another day, and `all` every source.

    AGENTFORGE_BUILD=build/dev AGENTFORGE_DAY=all python3 -B tests/integration/structure/test_compiles_alone.py
"""
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
PARTS = 14
INCLUDED = re.compile(r'^#include "(.+)"$', re.M)
# The output and its dependency file; and what unity builds alone need.
WITH_VALUE = {"-o", "-MF", "-MT", "-MQ"}
WITHOUT = {"-c", "-MD", "-MMD", "-Wno-subobject-linkage"}


def commands_alone(commands):
    """Returns source -> the arguments that check its syntax, for each source that the build compiles together with others."""
    alone = {}
    for command in commands:
        unity = pathlib.Path(command["directory"], command["file"])
        if unity.parent.name != "Unity":
            continue
        arguments = shlex.split(command["command"])
        kept = [argument for before, argument in zip([""] + arguments, arguments)
                if argument not in WITH_VALUE | WITHOUT and before not in WITH_VALUE and pathlib.Path(command["directory"], argument) != unity]
        for source in INCLUDED.findall(unity.read_text(encoding="utf-8")):
            alone[source] = [*kept, "-fsyntax-only", source]
    return alone


def part_of(source, root=ROOT):
    """Returns the part of a source, which does not change when other sources come or go."""
    return zlib.crc32(os.path.relpath(source, root).encode()) % PARTS


def failures(alone, folder, jobs):
    """Returns what the compiler says of each source that does not compile."""
    def check(source):
        done = subprocess.run(alone[source], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else f"{source} does not compile alone:\n{done.stderr[:2000]}"
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [text for text in pool.map(check, sorted(alone)) if text]


class TestCompilesAlone(unittest.TestCase):
    def test_a_part_of_the_sources_each_day(self):
        folder = pathlib.Path(os.environ["AGENTFORGE_BUILD"]).resolve()
        day = os.environ.get("AGENTFORGE_DAY", str(datetime.date.today().toordinal()))
        alone = commands_alone(json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")))
        self.assertTrue(alone, "the build compiles no sources together; build it with AGENTFORGE_UNITY_BUILD")
        chosen = {source: command for source, command in alone.items() if day == "all" or part_of(source) == int(day) % PARTS}
        print(f"AGENTFORGE_DAY={day}: {len(chosen)} of {len(alone)} sources")
        found = failures(chosen, folder, os.cpu_count() or 2)
        self.assertFalse(found, "\n".join(found))


class TestTheCheckItself(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        (self.folder / "Unity").mkdir()

    def commands(self, **sources):
        """Returns the build's commands for sources that are compiled together."""
        for name, text in sources.items():
            (self.folder / f"{name}.cpp").write_text(text)
        unity = self.folder / "Unity" / "unity_0_cxx.cxx"
        unity.write_text("".join(f'/* generated */\n#include "{self.folder}/{name}.cpp"\n' for name in sources))
        return [{"directory": str(self.folder), "file": str(unity), "command": f"c++ -Wall -Werror -o unity.o -c {unity}"}]

    def test_a_source_that_lacks_an_include_is_found(self):
        alone = commands_alone(self.commands(first="#include <vector>\nstd::vector<int> a();\n", second="std::vector<int> b();\n"))
        self.assertEqual(len(alone), 2)
        found = failures(alone, self.folder, 2)
        self.assertEqual(len(found), 1)
        self.assertIn("second.cpp does not compile alone", found[0])

    def test_nothing_is_written(self):
        failures(commands_alone(self.commands(first="int a() { return 1; }\n")), self.folder, 1)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["Unity", "first.cpp"])

    def test_every_source_has_its_day(self):
        parts = {part_of(ROOT / f"kernel/a/{number}.cpp") for number in range(1000)}
        self.assertEqual(parts, set(range(PARTS)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
