// SPDX-License-Identifier: Apache-2.0
#include "plugins/stage_definitions.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "contracts/contract.hpp"

namespace agentforge::kernel {

namespace {

bool is_name(std::string_view text) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
    return !text.empty() && text.size() <= 64 && text.front() >= 'a' && text.front() <= 'z' && std::ranges::all_of(text, fits);
}

/// Returns the name and the definition.
Result<std::pair<std::string, StageDefinition>> read_definition(const std::string& file) {
    AF_TRY(YamlDocument document, load_yaml(file));
    const auto wrong = [&](std::string_view pointer, std::string message, std::string remedy) {
        return Error{"AF-PLUG-052", std::move(message), document.where(pointer), std::move(remedy), ErrorKind::invalid};
    };
    const json::object* top = document.value.if_object();
    const json::value* inside = top == nullptr || top->size() != 1 ? nullptr : top->if_contains("stage");
    if (inside == nullptr || !inside->is_object()) {
        return wrong("", "a stage's definition must contain `stage: {…}` and nothing else",
                     "Take config/stages/analyze.yaml as an example.");
    }
    json::object settings = inside->get_object();
    const json::value* name = settings.if_contains("name");
    if (name == nullptr || !name->is_string() || !is_name(name->get_string())) {
        return wrong("/stage/name", "a stage's definition has no usable `name`",
                     "Write one of small letters, digits, `_` and `-`.");
    }
    const std::string named(name->get_string());
    const std::string stem = std::filesystem::path(file).stem().string();
    if (stem != named) {
        return wrong("/stage/name", "the file " + stem + ".yaml defines the stage " + named,
                     "Name the file after its stage: " + named + ".yaml.");
    }
    settings.erase("name");
    return std::pair(named, StageDefinition{std::move(settings), std::move(document)});
}

}  // namespace

StageDefinitions read_stage_definitions(const std::vector<std::string>& folders) {
    StageDefinitions all;
    for (const std::string& folder : folders) {
        const auto files = yaml_files_of(folder);
        if (!files.ok()) {
            all.problems.push_back(files.error());
            continue;
        }
        for (const std::string& file : *files) {
            auto definition = read_definition(file);
            if (!definition.ok()) {
                all.problems.push_back(std::move(definition).error());
                continue;
            }
            all.by_name.insert_or_assign(std::move(definition->first), std::move(definition->second));
        }
    }
    return all;
}

}  // namespace agentforge::kernel
