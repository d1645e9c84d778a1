// SPDX-License-Identifier: Apache-2.0
#include "plugins/lock.hpp"

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "plugins/manifest_versions.hpp"
#include "plugins/plugin_registry.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view head =
    "# Written by `agentforge plugins lock`: the plugins of this project and the SHA-256 of each of their files. Commit it.\n"
    "# A plugin that differs from it, or is not in it, is not loaded. `agentforge plugins verify` compares.\n";

constexpr const char* remedy =
    "If you changed or updated the plugin yourself, run `agentforge plugins lock`; otherwise reinstall the locked version.";

bool is_hash(std::string_view text) {
    return text.starts_with("-> ") || (text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos);
}

/// True if the path is below the folder and in canonical form.
bool is_inside(const std::string& name) {
    const std::filesystem::path path(name);
    return !name.empty() && path.is_relative() && path.lexically_normal().string() == name && *path.begin() != "..";
}

/// Reads one lock file. Every error names the place.
class Reader {
public:
    Reader(const YamlDocument& document, std::string file) : document_(document), file_(std::move(file)) {}

    Result<PluginLock> operator()() const {
        PluginLock lock{file_, {}};
        const auto* top = document_.value.if_object();
        if (top == nullptr) { return wrong("", "it must contain `agentforge_lock: 1` and the list `plugins`"); }
        AF_CHECK(only(*top, "", {"agentforge_lock", "plugins"}));
        const json::value* version = top->if_contains("agentforge_lock");
        if (version == nullptr || *version != 1) {
            return wrong("/agentforge_lock", "`agentforge_lock` must be 1, found " +
                                                 (version == nullptr ? "nothing" : ellipsis(json::serialize(*version), 60)));
        }
        const json::value* list = top->if_contains("plugins");
        if (list == nullptr || !list->is_array()) { return wrong("/plugins", "`plugins` must be a list"); }
        std::size_t index = 0;
        for (const json::value& entry : list->get_array()) {
            AF_CHECK(plugin(entry, "/plugins/" + std::to_string(index++), lock));
        }
        return lock;
    }

private:
    Result<void> plugin(const json::value& entry, const std::string& at, PluginLock& lock) const {
        const auto* object = entry.if_object();
        if (object == nullptr) { return wrong(at, "a plugin must be a map of `id`, `version` and `files`"); }
        AF_CHECK(only(*object, at, {"id", "version", "files"}));
        AF_TRY(std::string id, text(*object, at, "id"));
        LockedPlugin locked;
        locked.where = document_.where(at);
        AF_TRY(locked.version, text(*object, at, "version"));
        if (!is_version(locked.version)) {
            return wrong(at + "/version", "`version` must be a version such as 1.0.0, found " + ellipsis(locked.version, 60));
        }
        const json::value* files = object->if_contains("files");
        if (files == nullptr || !files->is_object() || !files->get_object().contains("plugin.json")) {
            return wrong(at + "/files", "`files` must be a map from file to SHA-256 with `plugin.json` in it");
        }
        for (const auto& [name, hash] : files->get_object()) {
            const std::string file(name);
            if (!is_inside(file)) {
                return wrong(at + "/files", "`" + ellipsis(file, 120) + "` is not a file below the plugin's folder");
            }
            if (!hash.is_string() || !is_hash(hash.get_string())) {
                return wrong(at + "/files/" + file, "the hash of `" + ellipsis(file, 120) +
                                                        "` must be 64 hexadecimal digits, found " +
                                                        ellipsis(json::serialize(hash), 100));
            }
            locked.files.emplace(file, std::string(hash.get_string()));
        }
        if (lock.plugins.contains(id)) { return wrong(at, "the plugin `" + ellipsis(id, 120) + "` appears in it twice"); }
        lock.plugins.emplace(std::move(id), std::move(locked));
        return {};
    }

    Result<void> only(const json::object& object, const std::string& at, const std::vector<std::string>& known) const {
        for (const auto& [key, value] : object) {
            if (std::ranges::find(known, std::string_view(key)) != known.end()) { continue; }
            const std::string near = nearest(key, known);
            return wrong(at + "/" + std::string(key) + "#",
                         "unknown field `" + ellipsis(key, 80) + "`" + (near.empty() ? "" : "; did you mean `" + near + "`?"));
        }
        return {};
    }

    Result<std::string> text(const json::object& object, const std::string& at, const char* key) const {
        const json::value* value = object.if_contains(key);
        if (value == nullptr || !value->is_string() || value->get_string().empty()) {
            return wrong(at + "/" + key, "`" + std::string(key) + "` must be a string that is not empty");
        }
        return std::string(value->get_string());
    }

    Error wrong(const std::string& at, std::string what) const {
        return {"AF-PLUG-034", "The plugin lock cannot be read: " + std::move(what), document_.where(at),
                "Restore it from git, or write it again with `agentforge plugins lock`.", ErrorKind::invalid};
    }

    const YamlDocument& document_;
    std::string file_;
};

Error differs(const PluginManifest& manifest, std::string message, std::string where) {
    return {"AF-PLUG-031", "The plugin `" + manifest.id + "` is not loaded: " + std::move(message), std::move(where), remedy,
            ErrorKind::denied};
}

}  // namespace

Result<std::optional<PluginLock>> PluginLock::load(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) { return std::optional<PluginLock>(); }
    YamlLimits limits;  // Two plugins at the file limit of hash_folder fit.
    limits.max_bytes = 16UL << 20U;
    const auto document = load_yaml(file, limits);
    if (!document.ok()) {
        Error broken = document.error();
        return Error{"AF-PLUG-034", "The plugin lock cannot be read: " + broken.message,
                     broken.where.empty() ? file : broken.where,
                     "Restore it from git, or write it again with `agentforge plugins lock`.", ErrorKind::invalid};
    }
    AF_TRY(PluginLock lock, Reader(*document, file)());
    return std::optional<PluginLock>(std::move(lock));
}

Result<PluginLock> PluginLock::of(const std::vector<const PluginManifest*>& plugins, std::string file) {
    PluginLock lock{std::move(file), {}};
    for (const PluginManifest* manifest : plugins) {
        LockedPlugin locked{manifest->version, {}, ""};
        AF_TRY(locked.files, hash_plugin(manifest->directory));
        lock.plugins.insert_or_assign(manifest->id, std::move(locked));
    }
    return lock;
}

std::string PluginLock::text() const {
    json::array list;
    for (const auto& [id, locked] : plugins) {
        json::object files;
        for (const auto& [name, hash] : locked.files) { files[name] = hash; }
        list.push_back(json::object{{"id", id}, {"version", locked.version}, {"files", std::move(files)}});
    }
    return std::string(head) + to_yaml(json::object{{"agentforge_lock", 1}, {"plugins", std::move(list)}});
}

Result<void> PluginLock::admits(const PluginManifest& manifest) const {
    const auto found = plugins.find(manifest.id);
    if (found == plugins.end()) {
        return Error{
            "AF-PLUG-032", "The plugin `" + manifest.id + "` is not loaded: it is not in this project's lock " + file,
            manifest.directory + "/plugin.json",
            "If you want it in this project, run `agentforge plugins lock`; otherwise remove its folder from the search path, or name it in plugins.disable.",
            ErrorKind::denied};
    }
    const LockedPlugin& locked = found->second;
    if (locked.version != manifest.version) {
        return differs(manifest,
                       "found is version " + manifest.version + ", but " + locked.where + " expects version " + locked.version,
                       manifest.directory + "/plugin.json");
    }
    const std::string found_hash = manifest.sha256();
    if (const std::string& expected = locked.files.at("plugin.json"); expected != found_hash) {
        return differs(manifest, "`plugin.json` has the SHA-256 " + found_hash + ", but " + locked.where + " expects " + expected,
                       manifest.directory + "/plugin.json");
    }
    return {};
}

Error file_differs(const PluginManifest& manifest, std::string_view file, std::string_view found, std::string_view expected) {
    const std::string who = manifest.pinned_by.empty() ? "plugins.lock" : manifest.pinned_by;
    std::string what = "`" + sanitize_utf8(file) + "` ";
    if (found.empty()) {
        what += "is missing, although " + who + " names it";
    } else if (expected.empty()) {
        what += "is not named by " + who;
    } else {
        what += "has the SHA-256 " + std::string(found) + ", but " + who + " expects " + std::string(expected);
    }
    return differs(manifest, std::move(what), manifest.directory + "/" + sanitize_utf8(file));
}

Result<void> check_pinned_files(const PluginManifest& manifest) {
    if (manifest.pinned == nullptr) { return {}; }
    AF_TRY(const FileHashes found, hash_folder(manifest.directory));
    for (const auto& [name, expected] : *manifest.pinned) {
        const auto file = found.find(name);
        if (file == found.end()) { return file_differs(manifest, name, "", expected); }
        if (file->second != expected) { return file_differs(manifest, name, file->second, expected); }
    }
    for (const auto& [name, hash] : found) {
        if (!manifest.pinned->contains(name)) { return file_differs(manifest, name, hash, ""); }
    }
    return {};
}

}  // namespace agentforge::kernel
