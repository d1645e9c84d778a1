// SPDX-License-Identifier: Apache-2.0
#include "task/step_index.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::array<char, 8> step_index_magic{'A', 'F', 's', 't', 'e', 'p', 's', '\1'};
constexpr unsigned journal_bits = 56;  ///< The bits above hold the journal's number.
constexpr std::uint64_t most_journals = 1ULL << (64U - journal_bits);
constexpr std::uint64_t offset_mask = (1ULL << journal_bits) - 1;

off_t place_of_entry(std::uint64_t number) {
    return static_cast<off_t>(step_index_magic.size() + (number - 1) * sizeof(std::uint64_t));
}

bool is_step(const Record& record, std::uint64_t number) {
    return record.type() == records::Step::type && records::envelope_in(record).step == number;
}

/// Writes entries of consecutive steps together.
class EntryWriter {
public:
    explicit EntryWriter(int file) : file_(file) {}
    ~EntryWriter() { flush(); }
    EntryWriter(const EntryWriter&) = delete;
    EntryWriter& operator=(const EntryWriter&) = delete;

    void add(std::uint64_t number, std::uint64_t entry) {
        if (entries_.size() == at_once || number != first_ + entries_.size()) { flush(); }
        if (entries_.empty()) { first_ = number; }
        entries_.push_back(entry);
    }

private:
    void flush() {
        const std::size_t bytes = entries_.size() * sizeof(std::uint64_t);
        if (file_ >= 0 && bytes != 0 &&
            ::pwrite(file_, entries_.data(), bytes, place_of_entry(first_)) != static_cast<ssize_t>(bytes)) {
            file_ = -1;
        }
        entries_.clear();
    }

    static constexpr std::size_t at_once = 8192;
    int file_;
    std::uint64_t first_ = 0;
    std::vector<std::uint64_t> entries_;
};

}  // namespace

std::filesystem::path step_index_file(const std::filesystem::path& journal) { return journal.parent_path() / ".steps"; }

bool StepIndex::open(bool to_write) {
    if (file_.valid() && (writes_ || !to_write)) { return true; }
    const int flags = to_write ? O_RDWR | O_CREAT : O_RDONLY;
    FileDescriptor file(::open(step_index_file(journal_).c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
    struct stat status {};
    if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) { return false; }
    std::array<char, step_index_magic.size()> magic{};
    const bool known =
        ::pread(file.get(), magic.data(), magic.size(), 0) == static_cast<ssize_t>(magic.size()) && magic == step_index_magic;
    if (!known) {
        if (!to_write || ::ftruncate(file.get(), 0) != 0) { return false; }
        if (::pwrite(file.get(), step_index_magic.data(), step_index_magic.size(), 0) !=
            static_cast<ssize_t>(step_index_magic.size())) {
            return false;
        }
    }
    file_ = std::move(file);
    writes_ = to_write;
    return true;
}

void StepIndex::note(std::uint64_t step, JournalOffset at) {
    if (step == 0 || at == 0 || !open(true)) { return; }
    if (::pwrite(file_.get(), &at, sizeof at, place_of_entry(step)) != static_cast<ssize_t>(sizeof at)) { file_.reset(); }
}

std::optional<std::uint64_t> StepIndex::entry(std::uint64_t number) {
    std::uint64_t value = 0;
    if (!open(false) ||
        ::pread(file_.get(), &value, sizeof value, place_of_entry(number)) != static_cast<ssize_t>(sizeof value) || value == 0) {
        return std::nullopt;
    }
    return value;
}

Result<std::optional<Record>> StepIndex::record_at(std::uint64_t entry, std::uint64_t number) {
    std::filesystem::path file = journal_;
    Sequence last = 0;
    if (entry >> journal_bits != 0) {
        AF_TRY(const std::vector<JournalFile> files, Journal::files(journal_));
        if (entry >> journal_bits >= files.size()) { return std::optional<Record>(); }
        file = files[entry >> journal_bits].path;
        last = files[entry >> journal_bits].last;
    }
    std::optional<Record> found;
    AF_CHECK(JournalTail::read_from(file, entry & offset_mask, [&](const Record& record) {
        if (is_step(record, number) && (last == 0 || record.seq <= last)) { found = record; }
        return false;
    }));
    return found;
}

Result<std::optional<std::uint64_t>> StepIndex::search(std::uint64_t number) {
    AF_TRY(const std::vector<JournalFile> files, Journal::files(journal_));
    // Reads only what was appended since, if the last entry is valid.
    struct stat status {};
    std::uint64_t known = 0;
    JournalOffset from = 0;
    if (open(false) && ::fstat(file_.get(), &status) == 0 && status.st_size > static_cast<off_t>(step_index_magic.size())) {
        known = (static_cast<std::uint64_t>(status.st_size) - step_index_magic.size()) / sizeof(std::uint64_t);
        const auto last = known < number ? entry(known) : std::nullopt;
        if (last && *last >> journal_bits == 0) {
            if (const auto record = record_at(*last, known); record.ok() && *record) { from = *last; }
        }
    }
    EntryWriter writer(open(true) ? file_.get() : -1);
    std::optional<std::uint64_t> found;
    for (std::size_t index = from != 0 ? 1 : std::min<std::size_t>(files.size(), most_journals); index-- > 0;) {
        AF_CHECK(JournalTail::visit_lines(files[index].path, index == 0 ? from : 0, [&](std::string_view line, JournalOffset at) {
            const auto seen = records::outline_of_line(line);
            if (!seen || seen->type != records::Step::type || seen->step == 0) { return true; }
            if (files[index].last != 0 && seen->seq > files[index].last) { return false; }
            const std::uint64_t entry = (static_cast<std::uint64_t>(index) << journal_bits) | at;
            writer.add(seen->step, entry);
            if (seen->step == number) { found = entry; }
            return true;
        }));
    }
    return found;
}

Result<std::optional<Record>> StepIndex::find(std::uint64_t number) {
    if (number == 0 || number > offset_mask / sizeof(std::uint64_t)) { return std::optional<Record>(); }
    if (const auto known = entry(number)) {
        if (auto record = record_at(*known, number); record.ok() && *record) { return record; }
    }
    AF_TRY(const std::optional<std::uint64_t> found, search(number));
    return found ? record_at(*found, number) : Result<std::optional<Record>>(std::optional<Record>());
}

}  // namespace agentforge::kernel
