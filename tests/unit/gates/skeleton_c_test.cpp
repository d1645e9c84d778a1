// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/stubs/skeleton_c.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string c_marker = "agentforge: skeleton of";

Skeletons declare(const std::vector<SkeletonInterface>& interfaces, const std::map<std::string, std::string>& contents = {}) {
    std::vector<std::string> existing{"src/main.cpp"};
    for (const auto& [path, text] : contents) { existing.push_back(path); }
    return write_c_skeletons(interfaces, contents, existing, c_marker);
}

std::string only_file(const Skeletons& skeletons) {
    EXPECT_THAT(skeletons.problems, IsEmpty());
    EXPECT_EQ(skeletons.files.size(), 1U);
    return skeletons.files.empty() ? std::string{} : skeletons.files.front().second;
}

std::string problem_of(const std::vector<SkeletonInterface>& interfaces,
                       const std::map<std::string, std::string>& contents = {}) {
    const auto skeletons = declare(interfaces, contents);
    EXPECT_THAT(skeletons.files, IsEmpty());
    EXPECT_EQ(skeletons.problems.size(), 1U);
    return skeletons.problems.empty() ? std::string{} : skeletons.problems.front();
}

TEST(CSkeleton, a_new_header_has_what_it_needs_and_one_inline_function) {
    EXPECT_EQ(only_file(declare({{"slug::slugify", "include/slug.hpp", "std::string slugify(std::string_view text, int = 3);"}})),
              "#pragma once\n\n#include <stdexcept>\n#include <string>\n#include <string_view>\n\nnamespace slug {\n\n"
              "inline std::string slugify(std::string_view text, int = 3) {\n    static_cast<void>(text);\n"
              "    throw std::logic_error(\"agentforge: skeleton of slug::slugify\");\n}\n\n}  // namespace slug\n");
}

TEST(CSkeleton, a_constructor_of_an_exception_passes_a_message_to_its_base) {
    EXPECT_THAT(
        only_file(declare({{"Full", "a.hpp", "class Full : public std::runtime_error { public: Full(); int left(); };"}})),
        HasSubstr("    Full() : std::runtime_error(\"\") {\n        throw std::logic_error"));
}

TEST(CSkeleton, an_existing_declaration_is_left_alone) {
    const std::map<std::string, std::string> contents{
        {"a.hpp", "#pragma once\nnamespace n { int f(const int& value, char); }\n"}};
    EXPECT_THAT(declare({{"n::f", "a.hpp", "int f(const int &other, char c)"}}, contents).files, IsEmpty());
    EXPECT_THAT(only_file(declare({{"n::f", "a.hpp", "int f(long value)"}}, contents)), HasSubstr("inline int f(long value)"));
}

TEST(CSkeleton, a_default_argument_may_be_empty_braces) {
    EXPECT_THAT(only_file(declare({{"format", "a.hpp", "std::string format(long cents, const Style& style = {})"}})),
                HasSubstr("inline std::string format(long cents, const Style& style = {}) {\n"));
    EXPECT_THAT(problem_of({{"f", "a.hpp", "int f(int a = {}) { return a; }"}}), HasSubstr("has a body"));
}

TEST(CSkeleton, a_parameter_name_is_not_a_type) {
    const std::map<std::string, std::string> contents{{"a.hpp", "#pragma once\n"},
                                                      {"include/key.hpp", "#pragma once\nstruct key {};\nstruct Value {};\n"}};
    const auto text = only_file(declare({{"find", "a.hpp", "int find(int key, const Value& value = Value())"}}, contents));
    EXPECT_THAT(text, HasSubstr("#include \"key.hpp\"")) << "for Value";
    const auto plain = only_file(declare({{"find", "a.hpp", "int find(int key)"}}, contents));
    EXPECT_THAT(plain, Not(HasSubstr("#include \"key.hpp\"")));
}

TEST(CSkeleton, a_class_template_has_its_methods) {
    const auto text = only_file(declare({{"g::Grid", "a.hpp", "template <typename Cell> class Grid"},
                                         {"g::Grid::Grid", "a.hpp", "Grid(int columns, int rows)"},
                                         {"g::Grid::at", "a.hpp", "Cell at(int place) const"}}));
    EXPECT_THAT(
        text, HasSubstr("namespace g {\n\ntemplate <typename Cell> class Grid {\npublic:\n    Grid(int columns, int rows) {\n"));
    EXPECT_THAT(text, HasSubstr("    Cell at(int place) const {\n"));
}

TEST(CSkeleton, a_class_may_be_given_with_its_methods_and_namespace) {
    const auto text = only_file(declare(
        {{"Ring", "a.hpp",
          "namespace queues { template <class T> class Ring { public: explicit Ring(std::size_t capacity); T pop(); bool operator==(const Ring&) const = default; private: int size_ = 0; }; }"}}));
    EXPECT_THAT(
        text,
        HasSubstr("namespace queues {\n\ntemplate <class T> class Ring {\npublic:\n    explicit Ring(std::size_t capacity) {\n"));
    EXPECT_THAT(
        text,
        HasSubstr("    T pop() {\n        throw std::logic_error(\"agentforge: skeleton of queues::Ring::pop\");\n    }\n"));
    EXPECT_THAT(text, HasSubstr("    bool operator==(const Ring&) const = default;\nprivate:\n    int size_ = 0;\n};\n"));
    EXPECT_THAT(text, HasSubstr("#include <cstddef>\n#include <stdexcept>\n"));
}

TEST(CSkeleton, constants_aliases_and_defines_are_declared_as_written) {
    EXPECT_THAT(only_file(declare({{"g::twice", "a.hpp", "constexpr int twice(int value);"}})),
                HasSubstr("inline int twice(int value)"));
    EXPECT_THAT(only_file(declare({{"Box", "a.hpp", "class Box { public: static constexpr int twice(int value); };"}})),
                HasSubstr("    static int twice(int value) {\n"));
    EXPECT_THAT(only_file(declare({{"g::most", "a.hpp", "constexpr int most = 10;"}})),
                HasSubstr("namespace g {\n\nconstexpr int most = 10;\n"));
    EXPECT_THAT(only_file(declare({{"names", "a.hpp", "inline const std::vector<std::string> names{\"a\", \"b\"}"}})),
                HasSubstr("#include <string>\n#include <vector>\n"));
    EXPECT_THAT(only_file(declare({{"Place", "a.hpp", "using Place = std::pair<int, int>"}})),
                HasSubstr("\nusing Place = std::pair<int, int>;\n"));
    EXPECT_THAT(only_file(declare({{"ROOM", "a.h", "#define ROOM 8"}})), HasSubstr("\n#define ROOM 8\n"));
    EXPECT_THAT(only_file(declare({{"ROOM", "a.h", "enum { ROOM = 8 }"}})), HasSubstr("\nenum { ROOM = 8 };\n"));
    EXPECT_THAT(
        declare({{"most", "a.hpp", "constexpr int most = 10"}}, {{"a.hpp", "#pragma once\nconstexpr int most = 9;\n"}}).files,
        IsEmpty())
        << "it is there";
}

TEST(CSkeleton, a_comment_declares_nothing) {
    EXPECT_THAT(
        only_file(declare({{"f", "a.hpp", "int f()"}}, {{"a.hpp", "#pragma once\n// int f();\nconst char* t = \"int f()\";\n"}})),
        HasSubstr("inline int f() {"));
}

TEST(CSkeleton, a_method_is_added_to_its_class_and_can_be_called) {
    const auto text =
        only_file(declare({{"Cache::get", "a.hpp", "int get(const std::string& key) const;"}},
                          {{"a.hpp", "#pragma once\nclass Cache {\npublic:\n    Cache();\nprivate:\n    int n_;\n};\n"}}));
    EXPECT_THAT(
        text,
        HasSubstr("    int n_;\n\npublic:\n    int get(const std::string& key) const {\n        static_cast<void>(key);\n"));
    EXPECT_THAT(text, HasSubstr("#include <string>\n"));
}

TEST(CSkeleton, a_class_and_its_methods_are_made_together) {
    const auto text = only_file(declare({{"n::Cache::Cache", "a.hpp", "explicit Cache(std::size_t capacity)"},
                                         {"n::Cache", "a.hpp", "class Cache"},
                                         {"n::Cache::~Cache", "a.hpp", "~Cache()"}}));
    EXPECT_THAT(text, HasSubstr("namespace n {\n\nclass Cache {\npublic:\n    explicit Cache(std::size_t capacity) {\n"));
    EXPECT_THAT(
        text,
        HasSubstr(
            "    ~Cache() {\n        std::fputs(\"agentforge: skeleton of n::Cache::~Cache\\n\", stderr);\n        std::abort();\n"));
}

TEST(CSkeleton, a_struct_may_have_members_but_no_bodies) {
    EXPECT_THAT(only_file(declare({{"n::Point", "a.hpp", "struct Point { int x = 0; std::vector<int> more; };"}})),
                HasSubstr("struct Point { int x = 0; std::vector<int> more; };\n"));
    EXPECT_THAT(problem_of({{"n::Point", "a.hpp", "struct Point { int x() { return 1; } };"}}), HasSubstr("has a body"));
}

TEST(CSkeleton, c_stubs_abort) {
    EXPECT_EQ(
        only_file(write_c_skeletons({{"count", "count.h", "size_t count(const char *text, int values[3]);"}}, {}, {"main.c"},
                                    c_marker)),
        "#pragma once\n\n#include <stddef.h>\n#include <stdio.h>\n#include <stdlib.h>\n\nstatic inline size_t count(const char *text, int values[3]) {\n"
        "    (void)text;\n    (void)values;\n    fputs(\"agentforge: skeleton of count\\n\", stderr);\n    abort();\n}\n");
}

TEST(CSkeleton, a_function_of_header_and_source_is_declared_and_defined) {
    const auto skeletons = declare({{"n::f", "a.hpp", "int f(int a = 1)"}, {"n::f", "a.cpp", "int f(int a = 1)"}},
                                   {{"a.cpp", "#include \"a.hpp\"\n"}});
    ASSERT_EQ(skeletons.files.size(), 2U);
    EXPECT_EQ(skeletons.files[0].second, "#pragma once\n\nnamespace n {\n\nint f(int a = 1);\n\n}  // namespace n\n");
    EXPECT_THAT(skeletons.files[1].second, HasSubstr("\nint f(int a) {\n"));
}

TEST(CSkeleton, no_source_file_is_written_if_the_header_has_the_body) {
    const auto skeletons = declare({{"f", "a.hpp", "int f()"}, {"f", "new.cpp", "int f()"}});
    ASSERT_EQ(skeletons.files.size(), 1U);
    EXPECT_EQ(skeletons.files[0].first, "a.hpp");
}

TEST(CSkeleton, keeps_everything_inside_the_include_guard_and_keeps_crlf) {
    const auto text = only_file(declare({{"f", "a.h", "int f();"}}, {{"a.h", "#ifndef A_H\r\n#define A_H\r\n#endif\r\n"}}));
    EXPECT_EQ(text.substr(0, 24), "#ifndef A_H\r\n#define A_H");
    EXPECT_THAT(text, ::testing::EndsWith("}\r\n\r\n#endif\r\n"));
    EXPECT_EQ(text.find("\r\r"), std::string::npos);
}

TEST(CSkeleton, the_header_of_a_type_of_the_project_is_included) {
    const std::map<std::string, std::string> contents{
        {"include/n/point.hpp", "namespace n { struct Point { int x; }; using Id = int; }\n"},
        {"include/n/forward.hpp", "namespace n { struct Point; }\n"}};
    const auto text = only_file(declare({{"n::move", "include/n/move.hpp", "Point move(const Point& from, Id id)"}}, contents));
    EXPECT_THAT(text, HasSubstr("#pragma once\n\n#include <stdexcept>\n\n#include \"n/point.hpp\"\n\nnamespace n {\n"));
    EXPECT_EQ(text.find("forward"), std::string::npos);
}

TEST(CSkeleton, the_header_of_a_type_that_the_specification_declares_is_included) {
    const auto skeletons = declare(
        {{"n::parse", "include/n/port.hpp", "Result<std::uint16_t> parse(std::string_view text)"},
         {"n::Result", "include/n/result.hpp", "template <typename T> class Result { public: explicit Result(T value); };"},
         {"n::Server", "include/n/server.hpp", "class Server : public Base { public: Server(); private: Result<int> last_; };"},
         {"n::Base", "include/n/base.hpp", "struct Base { Result<int> first(const Server& server); };"}},
        {{"include/n/port.hpp", "#pragma once\n#include <string_view>\n"}});
    ASSERT_THAT(skeletons.problems, IsEmpty());
    std::map<std::string, std::string> files(skeletons.files.begin(), skeletons.files.end());
    EXPECT_THAT(files["include/n/port.hpp"], HasSubstr("#include \"n/result.hpp\"\n"));
    EXPECT_THAT(files["include/n/result.hpp"], Not(HasSubstr("#include \"n/")));
    EXPECT_THAT(files["include/n/server.hpp"], HasSubstr("#include \"n/base.hpp\"\n#include \"n/result.hpp\"\n"));
    EXPECT_THAT(files["include/n/base.hpp"], Not(HasSubstr("server.hpp"))) << "that header includes this one";
}

TEST(CSkeleton, members_of_a_class_keep_their_kind) {
    const auto text = only_file(declare(
        {{"Table", "a.hpp",
          "struct Table { unsigned flags : 3; int (*hook)(int); std::function<int(int)> call; int limit = most(3); struct Row { int n; int size() const; }; "
          "enum class Kind : char { a, b }; static_assert(sizeof(int) > 1); int find(int key, int from = 0) const; friend bool operator==(const Table& a, const Table& b); "
          "auto operator<=>(const Table&) const = default; virtual void close() = 0; };"}}));
    for (const auto* line :
         {"    unsigned flags : 3;\n", "    int (*hook)(int);\n", "    std::function<int(int)> call;\n",
          "    int limit = most(3);\n", "    enum class Kind : char { a, b };\n", "    static_assert(sizeof(int) > 1);\n",
          "    auto operator<=>(const Table&) const = default;\n", "    virtual void close() = 0;\n",
          "    int size() const {\n        throw", "    int find(int key, int from = 0) const {\n",
          "    friend bool operator==(const Table& a, const Table& b) {\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
    EXPECT_THAT(text, HasSubstr("#include <compare>\n#include <functional>\n#include <stdexcept>\n"));
}

TEST(CSkeleton, a_specialization_in_std_names_its_namespace) {
    const auto text =
        only_file(declare({{"n::Point", "a.hpp", "struct Point { int x; };"},
                           {"std::hash<n::Point>", "a.hpp",
                            "template <> struct std::hash<n::Point> { std::size_t operator()(const n::Point& p) const; };"},
                           {"n::norm", "a.hpp", "int norm(const Point& p)"}}));
    EXPECT_THAT(text, HasSubstr("}  // namespace n\n\ntemplate <> struct std::hash<n::Point> {\n    std::size_t operator()("));
    EXPECT_THAT(text, HasSubstr("namespace n {\n\ninline int norm(const Point& p) {\n"));
}

TEST(CSkeleton, a_template_may_have_defaults_and_constraints) {
    EXPECT_THAT(only_file(declare({{"f", "a.hpp", "template <typename T = int, int N = 3> T f(T value)"}})),
                HasSubstr("\ntemplate <typename T = int, int N = 3> T f(T value) {\n"));
    EXPECT_THAT(only_file(declare({{"f", "a.hpp", "template <typename T> requires (sizeof(T) > 1) T f(T value)"}})),
                HasSubstr(" requires (sizeof(T) > 1) T f(T value) {\n"));
    EXPECT_THAT(only_file(declare({{"f", "a.hpp", "[[nodiscard]] int f()"}})), HasSubstr("\n[[nodiscard]] inline int f() {\n"));
    EXPECT_THAT(only_file(declare({{"Number", "a.hpp", "template <typename T> concept Number = std::integral<T>"}})),
                HasSubstr("#include <concepts>\n\ntemplate <typename T> concept Number = std::integral<T>;\n"));
    EXPECT_THAT(only_file(declare({{"f", "a.hpp", "std::function<void(int)> f(std::function<void(int)> next)"}})),
                HasSubstr("\ninline std::function<void(int)> f(std::function<void(int)> next) {\n"));
    EXPECT_THAT(only_file(declare({{"P::operator==", "a.hpp", "bool operator==(const P&) const = default;"},
                                   {"P", "a.hpp", "struct alignas(16) P { int x; };"}})),
                HasSubstr("    bool operator==(const P&) const = default;\n"));
}

TEST(CSkeleton, c_declares_tables_of_functions_macros_and_variables) {
    const auto text = only_file(write_c_skeletons(
        {{"ops", "ops.h", "struct ops { int (*open)(const char *path); void *context; };"},
         {"MAX", "ops.h", "#define MAX(a, b) \\\n    ((a) > (b) ? (a) : (b))\n"},
         {"limit", "ops.h", "extern const int limit;"},
         {"names", "ops.h", "extern const char *const names[];"},
         {"log_to", "ops.h", "int log_to(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));"}},
        {}, {"main.c"}, c_marker));
    EXPECT_THAT(text, HasSubstr("\nstruct ops { int (*open)(const char *path); void *context; };\n"));
    EXPECT_THAT(text, HasSubstr("\n#define MAX(a, b) \\\n    ((a) > (b) ? (a) : (b))\n"));
    EXPECT_THAT(text, HasSubstr("\nextern const int limit;\n"));
    EXPECT_THAT(text, HasSubstr("\nextern const char *const names[];\n"));
    EXPECT_THAT(text, HasSubstr("\nstatic inline int log_to(FILE *out, const char *format, ...) {\n"));
}

TEST(CSkeleton, a_template_and_an_operator_are_functions) {
    EXPECT_THAT(only_file(declare({{"n::clamp", "a.hpp", "template <typename T> T clamp(T value, T low)"}})),
                HasSubstr("\ntemplate <typename T> T clamp(T value, T low) {\n"));
    EXPECT_THAT(only_file(declare({{"n::operator==", "a.hpp", "bool operator==(const P& a, const P& b) noexcept"}})),
                HasSubstr("inline bool operator==(const P& a, const P& b) noexcept {\n"));
}

TEST(CSkeleton, names_an_interface_that_cannot_be_declared) {
    EXPECT_THAT(problem_of({{"f", "a.hpp", "int f() { return 1; }"}}), HasSubstr("body"));
    EXPECT_THAT(problem_of({{"f", "a.hpp", "int g()"}}), HasSubstr("`g`"));
    EXPECT_THAT(problem_of({{"f", "a.hpp", "int f(); int g()"}}), HasSubstr("more than one"));
    EXPECT_THAT(problem_of({{"f", "../a.hpp", "int f()"}}), HasSubstr("inside the project"));
    EXPECT_THAT(problem_of({{"f", "a.py", "int f()"}}), HasSubstr("neither a header"));
    EXPECT_THAT(problem_of({{"f", "a.hpp", "int f"}}), HasSubstr("variable without a value"));
    EXPECT_THAT(problem_of({{"f", "a.hpp", "int& (f)"}}), HasSubstr("`int& (f)`"));
    EXPECT_THAT(problem_of({{"f-g", "a.hpp", "int f()"}}), HasSubstr("not a name"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
