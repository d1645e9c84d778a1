// SPDX-License-Identifier: Apache-2.0
// Checks the fuzzers' promises in every run of the tests: the corpora, mutations of them, and patches of known outcome.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "apply_patch/patch.hpp"
#include "fuzz/targets.hpp"
#include "tools/hunks.hpp"

namespace agentforge::fuzz {
namespace {

std::vector<std::string> corpus(const std::string& name) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(AGENTFORGE_SOURCE_DIR "/tests/fuzz/corpus/" + name)) {
        std::ifstream file(entry.path(), std::ios::binary);
        files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::sort(files.begin(), files.end());
    EXPECT_GE(files.size(), 3U) << name;
    return files;
}

/// Tries the corpus, each file cut at each byte, and `rounds` mutations with some bytes removed, duplicated, swapped or inserted.
template <class Target>
void try_near(const std::string& name, Target&& target, int rounds, const std::vector<std::string>& pieces) {
    const auto seeds = corpus(name);
    for (const std::string& seed : seeds) {
        for (std::size_t size = 0; size <= seed.size(); ++size) { target(std::string_view(seed).substr(0, size)); }
    }
    std::mt19937 random(20261122);
    for (int round = 0; round < rounds; ++round) {
        std::string bytes = seeds[random() % seeds.size()];
        for (auto changes = 1 + random() % 5; changes > 0 && !bytes.empty(); --changes) {
            const std::size_t at = random() % bytes.size();
            switch (random() % 5) {
                case 0:
                    bytes.erase(at, 1 + random() % 4);
                    break;
                case 1:
                    bytes.insert(at, pieces[random() % pieces.size()]);
                    break;
                case 2:
                    bytes[at] = static_cast<char>(random() % 256);
                    break;
                case 3:
                    bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
                    break;
                default:
                    bytes += seeds[random() % seeds.size()];
                    break;
            }
        }
        target(bytes);
    }
}

TEST(Fuzz, events_are_the_same_however_the_stream_is_cut) {
    try_near("events", events, 5'000,
             {"\r", "\n", "\r\n", "\n\n", "data:", "event:", ":", "\xEF\xBB\xBF", std::string(210, 'x')});
}

TEST(Fuzz, any_answer_is_an_action_or_an_error_for_the_model) {
    try_near("protocol", protocol, 10'000,
             {"ACTION ", "END\n", "<<<", ">>>", "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "*** Begin Patch\n",
              "*** End Patch\n", "\r\n", "```\n", ": ", "\"", "{"});
}

TEST(Fuzz, any_patch_is_edits_or_an_error_for_the_model) {
    try_near("patch", patch, 10'000,
             {"*** ", "*** Update File: a\n", "*** End of File\n", "@@", "@@ a\n", "\n-", "\n+", "\n ", "\r\n", "\n\n", "\\"});
}

// ------------------------------------------------------------------------------ known outcomes --

struct Form {
    std::string mark;
    std::string line_end;
    bool last_end = true;
};

std::string text_of(const std::vector<std::string>& lines, const Form& form) {
    std::string text = form.mark;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += lines[i] + (i + 1 < lines.size() || form.last_end ? form.line_end : "");
    }
    return text;
}

/// A patch with three lines of context, as a model writes it: quotation marks may be ASCII, and white space at line ends may be
/// missing.
TEST(Fuzz, a_patch_gives_exactly_the_text_it_was_made_from) {
    std::mt19937 random(7);
    for (int round = 0; round < 3'000; ++round) {
        const Form form{random() % 4 == 0 ? "\xEF\xBB\xBF" : "", random() % 3 == 0 ? "\r\n" : "\n", random() % 3 != 0};
        std::vector<std::string> before;
        for (unsigned i = 0; i < 6 + random() % 30; ++i) {
            before.push_back(random() % 5 == 0 ? ""
                                               : std::string(random() % 3 * 4, ' ') + "line “" + std::to_string(i) + "”" +
                                                     (random() % 6 == 0 ? "  " : ""));
        }
        before.back() = "last “line”";
        // Which lines are removed, and which are inserted before which.
        std::vector<bool> gone(before.size());
        std::vector<std::string> added(before.size());
        bool any = false;
        for (std::size_t i = 0; i < before.size(); ++i) {
            gone[i] = random() % 8 == 0 && !before[i].empty() && i + 1 < before.size();
            if (random() % 8 == 0) { added[i] = "new " + std::to_string(i); }
            any = any || gone[i] || !added[i].empty();
        }
        if (!any) { continue; }
        const bool ascii = random() % 3 == 0;
        const bool trimmed = random() % 3 == 0;
        const auto bent = [&](std::string line) {
            if (ascii) {
                for (const std::string quote : {"“", "”"}) {
                    if (const auto at = line.find(quote); at != std::string::npos) { line.replace(at, quote.size(), "\""); }
                }
            }
            while (trimmed && line.ends_with(' ')) { line.pop_back(); }
            return line;
        };
        std::vector<std::string> after;
        std::string body;
        std::size_t shown = 0;  // The patch contains the lines up to here.
        const auto changed = [&](std::size_t i) { return i < before.size() && (gone[i] || !added[i].empty()); };
        for (std::size_t i = 0; i < before.size(); ++i) {
            if (!added[i].empty()) { after.push_back(added[i]); }
            if (!gone[i]) { after.push_back(before[i]); }
            bool near = false;
            for (std::size_t j = i < 3 ? 0 : i - 3; j <= i + 3; ++j) { near = near || changed(j); }
            if (!near) { continue; }
            if (body.empty() || shown != i) { body += "@@\n"; }
            if (!added[i].empty()) { body += "+" + added[i] + "\n"; }
            body += (gone[i] ? "-" : " ") + bent(before[i]) + "\n";
            shown = i + 1;
        }
        const auto edits = agentforge::patch::read_patch("*** Begin Patch\n*** Update File: a\n" + body + "*** End Patch\n");
        ASSERT_TRUE(edits.ok()) << edits.error().to_string() << "\n" << body;
        const auto done = kernel::apply_hunks(text_of(before, form), edits->front().hunks, "a");
        ASSERT_TRUE(done.ok()) << "round " << round << ": " << done.error().to_string() << "\n" << body;
        ASSERT_EQ(done->content, text_of(after, form)) << "round " << round << "\n" << body;
    }
}

}  // namespace
}  // namespace agentforge::fuzz
