// SPDX-License-Identifier: Apache-2.0
#include "config/verification.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/text.hpp"
#include "config/gate_names.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::array<std::string_view, 4> comparisons{">=", "<=", ">", "<"};

Error wrong_verification(std::string pointer, std::string message, std::string remedy) {
    return Error{"AF-PIPE-001", std::move(message), std::move(pointer), std::move(remedy), ErrorKind::invalid};
}

std::string as_text(const json::value& value) {
    return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

std::optional<double> as_number(const json::value& value) {
    if (value.is_int64()) { return static_cast<double>(value.get_int64()); }
    if (value.is_uint64()) { return static_cast<double>(value.get_uint64()); }
    if (value.is_double()) { return value.get_double(); }
    return std::nullopt;
}

struct Comparison {
    std::string_view sign;
    double bound = 0;
};

/// Parses `>= 80`. Empty if the text does not begin with an operator or no number follows.
std::optional<Comparison> comparison_of(std::string_view text) {
    for (const std::string_view sign : comparisons) {
        if (!text.starts_with(sign)) { continue; }
        text.remove_prefix(sign.size());
        while (text.starts_with(' ')) { text.remove_prefix(1); }
        Comparison found{sign, 0};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found.bound);
        if (error != std::errc() || end != text.data() + text.size()) { return std::nullopt; }
        return found;
    }
    return std::nullopt;
}

bool begins_as_comparison(std::string_view text) { return text.starts_with('>') || text.starts_with('<'); }

bool holds(const json::value& expected, const json::value& found) {
    if (expected.is_string()) {
        const std::string_view text(expected.get_string().data(), expected.get_string().size());
        if (const auto comparison = comparison_of(text)) {
            const auto number = as_number(found);
            if (!number) { return false; }
            if (comparison->sign == ">=") { return *number >= comparison->bound; }
            if (comparison->sign == "<=") { return *number <= comparison->bound; }
            return comparison->sign == ">" ? *number > comparison->bound : *number < comparison->bound;
        }
        return expected == found;
    }
    const auto wanted = as_number(expected);
    const auto number = as_number(found);
    return wanted && number ? *wanted == *number : expected == found;
}

const char* right_value_of(std::string_view field) {
    if (field == "gate") { return "Name a gate."; }
    return field == "must_pass" ? "It must be true or false." : "It must be affected or all.";
}

Result<EditCheck> read_edit_check(const json::value& value, const std::string& pointer) {
    EditCheck check;
    std::optional<bool> must_pass;
    if (value.is_string()) {
        check.gate = std::string(value.get_string());
    } else if (const auto* object = value.if_object()) {
        for (const auto& [key, field] : *object) {
            const std::string name(key);
            const std::string at = pointer + "/" + name;
            if (name == "gate" && field.is_string()) {
                check.gate = std::string(field.get_string());
            } else if (name == "must_pass" && field.is_bool()) {
                must_pass = field.get_bool();
            } else if (name == "scope" && field.is_string() &&
                       (field.get_string() == "affected" || field.get_string() == "all")) {
                check.affected = field.get_string() == "affected";
            } else if (name == "gate" || name == "must_pass" || name == "scope") {
                return wrong_verification(at, "`" + name + "` has a wrong value", right_value_of(name));
            } else {
                const auto near = nearest(name, std::vector<std::string>{"gate", "must_pass", "scope"});
                return wrong_verification(at, "`" + ellipsis(name, 60) + "` is not a field of a check after edits",
                                          near.empty() ? "There are gate, must_pass and scope." : "Did you mean `" + near + "`?");
            }
        }
        if (check.affected && check.gate != gate_name::tests) {
            return wrong_verification(pointer + "/scope",
                                      "only `tests` has a scope; syntax and conformance look at the edited files anyway",
                                      "Take it out.");
        }
    } else {
        return wrong_verification(pointer, "a check after edits is a gate's name or a map",
                                  "Write `- syntax` or `- {gate: syntax, must_pass: true}`.");
    }
    std::vector<std::string> gates;
    for (const GateFacts& gate : gate_table) {
        if (!gate.judges_a_stage) { gates.emplace_back(gate.name); }
    }
    if (std::find(gates.begin(), gates.end(), check.gate) == gates.end()) {
        const auto near = nearest(check.gate, gates);
        return wrong_verification(
            pointer, "`" + ellipsis(check.gate, 60) + "` is not a gate that can run after an edit",
            near.empty() ? "There are syntax, types, conformance and tests." : "Did you mean `" + near + "`?");
    }
    check.must_pass = must_pass.value_or(check.gate == gate_name::syntax);
    return check;
}

Result<ExitCriterion> read_criterion(const json::value& value, const std::string& pointer) {
    const auto* object = value.if_object();
    if (object == nullptr) {
        return wrong_verification(pointer, "an exit criterion is a map", "Write `- all_tests_pass: true`.");
    }
    ExitCriterion criterion;
    for (const auto& [key, field] : *object) {
        const std::string name(key);
        const std::string at = pointer + "/" + name;
        if (name == "description") {
            if (!field.is_string()) { return wrong_verification(at, "`description` has a wrong value", "It must be a string."); }
            criterion.description = std::string(field.get_string());
            continue;
        }
        if (!criterion.fact.empty()) {
            return wrong_verification(at,
                                      "one criterion names two facts, `" + criterion.fact + "` and `" + ellipsis(name, 60) + "`",
                                      "Write a separate entry for each.");
        }
        if (field.is_object() || field.is_array() || field.is_null()) {
            return wrong_verification(at, "`" + ellipsis(name, 60) + "` has a wrong value",
                                      "It must be true, false, a number, a string or a comparison such as \">= 80\".");
        }
        if (field.is_string() && begins_as_comparison(std::string_view(field.get_string().data(), field.get_string().size())) &&
            !comparison_of(std::string_view(field.get_string().data(), field.get_string().size()))) {
            return wrong_verification(at, "`" + ellipsis(as_text(field), 60) + "` is not a comparison",
                                      "Write a sign and a number: \">= 80\".");
        }
        criterion.fact = name;
        criterion.expected = field;
    }
    if (criterion.fact.empty()) {
        return wrong_verification(pointer, "the exit criterion names no fact", "Write `- all_tests_pass: true`.");
    }
    return criterion;
}

}  // namespace

Result<std::vector<EditCheck>> edit_checks(const json::object& config, const std::string& pointer) {
    std::vector<EditCheck> checks;
    const json::value* list = config.if_contains("verify_edits");
    if (list == nullptr) { return checks; }
    const std::string at = pointer + "/verify_edits";
    if (!list->is_array()) { return wrong_verification(at, "`verify_edits` has a wrong value", "It must be a list of gates."); }
    for (std::size_t i = 0; i < list->get_array().size(); ++i) {
        const std::string place = at + "/" + std::to_string(i);
        AF_TRY(EditCheck check, read_edit_check(list->get_array()[i], place));
        if (std::ranges::any_of(checks, [&](const EditCheck& other) { return other.gate == check.gate; })) {
            return wrong_verification(place, "`" + check.gate + "` appears there twice", "Take one out.");
        }
        checks.push_back(std::move(check));
    }
    return checks;
}

Result<std::vector<ExitCriterion>> exit_criteria(const json::object& config, const std::string& pointer) {
    std::vector<ExitCriterion> criteria;
    const json::value* value = config.if_contains("exit_criteria");
    if (value == nullptr) { return criteria; }
    const std::string at = pointer + "/exit_criteria";
    const auto* object = value->if_object();
    const json::value* required = object == nullptr ? nullptr : object->if_contains("required");
    if (required == nullptr || !required->is_array() || object->size() != 1) {
        return wrong_verification(at, "`exit_criteria` has a wrong value",
                                  "It must be a map with one key, `required`: a list of facts and what they must be.");
    }
    for (std::size_t i = 0; i < required->get_array().size(); ++i) {
        AF_TRY(ExitCriterion criterion, read_criterion(required->get_array()[i], at + "/required/" + std::to_string(i)));
        criteria.push_back(std::move(criterion));
    }
    return criteria;
}

std::vector<JudgedCriterion> judge_criteria(const std::vector<ExitCriterion>& criteria, const json::object& facts) {
    std::vector<JudgedCriterion> judged;
    for (const ExitCriterion& criterion : criteria) {
        JudgedCriterion one{criterion, std::nullopt, false};
        if (const json::value* found = facts.if_contains(criterion.fact)) {
            one.found = *found;
            one.met = holds(criterion.expected, *found);
        }
        judged.push_back(std::move(one));
    }
    return judged;
}

std::string unmet_text(const JudgedCriterion& judged) {
    const ExitCriterion& criterion = judged.criterion;
    std::string text = "exit criterion: " + criterion.fact + " must be " + as_text(criterion.expected);
    text += judged.found ? " and is " + ellipsis(as_text(*judged.found), 80) : ", and the gate measured no such fact";
    if (!criterion.description.empty()) { text += " (" + criterion.description + ")"; }
    return text;
}

json::array to_json(const std::vector<JudgedCriterion>& judged) {
    json::array list;
    for (const JudgedCriterion& one : judged) {
        json::object entry{{"fact", one.criterion.fact}, {"expected", one.criterion.expected}, {"met", one.met}};
        if (one.found) { entry["found"] = *one.found; }
        if (!one.criterion.description.empty()) { entry["description"] = one.criterion.description; }
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace agentforge::kernel
