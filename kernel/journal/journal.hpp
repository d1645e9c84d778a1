// SPDX-License-Identifier: Apache-2.0
// The journal: the append-only file `actions.yaml` that is the truth about a task (North Star 5).
//
// The file is one YAML document after every append: `agentforge_journal: 1`, one line for each header
// field, `actions:`, then one line per record:
//   - {"seq": 1, "step": 0, "type": "task_created", …, "prev": "<hash>", "hash": "<hash>"}
// What follows `- ` and each header value is a line of JSON (`to_json_line`), so that a YAML reader and
// a JSON reader agree. With no record yet, `actions:` stands alone, which YAML reads as null.
//
// `hash` is the SHA-256 of the record's bytes as they stand in the file, from `{` on, with the field
// `, "hash": "…"` taken out. `prev` is the hash of the record before; of the first record, the hash of
// the header (`hash_of` of its fields). So no field of the header and no record can change, move or
// vanish from the middle unnoticed. Long strings belong into blobs, not into records.
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

// A journal may go on from a record of another one. Its header says which (`forked_from`: task, seq and hash), its first record
// has the number after that, and the other journal stands beside it as `history/<task>.yaml`, with those that it goes on from in
// turn: hard links, so that nothing is copied and nothing is lost when the other task's folder goes. What follows that record in
// there is not read.
namespace agentforge::kernel {

using Sequence = std::uint64_t;

struct Record {
    Sequence seq = 0;
    json::object body;  ///< All fields, `seq`, `prev` and `hash` included.
    std::string hash;
    std::uint64_t at = 0;  ///< Where its line begins in the file; 0: in that of a journal that this one goes on from.
    [[nodiscard]] std::string_view type() const;
};

struct JournalHead {
    Sequence seq = 0;
    std::string hash;
    bool operator==(const JournalHead&) const = default;
};

/// The three system calls that an append makes; a test puts a failing one in their place.
class JournalDisk {
public:
    virtual ~JournalDisk() = default;
    /// As write(2), fdatasync(2) and ftruncate(2): -1 and errno where they fail.
    [[nodiscard]] virtual long write(int descriptor, const char* bytes, std::size_t count);
    [[nodiscard]] virtual int sync(int descriptor);
    [[nodiscard]] virtual int truncate(int descriptor, std::uint64_t size);
    /// The system's own.
    [[nodiscard]] static JournalDisk& system();
};

/// Whether a record can hold the value as it is: no double, no integer beyond int64, valid UTF-8, short keys, at most 40 levels.
[[nodiscard]] bool is_storable(const json::value& value);

/// What opening found.
struct Recovery {
    bool torn_tail = false;  ///< A last line that was not whole was set aside and cut off.
    std::string torn_file;   ///< Where its bytes are.
    std::uint64_t torn_bytes = 0;
};

/// How far a journal was read and verified. Whoever kept what its records come to (docs/adr/0014) goes on from there, as long as
/// the bytes up to it are the same.
struct JournalMark {
    struct Part {
        std::string task;  ///< Of a journal that this one goes on from; empty: this one itself.
        std::uint64_t bytes = 0;
        std::uint64_t sum = 0;  ///< Of these bytes; tells what was changed by accident or in an editor, not what was forged
                                ///< together with the mark.
        bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts;  ///< The oldest first, itself last.
    JournalHead head;         ///< Its last record.
};

/// A file that holds records of a journal.
struct JournalFile {
    std::filesystem::path path;
    Sequence last = 0;  ///< Records behind this one are not the journal's; 0: all are.
};

/// Sees a journal while it is read: the header, then each record in order, verified. Any of it may be left out.
struct JournalVisitor {
    std::function<Result<void>(const json::object& header)> header = {};
    std::function<Result<void>(Record record)> record = {};
    /// Where the journal still begins with the bytes of this mark, only the records behind it are parsed, verified and shown, and
    /// `skipped` is called first.
    const JournalMark* after = nullptr;
    std::function<Result<void>()> skipped = {};
};

/// One writer at a time, held by the task's lock; one thread at a time.
class Journal {
public:
    /// Creates the file with its header fields (task_id, request, …), whole and on disk, name included.
    /// A header key is a word (`^[a-z_][a-z0-9_]*$`, none that YAML reads as a boolean or null) other
    /// than `actions`. Errors: `conflict` AF-JRNL-001, `invalid` AF-JRNL-005, `io`.
    [[nodiscard]] static Result<Journal> create(const std::filesystem::path& path, const json::object& header,
                                                JournalDisk& disk = JournalDisk::system());
    /// Opens for appending: verifies the chain, cuts a torn tail (its bytes go to `<path>.torn-<n>`).
    /// Torn is only a last line that has no line end or is not a JSON object. A last line that is whole
    /// but does not verify, or a bad line with another after it, is corruption.
    /// Errors: `corrupt` AF-JRNL-002 with offset and sequence; `not_found` AF-JRNL-007; `io` AF-JRNL-003.
    /// `visitor` sees the header and each record before anything is cut; a journal that it refuses stays unchanged.
    [[nodiscard]] static Result<Journal> open(const std::filesystem::path& path, JournalDisk& disk = JournalDisk::system(),
                                              const JournalVisitor& visitor = {});
    /// Reads and verifies without changing the file; a torn tail is left out and reported. What `visitor` refuses ends it with
    /// that error. Takes the memory of the longest record, however long the journal is. `end`: how far it was read. Errors: as
    /// `open`.
    [[nodiscard]] static Result<Recovery> read(const std::filesystem::path& path, const JournalVisitor& visitor,
                                               JournalMark* end = nullptr);
    /// All records at once, for journals that are known to be small.
    [[nodiscard]] static Result<std::vector<Record>> read(const std::filesystem::path& path, Recovery* recovery = nullptr);
    /// Itself, then what it goes on from, the oldest last. Errors: as `read`; only headers are read.
    [[nodiscard]] static Result<std::vector<JournalFile>> files(const std::filesystem::path& path);
    /// Whether the last line is the record of this hash. Nothing else is read or verified.
    [[nodiscard]] static bool ends_with(const std::filesystem::path& path, std::string_view hash);

    Journal(Journal&&) noexcept;
    Journal& operator=(Journal&&) noexcept;
    ~Journal();

    /// Makes the folder of a journal that goes on from `parent`, the journal of `parent_task`, and what it goes on from. Errors:
    /// `io`.
    [[nodiscard]] static Result<void> share_history(const std::filesystem::path& parent, std::string_view parent_task,
                                                    const std::filesystem::path& child);

    /// Appends one record (adds seq, prev, hash) and returns it once it is on disk.
    /// One write and one fdatasync, whatever the journal's length. Invalid UTF-8 in a string becomes
    /// U+FFFD, in the record returned too.
    /// Errors: `io` AF-JRNL-003: the file is cut back to the last whole record and this object refuses
    /// further appends (AF-JRNL-004) until reopened: after a failed fdatasync nothing the kernel still
    /// holds can be relied on. `conflict` AF-JRNL-006: somebody else changed, replaced or deleted the
    /// file; nothing is written or cut, and this object refuses further appends. `invalid` AF-JRNL-005,
    /// after which appends go on: a body without a `type`, with a double, an integer beyond int64, one
    /// of the fields seq, prev, hash, a key of more than 1,000 bytes (no YAML reader takes it), deeper
    /// than 60 levels, or longer than 64 MiB as a line.
    [[nodiscard]] Result<Record> append(json::object body);
    /// Makes a body what `append` will write, without writing it. Errors: AF-JRNL-005, as there.
    [[nodiscard]] Result<void> prepare(json::object& body) const;
    [[nodiscard]] const JournalHead& head() const noexcept;
    /// Up to the last record.
    [[nodiscard]] JournalMark mark() const;
    [[nodiscard]] const json::object& header() const noexcept;
    [[nodiscard]] const Recovery& recovery() const noexcept;

private:
    struct State;
    explicit Journal(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
