// SPDX-License-Identifier: Apache-2.0
// What a specification changes in existing code of C and C++ compiles, and fails with the marker when it is called.
#include <ostream>

#include <gmock/gmock.h>

#include "c_skeletons.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct ExistingCase {
    const char* name;
    CFiles files;
    std::vector<SkeletonInterface> interfaces;
    std::string main;     ///< C++: the statements of the test. C: the whole program.
    const char* expects;  ///< In the program's output.
};
void PrintTo(const ExistingCase& each, std::ostream* out) { *out << each.name; }

/// A program that calls what is declared and prints the message of the exception.
std::string cpp_main(const std::string& included, const std::string& statements) {
    return "#include \"" + included +
           "\"\n#include <cstdio>\n#include <exception>\n#include <memory>\n#include <type_traits>\n\nint main() {\n    try {\n" +
           statements +
           "\n        std::puts(\"returned\");\n    } catch (const std::exception& error) { std::puts(error.what()); }\n}\n";
}
std::string c_main(const std::string& included, const std::string& statements) {
    return "#include \"" + included + "\"\n#include <stdio.h>\n\nint main(void) {\n    " + statements +
           "\n    puts(\"returned\");\n    return 0;\n}\n";
}

class CSkeletonOfExisting : public ::testing::TestWithParam<ExistingCase> {};

TEST_P(CSkeletonOfExisting, compiles_and_is_reached) {
    const auto& each = GetParam();
    const auto done = declare_and_run(each.files, each.interfaces, each.main);
    std::string all;
    for (const auto& [path, text] : done.files) {
        const auto before = each.files.find(path);
        if (before == each.files.end() || before->second != text) { all += "== " + path + "\n" + text; }
    }
    EXPECT_EQ(done.errors, "") << all;
    EXPECT_THAT(done.output, HasSubstr(each.expects)) << all;
}

std::string name_of(const ::testing::TestParamInfo<ExistingCase>& info) { return info.param.name; }

// A C library with a header, a source, and a caller of its functions.
const CFiles c_library{
    {"include/store.h",
     "#ifndef STORE_H\n#define STORE_H\n\n#include <stddef.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n#define STORE_API\n\n"
     "typedef struct store {\n    int items[8];\n    size_t count;\n} store_t;\n\nstruct options { int limit; };\n\n"
     "enum level { LEVEL_LOW, LEVEL_HIGH, LEVEL_COUNT };\n\ntypedef int store_id;\n\n"
     "/* Adds one. */\nSTORE_API void store_add(store_t *store, int item);\n\n/* The sum\n * of all. */\nint store_sum(const store_t *store /* not null */);\n\n"
     "int store_find(const struct store *store,\n               int item,  /* what */\n               size_t from);\n\n"
     "static inline int twice(int value) { return 2 * value; }\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"},
    {"src/store.c",
     "#include \"store.h\"\n\nstatic int limited(int item)\n{\n    return item > 100 ? 100 : item;\n}\n\nvoid store_add(store_t *store, int item)\n{\n    "
     "if (store->count < 8) {\n        store->items[store->count++] = limited(item);\n    }\n}\n\nint store_sum(const store_t *store)\n{\n    int sum = 0;\n    "
     "for (size_t at = 0; at < store->count; ++at) {\n        sum += store->items[at]; /* { */\n    }\n    return sum;\n}\n\n"
     "int store_find(const store_t *store, int item, size_t from)\n{\n    for (size_t at = from; at < store->count; ++at) {\n        if (store->items[at] == item) { return (int)at; }\n    }\n    return -1;\n}\n"},
    {"src/report.c",
     "#include <stdio.h>\n\n#include \"store.h\"\n\nint report(store_t *store);\n\nint report(store_t *store)\n{\n    store_add(store, 3);\n    return printf(\"%d\\n\", store_sum(store));\n}\n\n"
     "int level_number(enum level level);\nint level_number(enum level level)\n{\n    switch (level) {\n    case LEVEL_LOW: return 0;\n    case LEVEL_HIGH: return 1;\n    case LEVEL_COUNT: break;\n    }\n    return -1;\n}\n"}};

ExistingCase in_c(const char* name, std::vector<SkeletonInterface> interfaces, const std::string& statements,
                  const char* expects) {
    return {name, c_library, std::move(interfaces), c_main("store.h", statements), expects};
}

INSTANTIATE_TEST_SUITE_P(
    OfC, CSkeletonOfExisting,
    ::testing::Values(
        in_c("c_void_becomes_bool", {{"store_add", "include/store.h", "bool store_add(store_t *store, int item);"}},
             "store_t store = {0}; bool added = store_add(&store, 1); (void)added;", "agentforge: skeleton of store_add"),
        in_c("c_int_becomes_long", {{"store_sum", "include/store.h", "long store_sum(const store_t *store)"}},
             "store_t store = {0}; long sum = store_sum(&store); (void)sum;", "agentforge: skeleton of store_sum"),
        in_c("c_result_is_a_pointer",
             {{"store_find", "include/store.h", "const int *store_find(const store_t *store, int item, size_t from)"}},
             "store_t store = {0}; const int *found = store_find(&store, 1, 0); (void)found;",
             "agentforge: skeleton of store_find"),
        in_c("c_source_file_is_named",
             {{"store_find", "src/store.c", "size_t store_find(const store_t *store, int item, size_t from)"}},
             "store_t store = {0}; size_t found = store_find(&store, 1, 0); (void)found;", "agentforge: skeleton of store_find"),
        in_c("c_header_and_source_are_named",
             {{"store_sum", "include/store.h", "long store_sum(const store_t *store)"},
              {"store_sum", "src/store.c", "long store_sum(const store_t *store)"}},
             "store_t store = {0}; long sum = store_sum(&store); (void)sum;", "agentforge: skeleton of store_sum"),
        in_c("c_parameter_is_added",
             {{"store_find", "include/store.h", "int store_find(const store_t *store, int item, size_t from, size_t to)"}},
             "store_t store = {0}; printf(\"%d \", store_find(&store, 1, 0, 0));", "-1 returned"),
        in_c("c_parameter_has_a_new_type",
             {{"range", "include/store.h", "struct range { size_t from; size_t to; }"},
              {"store_find", "include/store.h",
               "int store_find(const store_t *store, int item, size_t from, const struct range *range)"}},
             "store_t store = {0}; struct range all = {0, 8}; printf(\"%d \", store_find(&store, 1, 0, &all));", "-1 returned"),
        in_c("c_parameter_is_removed", {{"store_find", "include/store.h", "int store_find(const store_t *store, int item)"}},
             "store_t store = {0}; return store_find(&store, 1);", "agentforge: skeleton of store_find"),
        in_c("c_parameter_has_another_type", {{"store_add", "include/store.h", "void store_add(store_t *store, long item)"}},
             "store_t store = {0}; store_add(&store, 1L);", "returned"),
        in_c("c_static_inline", {{"twice", "include/store.h", "long twice(int value)"}}, "return (int)twice(2);",
             "agentforge: skeleton of twice"),
        in_c("c_parameters_become_void", {{"twice", "include/store.h", "int twice(void)"}}, "return twice();",
             "agentforge: skeleton of twice"),
        in_c("c_static_function_becomes_public", {{"limited", "include/store.h", "int limited(int item);"}},
             "printf(\"%d \", limited(200));", "100 returned"),
        in_c("c_new_function_beside_cplusplus", {{"store_clear", "include/store.h", "void store_clear(store_t *store);"}},
             "store_t store = {0}; store_clear(&store);", "agentforge: skeleton of store_clear"),
        in_c("c_field_of_a_typedef", {{"store_t.limit", "include/store.h", "int limit;"}},
             "store_t store = {.limit = 3}; return store.limit - 3;", ""),
        in_c("c_field_of_a_struct", {{"options::color", "include/store.h", "const char *color"}},
             "struct options options = {.color = \"red\"}; puts(options.color);", "red"),
        in_c("c_struct_with_more_fields",
             {{"options", "include/store.h", "struct options { int limit; unsigned flags : 3; int (*hook)(int); };"}},
             "struct options options = {.flags = 5, .hook = twice}; printf(\"%u %d \", options.flags, options.hook(2));",
             "5 4 returned"),
        in_c("c_enumerator",
             {{"LEVEL_MIDDLE", "include/store.h", "enum level { LEVEL_LOW, LEVEL_MIDDLE, LEVEL_HIGH, LEVEL_COUNT }"}},
             "printf(\"%d %d \", LEVEL_MIDDLE, LEVEL_COUNT);", "1 3 returned"),
        in_c("c_enumerator_alone", {{"LEVEL_TOP", "include/store.h", "LEVEL_TOP"}}, "printf(\"%d %d \", LEVEL_TOP, LEVEL_COUNT);",
             "2 3 returned"),
        in_c("c_typedef_has_another_type", {{"store_id", "include/store.h", "typedef long long store_id;"}},
             "printf(\"%d \", (int)sizeof(store_id));", "8 returned"),
        in_c("c_same_in_another_style",
             {{"store_find", "include/store.h", "extern int store_find(const struct store* s, int item, size_t from);"}},
             "store_t store = {0}; printf(\"%d \", store_find(&store, 1, 0));", "-1 returned")),
    name_of);

// A library of C++ with templates, virtual functions and callers.
const CFiles cpp_library{
    {"include/shop/cart.hpp",
     "#ifndef SHOP_CART_HPP\n#define SHOP_CART_HPP\n\n#include <map>\n#include <optional>\n#include <string>\n#include <vector>\n\nnamespace shop {\n\n"
     "#define SHOP_EXPORT __attribute__((visibility(\"default\")))\n\n"
     "/// How it is paid.\nenum class Payment : unsigned char {\n    cash,  ///< Coins.\n    card,\n};\n\nusing Cents = int;\ntypedef std::map<std::string, int> Stock;\n\n"
     "constexpr int most_items = 10;\n\n"
     "class SHOP_EXPORT Cart final {\npublic:\n    struct Item {\n        std::string name;\n        Cents price = 0;\n    };\n    class Iterator;\n\n"
     "    Cart() = default;\n    explicit Cart(std::size_t limit) noexcept : limit_(limit) {}\n    Cart(const Cart&) = default;\n    ~Cart();\n\n"
     "    void add(Item item);\n    [[nodiscard]] Cents total() const noexcept;\n    const Item& at(std::size_t place) const { return items_[place]; }\n"
     "    bool remove(const std::string& name, bool all = false);\n    static Cart empty();\n    auto size() const -> std::size_t { return items_.size(); }\n"
     "    bool operator==(const Cart& other) const { return items_.size() == other.items_.size(); }\n"
     "    friend int compare(const Cart& one, const Cart& other);\n\nprivate:\n    void check(int place) const;\n    std::vector<Item> items_;\n    std::size_t limit_ = 10;\n};\n\n"
     "int compare(const Cart& one, const Cart& other);\n\n"
     "inline std::string title(const std::string& name) { return \"Cart of \" + name; }\n\n"
     "[[nodiscard]] SHOP_EXPORT std::string\nreceipt(const Cart& cart,  // what\n        const std::string& title = \"Receipt\",\n        int width = 40);\n\n"
     "template <typename T>\nT largest(const std::vector<T>& values) {\n    T found = values.front();\n    for (const T& each : values) { found = each > found ? each : found; }\n    return found;\n}\n\n"
     "constexpr int square(int value) { return value * value; }\n\n}  // namespace shop\n\n#endif\n"},
    {"include/shop/shape.hpp",
     "#pragma once\n\n#include <string>\n\nnamespace shop::shapes {\n\nclass Shape {\npublic:\n    virtual ~Shape() = default;\n    virtual void draw(int scale) const = 0;\n    virtual std::string name() const { return \"shape\"; }\n};\n\n"
     "class Square : public Shape {\npublic:\n    void draw(int scale) const override;\n    std::string name() const override { return \"square\"; }\n};\n\n"
     "struct Dot final : Square {\n    void draw(int scale) const override { static_cast<void>(scale); }\n};\n\n}  // namespace shop::shapes\n"},
    {"include/shop/pool.hpp",
     "#pragma once\n\n#include <cstddef>\n#include <vector>\n\nnamespace shop {\n\ntemplate <typename T, std::size_t N = 8>\nclass Pool {\npublic:\n    using Handle = std::size_t;\n    Pool() = default;\n    Handle add(T value);\n"
     "    void drop(Handle handle) { values_[handle] = T(); }\n    T& at(Handle handle) { return values_[handle]; }\n\nprivate:\n    std::vector<T> values_;\n};\n\n"
     "template <typename T, std::size_t N>\ntypename Pool<T, N>::Handle Pool<T, N>::add(T value) {\n    values_.push_back(value);\n    return values_.size() - 1;\n}\n\n}  // namespace shop\n"},
    {"src/cart.cpp",
     "#include \"shop/cart.hpp\"\n\n#include <utility>\n\nnamespace shop {\nnamespace {\n\nconst int bonus = 1;\n\nint rounded(int cents) { return cents / 10 * 10 + bonus; }\n\n}  // namespace\n\n"
     "Cart::~Cart() = default;\n\nvoid Cart::add(Item item) {\n    check(static_cast<int>(items_.size()));\n    items_.push_back(std::move(item));\n}\n\nCents Cart::total() const noexcept {\n    int sum = 0;\n    for (const auto& each : items_) { sum += rounded(each.price); }\n    return sum;\n}\n\n"
     "bool Cart::remove(const std::string& name, bool all) {\n    for (auto at = items_.begin(); at != items_.end(); ++at) {\n        if (at->name == name || all) {\n            items_.erase(at);\n            return true;\n        }\n    }\n    return false;\n}\n\n"
     "Cart Cart::empty() { return Cart(); }\n\nvoid Cart::check(int place) const { static_cast<void>(place); }\n\nint compare(const Cart& one, const Cart& other) { return static_cast<int>(one.items_.size()) - static_cast<int>(other.items_.size()); }\n\n}  // namespace shop\n"},
    {"src/receipt.cpp",
     "#include \"shop/cart.hpp\"\n\nstd::string shop::receipt(const Cart& cart, const std::string& title, int width) {\n    std::string text = title + std::string(static_cast<std::size_t>(width) / 40, ' ');\n    text += std::to_string(cart.total());\n    return text;\n}\n\n"
     "namespace shop {\n\nint checkout(Cart& cart);\nint checkout(Cart& cart) {\n    cart.add({\"bag\", 10});\n    cart.remove(\"bag\");\n    return receipt(cart).empty() ? 0 : cart.total();\n}\n\n}  // namespace shop\n"},
    {"src/shape.cpp",
     "#include \"shop/shape.hpp\"\n\nnamespace shop::shapes {\n\nvoid Square::draw(int scale) const {\n    if (scale > 3) { return; }\n}\n\n}  // namespace shop::shapes\n"}};

const char* const cart = "include/shop/cart.hpp";
const char* const shape = "include/shop/shape.hpp";
const char* const pool = "include/shop/pool.hpp";

ExistingCase in_cpp(const char* name, std::vector<SkeletonInterface> interfaces, const std::string& statements,
                    const char* expects) {
    return {name, cpp_library, interfaces, cpp_main(std::string(interfaces.back().file).substr(8), statements), expects};
}

INSTANTIATE_TEST_SUITE_P(
    OfFunctions, CSkeletonOfExisting,
    ::testing::Values(
        in_cpp("void_becomes_bool", {{"shop::Cart::add", cart, "bool add(Item item)"}},
               "shop::Cart c; bool added = c.add({\"tea\", 3}); static_cast<void>(added);",
               "agentforge: skeleton of shop::Cart::add"),
        in_cpp("a_nested_type_is_the_result",
               {{"shop::Cart::remove", cart, "std::optional<Item> remove(const std::string& name, bool all = false);"}},
               "shop::Cart c; auto item = c.remove(\"tea\"); static_cast<void>(item);",
               "agentforge: skeleton of shop::Cart::remove"),
        in_cpp("a_parameter_has_a_new_type",
               {{"shop::Style", cart, "struct Style { std::string currency = \"EUR\"; Payment payment = Payment::cash; }"},
                {"shop::title", cart, "std::string title(const std::string& name, const Style& style = {})"}},
               "std::puts(shop::title(\"tea\", shop::Style{\"USD\", shop::Payment::card}).c_str());", "Cart of tea"),
        in_cpp("noexcept_is_given_up", {{"shop::Cart::total", cart, "[[nodiscard]] long total() const"}},
               "shop::Cart c; static_cast<void>(c.total());", "agentforge: skeleton of shop::Cart::total"),
        in_cpp("noexcept_stays", {{"shop::Cart::total", cart, "long total() const noexcept"}},
               "shop::Cart c; static_cast<void>(c.total());", "agentforge: skeleton of shop::Cart::total"),
        in_cpp("a_qualified_signature", {{"total", cart, "long shop::Cart::total() const"}},
               "shop::Cart c; static_cast<void>(c.total());", "agentforge: skeleton of shop::Cart::total"),
        in_cpp("a_static_method", {{"shop::Cart::empty", cart, "static std::unique_ptr<Cart> empty();"}},
               "auto c = shop::Cart::empty();", "agentforge: skeleton of shop::Cart::empty"),
        in_cpp("a_trailing_result", {{"shop::Cart::size", cart, "auto size() const -> int"}},
               "shop::Cart c; int n = c.size(); static_cast<void>(n);", "agentforge: skeleton of shop::Cart::size"),
        in_cpp("an_operator", {{"shop::Cart::operator==", cart, "std::optional<bool> operator==(const Cart& other) const"}},
               "shop::Cart c; auto same = c == c; static_cast<void>(same.value());",
               "agentforge: skeleton of shop::Cart::operator=="),
        in_cpp("another_operator_beside", {{"shop::Cart::operator[]", cart, "const Item& operator[](std::size_t place) const"}},
               "shop::Cart c; static_cast<void>(c[0]);", "agentforge: skeleton of shop::Cart::operator[]"),
        in_cpp("a_call_operator", {{"shop::Cart::operator()", cart, "int operator()(int factor) const"}}, "shop::Cart c; c(2);",
               "agentforge: skeleton of shop::Cart::operator()"),
        in_cpp("a_conversion", {{"shop::Cart::operator bool", cart, "explicit operator bool() const"}},
               "shop::Cart c; static_cast<void>(bool(c));", "agentforge: skeleton of shop::Cart::operator bool"),
        in_cpp("a_friend", {{"shop::compare", cart, "long compare(const Cart& one, const Cart& other)"}},
               "shop::Cart c; static_cast<void>(compare(c, c));", "agentforge: skeleton of shop::compare"),
        in_cpp("a_free_function_over_lines",
               {{"shop::receipt", cart,
                 "std::vector<std::string> receipt(const Cart& cart, const std::string& title = \"Receipt\", int width = 40);"}},
               "shop::Cart c; static_cast<void>(shop::receipt(c).size());", "agentforge: skeleton of shop::receipt"),
        in_cpp("a_default_is_kept",
               {{"shop::receipt", cart,
                 "std::optional<std::string> receipt(const Cart& cart, const std::string& title, int width)"}},
               "shop::Cart c; static_cast<void>(shop::receipt(c, \"x\"));", "agentforge: skeleton of shop::receipt"),
        in_cpp(
            "a_parameter_with_a_default_is_added",
            {{"shop::receipt", cart,
              "std::string receipt(const Cart& cart, const std::string& title = \"Receipt\", int width = 40, const std::string& currency = \"EUR\")"}},
            "shop::Cart c; std::puts(shop::receipt(c, \"Bill\", 0, \"USD\").c_str());", "Bill0"),
        in_cpp("an_inline_function", {{"shop::title", cart, "std::optional<std::string> title(const std::string& name)"}},
               "static_cast<void>(shop::title(\"x\"));", "agentforge: skeleton of shop::title"),
        in_cpp("a_parameter_by_view", {{"shop::title", cart, "std::string title(std::string_view name)"}},
               "std::puts(shop::title(\"x\").c_str());", "agentforge: skeleton of shop::title"),
        in_cpp("a_function_template",
               {{"shop::largest", cart, "template <typename T> std::optional<T> largest(const std::vector<T>& values)"}},
               "static_cast<void>(shop::largest<int>({1, 2}).value());", "agentforge: skeleton of shop::largest"),
        in_cpp("a_function_template_in_other_words",
               {{"shop::largest", cart, "template <class Value> std::optional<Value> largest(const std::vector<Value>& v)"}},
               "static_cast<void>(shop::largest<int>({1, 2}).value());", "agentforge: skeleton of shop::largest"),
        in_cpp("constexpr_is_given_up", {{"shop::square", cart, "constexpr long square(int value)"}},
               "static_cast<void>(shop::square(2));", "agentforge: skeleton of shop::square"),
        in_cpp("an_overload", {{"shop::title", cart, "std::string title(const Cart& cart)"}},
               "shop::Cart c; std::puts(shop::title(\"x\").c_str()); shop::title(c);",
               "Cart of x\nagentforge: skeleton of shop::title"),
        in_cpp("an_overload_of_a_method", {{"shop::Cart::at", cart, "Item& at(std::size_t place)"}},
               "shop::Cart c; static_cast<void>(c.at(0));", "agentforge: skeleton of shop::Cart::at"),
        in_cpp("overloads_that_the_specification_names",
               {{"shop::title", cart, "std::string title(const std::string& name)"},
                {"shop::title", cart, "std::string title(const std::string& name, int width)"}},
               "std::puts(shop::title(\"x\").c_str()); shop::title(\"x\", 2);", "Cart of x\nagentforge: skeleton of shop::title"),
        in_cpp("a_method_becomes_const", {{"shop::Cart::remove", cart, "bool remove(const std::string& name, bool all) const"}},
               "const shop::Cart c; static_cast<void>(c.remove(\"x\"));", "agentforge: skeleton of shop::Cart::remove"),
        in_cpp("a_constructor_has_another_parameter",
               {{"shop::Cart::Cart", cart, "explicit Cart(std::size_t limit, std::string owner)"}},
               "shop::Cart c(3, \"me\"); std::puts(\"made\");", "agentforge: skeleton of shop::Cart::Cart"),
        in_cpp("a_copy_is_deleted", {{"shop::Cart::Cart", cart, "Cart(const Cart& other) = delete"}},
               "static_assert(!std::is_copy_constructible_v<shop::Cart>); std::puts(\"deleted\");", "deleted"),
        in_cpp("the_source_file_is_named",
               {{"shop::Cart::total", "src/cart.cpp", "long total() const"}, {"shop::Cart::add", cart, "int add(Item item)"}},
               "shop::Cart c; static_cast<void>(c.total());", "agentforge: skeleton of shop::Cart::total"),
        in_cpp("a_default_is_added",
               {{"shop::Cart::remove", cart, "bool remove(const std::string& name = \"\", bool all = false)"}},
               "shop::Cart c; std::puts(c.remove() ? \"some\" : \"none\");", "none"),
        in_cpp("a_comment_in_the_signature", {{"shop::title", cart, "long title(const std::string& name);  // how long it is"}},
               "static_cast<void>(shop::title(\"x\"));", "agentforge: skeleton of shop::title"),
        in_cpp("one_of_two_by_const",
               {{"shop::Pool::at", pool, "const T& at(Handle handle) const"}, {"shop::Pool::at", pool, "T* at(Handle handle)"}},
               "const shop::Pool<int> p; static_cast<void>(p.at(0));", "agentforge: skeleton of shop::Pool::at"),
        in_cpp("a_local_function_becomes_public", {{"shop::checkout", cart, "int checkout(Cart& cart)"}},
               "shop::Cart c; shop::checkout(c);", "returned")),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    OfClasses, CSkeletonOfExisting,
    ::testing::Values(
        in_cpp("a_pure_virtual_function", {{"shop::shapes::Shape::draw", shape, "virtual bool draw(int scale) const = 0"}},
               "shop::shapes::Square s; const shop::shapes::Shape& all = s; static_cast<void>(all.draw(1));",
               "agentforge: skeleton of shop::shapes::Square::draw"),
        in_cpp("an_overload_of_a_virtual_function",
               {{"shop::shapes::Shape::name", shape, "virtual std::string name(bool plural) const"}},
               "shop::shapes::Dot s; const shop::shapes::Shape& all = s; std::puts(all.name().c_str()); all.name(true);",
               "square\nagentforge: skeleton of shop::shapes::Shape::name"),
        in_cpp("a_final_override", {{"shop::shapes::Dot::name", shape, "std::string name() const override"}},
               "shop::shapes::Dot d; d.name();", "agentforge: skeleton of shop::shapes::Dot::name"),
        in_cpp("a_method_of_a_class_template", {{"shop::Pool::size", pool, "std::size_t size() const"}},
               "shop::Pool<int> p; static_cast<void>(p.size());", "agentforge: skeleton of shop::Pool::size"),
        in_cpp("a_method_of_a_class_template_with_arguments",
               {{"shop::Pool<T, N>::size", pool, "template <typename T, std::size_t N> std::size_t Pool<T, N>::size() const"}},
               "shop::Pool<int> p; static_cast<void>(p.size());", "agentforge: skeleton of shop::Pool::size"),
        in_cpp("a_method_template_of_a_class_template",
               {{"shop::Pool::visit", pool, "template <typename F> void visit(F&& use) const"}},
               "shop::Pool<int> p; p.visit([](int) {});", "agentforge: skeleton of shop::Pool::visit"),
        in_cpp("a_result_of_a_class_template", {{"shop::Pool::drop", pool, "bool drop(Handle handle)"}},
               "shop::Pool<int> p; static_cast<void>(p.drop(0));", "agentforge: skeleton of shop::Pool::drop"),
        in_cpp("a_definition_behind_a_class_template", {{"shop::Pool::add", pool, "std::pair<Handle, bool> add(T value)"}},
               "shop::Pool<int> p; static_cast<void>(p.add(1).second);", "agentforge: skeleton of shop::Pool::add"),
        in_cpp("a_field", {{"shop::Cart::Item::count", cart, "int count = 1;"}},
               "shop::Cart::Item item{\"tea\", 3, 7}; std::printf(\"%d \", item.count);", "7 returned"),
        in_cpp("a_field_with_another_type", {{"shop::Cart::Item::price", cart, "std::optional<long> price"}},
               "shop::Cart::Item item; std::puts(item.price ? \"some\" : \"none\");", "none"),
        in_cpp("a_constant_of_a_class", {{"shop::Cart::most", cart, "static constexpr int most = 3"}},
               "std::printf(\"%d \", shop::Cart::most);", "3 returned"),
        in_cpp("a_constant_beside_its_use", {{"shop::least_items", cart, "constexpr int least_items = most_items / 10"}},
               "std::printf(\"%d \", shop::least_items);", "1 returned"),
        in_cpp("an_enumerator", {{"shop::Payment::invoice", cart, "invoice"}},
               "std::printf(\"%d \", static_cast<int>(shop::Payment::invoice));", "2 returned"),
        in_cpp("an_enumerator_with_a_value", {{"shop::Payment::invoice", cart, "Payment::invoice = 7"}},
               "std::printf(\"%d \", static_cast<int>(shop::Payment::invoice));", "7 returned"),
        in_cpp(
            "an_enum_with_more_enumerators",
            {{"shop::Payment", cart, "enum class Payment : unsigned char { cash, voucher, card, invoice = 9 };"}},
            "std::printf(\"%d %d %d \", static_cast<int>(shop::Payment::voucher), static_cast<int>(shop::Payment::card), static_cast<int>(shop::Payment::invoice));",
            "1 2 9 returned"),
        in_cpp("an_alias_has_another_type", {{"shop::Cents", cart, "using Cents = long long"}},
               "std::printf(\"%d \", static_cast<int>(sizeof(shop::Cents)));", "8 returned"),
        in_cpp("a_typedef_has_another_type", {{"shop::Stock", cart, "using Stock = std::map<std::string, double>"}},
               "shop::Stock s; s[\"x\"] = 0.5; std::printf(\"%.1f \", s[\"x\"]);", "0.5 returned"),
        in_cpp(
            "a_class_with_more_members",
            {{"shop::Cart", cart,
              "class Cart { public: struct Owner { std::string name; bool known() const; }; void add(Item item); long total() const; std::size_t room() const; void clear(); private: std::string note_; };"}},
            "shop::Cart c; shop::Cart::Owner owner{\"me\"}; try { static_cast<void>(c.total()); } catch (const std::logic_error& e) { std::puts(e.what()); } try { owner.known(); } catch (const std::logic_error& e) { std::puts(e.what()); } c.clear();",
            "agentforge: skeleton of shop::Cart::total\nagentforge: skeleton of shop::Cart::Owner::known\nagentforge: skeleton of shop::Cart::clear"),
        in_cpp("a_member_of_a_nested_class", {{"shop::Cart::Item::label", cart, "std::string label() const"}},
               "shop::Cart::Item item; item.label();", "agentforge: skeleton of shop::Cart::Item::label"),
        in_cpp("a_class_gets_a_base",
               {{"shop::shapes::Named", shape, "struct Named { virtual ~Named() = default; };"},
                {"shop::shapes::Shape", shape, "class Shape { public: int area() const; };"}},
               "shop::shapes::Square s; s.area();", "agentforge: skeleton of shop::shapes::Shape::area")),
    name_of);

// ---- what stays, and what is refused

std::string text_of(const std::vector<SkeletonInterface>& interfaces, const std::string& path, const std::string& text) {
    const auto skeletons = declare_c(interfaces, {{path, text}});
    EXPECT_THAT(skeletons.problems, IsEmpty());
    EXPECT_EQ(skeletons.files.size(), 1U);
    return skeletons.files.empty() ? std::string() : skeletons.files.front().second;
}

TEST(CSkeletonOfExistingText, keeps_macros_comments_and_the_old_body) {
    EXPECT_EQ(
        text_of({{"f", "a.h", "long f(int a)"}}, "a.h", "/* why */\nAPI int f(int a)\n{\n    /* { */\n    return a;\n}\n"),
        "#include <stdio.h>\n#include <stdlib.h>\n\n/* why */\nAPI long f(int a) {\n    (void)a;\n    fputs(\"agentforge: skeleton of f\\n\", stderr);\n    abort();\n    // /* { */\n    // return a;\n}\n");
}

TEST(CSkeletonOfExistingText, a_body_stays_if_the_result_does) {
    EXPECT_EQ(text_of({{"f", "a.hpp", "int f(int a, bool fast = false)"}}, "a.hpp", "inline int f(int a) { return a; }\n"),
              "inline int f(int a, bool fast = false) { static_cast<void>(fast); return a; }\n");
}

TEST(CSkeletonOfExistingText, a_line_that_ends_with_a_backslash_stays_one_comment) {
    const auto text = text_of({{"f", "a.h", "long f(void)"}}, "a.h", "int f(void) {\n    return 1 + \\\n        2;\n}\n");
    EXPECT_THAT(text, HasSubstr("    // return 1 + \\ //\n    //     2;\n}\n"));
}

TEST(CSkeletonOfExistingText, a_header_of_a_c_library_is_c_even_beside_tests_in_cpp) {
    const auto skeletons =
        write_c_skeletons({{"f", "src/a.h", "int f(void)"}}, {{"src/a.h", "#pragma once\n"}, {"src/a.c", "#include \"a.h\"\n"}},
                          {"src/a.h", "src/a.c", "tests/a_test.cpp"}, c_skeleton_marker);
    ASSERT_EQ(skeletons.files.size(), 1U);
    EXPECT_THAT(skeletons.files.front().second, HasSubstr("static inline int f(void) {\n    fputs("));
}

TEST(CSkeletonOfExistingText, an_include_is_not_put_under_a_condition) {
    EXPECT_THAT(text_of({{"f", "a.h", "size_t f(void)"}}, "a.h",
                        "#pragma once\n#include <time.h>\n#ifdef X\n#include <math.h>\n#endif\n"),
                HasSubstr("#include <time.h>\n#include <stddef.h>\n"));
}

TEST(CSkeletonOfExistingText, a_constructor_of_an_exception_still_passes_a_text_to_its_base) {
    const std::string error =
        "#include <stdexcept>\n#include <string>\nclass Refused : public std::runtime_error {\npublic:\n"
        "    explicit Refused(const std::string& what) : std::runtime_error(\"refused: \" + what), size_(what.size()) {}\n\n"
        "private:\n    std::size_t size_;\n};\n";
    EXPECT_THAT(text_of({{"Refused::Refused", "error.hpp", "Refused(int line, const std::string& message)"}}, "error.hpp", error),
                HasSubstr(": std::runtime_error(\"refused: \" + message), size_(message.size()) {"));
    EXPECT_THAT(text_of({{"Refused::Refused", "error.hpp", "explicit Refused(int line)"}}, "error.hpp", error),
                HasSubstr("(int line) : std::runtime_error(\"\")"));
}

std::string problem_of(const std::vector<SkeletonInterface>& interfaces, const std::string& path, const std::string& text) {
    const auto skeletons = declare_c(interfaces, {{path, text}});
    EXPECT_THAT(skeletons.files, IsEmpty());
    EXPECT_EQ(skeletons.problems.size(), 1U);
    return skeletons.problems.empty() ? std::string() : skeletons.problems.front();
}

TEST(CSkeletonOfExistingText, says_why_an_interface_cannot_be_declared) {
    EXPECT_THAT(problem_of({{"f", "a.h", "long f(void)"}}, "a.h", "int f(void), g(void);\n"), HasSubstr("together with others"));
    EXPECT_THAT(problem_of({{"max", "a.h", "int max(int a, int b)"}}, "a.h", "#define max(a, b) ((a) > (b) ? (a) : (b))\n"),
                HasSubstr("`max` is a macro in a.h"));
    EXPECT_THAT(problem_of({{"green", "a.h", "green"}}, "a.h", "enum a { x };\nenum b { y };\n"),
                HasSubstr("does not have exactly one enum"));
    EXPECT_THAT(problem_of({{"Color::green", "a.h", "green"}}, "a.h", "enum a { x };\n"), HasSubstr("has no enum `Color`"));
    EXPECT_THAT(problem_of({{"size", "a.hpp", "int size() const"}}, "a.hpp", "class A {};\n"), HasSubstr("name its class"));
    EXPECT_THAT(problem_of({{"count", "a.hpp", "int count"}}, "a.hpp", "class A {};\n"), HasSubstr("variable without a value"));
    EXPECT_THAT(problem_of({{"f", "a.hpp", "int f(long value, int more = 0)"}}, "a.hpp",
                           "int f(int value);\nint f(int value, int more);\n"),
                HasSubstr("several overloads"));
    EXPECT_THAT(problem_of({{"A::b", "a.hpp", "long b"}}, "a.hpp", "struct A { int a, b; };\n"),
                HasSubstr("together with others"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
