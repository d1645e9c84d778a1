// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gates/stubs/c_declarations.hpp"
#include "gates/stubs/c_types.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Each declaration as `scope::name: type(parameters)`.
std::vector<std::string> read(std::string_view text) {
    std::vector<std::string> lines;
    for (const auto& each : read_c_declarations(text)) {
        std::string line;
        for (const auto& part : each.scope) { line += part + "::"; }
        line += each.name;
        if (each.kind == CDeclaration::Kind::type || each.kind == CDeclaration::Kind::enumeration) {
            line += each.body.empty() ? ";" : " {}";
        }
        if (!each.type.empty()) { line += ": " + each.type; }
        if (each.kind == CDeclaration::Kind::function) {
            line += " (";
            for (const auto& parameter : each.parameters) {
                line += (line.ends_with('(') ? "" : ", ") + parameter.type +
                        (parameter.default_value.empty() ? "" : " = " + parameter.default_value);
            }
            line += each.is_const ? ") const" : ")";
        }
        lines.push_back(line);
    }
    return lines;
}

CDeclaration only(std::string_view text) {
    const auto all = read_c_declarations(text);
    EXPECT_EQ(all.size(), 1U) << text;
    return all.empty() ? CDeclaration() : all.front();
}

TEST(CDeclarations, functions_have_their_types_and_parameters) {
    EXPECT_THAT(
        read("static inline const char *name(int, const struct point *p /* where */, char *argv[], int (*use)(int, void *));"),
        ElementsAre("name: const char* (int, const point*, char**, int ( * ) ( int , void * ))"));
    EXPECT_THAT(read("unsigned long int f(void);"), ElementsAre("f: unsigned long ()"));
    EXPECT_THAT(
        read("template <typename T> auto f(T&& a, std::map<int, T> m = {}) noexcept(true) -> std::vector<T> { return {}; }"),
        ElementsAre("f: vector < $0 > ($0&&, map < int , $0 > = {})"));
    EXPECT_THAT(read("[[nodiscard]] EXPORT(2) std::string\nf(const std::string& text = \"a;{\");"),
                ElementsAre("f: string (const string& = \"a;{\")"));
}

TEST(CDeclarations, a_definition_is_in_the_scope_that_it_names) {
    EXPECT_THAT(
        read(
            "namespace a { template <class T> int Grid<T>::at(int place) const { if (place) { return 1; } return 0; } }\nint b::c::f() {}"),
        ElementsAre("a::Grid::at: int (int) const", "b::c::f: int ()"));
    EXPECT_THAT(read("a::B::B(int n) : n_(n), list{1, 2} { }\na::B::~B() = default;\nint x;"),
                ElementsAre("a::B::B (int)", "a::B::~B ()", "x: int"));
}

TEST(CDeclarations, classes_have_members_with_their_access) {
    const auto all = read_c_declarations(
        "class EXPORT Cart final : public virtual Base<int>, private other::Thing {\n    Q_OBJECT\npublic slots:\n    explicit Cart(int n);\nprotected:\n"
        "    struct Item { int n = 0; } item_;\n    bool operator()(int) const;\n    explicit operator bool() const;\n    friend int peek(const Cart&);\n};\n");
    ASSERT_EQ(all.size(), 7U);
    EXPECT_THAT(all[0].bases, ElementsAre("Base", "Thing"));
    EXPECT_EQ(all[0].access, "protected") << "at its end";
    EXPECT_EQ(all[1].name, "Cart");
    EXPECT_EQ(all[1].access, "public");
    EXPECT_EQ(all[3].name, "n");
    EXPECT_EQ(all[3].value, "= 0");
    EXPECT_EQ(all[4].name, "operator()");
    EXPECT_EQ(all[4].access, "protected");
    EXPECT_EQ(all[5].name, "operator bool");
    EXPECT_TRUE(all[6].is_friend);
    EXPECT_THAT(all[6].scope, IsEmpty());
}

TEST(CDeclarations, types_of_c_have_their_names) {
    EXPECT_THAT(
        read(
            "typedef struct { int n; } point;\ntypedef struct node { struct node *next; } node_t;\ntypedef int (*handler)(int);\nstruct open;\nstruct open *made(void);"),
        ElementsAre("point {}", "point::n: int", "node_t: node", "node {}", "node::next: node*", "handler: int ( * ) ( int )",
                    "open;", "made: open* ()"));
    const auto kind = only("enum class kind : unsigned { one, two = f(1, 2), /* no */ three = 'c', };");
    ASSERT_EQ(kind.enumerators.size(), 3U);
    EXPECT_EQ(kind.enumerators[1].value, "f(1, 2)");
    EXPECT_EQ(kind.enumerators[2].name, "three");
    EXPECT_EQ(kind.enumerators[2].value, "'c'");
}

TEST(CDeclarations, unnamed_namespaces_and_static_are_local) {
    const auto all = read_c_declarations(
        "namespace a { namespace { int f(); } }\nstatic int g();\nextern \"C\" { int h(); }\nextern \"C\" int i();\n");
    ASSERT_EQ(all.size(), 4U);
    EXPECT_TRUE(all[0].is_local);
    EXPECT_THAT(all[0].scope, ElementsAre("a"));
    EXPECT_TRUE(all[1].is_local);
    EXPECT_FALSE(all[2].is_local);
    EXPECT_EQ(all[3].name, "i");
}

TEST(CDeclarations, directives_and_macros_are_skipped) {
    EXPECT_THAT(
        read(
            "#define f(x) \\\n    { x\nBEGIN_DECLS\nint a(void);\nDECLARE(thing)\nint b(void);\n#if 0\nint c(void);\n#endif\nEND_DECLS\n"),
        ElementsAre("a: int ()", "b: int ()"));
    EXPECT_THAT(read("#ifdef A\nint f(int a) {\n#else\nint f(long a) {\n#endif\n    return 0;\n}\nint g();"),
                ElementsAre("f: int (int)", "g: int ()"))
        << "the branches share a brace";
    EXPECT_THAT(read("#ifdef A\nint f(int);\n#else\nint f(long);\n#endif\n"), ElementsAre("f: int (int)", "f: int (long)"));
}

TEST(CDeclarations, the_places_are_those_of_the_text) {
    const std::string text = "/* a */ virtual inline std::string  name(int a = 1) const override; // b";
    const auto name = only(text);
    EXPECT_EQ(text.substr(name.range.begin, name.range.end - name.range.begin),
              "virtual inline std::string  name(int a = 1) const override;");
    EXPECT_EQ(text.substr(name.result.begin, name.result.end - name.result.begin), "std::string");
    EXPECT_EQ(text.substr(name.parameter_list.begin, name.parameter_list.end - name.parameter_list.begin), "(int a = 1)");
    EXPECT_EQ(text.substr(name.tail.begin, name.tail.end - name.tail.begin), "const override");
    EXPECT_TRUE(name.overrides);
}

TEST(CDeclarations, text_that_is_no_code_ends_the_reading) {
    for (const auto* text : {"int f(", "class {", "template <", "}}}", "namespace a {", "int a = {", "enum { a", "operator",
                             "typedef", "::", "#if", "f(int) :", "x<", "friend", "a b c d"}) {
        EXPECT_LE(read_c_declarations(text).size(), 2U) << text;
    }
}

TEST(CDeclarations, scopes_nested_without_end_are_not_read_to_the_end) {
    constexpr int levels = 200'000;
    for (const std::string_view opening : {"namespace a {\n", "struct a {\n", "typedef struct {\n", "extern \"C\" {\n"}) {
        std::string text;
        for (int level = 0; level < levels; ++level) { text += opening; }
        EXPECT_LE(read_c_declarations(text).size(), 200U) << opening;
    }
}

TEST(CDeclarations, a_type_has_one_spelling) {
    EXPECT_EQ(normal_c_type("char const *"), normal_c_type("const char*"));
    EXPECT_EQ(normal_c_type("const int"), normal_c_type("int"));
    EXPECT_EQ(normal_c_type("int *const"), normal_c_type("int*"));
    EXPECT_EQ(normal_c_type("long unsigned"), normal_c_type("unsigned long int"));
    EXPECT_EQ(normal_c_type("std::vector<a::B>"), normal_c_type("vector < B >"));
    EXPECT_EQ(normal_c_type("struct point *"), normal_c_type("point *"));
    EXPECT_EQ(normal_c_type("int[3]"), normal_c_type("int*"));
    EXPECT_NE(normal_c_type("const char*"), normal_c_type("char*"));
    EXPECT_NE(normal_c_type("const T&"), normal_c_type("T&"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
