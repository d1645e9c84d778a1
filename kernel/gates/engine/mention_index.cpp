// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/mention_index.hpp"

#include <algorithm>
#include <array>

namespace agentforge::kernel {
namespace {

bool is_word_character(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '_';
}

template <class Take>
void each_word(std::string_view text, Take take) {
    for (std::size_t begin = 0; begin < text.size();) {
        if (!is_word_character(text[begin])) {
            ++begin;
            continue;
        }
        std::size_t end = begin;
        while (end < text.size() && is_word_character(text[end])) { ++end; }
        take(text.substr(begin, end - begin));
        begin = end;
    }
}

std::string_view folder_name(std::string_view path) {
    const auto slash = path.rfind('/');
    if (slash == std::string_view::npos) { return {}; }
    const auto folder = path.substr(0, slash);
    const auto before = folder.rfind('/');
    return before == std::string_view::npos ? folder : folder.substr(before + 1);
}

/// Adds the words for a name that is not itself a word: `my-module` is imported as `my_module` or mentioned as `my-module`.
void add_name(std::vector<std::string>& words, std::string_view name) {
    if (name.empty()) { return; }
    std::string joined;
    std::string last;
    each_word(name, [&](std::string_view part) {
        joined += (joined.empty() ? "" : "_") + std::string(part);
        if (part.size() > last.size()) { last = part; }
    });
    for (auto* word : {&joined, &last}) {
        if (!word->empty() && std::find(words.begin(), words.end(), *word) == words.end()) { words.push_back(*word); }
    }
}

}  // namespace

std::vector<std::string> words_for(std::string_view path) {
    static constexpr std::array<std::string_view, 6> for_folder{"__init__", "index", "mod", "lib", "main", "__main__"};
    const auto slash = path.rfind('/');
    const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    const auto stem = name.substr(0, name.find('.'));
    std::vector<std::string> words;
    if (path.ends_with(".go") || std::find(for_folder.begin(), for_folder.end(), stem) != for_folder.end()) {
        add_name(words, folder_name(path));
    }
    if (std::find(for_folder.begin(), for_folder.end(), stem) == for_folder.end() || words.empty()) { add_name(words, stem); }
    return words;
}

Result<void> MentionIndex::update(const std::vector<std::string>& files, const std::vector<std::string>& changed,
                                  const Read& read) {
    std::map<std::string, unsigned, std::less<>> words;
    for (const auto& file : files) {
        for (const auto& word : words_for(file)) { words.try_emplace(word, static_cast<unsigned>(words.size())); }
    }
    const bool same_words =
        words.size() == words_.size() && std::equal(words.begin(), words.end(), words_.begin(),
                                                    [](const auto& one, const auto& other) { return one.first == other.first; });
    if (!same_words) {
        words_ = std::move(words);
        mentions_.clear();
    }
    for (const auto& file : changed) { mentions_.erase(file); }
    std::map<std::string, std::vector<unsigned>, std::less<>> mentions;
    for (const auto& file : files) {
        if (auto known = mentions_.extract(file)) {
            mentions.insert(std::move(known));
            continue;
        }
        AF_TRY(const auto content, read(file));
        std::vector<unsigned> found;
        if (content && content->size() <= max_file_bytes) {
            each_word(*content, [&](std::string_view word) {
                if (const auto number = words_.find(word); number != words_.end()) { found.push_back(number->second); }
            });
            std::sort(found.begin(), found.end());
            found.erase(std::unique(found.begin(), found.end()), found.end());
            found.shrink_to_fit();
        }
        mentions.emplace(file, std::move(found));
    }
    mentions_ = std::move(mentions);
    return {};
}

std::set<std::string> MentionIndex::affected(const std::vector<std::string>& changed) const {
    std::set<std::string> reached(changed.begin(), changed.end());
    std::vector<bool> searched(words_.size(), false);
    std::vector<unsigned> open;
    const auto search_words_of = [&](const std::string& file) {
        for (const auto& word : words_for(file)) {
            const auto number = words_.find(word);
            if (number == words_.end() || searched[number->second]) { continue; }
            searched[number->second] = true;
            open.push_back(number->second);
        }
    };
    for (const auto& file : changed) { search_words_of(file); }
    while (!open.empty()) {
        const auto word = open.back();
        open.pop_back();
        for (const auto& [file, mentioned] : mentions_) {
            if (!std::binary_search(mentioned.begin(), mentioned.end(), word) || !reached.insert(file).second) { continue; }
            search_words_of(file);
        }
    }
    return reached;
}

}  // namespace agentforge::kernel
