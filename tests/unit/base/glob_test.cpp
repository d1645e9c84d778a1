// SPDX-License-Identifier: Apache-2.0
#include "base/glob.hpp"

#include <gtest/gtest.h>

#include <array>

namespace agentforge::kernel {
namespace {

struct GlobCase {
    const char* glob;
    const char* path;
    bool matches;
};

void expect_all(std::initializer_list<GlobCase> cases) {
    for (const auto& one : cases) { EXPECT_EQ(Glob(one.glob).matches(one.path), one.matches) << one.glob << " on " << one.path; }
}

TEST(Glob, wildcards_stay_within_a_component) {
    expect_all({{"src/*.py", "src/a.py", true},
                {"src/*.py", "src/x/a.py", false},
                {"a?c", "abc", true},
                {"a?c", "ac", false},
                {"a?c", "a/c", false},
                {"a*c", "a/c", false},
                {"a*c", "ac", true},
                {"x[/]y", "x/y", false},
                {"*", ".hidden", true}});
}

TEST(Glob, two_stars_as_a_component_cross_folders) {
    expect_all({{"src/**/*.py", "src/a.py", true},
                {"src/**/*.py", "src/x/y/a.py", true},
                {"src/**/*.py", "srcx/a.py", false},
                {"tests/**", "tests/x/a.py", true},
                {"tests/**", "tests", false},
                {"a/**/**/b", "a/b", true},
                {"**", "a/b", true},
                {"/**", "a/b", true},
                {"a**b", "axb", true},
                {"a**b", "a/b", false},
                {"**/a/**/b/c", "a/b/a/x/b/b/c", true}});
}

TEST(Glob, is_anchored_by_a_slash_before_its_end) {
    expect_all({{"*.py", "src/deep/a.py", true},
                {"/*.py", "src/a.py", false},
                {"/*.py", "a.py", true},
                {"lib/x", "src/lib/x", false},
                {"lib/", "src/lib", true},
                {"/lib/", "src/lib", false}});
}

TEST(Glob, matches_a_whole_path_and_no_folder_above_it) {
    expect_all({{"docs", "docs/a.md", false}, {"docs", "x/docs", true}, {"src/*", "src/x/y", false}});
    const auto path = path_components("docs/a.md");
    EXPECT_TRUE(Glob("docs").matches(path, 1));
    EXPECT_FALSE(Glob("docs").matches(path, 0));
}

TEST(Glob, brackets_list_ranges_and_classes) {
    expect_all({{"[a-c].txt", "b.txt", true},
                {"[!a-c].txt", "b.txt", false},
                {"[^a-c].txt", "d.txt", true},
                {"[]x].txt", "].txt", true},
                {"[x-].txt", "-.txt", true},
                {"[\\]].txt", "].txt", true},
                {"[[:digit:]x].txt", "7.txt", true},
                {"[[:digit:]x].txt", "y.txt", false},
                {"[[:nosuch:]].txt", "n.txt", false},
                {"spec/**/*[sS]pec.js", "spec/cartSpec.js", true},
                {"spec/**/*[sS]pec.js", "spec/a/cart.spec.js", true},
                {"spec/**/*[sS]pec.js", "spec/cart[sS]pec.js", false},
                {"[b-a]", "a", false}});
}

TEST(Glob, backslash_takes_the_next_byte_literally) {
    expect_all({{"\\*.txt", "*.txt", true}, {"\\*.txt", "a.txt", false}, {"\\[id\\]", "[id]", true}, {"\\[id\\]", "i", false}});
}

TEST(Glob, compares_bytes_and_their_case) {
    expect_all({{"A.txt", "a.txt", false},
                {"[A-Z]", "a", false},
                {"??", "\xC3\xA9", true},
                {"?", "\xC3\xA9", false},
                {"{a,b}", "a", false}});
}

TEST(Glob, malformed_or_empty_matches_nothing) {
    for (const char* glob : {"", "/", "[ab", "*[", "a\\", "\\", "[[:digit:", "[a-", "[\\"}) {
        for (const char* path : {"a", "a/b", "[ab", "a\\", "\\", "*["}) {
            EXPECT_FALSE(Glob(glob).matches(path)) << glob << " on " << path;
        }
    }
    EXPECT_FALSE(Glob("*").matches(""));
}

TEST(Glob, ignores_doubled_slashes_and_a_leading_dot_slash) {
    expect_all(
        {{"a//b", "a/b", true}, {"./a", "x/a", true}, {"./a/b", "a/b", true}, {"./", "a/b", true}, {"a/./b", "a/b", false}});
}

TEST(Glob, says_whether_it_names_folders_and_ends_in_a_wildcard) {
    EXPECT_TRUE(Glob("docs/").names_folder());
    EXPECT_FALSE(Glob("docs/*").names_folder());
    EXPECT_TRUE(Glob("docs/*.md").ends_in_wildcard());
    EXPECT_TRUE(Glob("docs/\\*").ends_in_wildcard());
    EXPECT_TRUE(Glob("**").ends_in_wildcard());
    EXPECT_FALSE(Glob("*/docs/").ends_in_wildcard());
    EXPECT_FALSE(Glob("").ends_in_wildcard());
}

TEST(Glob, finds_the_end_of_a_bracket) {
    EXPECT_EQ(bracket_end("a[b,]c", 1), 5U);
    EXPECT_EQ(bracket_end("[]]", 0), 3U);
    EXPECT_EQ(bracket_end("[[:alpha:]]", 0), 11U);
    EXPECT_EQ(bracket_end("[a", 0), std::string_view::npos);
}

TEST(Glob, splits_a_path_without_empty_names) {
    EXPECT_EQ(path_components("/a//b/"), (std::vector<std::string_view>{"a", "b"}));
    EXPECT_TRUE(path_components("").empty());
}

/// What the grammar says, by trying every way. Exponential, so only for short texts.
bool obviously_matches(std::string_view glob, std::string_view text) {
    if (glob.empty()) { return text.empty(); }
    if (glob.starts_with("**/")) {
        if (obviously_matches(glob.substr(3), text)) { return true; }
        const auto slash = text.find('/');
        return slash != std::string_view::npos && obviously_matches(glob, text.substr(slash + 1));
    }
    if (glob.front() == '*') {
        if (obviously_matches(glob.substr(1), text)) { return true; }
        return !text.empty() && text.front() != '/' && obviously_matches(glob, text.substr(1));
    }
    if (text.empty()) { return false; }
    return (glob.front() == '?' ? text.front() != '/' : glob.front() == text.front()) &&
           obviously_matches(glob.substr(1), text.substr(1));
}

TEST(Glob, one_way_back_finds_what_trying_every_way_finds) {
    const std::array<std::string, 5> pieces{"a", "b", "*", "?", "/"};
    const std::array<std::string, 3> letters{"a", "b", "/"};
    std::vector<std::string> paths{"a"};
    for (std::size_t i = 0; i < 243; ++i) {
        std::string path;
        for (std::size_t rest = i, k = 0; k < 5; ++k, rest /= 3) { path += letters[rest % 3]; }
        if (path.front() != '/' && path.back() != '/' && path.find("//") == std::string::npos) { paths.push_back(path); }
    }
    for (std::size_t i = 0; i < 3125; ++i) {
        std::string glob;
        for (std::size_t rest = i, k = 0; k < 5; ++k, rest /= 5) { glob += pieces[rest % 5]; }
        if (glob.back() == '/' || glob.front() == '/' || glob.find("//") != std::string::npos ||
            glob.find("**") != std::string::npos) {
            continue;
        }
        // Two globs: one within folders, one across.
        const std::string across = "**/" + glob.substr(0, 2) + "/**/" + glob.substr(2);
        const bool doubled = across.find("//") != std::string::npos;
        for (const auto& path : paths) {
            const std::string anchored = "a/" + glob;
            ASSERT_EQ(Glob(anchored).matches("a/" + path), obviously_matches(glob, path)) << anchored << " on a/" << path;
            if (!doubled) { ASSERT_EQ(Glob(across).matches(path), obviously_matches(across, path)) << across << " on " << path; }
        }
    }
}

TEST(Glob, many_stars_cost_no_more_than_pattern_times_path) {
    // Trying every way would not end.
    std::string stars = "x";
    for (int i = 0; i < 300; ++i) { stars += "*[ab]"; }
    EXPECT_FALSE(Glob(stars + "z").matches("x" + std::string(4000, 'a')));
    std::string deep;
    for (int i = 0; i < 200; ++i) { deep += "**/*a*/"; }
    std::string path = "a";
    for (int i = 0; i < 2000; ++i) { path += "/a"; }
    EXPECT_FALSE(Glob(deep + "z").matches(path));
}

}  // namespace
}  // namespace agentforge::kernel
