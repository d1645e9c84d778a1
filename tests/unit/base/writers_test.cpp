// SPDX-License-Identifier: Apache-2.0
// What we write, read by Python's json and yaml.safe_load and by our own reader.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "unit/base/python.hpp"

namespace agentforge::kernel {
namespace {

using test::ReaderCase;
using test::tricky_strings;

const YamlLimits wide{64UL << 20U, 1'000'000, 400};

/// A value in each form, for both Python readers.
void add(std::vector<ReaderCase>& cases, const std::string& name, const json::value& value) {
    for (const char* reader : {"json", "yaml"}) {
        cases.push_back({name + " line", reader, to_json_line(value), value});
        cases.push_back({name + " pretty", reader, to_json_pretty(value), value});
    }
    cases.push_back({name + " block", "yaml", to_yaml(value), value});
}

void expect_our_own_round_trip(const std::string& name, const json::value& value) {
    for (const std::string& text : {to_json_line(value), to_json_pretty(value), to_yaml(value)}) {
        const auto read = parse_yaml(text, "own", wide);
        ASSERT_TRUE(read.ok()) << name << ": " << read.error().to_string() << "\n" << text;
        ASSERT_EQ(read->value, value) << name << "\n" << text;
    }
}

std::vector<std::pair<std::string, json::value>> tricky_values() {
    std::vector<std::pair<std::string, json::value>> list;
    std::size_t n = 0;
    for (const auto& text : tricky_strings()) {
        const std::string name = "string " + std::to_string(n++);
        list.emplace_back(name, json::value(text));
        list.emplace_back(name + " in a map", json::object{{"key", text}, {"after", 1}});
        list.emplace_back(name + " in a list",
                          json::array{text, json::array{text, 2}, json::object{{"k", text}, {"l", json::array{text}}}});
        if (text.size() < 900 / 6) {
            list.emplace_back(name + " as a key", json::object{{text, json::object{{text, text}}},
                                                               {"b", json::array{json::object{{text, 1}, {"zz", text}}}}});
        }
    }
    list.emplace_back("empty", json::array{json::object{}, json::array{}, "", nullptr, true, false,
                                           json::object{{"a", json::object{}}, {"b", json::array{}}}});
    list.emplace_back("lists in lists", json::array{json::array{json::array{1, 2}, json::array{}},
                                                    json::array{json::object{{"a", json::array{1}}}}});
    for (const std::int64_t number : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                      std::int64_t{0}, std::int64_t{-1}, std::int64_t{1'000'000}}) {
        list.emplace_back("integer " + std::to_string(number), json::object{{"n", number}});
    }
    for (const double number : {12.5, 0.92, 1e21, 1e-7, 1.0, -0.0, 0.1, 1e300, 5e-324, std::numeric_limits<double>::max(),
                                123456789.125, 1e22, 1e15, 1e16, -2.5e-10, 100.0, 3.0e8}) {
        list.emplace_back("double " + std::to_string(number), json::object{{"n", number}, {"l", json::array{number}}});
    }
    json::value deep = "bottom";
    for (int i = 0; i < 40; ++i) {
        deep = i % 2 == 0 ? json::value(json::array{deep, i}) : json::value(json::object{{"k", deep}, {"l", i}});
    }
    list.emplace_back("deep", deep);
    return list;
}

TEST(Writers, the_python_check_notices_a_wrong_type) {
    EXPECT_NE(test::read_with_python({{"wrong", "yaml", "a: yes\n", json::object{{"a", "yes"}}}}), "");
}

TEST(Writers, python_reads_every_tricky_value_as_written) {
    std::vector<ReaderCase> cases;
    for (const auto& [name, value] : tricky_values()) { add(cases, name, value); }
    EXPECT_EQ(test::read_with_python(cases), "");
}

TEST(Writers, our_parser_reads_every_tricky_value_as_written) {
    for (const auto& [name, value] : tricky_values()) { expect_our_own_round_trip(name, value); }
}

TEST(Writers, parse_json_reads_every_tricky_value_as_written) {
    for (const auto& [name, value] : tricky_values()) {
        for (const std::string& text : {to_json_line(value), to_json_pretty(value), to_json_canonical(value)}) {
            const auto read = parse_json(text, "own");
            ASSERT_TRUE(read.ok()) << name << read.error().to_string();
            ASSERT_EQ(*read, value) << name;
        }
    }
}

TEST(Writers, random_values_come_back_the_same) {
    std::mt19937 random(20260102);
    const std::vector<std::string> strings = tricky_strings();
    const auto pick = [&](std::size_t count) { return random() % count; };
    std::vector<ReaderCase> cases;
    std::function<json::value(int)> make = [&](int depth) -> json::value {
        switch (pick(depth > 0 ? 8 : 6)) {
            case 0:
                return nullptr;
            case 1:
                return pick(2) == 0;
            case 2:
                return static_cast<std::int64_t>(random()) - (1LL << 31);
            case 3:
                return std::ldexp(static_cast<double>(random()) - 2e9, static_cast<int>(pick(200)) - 100);
            case 6: {
                json::array list;
                for (std::size_t i = pick(4); i > 0; --i) { list.push_back(make(depth - 1)); }
                return list;
            }
            case 7: {
                json::object map;
                for (std::size_t i = pick(4); i > 0; --i) {
                    map.insert_or_assign(strings[pick(strings.size())].substr(0, 100), make(depth - 1));
                }
                return json::value(map);
            }
            default: {
                std::string text;
                for (std::size_t i = pick(4); i > 0; --i) {
                    text += strings[pick(strings.size())].substr(0, 50) + (pick(2) == 0 ? "\n" : "");
                }
                return json::value(sanitize_utf8(text));
            }
        }
    };
    for (int i = 0; i < 300; ++i) {
        json::value value = make(5);
        // Keys cut inside a character would not be written unchanged.
        if (!is_valid_utf8(json::serialize(value))) { continue; }
        expect_our_own_round_trip("random " + std::to_string(i), value);
        add(cases, "random " + std::to_string(i), value);
    }
    EXPECT_EQ(test::read_with_python(cases), "");
}

TEST(Writers, keys_too_long_for_a_simple_key_are_still_read) {
    std::vector<ReaderCase> cases;
    for (const std::string& key : {std::string(5000, 'k'), std::string(1001, 'k'), std::string(998, 'k'), std::string(999, 'k'),
                                   std::string(400, '\x01'), std::string(2000, '"')}) {
        const json::value value = json::object{
            {key, json::object{{key, json::array{1, json::object{{key, "x\ny\n"}, {"after", 2}}}}, {"empty", json::object{}}}},
            {"after", 1}};
        cases.push_back({"block", "yaml", to_yaml(value), value});
        cases.push_back({"line", "json", to_json_line(value), value});
        const auto read = parse_yaml(to_yaml(value), "own", wide);
        ASSERT_TRUE(read.ok()) << read.error().to_string();
        EXPECT_EQ(read->value, value);
    }
    EXPECT_EQ(test::read_with_python(cases), "");
}

TEST(Writers, invalid_bytes_become_the_replacement_character) {
    for (const auto& [bytes, text] : std::vector<std::pair<std::string, std::string>>{{"a\x80"
                                                                                       "b",
                                                                                       "a\uFFFDb"},
                                                                                      {"\xC0\xAF", "\uFFFD\uFFFD"},
                                                                                      {"\xE2\x82", "\uFFFD"},
                                                                                      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
                                                                                      {"\xF0\x9F\x98", "\uFFFD"},
                                                                                      {"\xF5", "\uFFFD"},
                                                                                      {"\xE2\x82"
                                                                                       "x\nz",
                                                                                       "\uFFFDx\nz"}}) {
        EXPECT_EQ(parse_json(to_json_line(json::value(bytes)), "own").value(), json::value(text));
        EXPECT_EQ(parse_yaml(to_yaml(json::object{{"k", bytes}}), "own")->value, (json::object{{"k", text}}));
        EXPECT_EQ(sanitize_utf8(bytes), text);
    }
}

TEST(Writers, nan_and_infinities_become_null) {
    EXPECT_EQ(to_json_line(json::array{std::nan(""), HUGE_VAL, -HUGE_VAL}), "[null, null, null]");
}

TEST(Writers, a_block_keeps_line_breaks) {
    EXPECT_EQ(
        to_yaml(json::object{
            {"text", "one\ntwo\n"}, {"list", json::array{json::object{{"a", 1}, {"b", "x\ny"}}, json::array{}}}, {"on", "yes"}}),
        "text: |\n  one\n  two\nlist:\n  - a: 1\n    b: |-\n      x\n      y\n  - []\n\"on\": \"yes\"\n");
}

}  // namespace
}  // namespace agentforge::kernel
