// SPDX-License-Identifier: Apache-2.0
#include "pipeline/set_parts.hpp"

#include <algorithm>
#include <map>
#include <set>

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
        "AF-SET-003", "the specification cannot be divided among the repositories: " + std::move(why), "parts",
        "give each repository one part: its name (`repo`), the ids of its `requirements`, its components, interfaces and files, and in `depends_on` the repositories whose branches are made before",
        ErrorKind::invalid};
}

/// The entries of a list whose field is among the names.
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

/// Each behind those that it depends on.
Result<std::vector<PartSpecification>> in_order(std::vector<PartSpecification> parts) {
    std::vector<PartSpecification> ordered;
    std::set<std::string> before;
    while (!parts.empty()) {
        const auto next = std::ranges::find_if(parts, [&](const PartSpecification& part) {
            return std::ranges::all_of(part.depends_on, [&](const std::string& name) { return before.contains(name); });
        });
        if (next == parts.end()) {
            std::string names;
            for (const PartSpecification& each : parts) { names += (names.empty() ? "" : ", ") + each.repo; }
            return wrong("these depend on one another in a circle: " + names);
        }
        before.insert(next->repo);
        ordered.push_back(std::move(*next));
        parts.erase(next);
    }
    return ordered;
}

}  // namespace

Result<std::vector<PartSpecification>> parts_of(const json::object& specification, const std::vector<std::string>& repositories) {
    const json::value* list = specification.if_contains("parts");
    if (list == nullptr || !list->is_array() || list->get_array().empty()) { return wrong("it has no `parts`"); }
    std::map<std::string, const json::object*> given;
    std::set<std::string> divided;
    std::vector<std::string> known;
    for (const json::value& each : specification.at("requirements").as_array()) {
        known.push_back(text_of(each.as_object(), "id"));
    }
    for (const json::value& each : list->get_array()) {
        if (!each.is_object()) { return wrong("a part is no map"); }
        const std::string repo = text_of(each.get_object(), "repo");
        if (std::ranges::find(repositories, repo) == repositories.end()) {
            return wrong("it has a part of `" + ellipsis(repo, 80) + "`, which is not among the repositories");
        }
        if (!given.emplace(repo, &each.get_object()).second) { return wrong("`" + repo + "` has two parts"); }
        const std::vector<std::string> requirements = texts_in(each.get_object(), "requirements");
        if (requirements.empty()) { return wrong("the part of `" + repo + "` names no requirement"); }
        for (const std::string& id : requirements) {
            if (std::ranges::find(known, id) == known.end()) {
                return wrong("the part of `" + repo + "` names requirement `" + ellipsis(id, 80) + "`, which there is not");
            }
            divided.insert(id);
        }
        for (const std::string& other : texts_in(each.get_object(), "depends_on")) {
            if (std::ranges::find(repositories, other) == repositories.end()) {
                return wrong("the part of `" + repo + "` depends on `" + ellipsis(other, 80) +
                             "`, which is not among the repositories");
            }
        }
        for (const auto& [names, all, key] :
             {std::tuple{"components", "components", "name"}, std::tuple{"interfaces", "interfaces", "name"}}) {
            const std::vector<std::string> wanted = texts_in(each.get_object(), names);
            const json::array found = chosen(specification, all, key, wanted);
            if (found.size() < wanted.size()) {
                return wrong("the part of `" + repo + "` names " + names + " that there are not");
            }
        }
    }
    for (const std::string& id : known) {
        if (!divided.contains(id)) { return wrong("requirement `" + id + "` is no part's"); }
    }
    std::vector<PartSpecification> parts;
    for (const std::string& repo : repositories) {
        const auto part = given.find(repo);
        if (part == given.end()) { return wrong("`" + repo + "` has no part"); }
        const std::vector<std::string> requirements = texts_in(*part->second, "requirements");
        parts.push_back({repo, texts_in(*part->second, "depends_on"),
                         specification_of_part(specification, *part->second, repo, requirements)});
    }
    return in_order(std::move(parts));
}

}  // namespace agentforge::kernel
