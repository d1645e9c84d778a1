// SPDX-License-Identifier: Apache-2.0
#include "plugins/files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_files = 10'000;
constexpr std::uint64_t most_bytes = 1ULL << 30U;
constexpr int folder_depth = 2;  // <root>/<kind>/<name>/plugin.json

Error cannot(const std::string& place, std::string why) {
    return {"AF-PLUG-037", "The files of a plugin cannot be hashed: " + std::move(why), place,
            "Make the folder readable, and keep only the plugin's own files in it.", ErrorKind::io};
}

void find(const fs::path& folder, int depth, std::set<std::string>& visited, std::vector<std::string>& found) {
    std::error_code failure;
    const fs::path real = fs::canonical(folder, failure);
    if (failure || !visited.insert(real.string()).second) { return; }
    if (fs::exists(real / "plugin.json", failure)) {
        found.push_back((real / "plugin.json").string());
        return;
    }
    if (depth == folder_depth) { return; }
    std::vector<fs::path> inside;
    fs::directory_iterator entry(real, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        std::error_code ignored;
        if (entry->is_directory(ignored)) { inside.push_back(entry->path()); }
    }
    std::ranges::sort(inside);
    for (const fs::path& path : inside) { find(path, depth + 1, visited, found); }
}

}  // namespace

Result<FileHashes> hash_folder(const std::string& folder) {
    FileHashes hashes;
    std::uint64_t bytes = 0;
    std::error_code failure;
    fs::recursive_directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
        const fs::path path = entry->path();
        const std::string name = path.lexically_relative(folder).string();
        std::error_code error;
        const fs::file_status status = entry->symlink_status(error);
        if (error) { return cannot(path.string(), error.message()); }
        if (fs::is_directory(status)) { continue; }
        if (!is_valid_utf8(name)) { return cannot(path.string(), "the name of a file is not UTF-8"); }
        if (hashes.size() == most_files) {
            return cannot(folder, "it contains more than " + std::to_string(most_files) + " files");
        }
        if (fs::is_symlink(status)) {
            const fs::path target = fs::read_symlink(path, error);
            if (error) { return cannot(path.string(), error.message()); }
            hashes[name] = "-> " + sanitize_utf8(target.string());
            continue;
        }
        if (!fs::is_regular_file(status)) { return cannot(path.string(), "it is neither a file, a folder nor a symbolic link"); }
        const auto read = read_file(path, most_bytes - bytes);
        if (!read.ok()) {
            return cannot(path.string(),
                          read.error().kind == ErrorKind::invalid ? "the folder contains more than 1 GiB" : read.error().message);
        }
        bytes += read->size();
        hashes[name] = sha256(*read);
    }
    if (failure) { return cannot(folder, failure.message()); }
    return hashes;
}

Result<FileHashes> hash_plugin(const std::string& folder) {
    AF_TRY(FileHashes hashes, hash_folder(folder));
    const auto manifest = hashes.find("plugin.json");
    if (manifest == hashes.end()) { return cannot(folder + "/plugin.json", "it is not there"); }
    if (manifest->second.starts_with("-> ")) {
        return cannot(folder + "/plugin.json", "it is a symbolic link; only the hash of a regular file can be pinned");
    }
    return hashes;
}

std::vector<std::string> find_manifests(const std::string& folder) {
    std::set<std::string> visited;
    std::vector<std::string> found;
    find(folder, 0, visited, found);
    return found;
}

}  // namespace agentforge::kernel
