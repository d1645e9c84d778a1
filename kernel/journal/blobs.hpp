// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Long bodies (context sent, the model's answer, tool output), named by their SHA-256:
/// `<root>/ab/cdef…`. A blob is on disk before the record that names it.
class BlobStore {
public:
    explicit BlobStore(std::filesystem::path root);
    /// Idempotent; may be called by several threads and processes at once. A damaged blob of that name is
    /// replaced. Returns the hash once the bytes and the name are on disk. Errors: `io` AF-JRNL-010.
    [[nodiscard]] Result<std::string> put(std::string_view bytes);
    /// Errors: `not_found` AF-JRNL-011 (also where `hash` is not 64 lower-case hexadecimal digits),
    /// `io` AF-JRNL-010, `corrupt` AF-JRNL-012 where the bytes do not have that hash.
    [[nodiscard]] Result<std::string> get(std::string_view hash) const;
    [[nodiscard]] bool contains(std::string_view hash) const;

private:
    std::filesystem::path root_;
};

}  // namespace agentforge::kernel
