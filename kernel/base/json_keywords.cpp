// SPDX-License-Identifier: Apache-2.0
#include "base/json_keywords.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.hpp"

namespace agentforge::kernel {

TextPattern::TextPattern(std::string_view expression)
    : compiled_(std::make_unique<const re2::RE2>(re2::StringPiece(expression.data(), expression.size()), re2::RE2::Quiet)) {}
TextPattern::TextPattern(TextPattern&&) noexcept = default;
TextPattern& TextPattern::operator=(TextPattern&&) noexcept = default;
TextPattern::~TextPattern() = default;

std::string TextPattern::problem() const { return compiled_->ok() ? "" : compiled_->error(); }

bool TextPattern::is_in(std::string_view text) const {
    return compiled_->ok() && re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

std::vector<std::size_t> repeated_items(const json::array& items) {
    std::vector<std::size_t> repeated;
    std::unordered_set<std::string> seen;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!seen.insert(to_json_canonical(items[i])).second) { repeated.push_back(i); }
    }
    return repeated;
}

std::size_t count_characters(std::string_view text) noexcept {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace agentforge::kernel
