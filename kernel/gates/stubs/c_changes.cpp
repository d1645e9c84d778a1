// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/c_changes.hpp"
#include "gates/stubs/c_types.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <re2/re2.h>

#include "gates/stubs/c_text.hpp"

namespace agentforge::kernel {
namespace {

std::string slice(std::string_view text, const CRange& range) {
    return std::string(text.substr(range.begin, range.end - range.begin));
}

/// A type as calls see it: integers are one type, and so are texts.
std::string called_type(std::string type) {
    static const RE2 drop(R"(\bconst\b ?|&)");
    RE2::GlobalReplace(&type, drop, "");
    while (type.ends_with(' ')) { type.pop_back(); }
    static const RE2 integer(
        R"((?:unsigned |long |short )*(?:int|long|short|unsigned|size_t|ssize_t|ptrdiff_t|u?int(?:8|16|32|64)_t))");
    static const RE2 floating(R"(float|double|double long|long double)");
    static const RE2 words(R"(string|string_view|char ?\*)");
    if (RE2::FullMatch(type, integer)) { return "integer"; }
    if (RE2::FullMatch(type, floating)) { return "floating"; }
    if (RE2::FullMatch(type, words)) { return "text"; }
    return type;
}

std::size_t required_parameters(const CDeclaration& function) {
    return static_cast<std::size_t>(std::count_if(function.parameters.begin(), function.parameters.end(),
                                                  [](const auto& each) { return each.default_value.empty(); }));
}

/// True if some call fits both functions equally well.
bool calls_fit_both(const CDeclaration& one, const CDeclaration& other) {
    const auto least = std::max(required_parameters(one), required_parameters(other));
    const auto most = std::min(one.parameters.size(), other.parameters.size());
    if (least > most) { return false; }
    for (std::size_t at = 0; at < least; ++at) {
        if (called_type(one.parameters[at].type) != called_type(other.parameters[at].type)) { return false; }
    }
    return true;
}

bool refers(const std::string& type) {
    return type.find_first_of("&*") != std::string::npos || type.find("iterator") != std::string::npos ||
           type.find("span") != std::string::npos;
}

bool has_other_result(const CDeclaration& have, const CDeclaration& wanted) {
    return have.type != wanted.type && have.type != "auto" && wanted.type != "auto";
}

/// True if the wanted function has a word, such as `virtual`, that this declaration lacks.
bool lacks_words(const CDeclaration& have, const CDeclaration& wanted) {
    if (!have.in_class) { return false; }
    for (const auto* word : {"virtual", "static", "explicit"}) {
        if (wanted.specifiers.contains(word) && !have.specifiers.contains(word) &&
            !(word[0] == 'v' && (have.overrides || have.is_final))) {
            return true;
        }
    }
    return false;
}

/// True if calls may omit a parameter of the wanted function that this declaration requires.
bool lacks_defaults(const CDeclaration& have, const CDeclaration& wanted) {
    const bool declares = !have.is_qualified && (have.in_class || have.body.empty() || have.specifiers.contains("inline") ||
                                                 !have.template_names.empty());
    return declares && required_parameters(wanted) < required_parameters(have);
}

bool has_other_value(const CDeclaration& have, const CDeclaration& wanted) {
    if (wanted.value == "delete" || wanted.value == "0") { return have.value != wanted.value; }
    return have.value == "delete";
}

}  // namespace

bool has_same_parameters(const CDeclaration& one, const CDeclaration& other) {
    return std::equal(one.parameters.begin(), one.parameters.end(), other.parameters.begin(), other.parameters.end(),
                      [](const auto& left, const auto& right) { return left.type == right.type; });
}

CMatch match_c_function(const CDeclaration& have, const WantedFunction& wanted) {
    const auto& read = wanted.read;
    if (wanted.is_c) { return has_same_parameters(have, read) && !has_other_result(have, read) ? CMatch::same : CMatch::changed; }
    if (have.template_names.size() != read.template_names.size() && !have.is_qualified) { return CMatch::another; }
    if (have.reference != read.reference) { return CMatch::another; }
    if (!has_same_parameters(have, read)) {
        const bool same_const = have.is_const == read.is_const || !have.in_class;
        return same_const && calls_fit_both(have, read) ? CMatch::changed : CMatch::another;
    }
    const bool other_result = has_other_result(have, read);
    const bool other_const = have.is_const != read.is_const;
    if (other_const && other_result && (refers(have.type) || refers(read.type))) { return CMatch::another; }
    const bool adds_noexcept =
        have.noexcept_clause.empty() && !read.noexcept_clause.empty() && read.noexcept_clause != "noexcept(false)";
    const bool adds_const = other_const && read.is_const && !read.specifiers.contains("static");
    const bool changes = other_result || adds_const || adds_noexcept || lacks_words(have, read) || lacks_defaults(have, read) ||
                         has_other_value(have, read);
    return changes ? CMatch::changed : CMatch::same;
}

bool loses_body(std::string_view text, const CDeclaration& have, const CDeclaration& wanted) {
    if (has_other_result(have, wanted) ||
        (wanted.specifiers.contains("static") && !have.specifiers.contains("static") && have.in_class)) {
        return true;
    }
    const bool kept = std::all_of(have.parameters.begin(), have.parameters.end(), [&](const CParameter& each) {
        const auto place = static_cast<std::size_t>(&each - have.parameters.data());
        if (each.name.empty()) { return true; }
        // A renamed parameter of the same type keeps its name.
        if (place < wanted.parameters.size() && wanted.parameters[place].type == each.type) { return true; }
        return std::any_of(wanted.parameters.begin(), wanted.parameters.end(),
                           [&](const CParameter& other) { return other.name == each.name; });
    });
    if (!kept || have.body.empty()) { return !kept; }
    static const RE2 stub(
        R"((?s)\{\s*(?:throw\b[^;]*;|(?:std::)?abort\s*\(\)\s*;|return(?:\s+(?:0|""|nullptr|NULL|true|false|-1|\{\s*\}))?\s*;)\s*\})");
    return RE2::FullMatch(c_text::code_only(slice(text, have.body)), stub);
}

std::string skeleton_body(const SkeletonBody& body) {
    std::string lines;
    const auto inner = body.indent + "    ";
    for (const auto& each : body.unused) {
        lines += inner + (body.is_c ? "(void)" + each : "static_cast<void>(" + each + ")") + ";\n";
    }
    const auto text = "\"" + body.marker + " " + body.name;
    if (body.is_c) {
        lines += inner + "fputs(" + text + "\\n\", stderr);\n" + inner + "abort();\n";
    } else if (body.aborts) {
        lines += inner + "std::fputs(" + text + "\\n\", stderr);\n" + inner + "std::abort();\n";
    } else {
        lines += inner + "throw std::logic_error(" + text + "\");\n";
    }
    for (std::size_t at = 0; at < body.old.size();) {
        const auto end = std::min(body.old.find('\n', at), body.old.size());
        const auto line = c_text::squeezed(std::string_view(body.old).substr(at, end - at));
        const auto first = body.old.find_first_not_of(" \t\r", at);
        if (first < end && !line.empty()) {
            auto rest = body.old.substr(first, end - first);
            while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r' || rest.back() == '\t')) { rest.pop_back(); }
            const auto lead = body.old.substr(at, first - at);
            // A backslash at its end would continue the comment.
            lines += inner + "// " + (lead.size() > inner.size() ? lead.substr(inner.size()) : "") + rest +
                     (rest.ends_with('\\') ? " //" : "") + "\n";
        }
        at = end + 1;
    }
    return " {\n" + lines + body.indent + "}";
}

std::vector<std::string> local_names_in(std::string_view body, const CDeclaration& function,
                                        const std::vector<CDeclaration>& all) {
    const auto words = c_words(body);
    std::vector<std::string> names;
    for (const auto& each : all) {
        const bool value = each.kind == CDeclaration::Kind::function || each.kind == CDeclaration::Kind::variable;
        if (!value || !each.is_local || each.in_class || each.is_qualified || !each.template_names.empty()) { continue; }
        if (each.range.begin >= function.range.begin || each.name == function.name || !words.contains(each.name)) { continue; }
        const bool visible = each.scope.size() <= function.scope.size() &&
                             std::equal(each.scope.begin(), each.scope.end(), function.scope.begin());
        // An overloaded name alone means nothing.
        const bool overloaded = std::any_of(all.begin(), all.end(), [&](const CDeclaration& other) {
            return other.name == each.name && other.kind == each.kind && !has_same_parameters(other, each);
        });
        const bool known = std::find(names.begin(), names.end(), each.name) != names.end();
        const bool parameter = std::any_of(function.parameters.begin(), function.parameters.end(),
                                           [&](const CParameter& other) { return other.name == each.name; });
        if (visible && !overloaded && !known && !parameter) { names.push_back(each.name); }
    }
    return names;
}

namespace {

/// Returns the parameters of a changed declaration.
std::string parameters_of(const CDeclaration& have, const CDeclaration& wanted, bool keeps_body, bool has_defaults) {
    std::vector<std::string> parts;
    std::vector<bool> valued(wanted.parameters.size() + 1, true);
    for (auto at = wanted.parameters.size(); at-- > 0;) {
        const auto& each = wanted.parameters[at];
        const bool same_place = at < have.parameters.size() && have.parameters[at].type == each.type;
        auto text = each.text;
        if (same_place && (keeps_body || each.name.empty()) && !have.parameters[at].name.empty()) {
            text = have.parameters[at].text;
        }
        // A parameter keeps its default, if all after it have one.
        auto value = each.default_value;
        if (value.empty() && same_place && valued[at + 1]) { value = have.parameters[at].default_value; }
        valued[at] = valued[at + 1] && !value.empty();
        parts.insert(parts.begin(), text + (has_defaults && !value.empty() ? " = " + value : ""));
    }
    std::string list;
    for (const auto& each : parts) { list += (list.empty() ? "" : ", ") + each; }
    return list;
}

/// True if the type may name something of the function's own scope, so a definition outside cannot begin with it.
bool needs_scope(const std::string& type) {
    for (const auto& word : c_words(type)) {
        if (!c_text::is_type_word(word) && word != "std" && word != "const" && type.find("std::" + word) == std::string::npos) {
            return true;
        }
    }
    return false;
}

struct CHead {
    std::string result;
    std::string trailing;
};

/// Returns the result type before the name, or after the parameters.
CHead head_of(std::string_view text, const CDeclaration& have, const CDeclaration& wanted) {
    const auto old = slice(text, have.result);
    const bool trails = have.written_type != c_text::squeezed(old);
    if (!has_other_result(have, wanted)) { return {old, trails ? " -> " + have.written_type : ""}; }
    const auto& type = wanted.written_type;
    if (have.is_qualified && needs_scope(type)) { return {"auto", " -> " + type}; }
    return {type, ""};
}

std::string tail_of(const CDeclaration& have, const CDeclaration& wanted, const std::string& trailing, bool is_c) {
    std::string tail;
    const auto add = [&](const std::string& word) {
        if (!word.empty()) { tail += " " + word; }
    };
    if (!is_c) {
        const bool is_static = wanted.specifiers.contains("static") && have.in_class;
        const bool stays_const = have.is_const && has_same_parameters(have, wanted) && !has_other_result(have, wanted);
        if (!is_static && (wanted.is_const || stays_const)) { add("const"); }
        add(wanted.reference);
        add(wanted.noexcept_clause.empty() && have.overrides ? have.noexcept_clause : wanted.noexcept_clause);
    }
    add(have.attributes);
    tail += trailing;
    if (is_c) { return tail; }
    add(have.is_qualified || wanted.constraint.empty() ? have.constraint : wanted.constraint);
    if (!have.is_qualified) {
        if (have.overrides || wanted.overrides) { add("override"); }
        if (have.is_final || wanted.is_final) { add("final"); }
    }
    return tail;
}

/// Returns, for each removed parameter, a new one of the same type.
std::map<std::string, std::string> renamed_parameters(const CDeclaration& have, const CDeclaration& wanted,
                                                      const std::set<std::string>& gone) {
    std::map<std::string, std::string> renamed;
    std::set<std::string> taken;
    for (const auto& each : have.parameters) { taken.insert(each.name); }
    for (const auto& old : have.parameters) {
        if (!gone.contains(old.name)) { continue; }
        const auto now = std::ranges::find_if(wanted.parameters, [&](const CParameter& each) {
            return each.type == old.type && !each.name.empty() && !taken.contains(each.name);
        });
        if (now == wanted.parameters.end()) { continue; }
        taken.insert(now->name);
        renamed.emplace(old.name, now->name);
    }
    return renamed;
}

/// Returns the initializers of a constructor without those that use removed parameters. A base whose constructor needs a text
/// gets one.
std::string initializers_of(std::string_view text, const CDeclaration& have, const CDeclaration& wanted,
                            const std::string& list) {
    if (have.initializers.empty()) { return {}; }
    const auto left = c_words(list);
    std::set<std::string> gone;
    for (const auto& each : have.parameters) {
        if (!each.name.empty() && !left.contains(each.name)) { gone.insert(each.name); }
    }
    const auto renamed = renamed_parameters(have, wanted, gone);
    std::string kept;
    for (auto part : c_text::split_top(slice(text, have.initializers).substr(1), ',')) {
        const auto value = std::min(part.find_first_of("({"), part.size());
        auto given = part.substr(value);
        for (const auto& [old, now] : renamed) { RE2::GlobalReplace(&given, "\\b" + old + "\\b", now); }
        const auto used = c_words(given);
        const bool uses = std::ranges::any_of(gone, [&](const auto& each) { return used.contains(each); });
        const bool needs_text = uses && c_text::is_standard_error(part.substr(0, value));
        if (needs_text) { given = "(\"\")"; }
        if (!uses || needs_text) { kept += (kept.empty() ? " : " : ", ") + part.substr(0, value) + given; }
    }
    return kept;
}

/// Adds specifiers that the wanted function has, and removes those that a skeleton cannot have.
std::string leading_of(std::string_view text, const CDeclaration& have, const CDeclaration& wanted, bool is_skeleton) {
    auto leading = slice(text, {have.range.begin, have.result.begin});
    if (is_skeleton) { leading = c_text::without_words(leading, {"constexpr ", "consteval "}); }
    if (!have.in_class) { return leading; }
    for (const std::string word : {"virtual", "static", "explicit"}) {
        const bool is_there = have.specifiers.contains(word) || (word == "virtual" && (have.overrides || have.is_final));
        if (wanted.specifiers.contains(word) && !is_there) { leading += word + " "; }
    }
    return leading;
}

std::string indent_of(std::string_view text, std::size_t at) {
    const auto line = text.rfind('\n', at) == std::string_view::npos || at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    const auto first = text.find_first_not_of(" \t", line);
    return std::string(text.substr(line, std::min(first, text.size()) - line));
}

bool is_noexcept(const std::string& exceptions) { return !exceptions.empty() && exceptions != "noexcept(false)"; }

/// Returns the body that stays, with the added parameters used: a compiler may warn otherwise.
std::string kept_body(std::string_view text, const CDeclaration& have, const CDeclaration& wanted, bool is_c) {
    auto body = slice(text, have.body);
    if (have.specifiers.contains("constexpr") || have.specifiers.contains("consteval")) { return body; }
    std::string lines;
    const bool one_line = body.find('\n') == std::string::npos;
    for (const auto& each : wanted.parameters) {
        const bool is_new = !each.name.empty() && std::none_of(have.parameters.begin(), have.parameters.end(),
                                                               [&](const CParameter& old) { return old.name == each.name; });
        const auto place = static_cast<std::size_t>(&each - wanted.parameters.data());
        const bool renamed = place < have.parameters.size() && have.parameters[place].type == each.type;
        if (!is_new || renamed) { continue; }
        lines += (one_line ? " " : "\n" + indent_of(text, have.range.begin) + "    ") +
                 (is_c ? "(void)" + each.name : "static_cast<void>(" + each.name + ")") + ";";
    }
    return body.insert(1, lines);
}

}  // namespace

ChangedFunction change_c_function(std::string_view text, const CDeclaration& have, const WantedFunction& wanted,
                                  const std::string& name, const std::vector<CDeclaration>& all, bool has_defaults) {
    const auto& read = wanted.read;
    ChangedFunction result;
    const bool no_body = !read.value.empty() && !have.is_qualified;
    const bool was_deleted = have.value == "delete" && read.value.empty();
    result.is_skeleton = !no_body && ((!have.body.empty() && loses_body(text, have, read)) || was_deleted);
    const auto list = parameters_of(have, read, !have.body.empty() && !result.is_skeleton, has_defaults);
    const auto head = head_of(text, have, read);
    const auto tail = tail_of(have, read, head.trailing, wanted.is_c);
    result.text = leading_of(text, have, read, result.is_skeleton) + head.result;
    const bool glued =
        head.result.empty() || result.text.ends_with(' ') || result.text.ends_with('*') || result.text.ends_with('&');
    result.text += (glued ? "" : " ") + slice(text, have.name_range);
    while (result.text.ends_with(' ')) { result.text.pop_back(); }
    result.text += "(" + (list.empty() && wanted.is_c ? "void" : list) + ")" + tail;
    if (no_body) {
        result.text += " = " + read.value + ";";
    } else if (result.is_skeleton) {
        result.aborts = wanted.is_c || read.name.front() == '~' || is_noexcept(read.noexcept_clause);
        result.text += initializers_of(text, have, read, list);
        SkeletonBody body{{}, name, wanted.marker, wanted.is_c, result.aborts, "", indent_of(text, have.range.begin)};
        for (const auto& each : read.parameters) {
            if (const auto own = c_text::parameter_name(each.text); !own.empty()) { body.unused.push_back(own); }
        }
        if (!have.body.empty()) {
            const auto old = slice(text, have.body);
            const auto locals = local_names_in(old, have, all);
            body.unused.insert(body.unused.end(), locals.begin(), locals.end());
            body.old = old.substr(1, old.size() - 2);
        }
        result.text += skeleton_body(body);
    } else if (!have.body.empty()) {
        result.text += initializers_of(text, have, read, list) + " " + kept_body(text, have, read, wanted.is_c);
    } else {
        result.text += (have.value.empty() ? "" : " = " + have.value) + ";";
    }
    return result;
}

namespace {

/// Returns the innermost function with a body at each line.
std::vector<const CDeclaration*> functions_at(std::string_view text, const std::vector<CDeclaration>& all,
                                              const std::set<std::uint64_t>& lines) {
    std::set<const CDeclaration*> chosen;
    std::uint64_t line = 1;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const auto end = std::min(text.find('\n', begin), text.size());
        for (const auto& each : all) {
            const bool there = lines.contains(line) && each.kind == CDeclaration::Kind::function && !each.body.empty() &&
                               each.range.begin <= end && begin < each.range.end;
            if (there) { chosen.insert(&each); }
        }
        begin = end + 1;
        ++line;
    }
    std::vector<const CDeclaration*> result(chosen.begin(), chosen.end());
    std::sort(result.begin(), result.end(),
              [](const auto* one, const auto* other) { return one->range.begin < other->range.begin; });
    return result;
}

}  // namespace

std::string stub_c_functions_at(std::string_view text, const std::set<std::uint64_t>& lines, const std::string& marker, bool is_c,
                                bool& aborts) {
    std::string result(text);
    const auto all = read_c_declarations(text);
    const auto chosen = functions_at(text, all, lines);
    for (auto each = chosen.rbegin(); each != chosen.rend(); ++each) {
        const auto& function = **each;
        const auto old = slice(text, function.body);
        if (old.find(marker) != std::string::npos) { continue; }
        SkeletonBody body{{},
                          "",
                          marker,
                          is_c,
                          is_c || function.name.front() == '~' || is_noexcept(function.noexcept_clause),
                          old.substr(1, old.size() - 2),
                          indent_of(text, function.range.begin)};
        for (const auto& part : function.scope) { body.name += part + "::"; }
        body.name += function.name;
        for (const auto& parameter : function.parameters) {
            if (!parameter.name.empty()) { body.unused.push_back(parameter.name); }
        }
        const auto locals = local_names_in(old, function, all);
        body.unused.insert(body.unused.end(), locals.begin(), locals.end());
        aborts = aborts || body.aborts;
        auto begin = function.body.begin;
        while (begin > 0 && c_text::is_blank(result[begin - 1])) { --begin; }
        result.replace(begin, function.body.end - begin, skeleton_body(body));
        const auto head = result.substr(function.range.begin, function.name_range.begin - function.range.begin);
        result.replace(function.range.begin, head.size(), c_text::without_words(head, {"constexpr ", "consteval "}));
    }
    return result;
}

}  // namespace agentforge::kernel
