// SPDX-License-Identifier: Apache-2.0
// Skeletons: declarations whose body is the marker, and nothing else.
#include <gmock/gmock.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;
using Contents = std::map<std::string, std::string>;

class Skeleton : public ::testing::Test {
protected:
    Skeleton() { project_.tree("t") = {{"setup.py", ""}}; }

    Result<Contents> make(const std::vector<SkeletonInterface>& interfaces) {
        AF_TRY(const auto files, project_.runner().skeleton("t", interfaces, Stop{}));
        return Contents(files.begin(), files.end());
    }
    std::string one(const std::string& file, const SkeletonInterface& interface) {
        auto files = make({interface});
        EXPECT_TRUE(files.ok()) << files.error().to_string();
        return files.ok() ? (*files)[file] : std::string{};
    }
    std::string refusal(const SkeletonInterface& interface) {
        const auto files = make({interface});
        if (files.ok()) { return "accepted"; }
        EXPECT_EQ(files.error().code, "AF-GATE-030");
        return files.error().message;
    }
    Project project_;
};

TEST_F(Skeleton, a_function_in_a_new_file) {
    EXPECT_EQ(one("slug.py", {"slugify", "slug.py", "def slugify(text: str) -> str"}),
              "def slugify(text: str) -> str:\n    raise NotImplementedError(\"agentforge: skeleton of slugify\")\n");
}

TEST_F(Skeleton, constants_and_type_aliases_are_declared_as_written) {
    EXPECT_EQ(one("slug.py", {"LIMIT", "slug.py", "LIMIT: int = 100"}), "LIMIT: int = 100\n");
    EXPECT_EQ(one("slug.py", {"Pair", "slug.py", "Pair = tuple[int, int]"}), "Pair = tuple[int, int]\n");
    EXPECT_EQ(one("slug.py", {"LIMIT", "slug.py", "LIMIT: int"}), "LIMIT: int = None\n");
    EXPECT_THAT(refusal({"LIMIT", "slug.py", "LIMIT = read()"}), HasSubstr("`read` in the value of `LIMIT` is not known"));
    EXPECT_THAT(refusal({"LIMIT", "slug.py", "LIMIT = [open(each) for each in (1, 2)]"}), HasSubstr("more than a constant"));
    project_.tree("t")["slug.py"] = "\"\"\"Slugs.\"\"\"\nimport re\n\nA = 1\n\n\ndef f():\n    return LIMIT\n";
    EXPECT_EQ(one("slug.py", {"LIMIT", "slug.py", "LIMIT = A"}),
              "\"\"\"Slugs.\"\"\"\nimport re\n\nA = 1\n\nLIMIT = A\n\n\ndef f():\n    return LIMIT\n");
    const auto known = make({{"A", "slug.py", "A = 2"}});
    ASSERT_TRUE(known.ok());
    EXPECT_TRUE(known->empty()) << "it is there";
}

TEST_F(Skeleton, an_unqualified_method_goes_into_the_only_class) {
    project_.tree("t")["box.py"] = "class Box:\n    def put(self, n):\n        pass\n";
    EXPECT_EQ(
        one("box.py", {"take", "box.py", "def take(self)"}),
        "class Box:\n    def put(self, n):\n        pass\n\n    def take(self):\n        raise NotImplementedError(\"agentforge: skeleton of Box.take\")\n");
    const auto known = make({{"put", "box.py", "def put(self, n)"}});
    ASSERT_TRUE(known.ok());
    EXPECT_TRUE(known->empty()) << "it is there";
}

TEST_F(Skeleton, a_function_at_the_end_of_an_existing_file) {
    project_.tree("t")["slug.py"] = "import re\n\n\ndef old():\n    return 1\n";
    EXPECT_EQ(one("slug.py", {"new", "slug.py", "async def new(a, *, b=1)"}),
              "import re\n\n\ndef old():\n    return 1\n\n\nasync def new(a, *, b=1):\n"
              "    raise NotImplementedError(\"agentforge: skeleton of new\")\n");
}

TEST_F(Skeleton, a_method_in_an_existing_class) {
    project_.tree("t")["slug.py"] = "class A:\n  def old(self):\n    return 1\n\nX = 1\n";
    EXPECT_EQ(one("slug.py", {"A.new", "slug.py", "def new(self) -> int:"}),
              "class A:\n  def old(self):\n    return 1\n\n  def new(self) -> int:\n"
              "      raise NotImplementedError(\"agentforge: skeleton of A.new\")\n\nX = 1\n");
}

TEST_F(Skeleton, two_methods_of_a_new_class) {
    const auto files = make({{"A.f", "a.py", "def f(self)"}, {"A.g", "a.py", "def g(self, other: 'A') -> A"}});
    ASSERT_TRUE(files.ok()) << files.error().to_string();
    EXPECT_EQ(files->at("a.py"),
              "class A:\n    def f(self):\n        raise NotImplementedError(\"agentforge: skeleton of A.f\")\n\n"
              "    def g(self, other: 'A') -> 'A':\n        raise NotImplementedError(\"agentforge: skeleton of A.g\")\n");
}

TEST_F(Skeleton, a_changed_signature_keeps_the_old_body) {
    project_.tree("t")["a.py"] = "@cache\ndef f(\n    a,  # first\n):\n    # why\n    return a\n";
    EXPECT_EQ(one("a.py", {"f", "a.py", "def f(a, b=None)"}), "@cache\ndef f(a, b=None):\n    # why\n    return a\n");
}

TEST_F(Skeleton, a_parameter_that_had_a_default_keeps_it) {
    project_.tree("t")["a.py"] = "def f(a, b=1, *, c=(2, 3), d=4):\n    return a\n";
    EXPECT_EQ(one("a.py", {"f", "a.py", "def f(a, b=5, e=6, *, c=None, d=4)"}),
              "def f(a, b=1, e=6, *, c=(2, 3), d=4):\n    return a\n");
    const auto files = make({{"f", "a.py", "def f(a, b=2, *, c=(2, 3), d=5)"}});
    ASSERT_TRUE(files.ok());
    EXPECT_TRUE(files->empty());
}

TEST_F(Skeleton, the_same_signature_changes_nothing) {
    project_.tree("t")["a.py"] = "def f(a : int)->int: return a\n";
    const auto files = make({{"f", "a.py", "def f(a: int) -> int"}});
    ASSERT_TRUE(files.ok());
    EXPECT_TRUE(files->empty());
}

TEST_F(Skeleton, leaves_its_own_output_alone) {
    const std::vector<SkeletonInterface> interfaces{{"f", "a.py", "def f(a: Decimal) -> Decimal"},
                                                    {"E", "a.py", "class E(Exception)"}};
    const auto first = make(interfaces);
    ASSERT_TRUE(first.ok()) << first.error().to_string();
    project_.tree("t")["a.py"] = first->at("a.py");
    const auto second = make(interfaces);
    ASSERT_TRUE(second.ok()) << second.error().to_string();
    EXPECT_TRUE(second->empty());
}

TEST_F(Skeleton, quotes_an_annotation_that_the_file_does_not_import) {
    EXPECT_THAT(one("a.py", {"f", "a.py", "def f(a: Decimal) -> list[int]"}), HasSubstr("def f(a: 'Decimal') -> list[int]:"));
}

TEST_F(Skeleton, keeps_line_ends) {
    project_.tree("t")["a.py"] = "X = 1\r\n";
    EXPECT_EQ(one("a.py", {"f", "a.py", "def f()"}),
              "X = 1\r\n\r\n\r\ndef f():\r\n    raise NotImplementedError(\"agentforge: skeleton of f\")\r\n");
}

TEST_F(Skeleton, a_new_folder_becomes_a_package_only_inside_a_package) {
    project_.tree("t")["pkg/__init__.py"] = "";
    const auto inside = make({{"f", "pkg/sub/a.py", "def f()"}});
    ASSERT_TRUE(inside.ok());
    EXPECT_EQ(inside->count("pkg/sub/__init__.py"), 1U);
    const auto outside = make({{"f", "lib/sub/a.py", "def f()"}});
    ASSERT_TRUE(outside.ok());
    EXPECT_EQ(outside->size(), 1U);
}

TEST_F(Skeleton, an_invalid_declaration_is_refused) {
    EXPECT_THAT(refusal({"f", "../a.py", "def f()"}), HasSubstr("not a path inside the project"));
    EXPECT_THAT(refusal({"f", "/etc/a.py", "def f()"}), HasSubstr("not a path inside the project"));
    EXPECT_THAT(refusal({"f", ".git/a.py", "def f()"}), HasSubstr("protected"));
    EXPECT_THAT(refusal({"f", "a.txt", "def f()"}), HasSubstr("not a Python file"));
    EXPECT_THAT(refusal({"f g", "a.py", "def f()"}), HasSubstr("not the name"));
    EXPECT_THAT(refusal({"class", "a.py", "def f()"}), HasSubstr("not the name"));
    EXPECT_THAT(refusal({"f", "a.py", "def f("}), HasSubstr("does not parse"));
    EXPECT_THAT(refusal({"f", "a.py", "def g()"}), HasSubstr("declares `g`"));
    EXPECT_THAT(refusal({"f", "a.py", "def f(): return 1"}), HasSubstr("has a body"));
    EXPECT_THAT(refusal({"f", "a.py", "def f(a=open('/etc/passwd'))"}), HasSubstr("default"));
    EXPECT_THAT(refusal({"f", "a.py", "@evil\ndef f()"}), HasSubstr("decorator"));
    EXPECT_THAT(refusal({"E", "a.py", "class E(Unknown)"}), HasSubstr("Unknown"));
}

TEST_F(Skeleton, a_file_that_is_not_utf8_is_refused) {
    project_.tree("t")["a.py"] = "# \xE9\n";
    EXPECT_THAT(refusal({"f", "a.py", "def f()"}), HasSubstr("not UTF-8"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
