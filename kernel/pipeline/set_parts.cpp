// SPDX-License-Identifier: Apache-2.0
#include "pipeline/set_parts.hpp"

#include <algorithm>
#include <map>

#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

std::vector<std::string> texts_in(const json::object& object, std::string_view key) {
    std::vector<std::string> texts;
    const json::value* value = object.if_contains(key);
    if (value == nullptr || !value->is_array()) { return texts; }
    for (const json::value& each : value->get_array()) {
        if (each.is_string()) { texts.emplace_back(each.get_string()); }
    }
    return texts;
}

Error wrong(std::string why) {
    return Error{
        "AF-SET-003", "cannot divide the specification among the repositories: " + std::move(why), "parts",
        "give each repository one part: its name (`repo`), the ids of its `requirements`, its components, interfaces and files, and in `depends_on` the repositories whose branches are made before",
        ErrorKind::invalid};
}

/// Returns the entries of a list whose field is among the names.
json::array chosen(const json::object& whole, std::string_view list, std::string_view key,
                   const std::vector<std::string>& names) {
    json::array found;
    const json::value* value = whole.if_contains(list);
    if (value == nullptr || !value->is_array()) { return found; }
    for (const json::value& each : value->get_array()) {
        if (each.is_object() && std::ranges::find(names, text_of(each.get_object(), key)) != names.end()) {
            found.push_back(each);
        }
    }
    return found;
}

json::array to_array(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

json::object specification_of_part(const json::object& whole, const json::object& part, const std::string& repo,
                                   const std::vector<std::string>& requirements) {
    json::object made = whole;
    made.erase("parts");
    made["title"] =
        ellipsis(text_of(whole, "title"), 90 - std::min<std::size_t>(repo.size(), 40)) + " (" + ellipsis(repo, 40) + ")";
    made["description"] = text_of(whole, "description") + "\n\nThis is the part of repository " + repo + ".";
    made["requirements"] = chosen(whole, "requirements", "id", requirements);
    for (json::value& each : made["requirements"].get_array()) {
        json::object& requirement = each.get_object();
        if (!requirement.contains("depends_on")) { continue; }
        std::vector<std::string> others = texts_in(requirement, "depends_on");
        std::erase_if(others, [&](const std::string& id) { return std::ranges::find(requirements, id) == requirements.end(); });
        requirement["depends_on"] = to_array(others);
    }
    if (whole.contains("test_cases")) { made["test_cases"] = chosen(whole, "test_cases", "requirement_ref", requirements); }
    if (whole.contains("outdated_tests")) {
        made["outdated_tests"] = chosen(whole, "outdated_tests", "requirement_ref", requirements);
    }
    const std::vector<std::string> components = texts_in(part, "components");
    if (!components.empty()) {
        made["components"] = chosen(whole, "components", "name", components);
        for (json::value& each : made["components"].get_array()) {
            json::object& component = each.get_object();
            if (!component.contains("depends_on")) { continue; }
            std::vector<std::string> others = texts_in(component, "depends_on");
            std::erase_if(others,
                          [&](const std::string& name) { return std::ranges::find(components, name) == components.end(); });
            component["depends_on"] = to_array(others);
        }
    }
    if (part.contains("interfaces")) { made["interfaces"] = chosen(whole, "interfaces", "name", texts_in(part, "interfaces")); }
    for (const char* files : {"files_to_modify", "files_to_create"}) {
        if (part.contains(files)) { made[files] = to_array(texts_in(part, files)); }
    }
    return made;
}

const json::array& list_of(const json::object& object, std::string_view key) {
    static const json::array none;
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_array() ? value->get_array() : none;
}

/// Returns that field of each entry of a list.
std::vector<std::string> named_in(const json::object& whole, std::string_view list, std::string_view key) {
    std::vector<std::string> names;
    for (const json::value& each : list_of(whole, list)) {
        if (each.is_object()) { names.push_back(text_of(each.get_object(), key)); }
    }
    return names;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

/// Returns the faults of one part by itself.
std::vector<std::string> faults_of_part(const json::object& whole, const json::object& part,
                                        const std::vector<std::string>& repositories) {
    std::vector<std::string> faults;
    const std::string of = "the part of `" + text_of(part, "repo") + "` ";
    const std::vector<std::string> requirements = texts_in(part, "requirements");
    if (requirements.empty()) { faults.push_back(of + "names no requirement"); }
    const std::vector<std::string> known = named_in(whole, "requirements", "id");
    for (const std::string& id : requirements) {
        if (is_among(known, id)) { continue; }
        faults.push_back(of + "names requirement `" + ellipsis(id, 80) + "`, which does not exist");
    }
    for (const std::string& other : texts_in(part, "depends_on")) {
        if (is_among(repositories, other)) { continue; }
        faults.push_back(of + "depends on `" + ellipsis(other, 80) + "`, which is not among the repositories");
    }
    for (const char* list : {"components", "interfaces"}) {
        const std::vector<std::string> there = named_in(whole, list, "name");
        for (const std::string& name : texts_in(part, list)) {
            if (is_among(there, name)) { continue; }
            faults.push_back(of + "names `" + ellipsis(name, 80) + "`, which is not among the " + list);
        }
    }
    return faults;
}

using PartsGiven = std::map<std::string, const json::object*>;  // By repository.

PartsGiven parts_given(const json::object& specification) {
    PartsGiven given;
    for (const json::value& each : list_of(specification, "parts")) {
        if (each.is_object()) { given.emplace(text_of(each.get_object(), "repo"), &each.get_object()); }
    }
    return given;
}

/// Returns the repositories, each after those that it depends on, otherwise in their order. Leaves out those that depend on one
/// another in a cycle.
std::vector<std::string> in_order(const PartsGiven& given, std::vector<std::string> repositories) {
    std::vector<std::string> ordered;
    for (;;) {
        const auto next = std::ranges::find_if(repositories, [&](const std::string& repo) {
            return std::ranges::all_of(texts_in(*given.at(repo), "depends_on"),
                                       [&](const std::string& name) { return is_among(ordered, name); });
        });
        if (next == repositories.end()) { return ordered; }
        ordered.push_back(*next);
        repositories.erase(next);
    }
}

}  // namespace

std::vector<std::string> faults_of_parts(const json::object& specification, const std::vector<std::string>& repositories) {
    if (list_of(specification, "parts").empty()) { return {"it has no `parts`"}; }
    std::vector<std::string> faults;
    std::vector<std::string> seen;
    std::vector<std::string> divided;
    for (const json::value& each : list_of(specification, "parts")) {
        const std::string repo = each.is_object() ? text_of(each.get_object(), "repo") : std::string();
        if (!is_among(repositories, repo)) {
            faults.push_back("it has a part of `" + ellipsis(repo, 80) + "`, which is not among the repositories");
            continue;
        }
        if (is_among(seen, repo)) { faults.push_back("`" + repo + "` has two parts"); }
        seen.push_back(repo);
        const std::vector<std::string> own = faults_of_part(specification, each.get_object(), repositories);
        faults.insert(faults.end(), own.begin(), own.end());
        const std::vector<std::string> requirements = texts_in(each.get_object(), "requirements");
        divided.insert(divided.end(), requirements.begin(), requirements.end());
    }
    for (const std::string& id : named_in(specification, "requirements", "id")) {
        if (!is_among(divided, id)) { faults.push_back("requirement `" + id + "` belongs to no part"); }
    }
    for (const std::string& repo : repositories) {
        if (!is_among(seen, repo)) { faults.push_back("`" + repo + "` has no part"); }
    }
    if (!faults.empty()) { return faults; }
    const std::vector<std::string> ordered = in_order(parts_given(specification), repositories);
    std::string cycle;
    for (const std::string& repo : repositories) {
        if (!is_among(ordered, repo)) { cycle += (cycle.empty() ? "" : ", ") + repo; }
    }
    if (!cycle.empty()) { faults.push_back("these depend on one another in a cycle: " + cycle); }
    return faults;
}

Result<std::vector<PartSpecification>> parts_of(const json::object& specification, const std::vector<std::string>& repositories) {
    std::string faults;
    for (const std::string& each : faults_of_parts(specification, repositories)) {
        faults += (faults.empty() ? "" : "; ") + each;
    }
    if (!faults.empty()) { return wrong(std::move(faults)); }
    const PartsGiven given = parts_given(specification);
    std::vector<PartSpecification> parts;
    for (const std::string& repo : in_order(given, repositories)) {
        const json::object& part = *given.at(repo);
        parts.push_back({repo, texts_in(part, "depends_on"),
                         specification_of_part(specification, part, repo, texts_in(part, "requirements"))});
    }
    return parts;
}

}  // namespace agentforge::kernel
