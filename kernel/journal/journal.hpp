// SPDX-License-Identifier: Apache-2.0
// The journal: the append-only file `actions.yaml`, which is the truth about a task (docs/journal.md).
//
// After every append the file is one YAML document: `agentforge_journal: 1`, one line for each header field, `actions:`, then one
// line for each record:
//   - {"seq": 1, "step": 0, "type": "task_created", …, "prev": "<hash>", "hash": "<hash>"}
// The text after `- ` and each header value is a line of JSON (`to_json_line`), so YAML and JSON readers agree. Without records,
// `actions:` stands alone, which YAML reads as null.
//
// `hash` is the SHA-256 of the record's bytes in the file, from `{` on, without the field `, "hash": "…"`. `prev` is the hash of
// the previous record, or for the first record the hash of the header (`hash_of` of its fields). Any changed header field and any
// changed, moved or missing record in the middle is therefore detected. Long strings belong in blobs, not in records.
//
// A journal may continue another one from a given record. Its header names that record (`forked_from`: task, seq and hash), and
// its own records count on from there. The other journal is beside it as `history/<task>.yaml`, with all journals that it
// continues in turn. They are hard links: nothing is copied, and nothing is lost when the other task's folder is deleted. Records
// after the named one are not read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

using Sequence = std::uint64_t;

struct Record {
    Sequence seq = 0;
    json::object body;  ///< All fields, including `seq`, `prev` and `hash`.
    std::string hash;
    std::uint64_t at = 0;  ///< Offset of its line in the file. 0 if the record is in a journal that this one continues.
    [[nodiscard]] std::string_view type() const;
    /// The hash of the record before it, or of the header.
    [[nodiscard]] std::string_view previous() const;
};

struct JournalHead {
    Sequence seq = 0;
    std::string hash;
    bool operator==(const JournalHead&) const = default;
};

/// The three system calls of an append. A test replaces them by failing ones.
class JournalDisk {
public:
    virtual ~JournalDisk() = default;
    /// Work as write(2), fdatasync(2) and ftruncate(2): on failure they return -1 and set errno.
    [[nodiscard]] virtual long write(int descriptor, const char* bytes, std::size_t count);
    [[nodiscard]] virtual int sync(int descriptor);
    [[nodiscard]] virtual int truncate(int descriptor, std::uint64_t size);
    /// Returns the real system calls.
    [[nodiscard]] static JournalDisk& system();
    /// Returns calls that never sync, for temporary journals.
    [[nodiscard]] static JournalDisk& unsynced();
};

/// True if a record can hold the value unchanged: no double, no integer beyond int64, valid UTF-8, short keys, at most 40 levels.
[[nodiscard]] bool is_storable(const json::value& value);

/// What opening a journal found.
struct Recovery {
    bool torn_tail = false;  ///< True if an incomplete last line was set aside and cut off.
    std::string torn_file;   ///< The file with its bytes.
    std::uint64_t torn_bytes = 0;
};

/// How far a journal was read and verified. A reader that stored the folded state (docs/adr/0014) continues from there, as long
/// as the bytes up to it are unchanged.
struct JournalMark {
    struct Part {
        std::string task;  ///< The task of a journal that this one continues. Empty: this journal itself.
        std::uint64_t bytes = 0;
        /// Sum over these bytes. Detects a change by accident or in an editor, but not a forgery that also replaces the mark.
        std::uint64_t sum = 0;
        bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts;  ///< The oldest first, this journal last.
    JournalHead head;         ///< Its last record.
};

/// A file that holds records of a journal.
struct JournalFile {
    std::filesystem::path path;
    Sequence last = 0;  ///< The journal ends with this record; later ones are not part of it. 0: all are.
};

/// Receives a journal while it is read: the header, then each verified record in order, then its end. Each callback is optional.
struct JournalVisitor {
    std::function<Result<void>(const json::object& header)> header = {};
    std::function<Result<void>(Record record)> record = {};
    /// If the journal still begins with the bytes of this mark, parses, verifies and visits only the records after it, and calls
    /// `skipped` first.
    const JournalMark* after = nullptr;
    std::function<Result<void>()> skipped = {};
    std::function<Result<void>(const JournalHead& end)> end = {};
};

/// A journal has one writer at a time, which holds the task's lock, and is used by one thread at a time.
class Journal {
public:
    /// Creates the file with its header fields (task_id, request, …). It is complete and on disk, including its name, when the
    /// call returns. A header key is a word (`^[a-z_][a-z0-9_]*$`, none that YAML reads as a boolean or null) other than
    /// `actions`. Errors: `conflict` AF-JRNL-001, `invalid` AF-JRNL-005, `io`.
    [[nodiscard]] static Result<Journal> create(const std::filesystem::path& path, const json::object& header,
                                                JournalDisk& disk = JournalDisk::system());
    /// The same, without opening it: opening a fork's journal reads the whole history.
    [[nodiscard]] static Result<void> create_file(const std::filesystem::path& path, const json::object& header);
    /// Opens for appending: verifies the chain and cuts a torn tail (its bytes go to `<path>.torn-<n>`). Only a last line without
    /// a line end, or one that is not a JSON object, is torn. A complete last line that does not verify, or a bad line with
    /// another one after it, is corruption. Errors: `corrupt` AF-JRNL-002 with offset and sequence, AF-JRNL-009 no regular file;
    /// `not_found` AF-JRNL-007; `io` AF-JRNL-003. `visitor` receives everything before anything is cut. If it returns an error,
    /// the file stays unchanged.
    [[nodiscard]] static Result<Journal> open(const std::filesystem::path& path, JournalDisk& disk = JournalDisk::system(),
                                              const JournalVisitor& visitor = {});
    /// Reads and verifies without changing the file. Skips a torn tail and reports it. An error of `visitor` ends the read and is
    /// returned. Memory: the longest record, however long the journal is. `end` receives how far it was read. Errors: as `open`.
    [[nodiscard]] static Result<Recovery> read(const std::filesystem::path& path, const JournalVisitor& visitor,
                                               JournalMark* end = nullptr);
    /// Does the same for a file that `files` returned, also beyond the record with which it ends there. `path`: the journal that
    /// was passed to `files`.
    [[nodiscard]] static Result<Recovery> read_whole(const std::filesystem::path& path, const JournalFile& file,
                                                     const JournalVisitor& visitor);
    /// Reads all records at once, for journals that are known to be small.
    [[nodiscard]] static Result<std::vector<Record>> read(const std::filesystem::path& path, Recovery* recovery = nullptr);
    /// Returns this journal, then those it continues, the oldest last. Reads only headers. Errors: as `read`.
    [[nodiscard]] static Result<std::vector<JournalFile>> files(const std::filesystem::path& path);
    /// True if the last line is the record of this hash. Reads and verifies nothing else.
    [[nodiscard]] static bool ends_with(const std::filesystem::path& path, std::string_view hash);

    Journal(Journal&&) noexcept;
    Journal& operator=(Journal&&) noexcept;
    ~Journal();

    /// Makes the history folder of a journal that continues `parent`, the journal of `parent_task`, and fills it with that
    /// journal and those it continues. Errors: `io`.
    [[nodiscard]] static Result<void> share_history(const std::filesystem::path& parent, std::string_view parent_task,
                                                    const std::filesystem::path& child);

    /// Appends one record (adds seq, prev, hash) and returns it once it is on disk. Cost: one write and one fdatasync, whatever
    /// the journal's length. Invalid UTF-8 in a string becomes U+FFFD, also in the returned record.
    /// Errors:
    /// `io` AF-JRNL-003: the file is cut back to the last whole record. This object refuses further appends (AF-JRNL-004) until
    /// reopened, because the page cache cannot be trusted after a failed fdatasync.
    /// `conflict` AF-JRNL-006: another process changed, replaced or deleted the file. Nothing is written or cut, and this object
    /// refuses further appends.
    /// `invalid` AF-JRNL-005, after which appends continue: a body without a `type`, with a double, an integer beyond int64, one
    /// of the fields seq, prev, hash, a key of more than 1,000 bytes (no YAML reader accepts it), deeper than 60 levels, or
    /// longer than 64 MiB as a line.
    [[nodiscard]] Result<Record> append(json::object body);
    /// Calls this before each append writes, with the hash of the last record and of the one to be written. If it fails, so does
    /// the append, and the journal stays as it is.
    void before_append(std::function<Result<void>(std::string_view head, std::string_view next)> call);
    /// Changes a body to what `append` would write, without writing it. Errors: AF-JRNL-005, as there.
    [[nodiscard]] Result<void> prepare(json::object& body) const;
    [[nodiscard]] const JournalHead& head() const noexcept;
    /// Returns a mark at the last record.
    [[nodiscard]] JournalMark mark() const;
    [[nodiscard]] const json::object& header() const noexcept;
    [[nodiscard]] const Recovery& recovery() const noexcept;

private:
    struct State;
    explicit Journal(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
