// SPDX-License-Identifier: Apache-2.0
#include "journal/blob_check.hpp"

#include <cerrno>
#include <fstream>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "journal/blob_lines.hpp"

namespace agentforge::kernel {

namespace {

/// Returns what is wrong with a line. Empty: nothing.
std::string fault_of(std::string_view line, std::string& hash) {
    const auto bytes = bytes_of_blob_line(line);
    if (!bytes) { return "the line contains no blob"; }
    hash = sha256(*bytes);
    std::string expected;
    append_blob_line(expected, hash, *bytes);
    expected.pop_back();
    if (expected == line) { return {}; }
    return line.substr(0, blob_line_start.size() + blob_hash_digits) ==
                   std::string_view(expected).substr(0, blob_line_start.size() + blob_hash_digits)
               ? "the line has changed since it was written"
               : "the bytes do not have the hash that the line names";
}

}  // namespace

Result<BlobCheck> check_blobs(const std::filesystem::path& root) {
    const std::filesystem::path file = root / "blobs.yaml";
    BlobCheck check;
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) { return check; }
    std::ifstream in(file, std::ios::binary);
    if (!in || !std::filesystem::is_regular_file(std::filesystem::symlink_status(file, error))) {
        return Error{"AF-JRNL-010",
                     "Cannot read a blob: " + (in ? std::string("its file is not a regular file") : errno_text(errno)),
                     file.string(), "Check the file's permissions and its disk.", ErrorKind::io};
    }
    std::string head(blobs_head.size(), '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    check.bytes = static_cast<std::uint64_t>(in.gcount());
    if (check.bytes != head.size() || head != blobs_head) {
        check.faults.emplace_back("byte 0: the file does not begin as one of blobs");
    }
    std::string line;
    while (check.bytes >= head.size() && std::getline(in, line)) {
        const bool ended = !in.eof();
        std::string hash;
        const std::string fault = ended ? fault_of(line, hash) : "the last line is incomplete";
        if (fault.empty()) {
            check.hashes.insert(std::move(hash));
        } else {
            check.faults.push_back("byte " + std::to_string(check.bytes) + ": " + fault);
        }
        check.bytes += line.size() + (ended ? 1 : 0);
    }
    if (in.bad()) {
        return Error{"AF-JRNL-010", "Cannot read a blob: " + errno_text(errno), file.string(),
                     "Check the file's permissions and its disk.", ErrorKind::io};
    }
    return check;
}

}  // namespace agentforge::kernel
