// SPDX-License-Identifier: Apache-2.0
#include "config/goals.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

struct Word {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string lower;
};

bool in_word(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || byte >= 0x80;
}

std::vector<Word> words_of(std::string_view text) {
    std::vector<Word> words;
    for (std::size_t i = 0; i < text.size();) {
        if (!in_word(text[i])) {
            ++i;
            continue;
        }
        const std::size_t begin = i;
        const auto joins = [&](std::size_t at) {
            return (text[at] == '-' || text[at] == '.' || text[at] == '/') && at + 1 < text.size() && in_word(text[at + 1]);
        };
        while (i < text.size() && (in_word(text[i]) || joins(i))) { ++i; }
        words.push_back({begin, i, lower_case(text.substr(begin, i - begin))});
    }
    return words;
}

/// Returns how many of the request's words from `at` on form the phrase. 0: they do not.
std::size_t words_matched(const std::vector<Word>& words, std::size_t at, const std::vector<Word>& phrase) {
    if (phrase.empty() || at + phrase.size() > words.size()) { return 0; }
    const auto same = [](const Word& a, const Word& b) { return a.lower == b.lower; };
    return std::equal(phrase.begin(), phrase.end(), words.begin() + static_cast<std::ptrdiff_t>(at), same) ? phrase.size() : 0;
}

/// Returns the length, in words, of the longest phrase that begins at `at`. 0: none does.
std::size_t longest_match(const std::vector<Word>& words, std::size_t at, const std::vector<std::string>& phrases) {
    std::size_t longest = 0;
    for (const std::string& phrase : phrases) { longest = std::max(longest, words_matched(words, at, words_of(phrase))); }
    return longest;
}

/// Returns the index of the first word after an introduction, such as "For the log module, …". 0: there is none.
std::size_t behind_introduction(std::string_view request, const std::vector<Word>& words,
                                const std::vector<std::string>& introductions) {
    const auto end = request.find_first_of(",:");
    if (end == std::string_view::npos || longest_match(words, 0, introductions) == 0) { return 0; }
    const auto behind = std::ranges::find_if(words, [end](const Word& word) { return word.begin > end; });
    return behind == words.end() ? 0 : static_cast<std::size_t>(behind - words.begin());
}

/// Reads one document strictly.
class Reader {
public:
    explicit Reader(const YamlDocument& document) : document_(document) {}

    [[nodiscard]] Error wrong(const std::string& pointer, std::string message, std::string remedy) const {
        return Error{"AF-PIPE-014", std::move(message), document_.where(pointer), std::move(remedy), ErrorKind::invalid};
    }
    Result<void> only(const json::object& object, const std::string& pointer, const std::vector<std::string>& keys) const {
        for (const auto& [key, value] : object) {
            const std::string name(key.data(), key.size());
            if (std::ranges::find(keys, name) != keys.end()) { continue; }
            const std::string near = nearest(name, keys);
            return wrong(pointer + "/" + name + "#", "`" + ellipsis(name, 60) + "` is not a key of a goal here",
                         near.empty() ? "Take it out." : "Did you mean `" + near + "`?");
        }
        return {};
    }
    Result<std::string> text(const json::object& object, const std::string& pointer, std::string_view key) const {
        const json::value* value = object.if_contains(key);
        if (value == nullptr || !value->is_string() || value->get_string().empty()) {
            return wrong(pointer, "`" + std::string(key) + "` is missing or no text", "Write " + std::string(key) + ": NAME.");
        }
        return std::string(value->get_string());
    }
    /// Reads a list of words and phrases. Without the key it is empty.
    Result<std::vector<std::string>> phrases(const json::object& object, const std::string& pointer, std::string_view key,
                                             std::set<std::string>& taken) const {
        std::vector<std::string> list;
        const json::value* words = object.if_contains(key);
        if (words == nullptr) { return list; }
        if (!words->is_array()) {
            return wrong(pointer, "`" + std::string(key) + "` is not a list of words",
                         "Write " + std::string(key) + ": [WORD, …].");
        }
        for (std::size_t i = 0; i < words->get_array().size(); ++i) {
            const std::string at = pointer + "/" + std::string(key) + "/" + std::to_string(i);
            const json::value& word = words->get_array()[i];
            std::string phrase;
            if (word.is_string()) {
                for (const Word& each : words_of(std::string_view(word.get_string()))) {
                    phrase += (phrase.empty() ? "" : " ") + each.lower;
                }
            }
            if (phrase.empty()) {
                return wrong(at, "a word of `" + std::string(key) + "` is not text with a letter",
                             "Write a word or a phrase; quote true, false and null.");
            }
            if (!taken.insert(phrase).second) {
                return wrong(at, "`" + ellipsis(phrase, 60) + "` appears twice", "Give it to one goal only.");
            }
            list.push_back(std::move(phrase));
        }
        return list;
    }
    Result<Goal> goal(const json::value& value, const std::string& pointer, std::set<std::string>& taken) const {
        const auto* object = value.if_object();
        if (object == nullptr) { return wrong(pointer, "a goal is a map", "Write name, pipeline and words."); }
        AF_CHECK(only(*object, pointer, {"name", "pipeline", "words"}));
        Goal goal;
        AF_TRY(goal.name, text(*object, pointer, "name"));
        AF_TRY(goal.pipeline, text(*object, pointer, "pipeline"));
        AF_TRY(goal.words, phrases(*object, pointer, "words", taken));
        if (goal.words.empty()) {
            return wrong(pointer, "goal `" + goal.name + "` has no list of words", "Write words: [WORD, …].");
        }
        return goal;
    }

private:
    const YamlDocument& document_;
};

}  // namespace

Result<Goals> Goals::load(const std::string& file) {
    AF_TRY(const YamlDocument document, load_yaml(file));
    const Reader reader(document);
    const auto* top = document.value.if_object();
    const json::value* list = top == nullptr ? nullptr : top->if_contains("goals");
    if (list == nullptr || !list->is_array()) {
        return reader.wrong("", "there is no list of goals", "Write goals: and a list below it.");
    }
    AF_CHECK(reader.only(*top, "", {"default", "with_artifacts", "openings", "introductions", "goals"}));
    Goals goals;
    std::set<std::string> taken;
    std::set<std::string> known;
    AF_TRY(goals.openings_, reader.phrases(*top, "", "openings", known));
    known.clear();
    AF_TRY(goals.introductions_, reader.phrases(*top, "", "introductions", known));
    for (std::size_t i = 0; i < list->get_array().size(); ++i) {
        const std::string pointer = "/goals/" + std::to_string(i);
        AF_TRY(Goal goal, reader.goal(list->get_array()[i], pointer, taken));
        if (goals.named(goal.name) != nullptr) {
            return reader.wrong(pointer + "/name", "goal `" + ellipsis(goal.name, 60) + "` appears twice", "Merge the two.");
        }
        goals.goals_.push_back(std::move(goal));
    }
    AF_TRY(goals.default_, reader.text(*top, "", "default"));
    if (goals.named(goals.default_) == nullptr) {
        return reader.wrong("/default", "the default `" + ellipsis(goals.default_, 60) + "` is not one of the goals",
                            "Name one of them.");
    }
    goals.with_artifacts_ = goals.default_;
    if (top->contains("with_artifacts")) { AF_TRY(goals.with_artifacts_, reader.text(*top, "", "with_artifacts")); }
    if (goals.named(goals.with_artifacts_) == nullptr) {
        return reader.wrong("/with_artifacts", "`" + ellipsis(goals.with_artifacts_, 60) + "` is not one of the goals",
                            "Name one of them.");
    }
    return goals;
}

ChosenGoal Goals::of_request(std::string_view request) const {
    const std::vector<Word> words = words_of(request);
    std::size_t at = behind_introduction(request, words, introductions_);
    for (std::size_t opened = 1; opened != 0; at += opened) { opened = longest_match(words, at, openings_); }
    const Goal* found = nullptr;
    std::size_t longest = 0;
    for (const Goal& goal : goals_) {
        const std::size_t matched = longest_match(words, at, goal.words);
        if (matched > longest) {
            longest = matched;
            found = &goal;
        }
    }
    if (found == nullptr) { return {default_, named(default_)->pipeline, {}}; }
    const std::size_t begin = words[at].begin;
    return {found->name, found->pipeline, std::string(request.substr(begin, words[at + longest - 1].end - begin))};
}

const Goal& Goals::with_artifacts() const { return *named(with_artifacts_); }

const Goal* Goals::named(std::string_view name) const {
    const auto found = std::ranges::find(goals_, name, &Goal::name);
    return found == goals_.end() ? nullptr : &*found;
}

}  // namespace agentforge::kernel
