# SPDX-License-Identifier: Apache-2.0
"""Installed headers, each the first and only thing of a source and all together, for g++ and clang, in C++20 and C++23, without a warning."""
import shutil
import unittest
from concurrent.futures import ThreadPoolExecutor

from product import COMPILER, Product, run

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wnon-virtual-dtor", "-Woverloaded-virtual", "-Werror"]


def setUpModule():
    global PRODUCT
    PRODUCT = Product()
    unittest.addModuleCleanup(PRODUCT.close)


class Headers(unittest.TestCase):
    def headers(self):
        include = PRODUCT.prefix / "include"
        return sorted(str(file.relative_to(include)) for file in include.rglob("*.hpp"))

    def check(self, compiler, standard):
        self.assertIsNotNone(shutil.which(compiler), f"{compiler} is not installed: run scripts/setup")
        sources = PRODUCT.prefix / "alone"
        sources.mkdir(exist_ok=True)

        def compiled(header):
            source = sources / (header.replace("/", "_") + ".cpp")
            source.write_text(f"#include <{header}>\n#include <{header}>\n")
            return header, run(compiler, f"-std=c++{standard}", *WARNINGS, "-Iinclude", "-fsyntax-only", f"alone/{source.name}", cwd=PRODUCT.prefix, env=PRODUCT.environment())

        headers = self.headers()
        self.assertGreater(len(headers), 14)
        with ThreadPoolExecutor(2) as pool:
            wrong = {header: ran.stdout for header, ran in pool.map(compiled, headers) if ran.returncode != 0 or ran.stdout}
        self.assertEqual({}, wrong)

    def check_together(self, compiler, standard):
        source = "".join(f"#include <{header}>\n" for header in self.headers())
        ran = run(compiler, f"-std=c++{standard}", *WARNINGS, "-Iinclude", "-fsyntax-only", "-x", "c++", "-", cwd=PRODUCT.prefix, stdin=None, input=source, env=PRODUCT.environment())
        self.assertEqual((0, ""), (ran.returncode, ran.stdout))

    # Whether a header stands alone depends on what it includes, not on the standard: the other two pairs take all of them at once.
    def test_each_compiles_alone_with_gcc_as_cpp20(self):
        self.check(COMPILER, 20)

    def test_each_compiles_alone_with_clang_as_cpp23(self):
        self.check("clang++", "2b")

    def test_all_compile_together_with_gcc_as_cpp23(self):
        self.check_together(COMPILER, 23)

    def test_all_compile_together_with_clang_as_cpp20(self):
        self.check_together("clang++", 20)

    def test_cpp17_is_refused_in_words(self):
        ran = run(COMPILER, "-std=c++17", "-Iinclude", "-fsyntax-only", "-x", "c++", "-", cwd=PRODUCT.prefix, stdin=None, input="#include <agentforge/plugin.hpp>\n")
        self.assertIn("AgentForge plugins need C++20 or later: compile with -std=c++20", ran.stdout)


if __name__ == "__main__":
    unittest.main()
