// SPDX-License-Identifier: Apache-2.0
#include "config/skip_condition.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace agentforge::kernel {

struct SkipCondition::Node {
    enum class Kind : unsigned char { word = 1, negation, all, any };
    Kind kind = Kind::word;
    std::string text;  ///< As written.
    std::vector<std::shared_ptr<const Node>> parts;
};

namespace {

using SkipNode = std::shared_ptr<const SkipCondition::Node>;
using SkipKind = SkipCondition::Node::Kind;

constexpr std::size_t deepest_condition = 50;

/// Recursive descent over words and parentheses.
class SkipConditionParser {
public:
    explicit SkipConditionParser(std::string_view text) : text_(text) { advance(); }

    Result<SkipNode> whole() {
        AF_TRY(SkipNode node, joined(SkipKind::any, 0));
        if (!token_.empty()) {
            return wrong(token_ == ")" ? "a `)` closes nothing"
                                       : "`" + ellipsis(token_, 60) + "` appears where AND or OR is expected");
        }
        return node;
    }

private:
    Result<SkipNode> joined(SkipKind kind, std::size_t depth) {
        const std::size_t begin = begin_;
        std::vector<SkipNode> parts;
        do {
            if (!parts.empty()) { advance(); }
            AF_TRY(SkipNode part, kind == SkipKind::any ? joined(SkipKind::all, depth) : single(depth));
            parts.push_back(std::move(part));
        } while (is(kind == SkipKind::any ? "OR" : "AND"));
        return parts.size() == 1 ? parts.front() : made(kind, begin, std::move(parts));
    }

    Result<SkipNode> single(std::size_t depth) {
        if (depth > deepest_condition) { return wrong("it is nested too deeply"); }
        const std::size_t begin = begin_;
        if (is("NOT")) {
            advance();
            AF_TRY(SkipNode part, single(depth + 1));
            return made(SkipKind::negation, begin, {std::move(part)});
        }
        if (token_ == "(") {
            advance();
            AF_TRY(SkipNode inner, joined(SkipKind::any, depth + 1));
            if (token_ != ")") { return wrong("a `(` is not closed"); }
            advance();
            return inner;
        }
        if (token_.empty()) { return wrong("a condition is missing at its end"); }
        if (token_ == ")" || is("AND") || is("OR")) {
            return wrong("a condition is missing before `" + std::string(token_) + "`");
        }
        const std::string word(token_);
        advance();
        auto node = std::make_shared<SkipCondition::Node>();
        node->text = word;
        return SkipNode(std::move(node));
    }

    SkipNode made(SkipKind kind, std::size_t begin, std::vector<SkipNode> parts) const {
        auto node = std::make_shared<SkipCondition::Node>();
        node->kind = kind;
        node->text = std::string(text_.substr(begin, end_ - begin));
        node->parts = std::move(parts);
        return node;
    }

    [[nodiscard]] bool is(std::string_view operation) const {
        if (token_.size() != operation.size()) { return false; }
        for (std::size_t i = 0; i < token_.size(); ++i) {
            if ((token_[i] & ~0x20) != operation[i]) { return false; }
        }
        return true;
    }

    void advance() {
        end_ = begin_ + token_.size();
        std::size_t at = end_;
        const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
        while (at < text_.size() && is_space(text_[at])) { ++at; }
        begin_ = at;
        if (at < text_.size() && (text_[at] == '(' || text_[at] == ')')) {
            ++at;
        } else {
            while (at < text_.size() && !is_space(text_[at]) && text_[at] != '(' && text_[at] != ')') { ++at; }
        }
        token_ = text_.substr(begin_, at - begin_);
    }

    [[nodiscard]] Error wrong(std::string what) const {
        return Error{"AF-PIPE-005", "the condition `" + ellipsis(text_, 120) + "` cannot be read: " + std::move(what), "",
                     "Write words joined by AND, OR and NOT, such as `spec_provided AND NOT tests_provided`.",
                     ErrorKind::invalid};
    }

    std::string_view text_;
    std::string_view token_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;  ///< End of the previous token.
};

void collect_words(const SkipCondition::Node& node, std::vector<std::string>& words) {
    if (node.kind == SkipKind::word) { words.push_back(node.text); }
    for (const SkipNode& part : node.parts) { collect_words(*part, words); }
}

bool condition_holds(const SkipCondition::Node& node, const std::function<bool(std::string_view)>& holds) {
    switch (node.kind) {
        case SkipKind::word:
            return node.text != "never" && holds(node.text);
        case SkipKind::negation:
            return !condition_holds(*node.parts.front(), holds);
        case SkipKind::all:
            return std::ranges::all_of(node.parts, [&](const SkipNode& part) { return condition_holds(*part, holds); });
        case SkipKind::any:
            return std::ranges::any_of(node.parts, [&](const SkipNode& part) { return condition_holds(*part, holds); });
    }
    return false;
}

}  // namespace

Result<SkipCondition> SkipCondition::parse(std::string_view text) {
    AF_TRY(SkipNode root, SkipConditionParser(text.empty() ? std::string_view("never") : text).whole());
    return SkipCondition(std::move(root));
}

std::vector<std::string> SkipCondition::words() const {
    std::vector<std::string> words;
    collect_words(*root_, words);
    return words;
}

std::string SkipCondition::reason(const std::function<bool(std::string_view word)>& holds) const {
    if (root_->kind != SkipKind::any) { return condition_holds(*root_, holds) ? root_->text : std::string(); }
    for (const SkipNode& part : root_->parts) {
        if (condition_holds(*part, holds)) { return part->text; }
    }
    return {};
}

}  // namespace agentforge::kernel
