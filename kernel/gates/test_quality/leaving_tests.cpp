// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/leaving_tests.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <re2/re2.h>

#include "gates/removal/source_lines.hpp"
#include "gates/test_quality/import_text.hpp"
#include "gates/test_quality/name_uses.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {
namespace {

re2::StringPiece leaving_piece(std::string_view text) { return {text.data(), text.size()}; }

bool is_blank_line(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

std::string_view content_of_line(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) { return {}; }
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::size_t margin_of_line(std::string_view line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool has_name(std::string_view text, std::string_view name) {
    for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const auto end = at + name.size();
        if ((at == 0 || !is_name_byte(text[at - 1])) && (end == text.size() || !is_name_byte(text[end]))) { return true; }
    }
    return false;
}

std::vector<std::string> split_by(std::string_view text, std::string_view separator) {
    std::vector<std::string> parts;
    for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
        parts.emplace_back(content_of_line(text.substr(0, at)));
        text.remove_prefix(at + separator.size());
    }
    parts.emplace_back(content_of_line(text));
    return parts;
}

/// Returns a test's name by its parts, outermost first.
std::vector<std::string> name_parts(const TestOutcome& test, const std::string& id) {
    std::string name = id.starts_with(test.file + "::") ? id.substr(test.file.size() + 2) : without_parameters(test.name);
    std::vector<std::string> parts;
    for (const auto& outer : split_by(name, "::")) {
        for (auto& part : split_by(outer, " > ")) {
            if (!part.empty()) { parts.push_back(std::move(part)); }
        }
    }
    return parts;
}

/// Returns the names that a line outside tests defines, or nothing if it may do something else.
std::vector<std::string> names_defined(std::string_view line) {
    static const RE2 statement(
        R"(^\s*(?:return|if|else|elif|for|while|switch|case|throw|raise|new|delete|assert\w*|await|yield|import|from|package|goto|do|try|with|expect|export\s*\{|not|in|del|global|using|use|mod|#)\b)");
    static const RE2 method(R"(^func\s+\(\s*\w*\s*\*?\s*(\w+)[^)]*\)\s+\w+\s*\()");
    static const RE2 implementation(R"(^\s*impl(?:<[^>]*>)?\s+(?:[\w:]+(?:<[^>]*>)?\s+for\s+)?(\w+))");
    static const RE2 keyword(
        R"(^\s*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|static|final|abstract|async|unsafe|inline|constexpr|declare)\s+)*(?:def|func|fn|function\*?|class|struct|enum|interface|trait|type|union|const|let|var|static|typedef)\s+(?:mut\s+)?(\w+)\s*(.?))");
    static const RE2 assigned(R"(^([A-Za-z_]\w*)\s*(?::[^=]+)?=[^=])");
    static const RE2 declared(R"(^\s*(?:[\w:<>,\[\].?]+[\s*&]+)+(\w+)\s*(?:\(|=[^=]|;|\{|\[))");
    std::string name;
    std::string next;
    const auto text = leaving_piece(line);
    if (RE2::PartialMatch(text, method, &name) || RE2::PartialMatch(text, implementation, &name)) { return {name}; }
    if (RE2::PartialMatch(text, statement)) { return {}; }
    // `struct Case cases[] = ...` is of a type that stays, `const { a } = ...` gives several names.
    if (RE2::PartialMatch(text, keyword, &name, &next) && (next.empty() || !is_name_byte(next.front()))) { return {name}; }
    if (RE2::PartialMatch(text, assigned, &name)) { return {name}; }
    if (!RE2::PartialMatch(text, declared, &name)) { return {}; }
    static const RE2 arguments_of_type(R"(<[^<>]*>)");
    std::string head(line.substr(0, line.find_first_of("(={;")));
    while (RE2::GlobalReplace(&head, arguments_of_type, "") > 0) {}
    return head.find(',') == std::string::npos ? std::vector<std::string>{name} : std::vector<std::string>();  // `a, b = f()`
}

/// True for what a framework or a language uses without naming it.
bool acts_by_its_name(const std::string& name) {
    static const RE2 implicit(
        R"((?i)_+|__\w*__|set_?up\w*|tear_?down\w*|pytest\w*|load_tests|collect_ignore\w*|main|init|before\w*|after\w*|equals|hash_?code|to_?string|compare_?to|operator)");
    static const RE2 test(R"(test_\w*|test[A-Z0-9]\w*|Test\w*|TEST\w*)");
    return RE2::FullMatch(name, implicit) || RE2::FullMatch(name, test);
}

/// True for an annotation of a helper that does nothing by itself.
bool is_harmless_annotation(std::string_view line) {
    static const RE2 harmless(
        R"(^\s*(?:@(?:pytest\.)?fixture(?:\((?:scope|name|params)?[^)]*\))?|@(?:static|class)method|@property|@(?:contextlib\.)?contextmanager|@(?:functools\.)?(?:lru_)?cache(?:\(.*\))?|@(?:dataclasses\.)?dataclass(?:\(.*\))?|@SuppressWarnings\(.*\)|#\[(?:derive|allow|rstest::fixture|fixture)\b.*\])\s*$)");
    static const RE2 automatic(R"(\bautouse\b|\bname\s*=)");  // A fixture may have another name than its function.
    return RE2::PartialMatch(leaving_piece(line), harmless) && !RE2::PartialMatch(leaving_piece(line), automatic);
}

bool is_type_header(std::string_view line) {
    static const RE2 type(
        R"(^\s*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|abstract|final|sealed|static)\s+)*(?:class|struct|interface|enum|union|trait|impl|record)\b)");
    return RE2::PartialMatch(leaving_piece(line), type);
}

}  // namespace

/// A text by its lines.
struct LeavingTests::Reader {
    Reader(std::string_view text, const CodeRules& rules) : rules_(rules) {
        const auto without = without_comments(text, rules);
        const auto read = read_code(text, rules);
        for (const auto line : lines_of(text)) { written.emplace_back(line); }
        for (const auto line : lines_of(without)) { code.emplace_back(line); }
        for (const auto line : lines_of(read.code)) { blanked.emplace_back(line); }
        code.resize(written.size());
        blanked.resize(written.size());
        in_text.assign(written.size() + 1, false);
        for (const auto& literal : read.literals) {
            const auto more = std::ranges::count(literal.value, '\n');
            for (std::int64_t at = 0; at < more; ++at) {
                const auto line = static_cast<std::size_t>(literal.line) + static_cast<std::size_t>(at);
                if (line < in_text.size()) { in_text[line] = true; }
            }
        }
        for (const auto& line : written) { joined += std::string("\n") + std::string(trimmed_right(line)); }
        joined += "\n";
        imports.assign(written.size(), false);
        for (std::size_t at = 0; at < written.size(); ++at) {
            if (in_text[at] || !begins_import(code[at])) { continue; }
            const auto last = end_of_statement(at);
            for (; at <= last; ++at) { imports[at] = true; }
            --at;
        }
    }

    static std::string_view trimmed_right(std::string_view line) {
        const auto last = line.find_last_not_of(" \t\r");
        return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
    }

    [[nodiscard]] bool is_comment(std::size_t at) const {
        const auto line = content_of_line(written[at]);
        const bool marked = line.starts_with("//") || line.starts_with("/*") || line.starts_with('*') ||
                            (line.starts_with('#') && !rules_.preprocessor);
        return marked && !in_text[at] && is_blank_line(code[at]);
    }

    /// True for a comment without an effect.
    [[nodiscard]] bool is_plain_comment(std::size_t at) const {
        static const RE2 acting(
            R"(@\w|\beslint|\bistanbul|\bc8\b|go:\w|\+build|type:|\bnoqa|pragma|coverage|prettier|-\*-|#!|clang-|NOLINT|vim:|jest-|vitest-)");
        return is_comment(at) && !RE2::PartialMatch(written[at], acting) &&
               (rules_.acting_comments.empty() || !RE2::PartialMatch(written[at], RE2(rules_.acting_comments, RE2::Quiet)));
    }

    [[nodiscard]] bool is_annotation(std::size_t at) const {
        const auto line = content_of_line(written[at]);
        return !in_text[at] && (line.starts_with('@') || line.starts_with("#["));
    }

    /// Returns the first line of what stands directly above a line: its annotations, and the comments above.
    [[nodiscard]] std::size_t begin_of(std::size_t at) const {
        while (at > 0) {
            if (is_comment(at - 1) || is_annotation(at - 1)) {
                --at;
                continue;
            }
            const auto above = content_of_line(blanked[at - 1]);
            if (!above.starts_with(')') && !above.starts_with(']')) { return at; }
            auto first = at - 1;
            int open = bracket_balance(blanked[first]);
            while (open < 0 && first > 0) { open += bracket_balance(blanked[--first]); }
            if (!is_annotation(first)) { return at; }
            at = first;
        }
        return at;
    }

    /// Returns the last line of the statement that begins at a line, with its block.
    [[nodiscard]] std::size_t end_of_statement(std::size_t first) const {
        const auto margin = margin_of_line(written[first]);
        int open = 0;
        auto last = first;
        for (auto at = first; at < written.size(); ++at) {
            open += bracket_balance(blanked[at]);
            if (!is_blank_line(written[at])) { last = at; }
            if (open > 0 || in_text[at + 1]) { continue; }
            auto next = at + 1;
            while (next < written.size() && is_blank_line(blanked[next]) && !in_text[next]) { ++next; }
            if (next == written.size()) { return last; }
            static const RE2 continues(R"(^\s*(?:[.)\]}{?:+]|&&|\|\||=>))");
            const auto begins = margin_of_line(written[next]);
            // A bracket further to the left ends what is around the statement: the class of the last test in it.
            if (begins > margin || (begins == margin && RE2::PartialMatch(blanked[next], continues))) { continue; }
            return last;
        }
        return last;
    }

    /// Returns how often these lines of `from` occur here.
    [[nodiscard]] std::size_t count_of(const Reader& from, std::size_t first, std::size_t last) const {
        std::string block;
        for (auto at = first; at <= last; ++at) { block += std::string("\n") + std::string(trimmed_right(from.written[at])); }
        block += "\n";
        std::size_t count = 0;
        for (auto at = joined.find(block); at != std::string::npos; at = joined.find(block, at + 1)) { ++count; }
        return count;
    }

    [[nodiscard]] bool lost(const Reader& from, std::size_t first, std::size_t last) const {
        return count_of(from, first, last) < from.count_of(from, first, last);
    }

    /// `among`: the lines to read, or null.
    [[nodiscard]] bool uses(const FormerName& former, const std::vector<bool>* among = nullptr) const {
        return may_mean({.code = code,
                         .blanked = blanked,
                         .imports = imports,
                         .among = among,
                         .is_indented = is_python(),
                         .is_go = is_go(),
                         .is_c = rules_.preprocessor},
                        former);
    }

    /// True if the file uses this name of an import.
    [[nodiscard]] bool uses(const std::string& name, const std::vector<bool>* among = nullptr) const {
        return uses(FormerName{.name = name, .is_fixture = is_python()}, among);
    }

    [[nodiscard]] bool is_python() const { return rules_.comment_begins.empty(); }
    [[nodiscard]] bool is_go() const { return std::ranges::any_of(code, is_go_package); }

    [[nodiscard]] std::vector<ImportStatement> import_statements() const {
        const bool go = is_go();
        std::vector<ImportStatement> found;
        for (std::size_t at = 0; at < written.size(); ++at) {
            if (!imports[at]) { continue; }
            const auto last = end_of_statement(at);
            const std::vector<std::string> lines(code.begin() + static_cast<std::ptrdiff_t>(at),
                                                 code.begin() + static_cast<std::ptrdiff_t>(last) + 1);
            auto [text, import] = go ? read_go_import(lines) : read_import(lines);
            found.push_back({at, last, margin_of_line(written[at]), std::move(text), std::move(import)});
            at = last;
        }
        return found;
    }

    const CodeRules& rules_;
    std::vector<std::string> written;
    std::vector<std::string> code;     ///< Without comments and docstrings.
    std::vector<std::string> blanked;  ///< Without texts.
    std::vector<bool> in_text;         ///< The line begins within a text.
    std::vector<bool> imports;
    std::string joined;
};

LeavingTests::LeavingTests(std::string_view before, std::string_view now, const std::vector<TestOutcome>& tests,
                           const std::set<std::string>& outdated, const CodeRules& rules, const UsesElsewhere* elsewhere) {
    if (rules.empty() || before == now) { return; }
    const Reader old(before, rules);
    const Reader fresh(now, rules);
    lines_ = old.written;
    leaving_.assign(lines_.size(), false);
    find_places(old, tests);
    find_tests(old, fresh, outdated);
    const bool any_leaves = !parts_.empty();
    if (any_leaves) { find_suites(old, fresh, outdated); }
    if (any_leaves || elsewhere != nullptr) { find_definitions(old, fresh, any_leaves ? nullptr : elsewhere); }
    if (parts_.empty()) {
        find_imports(old, fresh, true);
        return;
    }
    find_imports(old, fresh, false);
    take_blanks(old);
}

void LeavingTests::add(LeavingPart::Kind kind, std::size_t first, std::size_t last, std::string id) {
    for (auto at = first; at <= last; ++at) { leaving_[at] = true; }
    parts_.push_back({kind, std::move(id), first + 1, last + 1});
}

void LeavingTests::find_places(const Reader& before, const std::vector<TestOutcome>& tests) {
    const auto declares = [&](std::size_t at, const std::string& part) {
        const auto& line = before.written[at];
        if (before.in_text[at] || before.imports[at] || before.is_comment(at)) { return false; }
        for (const char quote : {'\'', '"', '`'}) {
            if (line.find(quote + part + quote) != std::string::npos) { return true; }
        }
        static const RE2 header(
            R"(\b(?:def|func|fn|void|int|bool|static|class|struct|mod|function|fun)\b|\b[A-Z_]*(?:TEST|CASE|SCENARIO)\w*\s*\()");
        return has_name(before.blanked[at], part) && RE2::PartialMatch(before.blanked[at], header);
    };
    const auto find = [&](const std::string& part, std::size_t from) -> std::optional<std::size_t> {
        for (auto at = from; at < lines_.size(); ++at) {
            if (declares(at, part)) { return at; }
        }
        return std::nullopt;
    };
    std::set<std::string> known;
    for (const auto& test : tests) {
        const auto id = without_parameters(test.id);
        if (test.id == test.file || !known.insert(id).second) { continue; }
        const auto parts = name_parts(test, id);
        std::size_t from = 0;
        std::optional<std::size_t> place;
        for (std::size_t at = 0; at < parts.size(); ++at) {
            place = find(parts[at], from);
            // Go's `TestSize/given`, and cases of C++: the test is the first part.
            if (!place && at + 1 == parts.size()) { place = find(parts[at].substr(0, parts[at].find_first_of("/.")), from); }
            from = place.value_or(from);
        }
        if (!place) {
            unplaced_.insert(id);
            continue;
        }
        places_.push_back({id, *place, before.begin_of(*place), before.end_of_statement(*place)});
    }
    std::ranges::sort(places_, {}, &TestPlace::line);
    for (std::size_t at = 0; at + 1 < places_.size(); ++at) {
        auto& place = places_[at];
        const auto& next = places_[at + 1];
        const bool nested = margin_of_line(lines_[next.line]) > margin_of_line(lines_[place.line]);
        if (next.line > place.line && !nested && place.last >= next.first) { place.last = next.first - 1; }
    }
}

void LeavingTests::find_tests(const Reader& before, const Reader& now, const std::set<std::string>& outdated) {
    std::set<std::string> leaving;
    for (const auto& place : places_) {
        const bool holds_another = std::ranges::any_of(places_, [&](const TestPlace& other) {
            return !outdated.contains(other.id) && other.line >= place.first && other.line <= place.last;
        });
        if (!outdated.contains(place.id) || holds_another || !now.lost(before, place.first, place.last)) { continue; }
        leaving.insert(place.id);
        add(LeavingPart::Kind::test, place.first, place.last, place.id);
    }
    for (const auto& place : places_) {
        if (!leaving.contains(place.id)) { staying_.insert(place.id); }
    }
    staying_.insert(unplaced_.begin(), unplaced_.end());
}

void LeavingTests::find_suites(const Reader& before, const Reader& now, const std::set<std::string>& outdated) {
    static const RE2 described(
        R"re(^\s*(?:describe|context|suite|feature)(?:\.\w+)*\s*\(\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|(\w+)))re");
    static const RE2 type(
        R"(^\s*(?:(?:export|pub|public|private|protected|abstract|final|static)\s+)*(?:class|struct|mod|namespace)\s+(\w+))");
    if (std::ranges::any_of(unplaced_, [&](const std::string& id) { return !outdated.contains(id); })) { return; }
    for (std::size_t at = 0; at < lines_.size(); ++at) {
        std::string names[4];
        if (leaving_[at] || before.in_text[at]) { continue; }
        const bool is_call = RE2::PartialMatch(before.code[at], described, &names[0], &names[1], &names[2], &names[3]);
        if (!is_call && !RE2::PartialMatch(before.code[at], type, &names[0])) { continue; }
        const auto name = names[0] + names[1] + names[2] + names[3];
        const auto last = before.end_of_statement(at);
        const auto within = [&](const TestPlace& place) { return place.line >= at && place.line <= last; };
        const bool any_leaves =
            std::ranges::any_of(places_, [&](const TestPlace& place) { return within(place) && !staying_.contains(place.id); });
        const bool any_stays =
            std::ranges::any_of(places_, [&](const TestPlace& place) { return within(place) && staying_.contains(place.id); });
        const bool named = std::ranges::any_of(staying_, [&](const std::string& id) {
            const auto parts = split_by(id, "::");
            return std::ranges::find(parts, name) != parts.end();
        });
        bool used = false;
        for (std::size_t line = 0; !is_call && line < lines_.size(); ++line) {
            used = used || ((line < at || line > last) && !leaving_[line] && has_name(before.code[line], name));
        }
        if (!any_leaves || any_stays || named || used || !now.lost(before, at, last)) { continue; }
        add(LeavingPart::Kind::suite, before.begin_of(at), last);
    }
}

void LeavingTests::find_definitions(const Reader& before, const Reader& now, const UsesElsewhere* elsewhere) {
    std::string leaving = elsewhere != nullptr ? elsewhere->leaving : std::string();
    const auto leaves_elsewhere = [&](const std::string& name) {
        return elsewhere == nullptr ||
               (has_name(leaving, name) &&
                std::ranges::none_of(elsewhere->staying, [&](const std::string& text) { return has_name(text, name); }));
    };
    const auto is_in_a_test = [&](std::size_t at) {
        return std::ranges::any_of(places_, [&](const TestPlace& place) { return at >= place.first && at <= place.last; });
    };
    /// Members of types other than classes of tests may act without being named.
    const auto stands_well = [&](std::size_t at) {
        auto margin = margin_of_line(lines_[at]);
        for (auto line = at; line-- > 0 && margin > 0;) {
            if (is_blank_line(before.blanked[line]) || before.in_text[line] || margin_of_line(lines_[line]) >= margin) {
                continue;
            }
            margin = margin_of_line(lines_[line]);
            const auto last = before.end_of_statement(line);
            const bool holds_tests =
                std::ranges::any_of(places_, [&](const TestPlace& place) { return place.line > line && place.line <= last; });
            if (!holds_tests) { return false; }
        }
        return true;
    };
    const auto staying = lines_of_staying_tests();
    for (std::size_t at = 0; at < lines_.size(); ++at) {
        if (leaving_[at] || before.in_text[at] || before.imports[at] || is_in_a_test(at)) { continue; }
        const auto names = names_defined(before.blanked[at]);
        if (names.empty()) { continue; }
        const auto last = before.end_of_statement(at);
        const bool holds_tests =
            std::ranges::any_of(places_, [&](const TestPlace& place) { return place.line >= at && place.line <= last; });
        if (holds_tests) { continue; }
        const auto first = before.begin_of(at);
        bool plain = now.lost(before, at, last) && stands_well(at);
        for (auto line = first; line < at; ++line) {
            plain = plain && (before.is_comment(line) || is_harmless_annotation(lines_[line]));
        }
        bool is_fixture = false;
        for (auto line = first; line < at; ++line) { is_fixture = is_fixture || has_name(lines_[line], "fixture"); }
        for (const auto& name : names) {
            const FormerName former{
                .name = name, .is_member = margin_of_line(lines_[at]) > 0, .is_fixture = is_fixture, .in_texts = true};
            plain =
                plain && leaves_elsewhere(name) && !acts_by_its_name(name) && !now.uses(former) && !before.uses(former, &staying);
        }
        if (is_type_header(before.blanked[at])) {
            // Its base may register it.
            static const RE2 registers(R"(\b(?:metaclass|Meta|Registry|Plugin)\b)");
            plain = plain && !RE2::PartialMatch(before.blanked[at], registers);
        }
        if (plain) {
            add(LeavingPart::Kind::definition, first, last);
            for (auto line = first; line <= last; ++line) { leaving += lines_[line] + "\n"; }
        }
        at = last;
    }
}

void LeavingTests::find_imports(const Reader& before, const Reader& now, bool only_added) {
    const auto olds = before.import_statements();
    const auto news = now.import_statements();
    const auto same_place = [](const ImportStatement& one, const ImportStatement& other) {
        return one.margin == other.margin && one.import.frame == other.import.frame;
    };
    const auto stays = [&](const ImportStatement& old) {
        return std::ranges::any_of(news, [&](const ImportStatement& each) { return each.text == old.text; });
    };
    const auto is_changed = [&](const ImportStatement& each) {
        return std::ranges::none_of(olds, [&](const ImportStatement& old) { return each.text == old.text; });
    };
    const auto is_among = [&](const std::vector<ImportStatement>& all, const ImportStatement& like, const std::string& item) {
        return std::ranges::any_of(all, [&](const ImportStatement& each) {
            return same_place(each, like) && std::ranges::find(each.import.items, item) != each.import.items.end();
        });
    };
    const auto is_new_name = [&](const std::string& name) {
        for (std::size_t line = 0; line < lines_.size(); ++line) {
            if (!leaving_[line] && has_name(before.code[line], name)) { return false; }
        }
        return true;
    };
    const auto staying = lines_of_staying_tests();
    std::set<std::size_t> taken;
    for (const auto& old : olds) {
        if (stays(old) || leaving_[old.first]) { continue; }
        bool may = (old.import.textual && !only_added) || !old.import.items.empty();
        std::vector<std::string> lost;
        for (const auto& item : old.import.items) {
            if (is_among(news, old, item)) { continue; }
            const auto name = bound_name(item);
            may = may && !only_added && !name.empty() && !now.uses(name) && !before.uses(name, &staying);
            lost.push_back(name);
        }
        // What stands in its place: statements with its other names, or with other names of the same module.
        std::vector<std::size_t> successors;
        for (std::size_t at = 0; at < news.size(); ++at) {
            const auto& each = news[at];
            if (!same_place(each, old) || each.import.items.empty() || !is_changed(each)) { continue; }
            const bool shares = std::ranges::any_of(old.import.items, [&](const std::string& item) {
                return std::ranges::find(each.import.items, item) != each.import.items.end();
            });
            if (!shares && !names_module(each.import)) { continue; }
            successors.push_back(at);
            for (const auto& item : each.import.items) {
                if (!is_among(olds, old, item)) { may = may && is_new_name(bound_name(item)); }
            }
        }
        if (!may) { continue; }
        add(LeavingPart::Kind::import, old.first, old.last);
        parts_.back().names = std::move(lost);
        for (const auto at : successors) {
            if (!taken.insert(at).second) { continue; }
            for (auto line = news[at].first; line <= news[at].last; ++line) {
                parts_.back().replacement += now.written[line] + "\n";
            }
        }
    }
}

void LeavingTests::take_blanks(const Reader& before) {
    for (std::size_t at = 1; at < lines_.size(); ++at) {
        if (!leaving_[at] || leaving_[at - 1]) { continue; }
        auto first = at;
        while (first > 0 && !before.in_text[first - 1] && !leaving_[first - 1] &&
               (is_blank_line(lines_[first - 1]) || before.is_plain_comment(first - 1))) {
            --first;
        }
        if (first == 0) { continue; }  // The head of the file.
        for (auto line = first; line < at; ++line) { leaving_[line] = true; }
    }
    for (std::size_t at = 0; at < lines_.size(); ++at) {
        if (is_blank_line(lines_[at]) && !before.in_text[at]) { leaving_[at] = true; }
    }
}

std::string LeavingTests::left() const {
    std::string text;
    for (std::size_t at = 0; at < lines_.size(); ++at) {
        if (leaving_[at]) { text += lines_[at] + "\n"; }
    }
    return text;
}

std::vector<bool> LeavingTests::lines_of_staying_tests() const {
    std::vector<bool> staying(lines_.size(), false);
    for (std::size_t at = 0; at < lines_.size(); ++at) { staying[at] = is_in_staying_test(at + 1); }
    return staying;
}

bool LeavingTests::is_in_staying_test(std::uint64_t line) const {
    return std::ranges::any_of(places_, [&](const TestPlace& place) {
        return staying_.contains(place.id) && line >= place.first + 1 && line <= place.last + 1;
    });
}

std::string LeavingTests::rest_that_builds(std::set<std::size_t> back, const CodeRules& rules) const {
    auto text = rest(back);
    const Reader reader(text, rules);
    for (std::size_t at = 0; at < parts_.size(); ++at) {
        const auto& names = parts_[at].names;
        if (std::ranges::any_of(names, [&](const std::string& name) { return reader.uses(name); })) { back.insert(at); }
    }
    text = rest(back);
    const Reader whole(text, rules);
    return without_unused_go_imports(whole);
}

std::string LeavingTests::rest_with_used_names(const std::set<std::size_t>& back, const std::set<std::size_t>& used_by,
                                               const CodeRules& rules) const {
    const Reader reader(rest_that_builds(back, rules), rules);
    if (reader.is_go() || rules.preprocessor) { return rest_that_builds(back, rules); }
    const Reader user(rest(used_by), rules);
    const auto used = [&](const std::string& name) { return user.uses(name); };
    std::map<std::size_t, std::pair<std::size_t, std::string>> instead;  // First line → last line, text.
    for (const auto& each : reader.import_statements()) {
        auto text = import_of_used(each.text, used);
        if (text == each.text || import_of_used(each.text, [](const std::string&) { return true; }) == text) { continue; }
        if (!text.empty()) { text = std::string(each.margin, ' ') + text + "\n"; }
        instead[each.first] = {each.last, std::move(text)};
    }
    std::string text;
    for (std::size_t at = 0; at < reader.written.size(); ++at) {
        const auto found = instead.find(at);
        text += found == instead.end() ? reader.written[at] + "\n" : found->second.second;
        if (found != instead.end()) { at = found->second.first; }
    }
    return text;
}

/// Go refuses a file with an import that it does not use.
std::string LeavingTests::without_unused_go_imports(const Reader& reader) {
    const bool is_go = reader.is_go();
    std::vector<bool> unused(reader.written.size(), false);
    for (std::size_t at = 0; is_go && at < reader.written.size(); ++at) {
        if (!reader.imports[at]) { continue; }
        const auto packages = go_imports_in(reader.code[at]);
        if (packages.size() != 1) { continue; }
        const auto names = names_of_go_package(packages.front());
        unused[at] = !names.empty() && std::ranges::none_of(names, [&](const auto& name) { return reader.uses(name); });
    }
    std::string text;
    for (std::size_t at = 0; at < reader.written.size(); ++at) {
        if (!unused[at]) { text += reader.written[at] + "\n"; }
    }
    return text;
}

std::string LeavingTests::rest(const std::set<std::size_t>& back) const {
    std::vector<std::size_t> part_of(lines_.size(), parts_.size());  // The smallest part with this line.
    const auto size = [&](std::size_t part) { return parts_[part].last - parts_[part].first; };
    std::map<std::size_t, std::string> instead;
    for (std::size_t at = 0; at < parts_.size(); ++at) {
        for (auto line = parts_[at].first; line <= parts_[at].last; ++line) {
            auto& part = part_of[line - 1];
            if (part == parts_.size() || size(at) < size(part)) { part = at; }
        }
        if (!back.contains(at) && !parts_[at].replacement.empty()) { instead[parts_[at].first - 1] = parts_[at].replacement; }
    }
    std::string text;
    for (std::size_t at = 0; at < lines_.size(); ++at) {
        if (const auto found = instead.find(at); found != instead.end()) { text += found->second; }
        if (part_of[at] == parts_.size() || back.contains(part_of[at])) { text += lines_[at] + "\n"; }
    }
    return text;
}

std::vector<std::uint64_t> LeavingTests::numbers_of_rest() const {
    std::vector<bool> gone(lines_.size(), false);
    std::map<std::size_t, std::int64_t> instead;
    for (const auto& part : parts_) {
        for (auto line = part.first; line <= part.last; ++line) { gone[line - 1] = true; }
        if (!part.replacement.empty()) { instead[part.first - 1] = std::ranges::count(part.replacement, '\n'); }
    }
    std::vector<std::uint64_t> numbers;
    for (std::size_t at = 0; at < lines_.size(); ++at) {
        if (const auto found = instead.find(at); found != instead.end()) {
            numbers.insert(numbers.end(), static_cast<std::size_t>(found->second), 0);
        }
        if (!gone[at]) { numbers.push_back(at + 1); }
    }
    return numbers;
}

}  // namespace agentforge::kernel
