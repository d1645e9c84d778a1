// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "agent/shorten.hpp"
#include "backends/tokens.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {
namespace {

std::string numbered(unsigned lines) {
    std::string text;
    for (unsigned i = 1; i <= lines; ++i) { text += "line " + std::to_string(i) + "\n"; }
    return text;
}

TEST(ShortenLines, leaves_a_short_text_alone) {
    bool cut = false;
    EXPECT_EQ(shorten_lines("a\nb", 10, 1, cut), "a\nb");
    EXPECT_FALSE(cut);
}

TEST(ShortenLines, keeps_the_first_and_last_lines_and_says_which_are_missing) {
    bool cut = false;
    EXPECT_EQ(shorten_lines(numbered(10), 40, 1, cut), "line 1\nline 2\nline 3\n… lines 4–8 left out …\nline 9\nline 10\n");
    EXPECT_TRUE(cut);
}

TEST(ShortenLines, counts_from_the_line_where_the_view_begins) {
    bool cut = false;
    EXPECT_NE(shorten_lines(numbered(10), 40, 101, cut).find("… lines 104–108 left out …"), std::string::npos);
}

TEST(ShortenLines, cuts_the_middle_of_one_huge_line) {
    bool cut = false;
    const std::string text = shorten_lines(std::string(100'000, 'x'), 200, 1, cut);
    EXPECT_LT(text.size(), 300U);
    EXPECT_TRUE(cut);
}

json::value read_back(const Piece& piece) { return parse_yaml(piece.yaml, "piece")->value.at("state"); }

TEST(ShortenTo, keeps_values_that_fit) {
    const json::value value{{"a", 1}, {"b", {1, 2, 3}}};
    const Piece piece = shorten_to("state", value, 1000);
    EXPECT_EQ(read_back(piece), value);
    EXPECT_FALSE(piece.cut);
}

TEST(ShortenTo, says_how_many_items_it_left_out) {
    json::array many;
    for (int i = 0; i < 1000; ++i) { many.emplace_back("item " + std::to_string(i)); }
    const Piece piece = shorten_to("state", json::value{{"many", many}}, 200);
    EXPECT_TRUE(std::string(read_back(piece).at("many").get_array().back().get_string()).ends_with(" more left out …"))
        << piece.yaml;
    EXPECT_TRUE(piece.cut);
}

TEST(ShortenTo, keeps_the_order_of_the_fields) {
    const json::value value{{"zebra", std::string(5000, 'x')}, {"apple", std::string(5000, 'y')}};
    EXPECT_EQ(read_back(shorten_to("state", value, 300)).get_object().begin()->key(), "zebra");
}

TEST(ShortenTextTo, keeps_head_and_tail_within_its_tokens) {
    const Piece piece = shorten_text_to("state", numbered(5000), 100);
    EXPECT_LE(piece.tokens, 100U);
    const json::value kept = read_back(piece);
    EXPECT_TRUE(kept.get_string().starts_with("line 1\n")) << kept;
    EXPECT_TRUE(kept.get_string().ends_with("line 5000\n")) << kept;
}

TEST(ShortenPieces, concatenated_equal_the_yaml_of_their_map) {
    const json::object view{{"path", "a.py"}, {"content", "def f():\n    return 1\n"}};
    const json::object state{
        {"objective", "Do this\nand that\n"}, {"files", json::array{view, view}}, {"more", json::object{{"x", 1}}}};
    const std::string whole = to_yaml(json::value(json::object{{"current_state", state}}));
    const std::string item =
        item_piece_of(json::value(json::object{{"path", "a.py"}}), 1).yaml + piece_of("content", view.at("content"), 3).yaml;
    EXPECT_EQ("current_state:\n" + piece_of("objective", state.at("objective"), 1).yaml + "  files:\n" + item + item +
                  piece_of("more", state.at("more"), 1).yaml,
              whole);
}

/// Wide at the top and narrow below, so each round takes only milliseconds.
unsigned width(int depth) { return depth == 4 ? 40 : 8; }

json::value random_value(std::mt19937& random, int depth) {
    switch (random() % (depth > 0 ? 6 : 4)) {
        case 0:
            return json::value(static_cast<std::int64_t>(random()));
        case 1:
            return json::value(random() % 2 == 0);
        case 2: {
            std::string text;
            const auto length = random() % 3000;
            for (std::size_t i = 0; i < length; ++i) { text += static_cast<char>(random() % 128); }
            return json::value(text);
        }
        case 3: {
            std::string text;
            const auto length = random() % 300;
            for (std::size_t i = 0; i < length; ++i) { text += random() % 5 == 0 ? "\n" : "é🙂中"; }
            return json::value(text);
        }
        case 4: {
            json::array items;
            const auto count = random() % width(depth);
            for (std::size_t i = 0; i < count; ++i) { items.push_back(random_value(random, depth - 1)); }
            return items;
        }
        default: {
            json::object fields;
            const auto count = random() % width(depth);
            for (std::size_t i = 0; i < count; ++i) { fields["key" + std::to_string(i)] = random_value(random, depth - 1); }
            return fields;
        }
    }
}

TEST(ShortenTo, always_fits) {
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        const json::value value = random_value(random, 4);
        const std::size_t budget = 20 + random() % 3000;
        const Piece piece = shorten_to("state", value, budget);
        ASSERT_LE(piece.tokens, budget) << "round " << round;
        ASSERT_EQ(piece.tokens, estimate_tokens(piece.yaml)) << "round " << round;
    }
}

}  // namespace
}  // namespace agentforge::kernel
