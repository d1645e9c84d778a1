// SPDX-License-Identifier: Apache-2.0
#include "task/snapshot_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "task/bytes_io.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t largest_snapshot = 256ULL << 20U;

struct SnapshotHeader {
    std::array<char, 8> magic{'A', 'F', 'f', 'o', 'l', 'd', '\0', '\2'};
    std::array<char, 64> hash{};  ///< Keyed hash of everything after the header.
};

/// Reads the key once.
class SnapshotKey {
public:
    void set(std::function<std::string()> source) {
        const std::lock_guard guard(reading_);
        source_ = std::move(source);
        key_.clear();
    }
    std::string get() {
        const std::lock_guard guard(reading_);
        if (key_.empty() && source_) { key_ = source_(); }
        return key_;
    }

private:
    std::mutex reading_;
    std::function<std::string()> source_;
    std::string key_;
};

SnapshotKey& snapshot_key() {
    static SnapshotKey key;
    return key;
}

std::string hash_with(const std::string& key, std::string_view bytes) {
    return keyed_sha256(key, "task snapshot\n" + std::string(bytes));
}

}  // namespace

void set_snapshot_key(std::function<std::string()> source) { snapshot_key().set(std::move(source)); }

std::optional<SnapshotFile> SnapshotFile::read(const std::filesystem::path& file) {
    const auto bytes = read_file(file, largest_snapshot);
    SnapshotHeader header;
    const SnapshotHeader expected;
    if (!bytes.ok() || bytes->size() < sizeof header) { return std::nullopt; }
    const std::string key = snapshot_key().get();
    if (key.empty()) { return std::nullopt; }
    std::memcpy(&header, bytes->data(), sizeof header);
    const std::string_view rest = std::string_view(*bytes).substr(sizeof header);
    const std::string_view hash(header.hash.data(), header.hash.size());
    if (header.magic != expected.magic || hash != hash_with(key, rest)) { return std::nullopt; }
    BytesIn in(rest);
    std::string made_by;
    SnapshotFile snapshot;
    if (!in.read(made_by) || made_by != fold_fingerprint || !in.read(snapshot)) { return std::nullopt; }
    return in.at_end() ? std::optional(std::move(snapshot)) : std::nullopt;
}

void SnapshotFile::write(const std::filesystem::path& file) const {
    const std::string key = snapshot_key().get();
    if (key.empty()) { return; }
    BytesOut out;
    out.add(std::string(fold_fingerprint));
    out.add(*this);
    const std::string rest = out.release();
    SnapshotHeader header;
    std::ranges::copy(hash_with(key, rest), header.hash.begin());
    std::string whole(sizeof header, '\0');
    std::memcpy(whole.data(), &header, sizeof header);
    whole += rest;
    if (whole.size() > largest_snapshot) { return; }
    (void)write_file_atomic(file, whole, Durability::cached).ok();
}

}  // namespace agentforge::kernel
