// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/scope_parts.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace agentforge::kernel {

namespace {

std::string text_in(const json::object& value, const char* key) {
    const auto* found = value.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string{};
}

const json::array* list_in(const json::object& value, const char* key) {
    const auto* found = value.if_contains(key);
    return found == nullptr ? nullptr : found->if_array();
}

/// Folder → whether one of its tests is new.
std::map<std::string, std::map<std::string, bool>> scopes_of_requirements(const json::object& test_suite, const Scopes& scopes) {
    std::map<std::string, std::map<std::string, bool>> result;
    const auto* files = list_in(test_suite, "test_files");
    if (files == nullptr) { return result; }
    for (const auto& item : *files) {
        const auto* file = item.if_object();
        const auto* tests = file == nullptr ? nullptr : list_in(*file, "tests");
        if (tests == nullptr) { continue; }
        const auto& directory = scopes.of(text_in(*file, "path")).directory;
        for (const auto& entry : *tests) {
            if (const auto* test = entry.if_object()) {
                auto& fresh = result[text_in(*test, "requirement_ref")][directory];
                fresh = fresh || text_in(*test, "kind") != "guard";
            }
        }
    }
    return result;
}

/// Returns the first folder in which RED named a test, or the whole tree's if it named none.
std::string main_directory(const json::object& test_suite, const Scopes& scopes) {
    const auto* files = list_in(test_suite, "test_files");
    if (files == nullptr) { return {}; }
    for (const auto& item : *files) {
        if (const auto* file = item.if_object(); file != nullptr && !text_in(*file, "path").empty()) {
            return scopes.of(text_in(*file, "path")).directory;
        }
    }
    return {};
}

std::string responsible(const std::map<std::string, bool>& directories, const std::string& otherwise) {
    for (const auto& [directory, fresh] : directories) {
        if (fresh) { return directory; }
    }
    return directories.empty() ? otherwise : directories.begin()->first;
}

std::vector<TestOutcome> part_of_tests(const std::vector<TestOutcome>& tests, const Scopes& scopes, const Scope& scope) {
    std::vector<TestOutcome> result;
    for (const auto& test : tests) {
        if (!is_in_scope(scopes, scope, test.file.empty() ? test.id : test.file)) { continue; }
        auto part = test;
        if (!scope.directory.empty()) {
            part.id = Scopes::inside(scope, test.id);
            if (!test.file.empty()) { part.file = Scopes::inside(scope, test.file); }
        }
        result.push_back(std::move(part));
    }
    return result;
}

std::vector<std::string> part_of_texts(const std::vector<std::string>& paths, const Scopes& scopes, const Scope& scope) {
    std::vector<std::string> result;
    for (const auto& path : paths) {
        if (is_in_scope(scopes, scope, path)) { result.emplace_back(Scopes::inside(scope, path)); }
    }
    return result;
}

json::array part_of_list(const json::array& items, const char* key, const Scopes& scopes, const Scope& scope) {
    json::array result;
    for (const auto& item : items) {
        const auto* object = item.if_object();
        const auto path = object == nullptr ? std::string{} : text_in(*object, key);
        if (path.empty() ? scope.directory.empty() : is_in_scope(scopes, scope, path)) {
            result.push_back(item);
            if (!path.empty()) { result.back().as_object()[key] = std::string(Scopes::inside(scope, path)); }
        }
    }
    return result;
}

/// Returns the file of the violation to fix.
std::string violated_file(const GateRequest& request) {
    const auto* violation = request.parameters.if_contains("violation");
    return violation != nullptr && violation->is_object() ? text_in(violation->get_object(), "file") : std::string{};
}

}  // namespace

std::string scope_name(const Scope& scope) { return scope.directory.empty() ? "." : scope.directory; }

bool is_in_scope(const Scopes& scopes, const Scope& scope, std::string_view path) {
    return scopes.of(path).directory == scope.directory;
}

bool names_tests(const json::object& test_suite, const Scopes& scopes, const Scope& scope) {
    const auto* files = list_in(test_suite, "test_files");
    if (files == nullptr) { return false; }
    return std::any_of(files->begin(), files->end(), [&](const json::value& item) {
        const auto* file = item.if_object();
        return file != nullptr && is_in_scope(scopes, scope, text_in(*file, "path"));
    });
}

bool holds_violation(const GateRequest& request, const Scopes& scopes, const Scope& scope) {
    const auto file = violated_file(request);
    return !file.empty() && is_in_scope(scopes, scope, file);
}

json::object part_of_parameters(const GateRequest& request, const Scopes& scopes, const Scope& scope) {
    auto parameters = request.parameters;
    if (violated_file(request).empty()) { return parameters; }
    if (holds_violation(request, scopes, scope)) {
        parameters["violation"].as_object()["file"] = std::string(Scopes::inside(scope, violated_file(request)));
    } else {
        parameters.erase("violation");
    }
    return parameters;
}

GateBaseline part_of_baseline(const GateBaseline& whole, const Scopes& scopes, const Scope& scope) {
    auto part = whole;
    part.base_tests = part_of_tests(whole.base_tests, scopes, scope);
    part.flaky = part_of_texts(whole.flaky, scopes, scope);
    part.outdated = part_of_texts(whole.outdated, scopes, scope);
    part.red_tests = part_of_tests(whole.red_tests, scopes, scope);
    part.test_files = part_of_texts(whole.test_files, scopes, scope);
    part.held_out.files = part_of_texts(whole.held_out.files, scopes, scope);
    part.held_out.red_tests = part_of_tests(whole.held_out.red_tests, scopes, scope);
    if (const auto* files = list_in(whole.held_out.test_suite, "test_files")) {
        part.held_out.test_suite["test_files"] = part_of_list(*files, "path", scopes, scope);
    }
    if (const auto* files = list_in(whole.test_suite, "test_files")) {
        part.test_suite["test_files"] = part_of_list(*files, "path", scopes, scope);
    }
    if (const auto* interfaces = list_in(whole.specification, "interfaces")) {
        part.specification["interfaces"] = part_of_list(*interfaces, "file", scopes, scope);
    }
    if (const auto* requirements = list_in(whole.specification, "requirements")) {
        auto named_for = scopes_of_requirements(whole.test_suite, scopes);
        const auto main = main_directory(whole.test_suite, scopes);
        json::array mine;
        for (const auto& item : *requirements) {
            const auto* requirement = item.if_object();
            const auto directory = requirement == nullptr ? main : responsible(named_for[text_in(*requirement, "id")], main);
            if (directory == scope.directory) { mine.push_back(item); }
        }
        part.specification["requirements"] = std::move(mine);
    }
    return part;
}

std::vector<std::string> part_of_paths(const std::vector<std::string>& paths, const Scopes& scopes, const Scope& scope) {
    std::vector<std::string> result;
    for (const auto& path : paths) {
        auto folder = path.substr(0, path.find("::"));
        while (folder.ends_with('/')) { folder.pop_back(); }
        const bool holds =
            folder == "." || folder.empty() || folder == scope.directory || scope.directory.starts_with(folder + "/");
        if (holds) {
            result.emplace_back(".");
        } else if (is_in_scope(scopes, scope, folder)) {
            result.emplace_back(Scopes::inside(scope, path));
        }
    }
    return result;
}

}  // namespace agentforge::kernel
