// SPDX-License-Identifier: Apache-2.0
#include "plugins/manifest.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "plugins/manifest_versions.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t manifest_limit_bytes = 256ULL * 1024;

const std::vector<std::string>& fields() {
    static const std::vector<std::string> names = {"id",      "version", "licence",  "description",  "library",
                                                   "command", "sdk",     "provides", "config_schema"};
    return names;
}

std::optional<PluginKind> kind_of(std::string_view text) {
    for (const PluginKind kind : {PluginKind::stage, PluginKind::tool, PluginKind::llm, PluginKind::escalation}) {
        if (to_string(kind) == text) { return kind; }
    }
    return std::nullopt;
}

bool is_name(const std::string& text) {
    constexpr const char* small = "abcdefghijklmnopqrstuvwxyz";
    constexpr const char* rest = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    return text.find_first_of(small) == 0 && text.find_first_not_of(rest) == std::string::npos;
}

bool is_id(std::string_view text) {
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    };
    return text.find('.') != std::string_view::npos && text.front() != '.' && text.back() != '.' &&
           text.find("..") == std::string_view::npos && std::ranges::all_of(text, good);
}

/// Reads one manifest. Every error names the file and the field.
class Reader {
public:
    explicit Reader(const std::string& path) : path_(path) {}

    Result<PluginManifest> operator()(const json::object& object) {
        AF_CHECK(only(object, fields(), ""));
        PluginManifest manifest;
        AF_TRY(manifest.id, text(object, "id"));
        if (!is_id(manifest.id)) { return wrong("id", "a reverse-domain name such as org.example.my-tool", manifest.id); }
        AF_TRY(manifest.version, text(object, "version"));
        if (!is_version(manifest.version)) { return wrong("version", "a version such as 1.0.0", manifest.version); }
        AF_TRY(manifest.licence, text(object, "licence"));
        if (object.contains("description")) { AF_TRY(manifest.description, text(object, "description")); }
        if (object.contains("command")) {
            AF_CHECK(command(object, manifest));
        } else {
            AF_TRY(manifest.library, text(object, "library"));
            if (manifest.library.find('/') != std::string::npos || !manifest.library.ends_with(".so")) {
                return wrong("library", "the name of a .so file beside the manifest, without a folder", manifest.library);
            }
        }
        AF_TRY(manifest.sdk, text(object, "sdk"));
        auto matches = satisfies(sdk_version, manifest.sdk);
        if (!matches.ok()) { return wrong("sdk", "a range such as `>=0.1 <0.2`", manifest.sdk); }
        if (!*matches) {
            return error(
                "AF-PLUG-006",
                "The plugin `" + manifest.id + "` is made for SDK " + manifest.sdk + ", but this host has SDK " + sdk_version,
                "sdk", "Install a version of the plugin that is made for SDK " + std::string(sdk_version) + ".",
                ErrorKind::unavailable);
        }
        AF_TRY(manifest.provides, provides(object));
        if (const json::value* schema = object.if_contains("config_schema")) {
            if (!schema->is_object()) { return wrong("config_schema", "a JSON Schema object", json::serialize(*schema)); }
            manifest.config_schema = schema->get_object();
        }
        for (const ManifestEntry& entry : manifest.provides) {
            if (manifest.command.empty() || entry.kind == PluginKind::tool || entry.kind == PluginKind::stage) { continue; }
            return wrong("provides", "tools and stages only, where the plugin is a process (`command`)",
                         std::string(to_string(entry.kind)) + " `" + entry.name + "`");
        }
        manifest.directory = std::filesystem::path(path_).parent_path().string();
        return manifest;
    }

    Error error(std::string code, std::string message, std::string_view field, std::string remedy,
                ErrorKind kind = ErrorKind::invalid) const {
        return {std::move(code), std::move(message), field.empty() ? path_ : path_ + ", field " + std::string(field),
                std::move(remedy), kind};
    }

    Error wrong(std::string_view field, std::string_view expected, std::string_view found) const {
        return error(
            "AF-PLUG-005",
            "The manifest's `" + std::string(field) + "` must be " + std::string(expected) + ", found " + ellipsis(found, 120),
            field, "Correct the field; `agentforge help docs/plugins.md` lists all fields.");
    }

private:
    Result<void> only(const json::object& object, const std::vector<std::string>& known, const std::string& prefix) const {
        for (const auto& [key, value] : object) {
            if (std::ranges::find(known, std::string_view(key)) != known.end()) { continue; }
            const std::string near = nearest(key, known);
            return error("AF-PLUG-003", "The manifest has an unknown field `" + prefix + std::string(key) + "`",
                         prefix + std::string(key),
                         near.empty() ? "Remove it; `agentforge help docs/plugins.md` lists all fields."
                                      : "Did you mean `" + prefix + near + "`?");
        }
        return {};
    }

    Result<std::string> text(const json::object& object, std::string_view field, const std::string& prefix = "") const {
        const std::string name = prefix + std::string(field);
        const json::value* value = object.if_contains(field);
        if (value == nullptr) {
            return error("AF-PLUG-004", "The manifest lacks the field `" + name + "`", name,
                         "Add it; `agentforge help docs/plugins.md` lists all fields.");
        }
        if (!value->is_string() || value->get_string().empty() || value->get_string().find('\0') != json::string::npos) {
            return wrong(name, "a string that is not empty", json::serialize(*value));
        }
        return std::string(value->get_string());
    }

    /// An argument that names a file beside the manifest becomes an absolute path, because the process runs in the workspace.
    Result<void> command(const json::object& object, PluginManifest& manifest) const {
        if (object.contains("library")) {
            return wrong("command", "given without `library`: a plugin is a library or a process", "both");
        }
        const json::value& value = object.at("command");
        if (!value.is_array() || value.get_array().empty()) {
            return wrong("command", "a list of texts, the program first", json::serialize(value));
        }
        const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
        for (const json::value& word : value.get_array()) {
            if (!word.is_string() || word.get_string().empty() || word.get_string().find('\0') != json::string::npos) {
                return wrong("command", "a list of texts, none of them empty", json::serialize(value));
            }
            const std::string text(word.get_string());
            std::error_code ignored;
            const bool beside = text.front() != '/' && text.front() != '-' && std::filesystem::exists(folder / text, ignored);
            manifest.command.push_back(beside ? (folder / text).lexically_normal().string() : text);
        }
        return {};
    }

    Result<std::vector<ManifestEntry>> provides(const json::object& object) const {
        const json::value* value = object.if_contains("provides");
        if (value == nullptr) {
            return error("AF-PLUG-004", "The manifest lacks the field `provides`", "provides",
                         "Add it; `agentforge help docs/plugins.md` lists all fields.");
        }
        if (!value->is_array() || value->get_array().empty()) {
            return wrong("provides", "a list of {\"kind\", \"name\"} with one entry or more", json::serialize(*value));
        }
        std::vector<ManifestEntry> entries;
        for (const json::value& element : value->get_array()) {
            const std::string place = "provides[" + std::to_string(entries.size()) + "]";
            if (!element.is_object()) { return wrong(place, "an object with `kind` and `name`", json::serialize(element)); }
            const std::string prefix = place + ".";
            AF_CHECK(only(element.get_object(), {"kind", "name", "needs"}, prefix));
            AF_TRY(const std::string kind_text, text(element.get_object(), "kind", prefix));
            const auto kind = kind_of(kind_text);
            if (!kind) { return wrong(prefix + "kind", "stage, tool, llm or escalation", kind_text); }
            AF_TRY(std::string name, text(element.get_object(), "name", prefix));
            if (!is_name(name)) {
                return wrong(prefix + "name", "small letters, digits, `_` and `-`, beginning with a letter", name);
            }
            for (const ManifestEntry& other : entries) {
                if (other.kind == *kind && other.name == name) {
                    return wrong(prefix + "name", "named once for its kind", name + " a second time");
                }
            }
            AF_TRY(std::vector<std::string> needed, needs(element.get_object(), *kind, prefix));
            entries.push_back({*kind, std::move(name), std::move(needed)});
        }
        return entries;
    }

    Result<std::vector<std::string>> needs(const json::object& entry, PluginKind kind, const std::string& prefix) const {
        std::vector<std::string> contracts;
        const json::value* value = entry.if_contains("needs");
        if (value == nullptr) { return contracts; }
        const Error not_contracts = wrong(prefix + "needs", "a list of contracts, of a stage alone", json::serialize(*value));
        if (kind != PluginKind::stage || !value->is_array()) { return not_contracts; }
        for (const json::value& contract : value->get_array()) {
            if (!contract.is_string() || !is_name(std::string(contract.get_string()))) { return not_contracts; }
            contracts.emplace_back(contract.get_string());
        }
        return contracts;
    }

    std::string path_;
};

}  // namespace

std::string_view to_string(PluginKind kind) noexcept {
    switch (kind) {
        case PluginKind::stage:
            return "stage";
        case PluginKind::tool:
            return "tool";
        case PluginKind::llm:
            return "llm";
        case PluginKind::escalation:
            return "escalation";
    }
    return "unknown";
}

Result<PluginManifest> read_manifest(const std::string& path) {
    std::error_code ignored;
    const std::string absolute = std::filesystem::absolute(path, ignored).lexically_normal().string();
    Reader reader(absolute);
    auto bytes = read_file(absolute, manifest_limit_bytes);
    if (!bytes.ok()) {
        return reader.error("AF-PLUG-001", "The plugin manifest cannot be read: " + bytes.error().message, "",
                            "Put a readable plugin.json beside the library.", bytes.error().kind);
    }
    auto parsed = parse_json(*bytes, absolute);
    if (!parsed.ok()) {
        Error broken =
            reader.error("AF-PLUG-002", "The plugin manifest is not JSON: " + parsed.error().message, "", "Correct the file.");
        if (!parsed.error().where.empty()) { broken.where = parsed.error().where; }
        return broken;
    }
    if (!parsed->is_object()) {
        return reader.error("AF-PLUG-002", "The plugin manifest is not a JSON object", "", "Correct the file.");
    }
    AF_TRY(PluginManifest manifest, reader(parsed->get_object()));
    manifest.text = std::move(*bytes);
    return manifest;
}

std::string PluginManifest::sha256() const { return kernel::sha256(text); }

}  // namespace agentforge::kernel
