// SPDX-License-Identifier: Apache-2.0
// One small task: base has an old function and its test, RED adds two tests and the skeleton, GREEN implements.
#pragma once

#include <gmock/gmock.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {

using ::testing::HasSubstr;

inline const char* const slug_skeleton =
    "def slugify(text: str) -> str:\n    raise NotImplementedError(\"agentforge: skeleton of slugify\")\n";
inline const char* const good_implementation =
    "def slugify(text: str) -> str:\n    \"\"\"Makes a slug.\"\"\"\n    return text.lower().replace(\" \", \"-\")\n";
inline const char* const slug_tests = R"(import unittest
from slug import slugify

class TestSlug(unittest.TestCase):
    def test_lower(self):
        self.assertEqual(slugify("A"), "a")
    def test_spaces(self):
        self.assertEqual(slugify("a b"), "a-b")
)";

struct DeclaredName {
    std::string name;
    std::string requirement;
    std::string kind;
};

class SlugProject : public Project {
public:
    SlugProject() {
        tree("base") = {{"old.py", "def old():\n    return 1\n"},
                        {"tests/test_old.py",
                         "import unittest\nfrom old import old\nclass TestOld(unittest.TestCase):\n"
                         "    def test_old(self):\n        self.assertEqual(old(), 1)\n"}};
        tree("red") = tree("base");
        tree("red")["slug.py"] = slug_skeleton;
        tree("red")["tests/test_slug.py"] = slug_tests;
        tree("green") = tree("red");
        tree("green")["slug.py"] = good_implementation;
        baseline.test_files = {"tests/test_slug.py"};
        baseline.specification = json::parse(R"({"requirements": [
            {"id": "REQ-001", "verification_method": "test"}, {"id": "REQ-002", "verification_method": "test"},
            {"id": "REQ-003", "verification_method": "inspection"}],
            "interfaces": [{"name": "slugify", "type": "api", "file": "slug.py", "signature": "def slugify(text: str) -> str"}]})")
                                     .as_object();
        declare({{"TestSlug::test_lower", "REQ-001", "new"}, {"test_spaces", "REQ-002", ""}});
        baseline.base_tests = {
            {"tests/test_old.py::TestOld::test_old", "test_old", "tests/test_old.py", 4, TestStatus::passed, ""}};
    }
    void declare(const std::vector<DeclaredName>& names) {
        json::array tests;
        for (const auto& each : names) {
            json::object test{{"name", each.name}, {"requirement_ref", each.requirement}};
            if (!each.kind.empty()) { test["kind"] = each.kind; }
            tests.push_back(std::move(test));
        }
        baseline.test_suite = {
            {"test_files", json::array{json::object{{"path", "tests/test_slug.py"}, {"tests", std::move(tests)}}}}};
    }
    void measure_base() {
        baseline.base_tests.clear();
        baseline.base_tests = gate("tests", "base").tests;
    }
};

}  // namespace agentforge::kernel::testing
