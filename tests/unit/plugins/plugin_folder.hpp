// SPDX-License-Identifier: Apache-2.0
// Folders of plugins for one test: libraries copied from the build, manifests written by the test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/files.hpp"
#include "plugins/plugin_registry.hpp"

namespace agentforge::kernel::test {

inline json::object manifest_of(const std::string& id, const std::string& library, const json::array& provides) {
    return {{"id", id},           {"version", "1.0.0"},  {"licence", "Apache-2.0"},
            {"library", library}, {"sdk", ">=0.1 <0.2"}, {"provides", provides}};
}

inline json::object entry(const char* kind, const char* name) { return {{"kind", kind}, {"name", name}}; }

inline json::object good_manifest() {
    json::object manifest = manifest_of("org.agentforge.test.good", "good.so",
                                        {entry("stage", "good_stage"), entry("tool", "good_tool"), entry("llm", "good_llm"),
                                         entry("escalation", "good_escalation")});
    manifest["version"] = "1.2.3";
    return manifest;
}

inline json::object throwing_manifest() {
    return manifest_of(
        "org.agentforge.test.throwing", "throwing.so",
        {entry("stage", "throws_in_create"), entry("stage", "throws_in_info"), entry("stage", "throws_in_calls"),
         entry("tool", "throws_int"), entry("tool", "misnamed"), entry("llm", "throwing"), entry("escalation", "throwing")});
}

class PluginFolder {
public:
    [[nodiscard]] std::string path() const { return folder_.path().string(); }

    /// Makes `<path>/<name>` with a manifest of this text. Returns the manifest's path.
    std::string manifest_text(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(folder_.path() / name);
        const auto path = folder_.path() / name / "plugin.json";
        std::ofstream(path) << text;
        return path.string();
    }

    /// The same with a library of the build, `good/good.so` or `bad/….so`.
    std::string add(const std::string& name, const json::object& manifest, const std::string& built) const {
        const std::string path = manifest_text(name, json::serialize(manifest));
        const auto target = folder_.path() / name / std::string(manifest.at("library").as_string());
        std::filesystem::copy_file(std::filesystem::path(TEST_PLUGINS) / built, target,
                                   std::filesystem::copy_options::overwrite_existing);
        return path;
    }

    [[nodiscard]] PluginRegistry discover() const {
        PluginSearch search;
        search.configured = {path()};
        return PluginRegistry::discover(search);
    }

private:
    TemporaryDirectory folder_{"plugins"};
};

}  // namespace agentforge::kernel::test
