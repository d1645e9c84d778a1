// SPDX-License-Identifier: Apache-2.0
#include "task/snapshot_file.hpp"

#include <array>
#include <cstring>

#include "base/checksum.hpp"
#include "base/files.hpp"
#include "task/bytes_io.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t largest_snapshot = 256ULL << 20U;

struct SnapshotHeader {
    std::array<char, 8> magic{'A', 'F', 'f', 'o', 'l', 'd', '\0', '\1'};
    std::uint64_t sum = 0;  ///< Checksum of everything after the header.
};

std::uint64_t sum_of(std::string_view bytes) {
    RunningSum sum;
    sum.add(bytes);
    return sum.value();
}

}  // namespace

std::optional<SnapshotFile> SnapshotFile::read(const std::filesystem::path& file) {
    const auto bytes = read_file(file, largest_snapshot);
    SnapshotHeader header;
    const SnapshotHeader expected;
    if (!bytes.ok() || bytes->size() < sizeof header) { return std::nullopt; }
    std::memcpy(&header, bytes->data(), sizeof header);
    const std::string_view rest = std::string_view(*bytes).substr(sizeof header);
    if (header.magic != expected.magic || header.sum != sum_of(rest)) { return std::nullopt; }
    BytesIn in(rest);
    std::string made_by;
    SnapshotFile snapshot;
    if (!in.read(made_by) || made_by != fold_fingerprint || !in.read(snapshot)) { return std::nullopt; }
    return in.at_end() ? std::optional(std::move(snapshot)) : std::nullopt;
}

void SnapshotFile::write(const std::filesystem::path& file) const {
    BytesOut out;
    out.add(std::string(fold_fingerprint));
    out.add(*this);
    const std::string rest = out.release();
    SnapshotHeader header;
    header.sum = sum_of(rest);
    std::string whole(sizeof header, '\0');
    std::memcpy(whole.data(), &header, sizeof header);
    whole += rest;
    if (whole.size() > largest_snapshot) { return; }
    (void)write_file_atomic(file, whole, Durability::cached).ok();
}

}  // namespace agentforge::kernel
