# SPDX-License-Identifier: Apache-2.0
"""docs/plugins.md is what an installation does: its plugins are built, tested and checked, its manifests read, its commands there."""
import json
import pathlib
import re
import shutil
import unittest

from product import SOURCE, Product, run

PAGE = SOURCE / "docs" / "plugins.md"
KINDS = ("stage", "tool", "llm", "escalation")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.S | re.M)


def setUpModule():
    global PRODUCT, WORK
    PRODUCT = Product()
    unittest.addModuleCleanup(PRODUCT.close)
    WORK = PRODUCT.folder / "page"
    WORK.mkdir()


def file_name(block):
    """The first line says which file it is."""
    found = re.match(r"// ([a-z_]+\.cpp)\n", block)
    return found.group(1) if found else None


class Code(unittest.TestCase):
    def test_each_block_says_which_file_it_is(self):
        self.assertNotIn(None, [file_name(block) for block in blocks("cpp")])

    def test_each_block_is_a_plugin_or_the_test_of_one(self):
        for block in blocks("cpp"):
            self.assertTrue(("AGENTFORGE_PLUGIN(" in block) != (re.search(r"^TEST", block, re.M) is not None), file_name(block))

    def test_there_is_a_plugin_of_each_kind(self):
        self.assertEqual(set(KINDS), set(re.findall(r"provides_(\w+)<", "".join(blocks("cpp")))))

    def test_all_are_built_tested_and_found_good(self):
        """One project with every block; the plugin that the page shows a CMakeLists.txt and a plugin.json for has exactly these."""
        (listing,) = blocks("cmake")
        manifests = {value["id"]: block for block in blocks("json") for value in [json.loads(block)]}
        extra = ""
        plugins = []
        for block in blocks("cpp"):
            (WORK / file_name(block)).write_text(block)
            if "AGENTFORGE_PLUGIN(" not in block:
                extra += f"agentforge_add_plugin_test({pathlib.Path(file_name(block)).stem} SOURCES {file_name(block)})\n"
                continue
            identity, version, licence, kind, name = re.search(r'AGENTFORGE_PLUGIN\("([^"]+)", "([^"]+)", "([^"]+)", agentforge::provides_(\w+)<[^>]+>\("([^"]+)"\)\)', block).groups()
            plugins.append((kind, name))
            if f"agentforge_add_plugin({name} " in listing:
                (WORK / "plugin.json").write_text(manifests[identity])
                continue
            (WORK / f"{name}.json").write_text(manifests.get(identity) or json.dumps({"id": identity, "version": version, "licence": licence, "library": f"{name}.so", "sdk": ">=0.1 <0.2", "provides": [{"kind": kind, "name": name}]}))
            extra += f"agentforge_add_plugin({name} KIND {kind} SOURCES {name}.cpp MANIFEST {name}.json)\n"
        (WORK / "CMakeLists.txt").write_text(listing + extra)
        for step in (PRODUCT.configure(WORK, WORK / "build", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror"), PRODUCT.build(WORK / "build"),
                     run("ctest", "--test-dir", WORK / "build", "--output-on-failure", "--no-tests=error", env=PRODUCT.environment())):
            self.assertEqual(0, step.returncode, step.stdout)
        self.assertEqual(4, len(plugins))
        for kind, name in plugins:
            with self.subTest(name):
                checked = PRODUCT.agentforge("plugins", "check", str(WORK / "build" / "plugins" / kind / name / f"{name}.so"))
                self.assertEqual(0, checked.returncode, checked.stdout)


class Rest(unittest.TestCase):
    def test_each_manifest_has_the_fields_that_the_table_names(self):
        named = set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text().split("\n## plugin.json\n")[1].split("\n## ")[0], re.M))
        self.assertTrue(blocks("json"))
        for block in blocks("json"):
            self.assertLessEqual(set(json.loads(block)), named)

    def test_each_command_is_there(self):
        found = 0
        for block in blocks("sh"):
            for line in block.splitlines():
                words = line.split()
                found += 1
                if words[0] == "agentforge":
                    asked = PRODUCT.agentforge(*words[1:3], "--help")
                    self.assertEqual(0, asked.returncode, line)
                elif words[0] != "cd":
                    self.assertIsNotNone(shutil.which(words[0]), line)
        self.assertGreater(found, 5)

    def test_each_installed_template_and_header_of_the_page_is_there(self):
        for header in re.findall(r"<(agentforge/[\w/]+\.hpp)>", PAGE.read_text()):
            self.assertTrue((PRODUCT.prefix / "include" / header).is_file(), header)


if __name__ == "__main__":
    unittest.main()
