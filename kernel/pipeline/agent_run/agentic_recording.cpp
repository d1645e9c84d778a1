// SPDX-License-Identifier: Apache-2.0
#include "pipeline/agent_run/agentic_recording.hpp"

#include <filesystem>

#include <openssl/evp.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t most_recorded_bytes = 16UL << 20U;  ///< For one call. A transcript may have four times as many.

std::string base64_of(const std::string& bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

/// True if YAML reproduces the bytes exactly and a person can read them.
bool is_plain_text(const std::string& bytes) {
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) { return false; }
    }
    return is_valid_utf8(bytes);
}

Result<json::object> recorded_file(const std::filesystem::path& file, const std::string& name, const Redactor& redactor,
                                   std::uint64_t& left) {
    const auto too_large = [&name] {
        return Error{"AF-LLM-314",
                     "the files that the command wrote are too large to be recorded: more than " +
                         std::to_string(most_recorded_bytes >> 20U) + " MiB",
                     name, "Run without recording, or make the command keep build results outside the workspace.",
                     ErrorKind::unavailable};
    };
    std::error_code failed;
    const auto status = std::filesystem::symlink_status(file, failed);
    if (!std::filesystem::exists(status)) { return json::object{{"deleted", true}}; }
    if (std::filesystem::is_symlink(status)) {
        return json::object{{"link", redactor.redact(std::filesystem::read_symlink(file, failed).string())}};
    }
    if (!std::filesystem::is_regular_file(status)) { return json::object{{"folder", true}}; }
    if (const auto size = std::filesystem::file_size(file, failed); failed || size > left) { return too_large(); }
    AF_TRY(const std::string raw, read_file(file, left));
    left -= raw.size();
    const std::string bytes = redactor.redact(raw);
    json::object entry;
    if (is_plain_text(bytes)) {
        entry["text"] = bytes;
    } else {
        entry["base64"] = base64_of(bytes);
    }
    if ((status.permissions() & std::filesystem::perms::owner_exec) != std::filesystem::perms::none) {
        entry["executable"] = true;
    }
    return entry;
}

}  // namespace

Result<json::object> recorded_work(const std::string& root, const std::set<std::string>& paths, const std::string& artifact,
                                   const Redactor& redactor) {
    std::uint64_t left = most_recorded_bytes;
    json::array changes;
    for (const std::string& path : paths) {
        AF_TRY(json::object what, recorded_file(std::filesystem::path(root) / path, path, redactor, left));
        json::object entry{{"path", path}};
        for (auto& [key, value] : what) { entry[key] = std::move(value); }
        changes.emplace_back(std::move(entry));
    }
    json::object work{{"changes", std::move(changes)}};
    AF_TRY(json::object left_behind, recorded_file(artifact, "artifact.yaml", redactor, left));
    if (!left_behind.contains("deleted")) { work["artifact"] = std::move(left_behind); }
    return work;
}

}  // namespace agentforge::kernel
