// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/removal_reader.hpp"

#include <algorithm>
#include <iterator>

#include <re2/re2.h>

#include "gates/language/string_piece.hpp"
#include "gates/removal/code_vocabulary.hpp"
#include "gates/removal/import_items.hpp"
#include "gates/removal/replaced_checks.hpp"
#include "gates/removal/statement_kinds.hpp"
#include "gates/test_quality/changed_line.hpp"

namespace agentforge::kernel {

namespace {

/// Returns the name of the function in whose brackets a removed argument stood. `reverted`: the line with this argument.
std::string slot_of(std::string_view now, std::string_view reverted) {
    const auto shared = std::ranges::mismatch(now, reverted).in2 - reverted.begin();
    int open = 0;
    for (auto at = static_cast<std::size_t>(shared); at-- > 0;) {
        if (reverted[at] == ')') { ++open; }
        if (reverted[at] != '(' || open-- > 0) { continue; }
        const auto head = reverted.substr(0, at);
        static const RE2 name(R"(([A-Za-z_]\w*)\s*$)");
        std::string found;
        RE2::PartialMatch(string_piece(head), name, &found);
        return found;
    }
    return {};
}

}  // namespace

struct RemovalReader::Versions {
    Versions(const ChangedText& changed, const CodeRules& code_rules)
        : file(changed), rules(code_rules), before(changed.before, code_rules), now(changed.now, code_rules) {}

    const ChangedText& file;
    const CodeRules& rules;
    const SourceLines before;
    const SourceLines now;
};

RemovalReader::RemovalReader(const RemovalRequest& request, const CodeRules& rules, const std::vector<ChangedText>& files,
                             const std::vector<std::string>& others)
    : request_(request), rules_(rules) {
    std::string before;
    std::set<std::string> parts_before;
    const auto remains = [&](const std::string& text) {
        auto words = vocabulary_of(without_comments(text, rules), rules);
        names_now_.merge(words.names);
        parts_now_.merge(words.parts);
    };
    for (const auto& text : others) { remains(text); }
    for (const auto& file : files) {
        if (!file.is_source) {
            read_other_file(file);
            continue;
        }
        remains(file.now);
        before += file.before + "\n";
        parts_before.merge(vocabulary_of(without_comments(file.before, rules), rules).parts);
    }
    const auto is_object = [&](const std::string& part) { return request.is_object(part); };
    found_.had_object = std::ranges::any_of(parts_before, is_object) || std::ranges::any_of(parts_now_, is_object);
    for (const auto& file : files) {
        if (file.is_source && !file.before.empty()) { add_file(file); }
    }
    forget_foreign_names(before);
    forget_foreign_slots();
    for (auto& piece : found_.pieces) {
        std::erase_if(piece.vanished, [&](const std::string& name) {
            return std::ranges::any_of(parts_of_name(name), [&](const auto& part) { return request.is_kept(part); });
        });
    }
}

void RemovalReader::read_other_file(const ChangedText& file) {
    const auto path = parts_of_name(file.path);
    const auto words = file.now.empty() ? path : names_of_code(file.before);
    const auto is_mentioned = [&](const auto& word) { return request_.mentions(word); };
    found_.other_file_asked =
        found_.other_file_asked || std::ranges::any_of(path, is_mentioned) || std::ranges::any_of(words, is_mentioned);
}

bool RemovalReader::is_about(const std::vector<std::string>& names) const {
    for (const auto& name : names) {
        for (const auto& part : parts_of_name(name)) {
            if (request_.is_object(part) || (request_.mentions(part) && !parts_now_.contains(part))) { return true; }
        }
    }
    return false;
}

void RemovalReader::name_slots(std::size_t begun) {
    std::map<std::pair<std::string, std::uint64_t>, std::vector<Piece*>> lists;  // By function and line.
    for (auto index = begun; index < found_.pieces.size(); ++index) {
        auto& piece = found_.pieces[index];
        if (!piece.slot.empty()) { lists[{piece.slot, piece.lines.line}].push_back(&piece); }
    }
    for (auto& [list, pieces] : lists) {
        for (std::size_t at = 0; at < pieces.size(); ++at) {
            pieces[at]->slot += " " + std::to_string(at + 1) + " of " + std::to_string(pieces.size());
        }
    }
}

void RemovalReader::forget_foreign_slots() {
    static const RE2 definition(R"(^\s*(?:[\w*&:<>,\[\]]+\s+)+[*&]*(?:\([^()]*\)\s*)?$)");
    static const RE2 statement(R"(^\s*(?:return|await|yield|throw|raise|else|if|while|new|go|defer)\b)");
    std::set<std::string> defined;
    for (const auto& piece : found_.pieces) {
        if (piece.slot.empty()) { continue; }
        const auto head = piece.lines.text.substr(0, piece.lines.text.find(piece.slot.substr(0, piece.slot.find(' ')) + "("));
        if (RE2::FullMatch(head, definition) && !RE2::PartialMatch(head, statement)) { defined.insert(piece.slot); }
    }
    for (auto& piece : found_.pieces) {
        if (!defined.contains(piece.slot)) { piece.slot.clear(); }
    }
}

RemovalReader::Piece& RemovalReader::add_piece(Piece::Kind kind, const Versions& versions,
                                               const std::vector<std::size_t>& numbers, std::optional<std::string> part) {
    const auto& before = versions.before;
    Piece piece;
    piece.kind = kind;
    piece.lines = {versions.file.path, numbers.front() + 1, std::string(bare_line(before.written[numbers.front()]))};
    piece.written = joined_lines(before.written, numbers);
    const auto blanked = part ? read_code(*part, versions.rules).code : joined_lines(before.blanked, numbers);
    piece.code = part ? std::move(*part) : joined_lines(before.code, numbers);
    piece.parts = vocabulary_of(piece.code, versions.rules).parts;
    for (auto& name : names_of_code(blanked)) { piece.uses.insert(std::move(name)); }
    piece.decides = kind == Piece::Kind::definition ? raises(blanked) : decides(blanked);
    auto kept = vocabulary_of(kind == Piece::Kind::lines ? without_errors(piece.code) : piece.code, versions.rules);
    for (const auto& name : kept.names) {
        if (!names_now_.contains(name)) { piece.vanished.insert(name); }
    }
    // An import may name what it imports in a text.
    static const std::set<std::string> keywords{"import", "from", "as",  "use",     "using",
                                                "const",  "let",  "var", "require", "include"};
    for (const auto& name : names_of_code(kind == Piece::Kind::import ? piece.code : blanked)) {
        if (!names_now_.contains(name) && !keywords.contains(name)) { piece.lacking.insert(name); }
    }
    return found_.pieces.emplace_back(std::move(piece));
}

void RemovalReader::add_whole_file(const Versions& versions) {
    const auto& before = versions.before;
    std::vector<std::size_t> numbers;
    for (std::size_t at = 0; at < before.code.size(); ++at) {
        if (!before.code[at].empty()) { numbers.push_back(at); }
    }
    if (numbers.empty()) { return; }
    add_piece(Piece::Kind::definition, versions, numbers).is_asked =
        is_about(names_of_code(versions.file.path + "\n" + versions.file.before)) || request_.calls_it_unused();
}

void RemovalReader::add_file(const ChangedText& file) {
    const Versions versions(file, rules_);
    found_.whole[file.path] = file.whole;
    found_.restores_includes = rules_.preprocessor;
    if (file.now.empty()) { return add_whole_file(versions); }  // A file is a definition.
    const auto begun = found_.pieces.size();
    std::vector<bool> skipped(versions.before.code.size());
    const auto unrelated = add_definitions(versions, skipped);
    add_imports(versions, skipped);
    const auto imports_now = lines_of_imports(versions.now);
    const HunkFinder finder(versions.before, versions.now, skipped, imports_now);
    place_pieces(versions, finder, begun);
    for (const auto& hunk : finder.find()) { add_hunk(versions, finder, hunk, unrelated); }
    name_slots(begun);
}

void RemovalReader::place_pieces(const Versions& versions, const HunkFinder& finder, std::size_t begun) {
    const auto& before = versions.before;
    const auto& now = versions.now;
    const auto imports = lines_of_imports(before);
    const auto marked_now = lines_of_imports(now);
    const auto inside = import_items(now).inside;
    auto places = finder.kept_places();
    for (std::size_t at = 0; at < before.code.size(); ++at) {
        if (!imports[at]) { continue; }
        for (std::size_t in_new = 0; in_new < now.code.size(); ++in_new) {
            if (!marked_now[in_new] || now.code[in_new] != before.code[at]) { continue; }
            places[at] = in_new;
            break;
        }
    }
    for (auto index = begun; index < found_.pieces.size(); ++index) {
        for (auto at = static_cast<std::size_t>(found_.pieces[index].lines.line - 1); at-- > 0;) {
            if (places[at] == no_line) { continue; }
            found_.pieces[index].place = places[at] + 1;
            break;
        }
        // Not within a list of imports.
        auto& place = found_.pieces[index].place;
        while (!found_.pieces[index].imported.empty() && place < inside.size() && inside[place]) { --place; }
    }
}

void RemovalReader::add_hunk(const Versions& versions, const HunkFinder& finder, const Hunk& hunk,
                             const std::set<std::string>& unrelated) {
    if (add_replaced_checks(versions, hunk)) { return; }
    const auto& before = versions.before;
    const auto& now = versions.now;
    const bool adds =
        !adds_no_words(without_idle_lines(joined_lines(now.code, hunk.added)), joined_lines(before.code, hunk.removed));
    const bool mixed = hunk.removed.size() > 1 && stay_in_place(before, now, hunk);
    if (adds || mixed) {
        add_changed_lines(versions, hunk.removed, hunk.added);
        for (const auto& part : finder.statements(unpaired_lines(before, now, hunk))) {
            add_lines(versions, part.removed, {}, place_of(part));
            const bool has_effect = !adds || raises(joined_lines(before.blanked, part.removed));
            if (!has_effect && !found_.pieces.back().is_kept) { found_.pieces.pop_back(); }
        }
    } else if (hunk.removed.size() == 1 && hunk.added.size() == 1) {
        add_differences(versions, hunk.removed.front(), hunk.added.front(), false);
    } else {
        for (const auto& part : apart_from_calls(before, hunk, unrelated)) {
            add_lines(versions, part, hunk.added, place_of(hunk));
        }
    }
}

bool RemovalReader::add_replaced_checks(const Versions& versions, const Hunk& hunk) {
    if (request_.removes()) { return false; }
    const auto found = replaced_checks(versions.before, versions.now, hunk, names_now_, request_);
    for (const auto& check : found) {
        add_lines(versions, check.removed, check.added, place_of(check));
        auto& piece = found_.pieces.back();
        piece.is_lost_check = true;
        if (check.removed.size() == 1 && check.added.size() == 1) {
            piece.lines.now = bare_line(versions.now.code[check.added.front()]);
        }
    }
    return !found.empty();
}

std::set<std::string> RemovalReader::add_definitions(const Versions& versions, std::vector<bool>& skipped) {
    std::set<std::string> unrelated;
    const auto& before = versions.before;
    auto definitions = removed_definitions(before, versions.now, versions.rules);
    const auto holds = [](const Definition& outer, const Definition& inner) {
        return outer.first <= inner.first && inner.last <= outer.last && outer.last - outer.first > inner.last - inner.first;
    };
    const auto all = definitions;
    std::erase_if(definitions, [&](const Definition& inner) {
        return std::ranges::any_of(all, [&](const Definition& outer) { return holds(outer, inner); });
    });
    for (const auto& definition : definitions) {
        std::vector<std::size_t> numbers;
        for (auto at = definition.first; at <= definition.last && at < before.code.size(); ++at) {
            if (!before.code[at].empty()) { numbers.push_back(at); }
        }
        if (numbers.empty()) { continue; }
        add_definition(versions, definition, numbers, skipped);
        if (!found_.pieces.back().is_asked) { unrelated.insert(definition.name); }
    }
    return unrelated;
}

void RemovalReader::add_definition(const Versions& versions, const Definition& definition,
                                   const std::vector<std::size_t>& numbers, std::vector<bool>& skipped) {
    const auto& before = versions.before;
    auto& piece = add_piece(Piece::Kind::definition, versions, numbers);
    // Its comments say what it is for.
    std::vector<std::string> about;
    auto first = definition.first;
    while (first > 0 && before.code[first - 1].empty() && !bare_line(before.written[first - 1]).empty()) { --first; }
    for (auto at = first; at <= definition.last && at < before.written.size(); ++at) {
        std::ranges::move(names_of_code(before.written[at]), std::back_inserter(about));
        skipped[at] = true;
    }
    piece.is_body = true;
    piece.is_kept = std::ranges::any_of(parts_of_name(definition.name), [&](const auto& part) { return request_.is_kept(part); });
    piece.is_asked = !piece.is_kept && (is_about(about) || request_.calls_it_unused());
}

void RemovalReader::add_imports(const Versions& versions, std::vector<bool>& skipped) {
    const auto& before = versions.before;
    const auto imports = lines_of_imports(before);
    const auto marked_now = lines_of_imports(versions.now);
    std::set<std::string> imports_now;
    for (std::size_t at = 0; at < versions.now.code.size(); ++at) {
        if (marked_now[at]) { imports_now.insert(versions.now.code[at]); }
    }
    add_import_items(versions, skipped);
    for (std::size_t at = 0; at < before.code.size(); ++at) {
        if (!imports[at] || skipped[at] || before.code[at].empty()) { continue; }
        skipped[at] = true;
        if (imports_now.contains(before.code[at])) { continue; }
        auto& piece = add_piece(Piece::Kind::import, versions, {at});
        piece.is_asked = is_about(names_of_code(before.code[at])) || request_.calls_it_unused();
    }
}

void RemovalReader::add_import_items(const Versions& versions, std::vector<bool>& skipped) {
    const auto items = import_items(versions.before);
    std::set<std::string> names_now;
    for (const auto& item : import_items(versions.now).items) { names_now.insert(item.name); }
    for (const auto& item : items.items) {
        if (skipped[item.line] || names_now.contains(item.name)) { continue; }
        auto& piece = add_piece(Piece::Kind::import, versions, {item.line}, item.statement);
        piece.written = item.statement + "\n";
        piece.imported = item.name;
        piece.is_asked = is_about(names_of_code(item.statement)) || request_.calls_it_unused();
    }
    for (std::size_t at = 0; at < items.lines.size(); ++at) {
        if (items.lines[at]) { skipped[at] = true; }
    }
}

std::set<std::string> RemovalReader::parts_left_around(const Versions& versions, std::size_t line) const {
    const auto* function = function_around(versions.before, line);
    if (function == nullptr) { return parts_now_; }
    return vocabulary_of(code_of_functions(versions.now, function->name), versions.rules).parts;
}

bool RemovalReader::loses_check(const Versions& versions, const std::vector<std::size_t>& removed,
                                const std::vector<std::size_t>& added) {
    const auto checks = [](const SourceLines& text, const std::vector<std::size_t>& numbers) {
        return std::ranges::count_if(
            numbers, [&](std::size_t line) { return decides_between(text.blanked[line]) || raises(text.blanked[line]); });
    };
    if (checks(versions.before, removed) <= checks(versions.now, added)) { return false; }
    const auto* function = function_around(versions.before, removed.front());
    if (function == nullptr) { return false; }
    const auto now = without_idle_lines(code_of_functions(versions.now, function->name));
    return !now.empty() && adds_no_words(now, code_of_functions(versions.before, function->name));
}

void RemovalReader::judge(const Versions& versions, Piece& piece) {
    const auto line = static_cast<std::size_t>(piece.lines.line - 1);
    const auto* function = function_around(versions.before, line);
    const bool named = request_.removes() &&
                       ((function != nullptr && request_.names(function->name)) || request_.names(file_stem(versions.file.path)));
    const auto left = parts_left_around(versions, line);
    for (const auto& part : piece.parts) {
        const bool vanished = request_.mentions(part) && !parts_now_.contains(part);
        const bool left_it = request_.is_object(part) && (named || !left.contains(part));
        piece.is_asked = piece.is_asked || vanished || left_it;
        piece.is_kept = piece.is_kept || (request_.is_kept(part) && !left.contains(part));
    }
    piece.is_kept = piece.is_kept || (function != nullptr && request_.is_kept(function->name));
    piece.is_asked = !piece.is_kept && (piece.is_asked || (request_.calls_it_unused() && named));
}

void RemovalReader::add_lines(const Versions& versions, const std::vector<std::size_t>& removed,
                              const std::vector<std::size_t>& added, std::size_t place) {
    const auto* function = function_around(versions.before, removed.front());
    auto& piece = add_piece(Piece::Kind::lines, versions, removed);
    piece.place = place;
    piece.replaced.insert(added.begin(), added.end());
    piece.is_lost_check = loses_check(versions, removed, added);
    if (function == nullptr && declares_one_of(versions.before.blanked[removed.front()], piece.vanished)) {
        piece.kind = Piece::Kind::definition;
        piece.decides = false;
    }
    judge(versions, piece);
}

void RemovalReader::add_differences(const Versions& versions, std::size_t before, std::size_t now, bool adds) {
    const auto differences = line_differences(versions.before.code[before], versions.now.code[now]);
    if (!adds && differences.size() == 1) {
        add_lines(versions, {before}, {now}, now);
        if (differences.front().now.empty()) {
            found_.pieces.back().slot = slot_of(versions.now.code[now], differences.front().reverted);
        }
        return;
    }
    const bool is_condition = decides_between(versions.before.blanked[before]) || decides_between(versions.now.blanked[now]);
    for (const auto& difference : differences) {
        const bool has_text = difference.before.find_first_of("\"'`") != std::string::npos;
        const bool lost = !bare_line(difference.before).empty() && adds_no_words(difference.now, difference.before);
        if (!lost && !is_condition && (!difference.values || has_text)) { continue; }
        if (!lost && request_.also_makes().empty() == false) { continue; }
        auto& piece = add_piece(Piece::Kind::lines, versions, {before}, difference.before);
        piece.lines.now = bare_line(versions.now.code[now]);
        piece.whole_line = piece.written;
        piece.written = difference.reverted + "\n";
        piece.place = now;
        piece.replaced.insert(now);
        piece.decides = true;
        for (const auto& part : vocabulary_of(difference.now, versions.rules).parts) { piece.parts.erase(part); }
        if (difference.now.empty()) { piece.slot = slot_of(versions.now.code[now], difference.reverted); }
        judge(versions, piece);
    }
}

void RemovalReader::add_changed_lines(const Versions& versions, const std::vector<std::size_t>& removed,
                                      const std::vector<std::size_t>& added) {
    auto lost = vocabulary_of(joined_lines(versions.before.code, removed), versions.rules).parts;
    for (const auto& part : vocabulary_of(joined_lines(versions.now.code, added), versions.rules).parts) { lost.erase(part); }
    const auto pairs = alike_lines(versions.before, versions.now, removed, added);
    for (const auto& [one, other] : pairs) { add_differences(versions, one, other, true); }
    // Another number, or another name, is no removal.
    const auto renames = [&](const auto& pair) {
        return std::ranges::all_of(line_differences(versions.before.code[pair.first], versions.now.code[pair.second]),
                                   [](const LineDifference& each) { return is_one_word(each.before) && is_one_word(each.now); });
    };
    if (pairs.size() == removed.size() && pairs.size() == added.size() && std::ranges::all_of(pairs, renames)) { return; }
    const auto left = parts_left_around(versions, removed.front());
    const bool asked = std::ranges::any_of(lost, [&](const std::string& part) {
        return (request_.is_object(part) && !left.contains(part)) || (request_.mentions(part) && !parts_now_.contains(part));
    });
    (asked ? found_.replaced_asked : found_.replaced_other) = true;
}

void RemovalReader::forget_foreign_names(const std::string& before) {
    std::set<std::string> known;
    for (auto& piece : found_.pieces) {
        known.insert(piece.vanished.begin(), piece.vanished.end());
        known.insert(piece.lacking.begin(), piece.lacking.end());
    }
    static const std::set<std::string> words_of_languages{
        "undefined", "null",   "nil",    "None",   "True",   "False",   "true",    "false",  "NULL",  "nullptr", "if",
        "elif",      "else",   "while",  "for",    "switch", "case",    "match",   "return", "throw", "raise",   "new",
        "try",       "catch",  "except", "in",     "not",    "and",     "or",      "is",     "const", "let",     "var",
        "await",     "async",  "static", "void",   "public", "private", "int",     "str",    "bool",  "float",   "double",
        "char",      "long",   "byte",   "string", "number", "boolean", "any",     "i32",    "i64",   "u8",      "u32",
        "u64",       "usize",  "f32",    "f64",    "int32",  "int64",   "float64", "uint",   "error", "size_t",  "unsigned",
        "auto",      "String", "Vec",    "list",   "dict",   "object",  "bytes"};
    // The head of a branch declares nothing.
    static const RE2 branch(R"(\b(if|while|switch|elif)\s*\()");
    auto declaring = before;
    RE2::GlobalReplace(&declaring, branch, "\\1@(");
    std::set<std::string> own;
    for (const auto& name : known) {
        const bool is_text = name.find_first_of("\"'`") != std::string::npos;
        if (words_of_languages.contains(name)) { continue; }
        if (is_text || (name.size() > 1 && is_own_name(name, declaring))) { own.insert(name); }
    }
    for (auto& piece : found_.pieces) {
        std::erase_if(piece.vanished, [&](const std::string& name) { return !own.contains(name); });
        std::ranges::set_intersection(piece.lacking, own, std::inserter(piece.given, piece.given.end()));
        if (piece.kind == Piece::Kind::import) { piece.given = piece.lacking; }
    }
}

}  // namespace agentforge::kernel
