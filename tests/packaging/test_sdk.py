# SPDX-License-Identifier: Apache-2.0
"""The installed SDK as CMake and pkg-config find it, and `agentforge plugins new`."""
import json
import os
import re
import shutil
import unittest

from product import BUILD, COMPILER, SOURCE, Product, run

KINDS = ("stage", "tool", "llm", "escalation")


def setUpModule():
    global PRODUCT
    PRODUCT = Product()
    unittest.addModuleCleanup(PRODUCT.close)


class Finding(unittest.TestCase):
    """find_package(AgentForge) of a project that does nothing else."""

    def find(self, arguments, *options):
        source = PRODUCT.folder / "finding" / self.id().split(".")[-1]
        source.mkdir(parents=True)
        (source / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(Finding LANGUAGES CXX)\nfind_package(AgentForge {arguments})\n"
                                               'message(STATUS "found ${AgentForge_VERSION} for ${AGENTFORGE_ABI_FINGERPRINT}")\n')
        return PRODUCT.configure(source, source / "build", *options)

    def test_the_version_of_this_minor_is_taken(self):
        found = self.find("0.1 REQUIRED COMPONENTS sdk process testing")
        self.assertEqual(0, found.returncode, found.stdout)
        self.assertRegex(found.stdout, r"found 0\.1\.\d+ for AGENTFORGE_\d+_libstdcxx")

    def test_another_minor_version_is_refused(self):
        found = self.find("0.2 REQUIRED")
        self.assertNotEqual(0, found.returncode)
        self.assertRegex(found.stdout, r'compatible with requested version\s+"0\.2"')

    def test_a_component_that_there_is_not_is_refused_by_name(self):
        found = self.find("0.1 REQUIRED COMPONENTS tests")
        self.assertNotEqual(0, found.returncode)
        self.assertIn("AgentForge has no component 'tests': there are sdk, process and testing", " ".join(found.stdout.split()))

    def test_a_missing_boost_is_named_with_what_to_install(self):
        found = self.find("0.1 REQUIRED", "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON")
        self.assertNotEqual(0, found.returncode)
        self.assertIn("AgentForge needs Boost 1.81 with Boost.JSON, which was not found. Install it", " ".join(found.stdout.split()))

    def test_a_prefix_without_it_is_said_to_have_none(self):
        source = PRODUCT.folder / "finding" / "nothing"
        source.mkdir(parents=True)
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(Finding LANGUAGES CXX)\nfind_package(AgentForge 0.1 REQUIRED)\n")
        found = PRODUCT.configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={PRODUCT.home}")
        self.assertIn("AgentForgeConfig.cmake", found.stdout)


class Files(unittest.TestCase):
    def test_installed_scripts_of_languages_and_templates_stay_executable(self):
        for folder, installed in (("config", "config"), ("sdk/templates", "templates")):
            for file in (SOURCE / folder).rglob("*"):
                if file.is_file() and os.access(file, os.X_OK):
                    with self.subTest(file=str(file)):
                        self.assertTrue(os.access(PRODUCT.prefix / "share/agentforge" / installed / file.relative_to(SOURCE / folder), os.X_OK))


class PkgConfig(unittest.TestCase):
    def ask(self, *words):
        return run("pkg-config", *words, "agentforge", env=PRODUCT.environment(PKG_CONFIG_PATH=str(PRODUCT.prefix / "lib" / "pkgconfig")))

    def test_one_command_line_makes_a_plugin_that_the_host_lists(self):
        made = PRODUCT.agentforge("plugins", "new", "tool", "bare")
        self.assertEqual(0, made.returncode, made.stdout)
        folder = PRODUCT.folder / "bare"
        flags = self.ask("--cflags", "--libs").stdout.split()
        built = run(COMPILER, "-std=c++20", "-shared", "-fPIC", "bare.cpp", *flags, "-o", "bare.so", cwd=folder)
        self.assertEqual(0, built.returncode, built.stdout)
        symbols = run("nm", "-D", "--defined-only", folder / "bare.so").stdout.split()
        self.assertEqual("agentforge_plugin", symbols[-1])
        self.assertEqual(3, len(symbols), symbols)
        needs = run("readelf", "-d", folder / "bare.so").stdout
        self.assertIn("libagentforge-abi.so", needs)
        self.assertNotIn("RUNPATH", needs)

    def test_it_says_version_and_fingerprint(self):
        self.assertRegex(self.ask("--modversion").stdout, r"^0\.1\.\d+$")
        self.assertRegex(self.ask("--variable=fingerprint").stdout, r"^AGENTFORGE_\d+_libstdcxx")

    def test_every_place_that_it_names_is_there(self):
        for flag in self.ask("--cflags", "--libs").stdout.split():
            place = re.sub(r"^(-I|-L|-isystem|-Wl,--version-script=)", "", flag)
            if place.startswith("/"):
                self.assertTrue(run("test", "-e", place).returncode == 0, flag)

    def test_it_names_no_place_of_the_build(self):
        text = (PRODUCT.prefix / "lib" / "pkgconfig" / "agentforge.pc").read_text()
        for place in (str(BUILD), str(SOURCE), str(PRODUCT.first)):
            self.assertNotIn(place, text)


class NewPlugin(unittest.TestCase):
    def setUp(self):
        self.place = PRODUCT.folder / "new" / self.id().split(".")[-1]
        self.place.mkdir(parents=True)

    def new(self, *words):
        return PRODUCT.agentforge("plugins", "new", *words, cwd=self.place)

    def test_each_kind_has_source_manifest_build_file_test_and_readme(self):
        for kind in KINDS:
            self.assertEqual(0, self.new(kind, f"my_{kind}").returncode)
            names = {file.name for file in (self.place / f"my_{kind}").iterdir()}
            self.assertLessEqual({f"my_{kind}.cpp", "plugin.json", "CMakeLists.txt", f"test_my_{kind}.cpp", "README.md"}, names)

    def test_a_stage_takes_at_most_40_lines_and_a_tool_30(self):
        for kind, most in (("stage", 40), ("tool", 30)):
            self.new(kind, "brief")
            lines = (self.place / "brief" / "brief.cpp").read_text().splitlines()
            self.assertLessEqual(len(lines), most, kind)
            shutil.rmtree(self.place / "brief")

    def test_nothing_of_the_template_is_left(self):
        for kind in KINDS:
            self.new(kind, "word_count")
            for file in (self.place / "word_count").rglob("*"):
                self.assertNotIn("template_name", file.name)
                if file.is_file():
                    self.assertNotRegex(file.read_text(), "template_name|TemplateName|AGENTFORGE_PREFIX|AGENTFORGE_PLUGIN_FOLDER", file.name)
            self.assertIn("class WordCount", (self.place / "word_count" / "word_count.cpp").read_text())
            shutil.rmtree(self.place / "word_count")

    def test_the_readme_names_this_installation(self):
        self.new("tool", "word_count")
        self.assertIn(f"-DCMAKE_PREFIX_PATH={PRODUCT.prefix}\n", (self.place / "word_count" / "README.md").read_text())

    def test_the_readme_names_the_folder_for_the_settings(self):
        for kind in KINDS:
            self.new(kind, f"my_{kind}")
            self.assertIn(f"paths: [{self.place}/my_{kind}/build/plugins]", (self.place / f"my_{kind}" / "README.md").read_text())

    def test_another_folder_is_used_and_made_where_it_is_missing(self):
        answer = json.loads(self.new("tool", "x", "--directory", "deep/er", "--json").stdout)
        self.assertEqual(str(self.place / "deep" / "er" / "x"), answer["directory"])
        self.assertEqual(sorted(file.name for file in (self.place / "deep" / "er" / "x").iterdir()), sorted(answer["files"]))

    def test_what_is_there_is_left_alone(self):
        (self.place / "mine").mkdir()
        (self.place / "other").write_text("mine\n")
        for name in ("mine", "other"):
            answer = self.new("tool", name)
            self.assertEqual(1, answer.returncode)
            self.assertIn("AF-PLUG-062", answer.stdout)
        self.assertEqual([], list((self.place / "mine").iterdir()))
        self.assertEqual("mine\n", (self.place / "other").read_text())

    def test_an_unknown_kind_names_the_nearest(self):
        answer = self.new("tol", "x")
        self.assertEqual(2, answer.returncode)
        self.assertIn("AF-CLI-001", answer.stdout)
        self.assertIn("did you mean `tool`?", answer.stdout)
        self.assertEqual([], list(self.place.iterdir()))

    def test_a_name_that_does_not_serve_is_refused_with_the_reason(self):
        for name, reason in (("9lives", "begin with a lower-case letter"), ("Upper", "begin with a lower-case letter"), ("a-b", "characters other than"), ("../up", "begin with a lower-case letter"),
                             ("a/b", "characters other than"), ("class", "a C++ keyword"), ("a" * 65, "65 characters"), ("", "empty")):
            with self.subTest(name):
                answer = self.new("stage", name)
                self.assertEqual(2, answer.returncode, answer.stdout)
                self.assertIn("AF-PLUG-061" if name else "AF-CLI-001", answer.stdout)
                self.assertIn(reason, answer.stdout)
        self.assertEqual([], list(self.place.iterdir()))

    def test_a_folder_that_cannot_be_written_is_named(self):
        (self.place / "file").write_text("")
        answer = self.new("tool", "x", "--directory", "file")
        self.assertEqual(1, answer.returncode)
        self.assertRegex(answer.stdout, r"AF-(BASE|PLUG)-\d+")
        self.assertIn("file", answer.stdout)

    def test_missing_templates_are_said_to_be_missing(self):
        templates = PRODUCT.prefix / "share" / "agentforge" / "templates"
        templates.rename(templates.with_name("away"))
        self.addCleanup(lambda: templates.with_name("away").rename(templates))
        answer = self.new("tool", "x")
        self.assertEqual(1, answer.returncode)
        self.assertIn("AF-PLUG-063", answer.stdout)


if __name__ == "__main__":
    unittest.main()
