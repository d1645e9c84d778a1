// SPDX-License-Identifier: Apache-2.0
// The journal: the append-only file `actions.yaml` that is the truth about a task (North Star 5).
//
// The file is one YAML document after every append: a header line, `actions:`, then one line per
// record: `- {"seq": 1, "step": 0, "type": "task_created", …, "prev": "<hash>", "hash": "<hash>"}`.
// `hash` is SHA-256 over the canonical JSON of the record without `hash`; `prev` is the record's
// before (64 zeros for the first), so that no record can change, move or vanish from the middle.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

using Sequence = std::uint64_t;

struct Record {
    Sequence seq = 0;
    json::object body;      ///< All fields, `seq`, `prev` and `hash` included.
    std::string hash;
    [[nodiscard]] std::string_view type() const;
};

struct JournalHead { Sequence seq = 0; std::string hash; };

/// What opening found.
struct Recovery {
    bool torn_tail = false;             ///< A last line that was not whole was set aside and cut off.
    std::string torn_file;              ///< Where its bytes are.
    std::uint64_t torn_bytes = 0;
};

class Journal {
public:
    /// Creates the file with its header fields (task_id, request, …). Errors: `conflict` AF-JRNL-001, `io`.
    [[nodiscard]] static Result<Journal> create(const std::filesystem::path& path, const json::object& header);
    /// Opens for appending: verifies the chain, cuts a torn tail (its bytes go to `<path>.torn-<n>`).
    /// Errors: `corrupt` AF-JRNL-002 with offset and sequence where the middle does not verify; `not_found`.
    [[nodiscard]] static Result<Journal> open(const std::filesystem::path& path);
    /// Reads and verifies without changing the file; a torn tail is left out and reported.
    [[nodiscard]] static Result<std::vector<Record>> read(const std::filesystem::path& path, Recovery* recovery = nullptr);

    Journal(Journal&&) noexcept;
    Journal& operator=(Journal&&) noexcept;
    ~Journal();

    /// Appends one record (adds seq, prev, hash) and returns it once it is on disk.
    /// One write and one fdatasync, whatever the journal's length.
    /// Errors: `io` AF-JRNL-003: the file is cut back to the last whole record and this object refuses
    /// further appends (AF-JRNL-004) until reopened; `invalid` AF-JRNL-005 for a body with a double or a reserved field.
    [[nodiscard]] Result<Record> append(json::object body);
    [[nodiscard]] const JournalHead& head() const noexcept;
    [[nodiscard]] const std::vector<Record>& records() const noexcept;     ///< All, in order; grows with append.
    [[nodiscard]] const json::object& header() const noexcept;
    [[nodiscard]] const Recovery& recovery() const noexcept;

private:
    struct State;
    explicit Journal(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
