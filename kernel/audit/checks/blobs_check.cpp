// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "audit/checks/audit_part.hpp"
#include "audit/checks/checks.hpp"
#include "base/counted.hpp"
#include "journal/blob_check.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

/// Calls `take` with each value that names a blob: `…_blob`, and the hash of an accepted artifact.
template <class Take>
void for_each_blob(const json::value& value, const Take& take) {
    if (const json::object* object = value.if_object()) {
        for (const auto& [key, item] : *object) {
            if (std::string_view(key).ends_with("_blob") && item.is_string()) {
                if (!item.get_string().empty()) { take(std::string(item.get_string())); }
            } else {
                for_each_blob(item, take);
            }
        }
    } else if (const json::array* array = value.if_array()) {
        for (const json::value& item : *array) { for_each_blob(item, take); }
    }
}

/// Returns the folder of the blobs, and those in it of the tasks that this one continues.
std::vector<fs::path> blob_stores(const fs::path& root) {
    std::vector<fs::path> stores{root};
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root, none)) {
        if (entry.is_directory(none) && !entry.is_symlink(none)) { stores.push_back(entry.path()); }
    }
    return stores;
}

}  // namespace

BlobHashes check_blob_files(const AuditPlace& place, AuditVerdict& verdict) {
    AuditPart part(verdict, "blobs");
    const fs::path root = place.blobs.empty() ? place.folder / "artifacts" / "blobs" : place.blobs;
    BlobHashes hashes;
    std::uint64_t bytes = 0;
    for (const fs::path& store : blob_stores(root)) {
        auto check = check_blobs(store);
        if (!check.ok()) {
            part.fault(check.error().message + " (" + check.error().where + ")");
            continue;
        }
        for (const std::string& fault : check->faults) {
            part.fault((fs::path("artifacts/blobs") / store.lexically_relative(root) / "blobs.yaml").lexically_normal().string() +
                       ", " + fault);
        }
        hashes.merge(check->hashes);
        bytes += check->bytes;
    }
    part.passed(counted(hashes.size(), "blob", "blobs") + " of " + std::to_string(bytes) +
                " bytes have the hashes of their names" +
                (place.blobs.empty() ? "" : "; only the archive has them, the task's folder does not (`gc --blobs`)"));
    return hashes;
}

void check_named_blobs(AuditContext& context, const BlobHashes& blobs) {
    AuditPart part(context.verdict, "blobs");
    std::set<std::string> missing;
    std::size_t named = 0;
    const auto count_blob = [&](const std::string& hash) {
        ++named;
        if (!blobs.contains(hash)) { missing.insert(hash); }
    };
    for (const Record& each : context.records()) {
        for_each_blob(each.body, count_blob);
        if (const auto accepted = records::as<records::ArtifactAccepted>(each)) { count_blob(accepted->artifact_hash); }
    }
    for (const std::string& hash : missing) { part.fault("blob " + hash + ", which a record names, is missing"); }
    part.passed("all blobs that records name exist (named " + counted(named, "time", "times") + ")");
}

}  // namespace agentforge::kernel
