// SPDX-License-Identifier: Apache-2.0
#include "contracts/conditions.hpp"

#include <algorithm>
#include <array>

#include "contracts/violation_list.hpp"

namespace agentforge::kernel {

namespace {

using Check = decltype(Condition::checks)::value_type;

std::string text_in(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::int64_t number_in(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    if (value == nullptr) { return 0; }
    if (value->is_int64()) { return value->get_int64(); }
    return value->is_uint64() ? static_cast<std::int64_t>(value->get_uint64()) : 0;
}

bool is_small(const json::object& artifact) {
    constexpr std::size_t most_files = 2;
    constexpr std::int64_t most_lines = 10;
    std::size_t files = 0;
    std::int64_t lines = 0;
    for (const char* key : {"files_created", "files_modified"}) {
        const json::value* list = artifact.if_contains(key);
        if (list == nullptr || !list->is_array()) { return false; }
        for (const json::value& entry : list->get_array()) {
            if (!entry.is_object()) { return false; }
            ++files;
            lines += number_in(entry.get_object(), "lines") + number_in(entry.get_object(), "lines_added") +
                     number_in(entry.get_object(), "lines_removed");
        }
    }
    return files <= most_files && lines <= most_lines;
}

struct Holds {
    const json::object& artifact;
    const RuleContext& context;

    bool operator()(const EmptyField& check) const {
        const json::value* value = artifact.if_contains(check.field);
        return value == nullptr || (value->is_array() && value->get_array().empty());
    }
    bool operator()(const SmallChange&) const { return is_small(artifact); }
    bool operator()(const FieldEquals& check) const {
        if (context.artifacts == nullptr) { return false; }
        const auto other = context.artifacts->find(check.contract);
        return other != context.artifacts->end() && text_in(other->second, check.field) == check.is;
    }
};

/// Parses a map as a check. Empty if it is not one.
std::optional<Check> check_of(const json::object& map) {
    if (map.size() == 1 && !text_in(map, "empty").empty()) { return EmptyField{text_in(map, "empty")}; }
    const json::value* small = map.if_contains("small_change");
    if (map.size() == 1 && small != nullptr && *small == json::value(true)) { return SmallChange{}; }
    const FieldEquals said{text_in(map, "contract"), text_in(map, "field"), text_in(map, "is")};
    if (map.size() == 3 && !said.contract.empty() && !said.field.empty() && !said.is.empty()) { return said; }
    return std::nullopt;
}

bool is_word(std::string_view text) {
    constexpr std::array<std::string_view, 4> taken{"never", "and", "or", "not"};
    return !text.empty() && std::ranges::find(taken, text) == taken.end() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

}  // namespace

Result<std::vector<Condition>> read_conditions(const YamlDocument& document) {
    std::vector<Condition> conditions;
    const json::value* given = document.value.as_object().if_contains("conditions");
    if (given == nullptr) { return conditions; }
    const auto wrong = [&](const std::string& pointer, const std::string& what) {
        return Error{"AF-CONT-013", what, document.where(pointer),
                     "Write a list of {empty: FIELD}, {small_change: true} and {contract: NAME, field: FIELD, is: TEXT}.",
                     ErrorKind::invalid};
    };
    if (!given->is_object()) { return wrong("/conditions", "`conditions` must be a map from a word of skip_if to its checks"); }
    for (const auto& [key, checks] : given->get_object()) {
        const std::string pointer = "/conditions/" + pointer_token(key);
        if (!checks.is_array() || checks.get_array().empty()) {
            return wrong(pointer, "the condition `" + std::string(key) + "` has no list of checks");
        }
        Condition condition{std::string(key), {}};
        for (std::size_t index = 0; index < checks.get_array().size(); ++index) {
            const json::object* map = checks.get_array()[index].if_object();
            auto check = map == nullptr ? std::nullopt : check_of(*map);
            if (!check) { return wrong(pointer + "/" + std::to_string(index), "this is not a valid check"); }
            condition.checks.push_back(std::move(*check));
        }
        conditions.push_back(std::move(condition));
    }
    return conditions;
}

Result<std::vector<std::string>> read_provided_as(const YamlDocument& document) {
    std::vector<std::string> words;
    const json::value* given = document.value.as_object().if_contains("provided_as");
    if (given == nullptr) { return words; }
    const auto wrong = [&](const std::string& pointer, const std::string& what) {
        return Error{"AF-CONT-013", what, document.where(pointer),
                     "Write a list of words for skip_if, in lower-case letters, digits and _, such as [spec_provided].",
                     ErrorKind::invalid};
    };
    if (!given->is_array()) { return wrong("/provided_as", "`provided_as` must be a list of words of skip_if"); }
    for (std::size_t index = 0; index < given->get_array().size(); ++index) {
        const json::string* word = given->get_array()[index].if_string();
        if (word == nullptr || !is_word(*word)) {
            return wrong("/provided_as/" + std::to_string(index), "this is not a word that skip_if can name");
        }
        words.emplace_back(*word);
    }
    return words;
}

bool holds(const Condition& condition, const json::object& artifact, const RuleContext& context) {
    return std::ranges::all_of(condition.checks, [&](const Check& check) { return std::visit(Holds{artifact, context}, check); });
}

}  // namespace agentforge::kernel
