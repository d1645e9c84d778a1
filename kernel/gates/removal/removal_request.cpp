// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/removal_request.hpp"

#include <algorithm>
#include <cctype>

#include <re2/re2.h>

#include "base/text.hpp"
#include "gates/language/string_piece.hpp"

namespace agentforge::kernel {
namespace {

/// Words that say nothing about what is removed.
bool is_filler(const std::string& word) {
    static const std::set<std::string> fillers{
        "a",       "all",       "an",       "and",    "any",     "are",     "as",   "at",    "be",     "but",      "by",
        "code",    "delete",    "drop",     "each",   "else",    "every",   "file", "for",   "from",   "has",      "have",
        "if",      "in",        "into",     "is",     "it",      "its",     "lib",  "no",    "not",    "of",       "on",
        "only",    "or",        "our",      "please", "remove",  "so",      "src",  "that",  "the",    "them",     "then",
        "there",   "these",     "they",     "this",   "to",      "we",      "when", "where", "which",  "with",     "you",
        "call",    "line",      "main",     "self",   "return",  "class",   "def",  "func",  "method", "function", "module",
        "package", "parameter", "argument", "option", "feature", "support", "py",   "js",    "go",     "ts",       "rs"};
    const bool is_plural = word.ends_with('s') && fillers.contains(word.substr(0, word.size() - 1));
    return is_plural || fillers.contains(word);
}

/// True if both are forms of one word: `print` and "prints", `validate` and "validation".
bool same_word(std::string_view one, std::string_view other) {
    constexpr std::size_t longest_ending = 3;
    constexpr std::size_t shortest = 3;
    const auto shared = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
    if (shared < shortest || one.size() - shared > longest_ending || other.size() - shared > longest_ending) {
        return one == other;
    }
    if (shared == one.size() || shared == other.size()) {
        static const RE2 ending(R"(|s|es|d|ed|r|er|ers|ing|or|ion|able|n?al|y|ly|ged|ger)");
        return RE2::FullMatch(string_piece(one.size() > other.size() ? one.substr(shared) : other.substr(shared)), ending);
    }
    // "validation" and `validate`, "caching" and `cache`.
    const bool silent = (one.size() == shared + 1 && one.back() == 'e') || (other.size() == shared + 1 && other.back() == 'e');
    return shared > shortest + 1 || (silent && shared > shortest);
}

bool is_form_of_one(const std::set<std::string>& words, std::string_view word) {
    const auto small = lower_case(word);
    if (small.size() < 2 || is_filler(small)) { return false; }
    return std::ranges::any_of(words, [&](const std::string& each) { return same_word(each, small); });
}

/// Adds the parts of this text's names that say something.
void add_parts(std::string_view text, std::set<std::string>& parts) {
    static const RE2 name(R"(([A-Za-z_]\w*|\d\d+))");
    auto rest = string_piece(text);
    std::string word;
    while (RE2::FindAndConsume(&rest, name, &word)) {
        for (auto& part : parts_of_name(word)) {
            if (!is_filler(part)) { parts.insert(std::move(part)); }
        }
    }
}

/// Returns what the request asks to make in another part of it.
std::vector<Making> makings_of(std::string_view request) {
    static const RE2 makes(
        R"((?i)(?:\b(?:and|then|but|also|plus)|[,;.:])\s+(?:(?:also|then|instead|please)\s+)*(add|create|implement|introduce|support|write|provide|extend)\s+((?:[^\s,;.]+\s*){1,4}))");
    static const RE2 noun(R"(^(?:and|or|from|in|of|for|is|are|was|were|to)\b)");  // "Drop Python 2 and support for XML".
    static const RE2 text(
        R"((?i)\b(?:tests?|docs?|documentation|docstrings?|readme|comments?|notes?|changelog|entry|entries|migration guide)\b)");
    static const RE2 call(R"(([A-Za-z_]\w*)\()");
    static const RE2 end(R"(([;.]\s))");
    std::vector<Making> found;
    auto rest = string_piece(request);
    std::string verb;
    re2::StringPiece object;
    while (RE2::FindAndConsume(&rest, makes, &verb, &object)) {
        Making making{lower_case(verb), {}, {}};
        std::string_view clause(object.data(), static_cast<std::size_t>(request.data() + request.size() - object.data()));
        re2::StringPiece stop;
        if (end.Match(string_piece(clause), 0, clause.size(), RE2::UNANCHORED, &stop, 1)) {
            clause = clause.substr(0, static_cast<std::size_t>(stop.data() - clause.data()));
        }
        // A call is code, whatever its name: `Notes.find(title)`.
        const bool about_text = RE2::PartialMatch(object, text) && !RE2::PartialMatch(string_piece(clause), call);
        if (RE2::PartialMatch(object, noun) || about_text) { continue; }
        add_parts(clause, making.words);
        auto names = string_piece(clause);
        std::string name;
        while (RE2::FindAndConsume(&names, call, &name)) { making.calls.insert(name); }
        found.push_back(std::move(making));
    }
    return found;
}

/// A request, and the clauses that say what stays.
struct KeptClauses {
    std::string rest;  ///< The request without them.
    std::string kept;
};

KeptClauses kept_clauses(std::string_view request) {
    // A clause ends where another one begins, or where the request goes on to ask for something.
    static const RE2 keeps(
        R"((?i)((?:[,;:.]\s+|[,;]?\s(?:but|and|while|yet)\s+)(?:(?:please|do|must|should|also|still|just|only|then)\s+)*(?:keep|leave|retain|preserve|maintain)(?:s|ing)?\s|\s(?:keeping|leaving|retaining|preserving)\s|\bwithout\s+(?:touching|changing|affecting|breaking|removing|losing|altering|modifying)\s|,?\s(?:apart\s+from|other\s+than|but\s+not|and\s+not)\s|,\s*(?:except|excluding)\s|\sexcept\s+(?:for|the)\s|,\s*not\s|,?\s(?:but|and)\s+(?:do\s+not|don't|never)\s+\w+\s))");
    static const RE2 clause_end(
        R"((?i)([.;](?:\s|$)|(?:\band|,|\bthen)\s+(?:also\s+|then\s+)*(?:remove|delete|drop|add|create|implement|introduce|write|provide|extend)\b))");
    static const RE2 clause_begin(R"((?i)([.;,]\s+|\s(?:but|while|so\s+that|and)\s+))");
    static const RE2 stays(
        R"((?i)\b(?:still|stays?|remains?|as\s+before|unchanged|continues?\s+to|must\s+not\s+change|works?\s+as|like\s+before)\b)");
    static const RE2 relative(
        R"((?i)\b(?:that|which|who|what)\s+(?:\w+\s+)?(?:still|stays?|remains?|as|unchanged|continues?|must|works?|like)\b)");
    KeptClauses result;
    std::string left(request);
    for (std::size_t from = 0; from < left.size();) {
        re2::StringPiece found;
        if (!keeps.Match(left, from, left.size(), RE2::UNANCHORED, &found, 1)) { break; }
        const auto begin = static_cast<std::size_t>(found.data() - left.data());
        const auto inside = begin + found.size();
        auto end = left.size();
        if (re2::StringPiece stop; clause_end.Match(left, inside, left.size(), RE2::UNANCHORED, &stop, 1)) {
            end = static_cast<std::size_t>(stop.data() - left.data());
        }
        result.kept += left.substr(inside, end - inside) + "\n";
        left.replace(begin, end - begin, " ");
        from = begin;
    }
    // The first clause says what goes, whatever its words are.
    std::size_t begin = left.size();
    if (re2::StringPiece found; clause_begin.Match(left, 0, left.size(), RE2::UNANCHORED, &found, 1)) {
        begin = static_cast<std::size_t>(found.data() - left.data());
    }
    result.rest = left.substr(0, begin);
    while (begin < left.size()) {
        auto end = left.size();
        re2::StringPiece found;
        if (clause_begin.Match(left, begin + 1, left.size(), RE2::UNANCHORED, &found, 1)) {
            end = static_cast<std::size_t>(found.data() - left.data());
        }
        const auto clause = left.substr(begin, end - begin);
        const bool is_kept = RE2::PartialMatch(clause, stays) && !RE2::PartialMatch(clause, relative);
        (is_kept ? result.kept : result.rest) += clause;
        begin = end;
    }
    return result;
}

}  // namespace

std::vector<std::string> parts_of_name(std::string_view name) {
    std::vector<std::string> parts;
    std::string part;
    const auto is_upper = [&](std::size_t at) { return std::isupper(static_cast<unsigned char>(name[at])) != 0; };
    for (std::size_t at = 0; at < name.size(); ++at) {
        const bool is_word = std::isalnum(static_cast<unsigned char>(name[at])) != 0;
        const bool begins =
            is_word && is_upper(at) && at > 0 &&
            (!is_upper(at - 1) || (at + 1 < name.size() && std::islower(static_cast<unsigned char>(name[at + 1])) != 0));
        if ((!is_word || begins) && !part.empty()) {
            parts.push_back(lower_case(part));
            part.clear();
        }
        if (is_word) { part += name[at]; }
    }
    if (!part.empty()) { parts.push_back(lower_case(part)); }
    return parts;
}

RemovalRequest::RemovalRequest(std::string_view whole) {
    const auto clauses = kept_clauses(whole);
    const std::string_view request = clauses.rest;
    static const RE2 text(
        R"((?i)\b(?:docs?|documentation|docstrings?|javadocs?|readme|comments?|changelog|licen[cs]e|copyright|guide|manual|tutorial|handbook|typos?|wording|spelling|todos?|fixmes?|tests?|test_\w+|specs?|fixtures?|mentions?|badges?|whitespace|blank lines?|empty lines?|trailing)\b|\.(?:md|rst|adoc|txt)\b)");
    static const RE2 unused(
        R"((?i)\b(?:unused|dead|unreachable|redundant|duplicat\w*|unnecessary|superfluous|needless|obsolete|stale|leftover|no longer (?:used|needed)|never (?:used|called|read))\b)");
    about_text_ = RE2::PartialMatch(string_piece(request), text);
    unused_ = RE2::PartialMatch(string_piece(request), unused);
    makes_ = makings_of(request);

    static const RE2 name(R"(([A-Za-z_]\w*|\d+))");
    auto rest = string_piece(request);
    std::string word;
    while (RE2::FindAndConsume(&rest, name, &word)) { names_.insert(word); }
    add_parts(request, words_);
    add_parts(clauses.kept, kept_);
    std::erase_if(kept_, [&](const std::string& kept) { return is_form_of_one(words_, kept); });
    // What is removed: up to the first word that says from where, when or why.
    static const RE2 verb(R"((?i)^\W*(?:please\W+)?(?:remove|delete|drop)\b)");
    static const RE2 place(
        R"((?i)[.;:,(]\s|\b(?:from|in|on|at|of|for|when|where|which|that|by|with|to|so|because|since|if|after|before|and\s+(?:add|create|implement|introduce|support|write|provide|extend))\b)");
    static const RE2 tidying(
        R"((?i)\b(?:refactor\w*|clean\w*|simplif\w*|restructur\w*|rewrit\w*|rewrote|tidy\w*|dedup\w*|inlin\w*|shorten\w*|faster|speed\w*|optimi[sz]\w*|performance|lint|style)\b)");
    tidies_ = RE2::PartialMatch(string_piece(whole), tidying);
    rest = string_piece(request);
    removes_ = RE2::Consume(&rest, verb);
    const std::string_view object(rest.data(), rest.size());
    re2::StringPiece found;
    const auto length = place.Match(rest, 0, rest.size(), RE2::UNANCHORED, &found, 1)
                            ? static_cast<std::size_t>(found.data() - rest.data())
                            : object.size();
    add_parts(object.substr(0, length), object_);
    if (object_.empty() || !removes_) { object_ = words_; }  // "Drop support for XML".
}

bool RemovalRequest::mentions(std::string_view word) const { return is_form_of_one(words_, word); }

bool RemovalRequest::is_kept(std::string_view word) const { return is_form_of_one(kept_, word); }

bool RemovalRequest::is_object(std::string_view word) const { return is_form_of_one(object_, word); }

}  // namespace agentforge::kernel
