// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.hpp"

#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "unit/base/python.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

/// The system's disk, until a test decides what the next calls do.
class FailingDisk final : public JournalDisk {
public:
    long write(int descriptor, const char* bytes, std::size_t count) override {
        ++writes;
        if (interruptions > 0) {
            --interruptions;
            errno = EINTR;
            return -1;
        }
        if (short_writes > 0) {
            --short_writes;
            return JournalDisk::write(descriptor, bytes, count / 2 + 1);
        }
        if (write_error != 0) {
            errno = write_error;
            return -1;
        }
        return write_nothing ? 0 : JournalDisk::write(descriptor, bytes, count);
    }
    int sync(int descriptor) override {
        ++syncs;
        if (sync_error == 0) { return JournalDisk::sync(descriptor); }
        errno = sync_error;
        return -1;
    }
    int truncate(int descriptor, std::uint64_t size) override {
        if (truncate_error == 0) { return JournalDisk::truncate(descriptor, size); }
        errno = truncate_error;
        return -1;
    }
    int writes = 0, syncs = 0, interruptions = 0, short_writes = 0, write_error = 0, sync_error = 0, truncate_error = 0;
    bool write_nothing = false;
};

class JournalFile : public testing::Test {
protected:
    Journal create(JournalDisk& disk = JournalDisk::system()) {
        auto journal = Journal::create(path_,
                                       {{"task_id", "task-20260102-x"},
                                        {"request", "yes: \"1.0\"\n# no \U0001F600"},
                                        {"started_at", "2026-01-02T00:00:00.000Z"}},
                                       disk);
        EXPECT_TRUE(journal.ok()) << journal.error().to_string();
        return std::move(journal).value();
    }
    void append(Journal& journal, int count) {
        for (int i = 0; i < count; ++i) {
            auto record = journal.append(
                {{"step", i}, {"type", "step_taken"}, {"agent", json::object{{"role", "red"}}}, {"text", "no\n1.0 \U0001F600"}});
            ASSERT_TRUE(record.ok()) << record.error().to_string();
            appended_.push_back(std::move(*record));
        }
    }
    std::string bytes() const { return read_file(path_).value(); }
    void put(const std::string& bytes) const { ASSERT_TRUE(write_file_atomic(path_, bytes, Durability::cached).ok()); }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
    }

    TemporaryDirectory folder_{"journal"};
    fs::path path_ = folder_.path() / "actions.yaml";
    std::vector<Record> appended_;
};

TEST_F(JournalFile, reads_back_what_was_appended) {
    Journal journal = create();
    append(journal, 3);
    const auto again = Journal::open(path_);
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    const auto read = Journal::read(path_);
    ASSERT_EQ(read->size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ((*read)[i].body, appended_[i].body);
        EXPECT_EQ((*read)[i].seq, i + 1);
        EXPECT_EQ((*read)[i].type(), "step_taken");
    }
    EXPECT_EQ(again->head().hash, journal.head().hash);
    EXPECT_EQ(again->head().seq, 3U);
    EXPECT_EQ(again->header(), journal.header());
    EXPECT_FALSE(again->recovery().torn_tail);
}

TEST_F(JournalFile, knows_the_hash_that_it_ends_with) {
    Journal journal = create();
    EXPECT_FALSE(Journal::ends_with(path_, journal.head().hash)) << "of the header";
    append(journal, 2);
    EXPECT_TRUE(Journal::ends_with(path_, journal.head().hash));
    EXPECT_FALSE(Journal::ends_with(path_, appended_.front().hash));
    EXPECT_FALSE(Journal::ends_with(path_, journal.head().hash.substr(1)));
    EXPECT_FALSE(Journal::ends_with(path_, ""));
    EXPECT_FALSE(Journal::ends_with(path_.parent_path() / "nowhere", journal.head().hash));
    put(bytes().substr(0, bytes().size() - 1));
    EXPECT_FALSE(Journal::ends_with(path_, journal.head().hash)) << "not whole";
}

TEST_F(JournalFile, continues_where_another_object_stopped) {
    {
        Journal journal = create();
        append(journal, 2);
    }
    auto again = Journal::open(path_);
    ASSERT_TRUE(again.ok());
    append(*again, 2);
    EXPECT_EQ(Journal::read(path_)->size(), 4U);
}

TEST_F(JournalFile, append_returns_the_whole_record) {
    Journal journal = create();
    const auto record = journal.append({{"type", "x"}});
    ASSERT_TRUE(record.ok());
    EXPECT_EQ(record->body.at("seq"), json::value(1));
    EXPECT_EQ(record->body.at("prev"), json::value(hash_of(journal.header())));
    EXPECT_EQ(record->body.at("hash"), json::value(record->hash));
    EXPECT_EQ(journal.append({{"type", "x"}})->body.at("prev"), json::value(record->hash));
}

TEST_F(JournalFile, makes_one_write_and_one_sync_for_each_record) {
    FailingDisk disk;
    Journal journal = create(disk);
    append(journal, 5);
    EXPECT_EQ(disk.writes, 5);
    EXPECT_EQ(disk.syncs, 5);
}

TEST_F(JournalFile, stays_as_it_is_if_what_must_precede_an_append_fails) {
    Journal journal = create();
    append(journal, 1);
    const std::string before = bytes();
    bool is_possible = false;
    journal.before_append([&](std::string_view, std::string_view) {
        return is_possible ? Result<void>() : Error{"AF-TEST-001", "not now", "", "", ErrorKind::io};
    });
    EXPECT_EQ(journal.append({{"type", "x"}}).error().code, "AF-TEST-001");
    EXPECT_EQ(bytes(), before);
    is_possible = true;
    append(journal, 1);
    EXPECT_EQ(Journal::read(path_)->size(), 2U);
}

TEST_F(JournalFile, is_created_once) {
    create();
    const auto again = Journal::create(path_, {{"task_id", "x"}});
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, "AF-JRNL-001");
    EXPECT_EQ(again.error().kind, ErrorKind::conflict);
}

TEST_F(JournalFile, is_not_created_if_its_folder_is_missing) {
    const auto journal = Journal::create(folder_.path() / "no" / "actions.yaml", {});
    ASSERT_FALSE(journal.ok());
    EXPECT_EQ(journal.error().kind, ErrorKind::io);
}

TEST_F(JournalFile, refuses_header_fields_that_are_not_words) {
    for (const char* key : {"actions", "agentforge_journal", "yes", "null", "", "a b", "A", "1a", "a:b"}) {
        const auto journal = Journal::create(path_, {{key, 1}});
        ASSERT_FALSE(journal.ok()) << key;
        EXPECT_EQ(journal.error().code, "AF-JRNL-005");
    }
    EXPECT_FALSE(Journal::create(path_, {{"cost", 1.5}}).ok());
    EXPECT_FALSE(fs::exists(path_));
}

TEST_F(JournalFile, that_does_not_exist_is_not_found) {
    EXPECT_EQ(Journal::open(path_).error().code, "AF-JRNL-007");
    EXPECT_EQ(Journal::read(path_).error().kind, ErrorKind::not_found);
}

TEST_F(JournalFile, that_is_a_folder_or_a_link_is_refused) {
    fs::create_directory(folder_.path() / "d");
    EXPECT_EQ(Journal::open(folder_.path() / "d").error().code, "AF-JRNL-009");
    EXPECT_EQ(Journal::read(folder_.path() / "d").error().code, "AF-JRNL-009");
    create();
    fs::create_symlink(path_, folder_.path() / "link");
    EXPECT_EQ(Journal::open(folder_.path() / "link").error().code, "AF-JRNL-009");
}

TEST_F(JournalFile, refuses_bodies_that_another_reader_would_read_differently_and_continues) {
    Journal journal = create();
    json::value deep = 1;
    for (int i = 0; i < 61; ++i) { deep = json::array{deep}; }
    const std::vector<json::object> bodies{{{"a", 1}},
                                           {{"type", ""}},
                                           {{"type", 1}},
                                           {{"type", "x"}, {"cost", 1.5}},
                                           {{"type", "x"}, {"l", json::array{json::object{{"c", 0.0}}}}},
                                           {{"type", "x"}, {"seq", 1}},
                                           {{"type", "x"}, {"prev", ""}},
                                           {{"type", "x"}, {"hash", ""}},
                                           {{"type", "x"}, {"n", std::numeric_limits<std::uint64_t>::max()}},
                                           {{"type", "x"}, {std::string(1001, 'k'), 1}},
                                           {{"type", "x"}, {std::string(200, '\x01'), 1}},
                                           {{"type", "x"}, {"\xFF", 1}},
                                           {{"type", "x"}, {"deep", deep}}};
    for (const auto& body : bodies) {
        const auto record = journal.append(body);
        ASSERT_FALSE(record.ok()) << json::serialize(body).substr(0, 100);
        EXPECT_EQ(record.error().code, "AF-JRNL-005");
        EXPECT_EQ(record.error().kind, ErrorKind::invalid);
    }
    EXPECT_EQ(journal.head().seq, 0U);
    append(journal, 1);
    EXPECT_EQ(Journal::read(path_)->size(), 1U);
}

TEST_F(JournalFile, returns_the_record_as_it_will_be_read_back) {
    Journal journal = create();
    const auto record = journal.append({{"type", "x"}, {"bytes", "a\x80\xC3"}, {"list", json::array{"\xFF", std::uint64_t{7}}}});
    ASSERT_TRUE(record.ok());
    EXPECT_EQ(record->body.at("bytes"), json::value("a\uFFFD\uFFFD"));
    EXPECT_EQ(Journal::read(path_).value()[0].body, record->body);
}

TEST_F(JournalFile, every_reader_reads_the_same_after_every_append) {
    Journal journal = create();
    std::vector<test::ReaderCase> cases;
    const auto expect_read = [&](bool own) {
        json::value expected = json::object{{"agentforge_journal", 1}};
        for (const auto& field : journal.header()) { expected.as_object().emplace(field.key(), field.value()); }
        json::array records;
        for (const auto& record : appended_) { records.push_back(record.body); }
        expected.as_object().emplace("actions", records.empty() ? json::value(nullptr) : json::value(records));
        cases.push_back({std::to_string(records.size()), "yaml", bytes(), expected});
        if (own) { EXPECT_EQ(parse_yaml(bytes(), "own", YamlLimits{64UL << 20U, 1'000'000, 100})->value, expected); }
    };
    expect_read(true);
    const auto strings = test::tricky_strings();
    json::array all;
    for (const auto& text : strings) { all.push_back(json::value(text)); }
    for (int i = 0; i < 3; ++i) {
        append(journal, 1);
        expect_read(true);
    }
    json::object keys;
    for (const auto& text : strings) {
        if (text.size() < 150) { keys.emplace(text, text); }
    }
    auto written = journal.append({{"type", "strings"}, {"all", all}, {"keys", keys}});
    ASSERT_TRUE(written.ok());
    appended_.push_back(std::move(*written));
    expect_read(true);
    EXPECT_EQ(test::read_with_python(cases), "");
}

TEST_F(JournalFile, cut_at_any_byte_of_its_last_record_opens_with_the_records_before) {
    Journal journal = create();
    append(journal, 2);
    const std::size_t whole = bytes().size();
    append(journal, 1);
    const std::string all = bytes();
    for (std::size_t length = whole + 1; length < all.size(); ++length) {
        put(all.substr(0, length));
        Recovery seen;
        ASSERT_EQ(Journal::read(path_, &seen)->size(), 2U);
        EXPECT_TRUE(seen.torn_tail);
        EXPECT_EQ(bytes().size(), length);
        auto again = Journal::open(path_);
        ASSERT_TRUE(again.ok()) << length << again.error().to_string();
        ASSERT_EQ(again->head().seq, 2U);
        EXPECT_EQ(again->recovery().torn_bytes, length - whole);
        EXPECT_EQ(read_file(again->recovery().torn_file).value(), all.substr(whole, length - whole));
        EXPECT_EQ(bytes(), all.substr(0, whole));
        fs::remove(again->recovery().torn_file);
        if (length % 37 == 0) {
            append(*again, 1);
            EXPECT_EQ(bytes(), all);
        }
    }
}

TEST_F(JournalFile, keeps_every_torn_end_under_a_separate_name) {
    {
        Journal journal = create();
        append(journal, 1);
    }
    const std::string whole = bytes();
    for (int i = 1; i <= 3; ++i) {
        put(whole + "- {\"seq\": " + std::to_string(i));
        EXPECT_EQ(Journal::open(path_)->recovery().torn_file, path_.string() + ".torn-" + std::to_string(i));
    }
    EXPECT_EQ(files(), 4U);
}

TEST_F(JournalFile, a_last_line_of_zeros_is_a_torn_end) {
    {
        Journal journal = create();
        append(journal, 1);
    }
    put(bytes() + std::string(300, '\0'));
    EXPECT_TRUE(Journal::open(path_)->recovery().torn_tail);
    put(bytes() + std::string(300, '\0') + "\n");
    EXPECT_EQ(Journal::open(path_)->head().seq, 1U);
}

TEST_F(JournalFile, detects_a_changed_byte_anywhere) {
    Journal journal = create();
    append(journal, 3);
    const std::string all = bytes();
    const std::size_t last = all.rfind("\n- ") + 1;  // A changed last line may look like a torn one.
    for (std::size_t at = 0; at < all.size(); ++at) {
        std::string changed = all;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        put(changed);
        Recovery seen;
        const auto read = Journal::read(path_, &seen);
        if (read.ok()) {
            ASSERT_GE(at, last) << "a change before the last line went unnoticed at " << at;
            EXPECT_TRUE(seen.torn_tail) << at;
            EXPECT_EQ(read->size(), 2U);
        } else {
            EXPECT_EQ(read.error().code, "AF-JRNL-002") << at;
            EXPECT_EQ(read.error().kind, ErrorKind::corrupt);
        }
    }
}

TEST_F(JournalFile, names_sequence_and_byte_of_a_bad_record_in_the_middle) {
    Journal journal = create();
    append(journal, 3);
    std::string all = bytes();
    const std::size_t second = all.find("- {\"seq\": 2");
    all.replace(second, 3, "xxx");
    put(all);
    const auto opened = Journal::open(path_);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "AF-JRNL-002");
    EXPECT_NE(opened.error().message.find("record 2, byte " + std::to_string(second)), std::string::npos)
        << opened.error().message;
    EXPECT_EQ(bytes(), all);
    EXPECT_EQ(files(), 1U);
}

TEST_F(JournalFile, a_whole_last_record_with_a_wrong_hash_is_corruption_not_a_torn_end) {
    Journal journal = create();
    append(journal, 2);
    std::string all = bytes();
    all.replace(all.rfind("\"red\""), 5, "\"rad\"");
    put(all);
    EXPECT_EQ(Journal::open(path_).error().code, "AF-JRNL-002");
    EXPECT_EQ(bytes(), all);
}

TEST_F(JournalFile, notices_records_left_out_repeated_or_in_another_order) {
    Journal journal = create();
    append(journal, 4);
    const std::string all = bytes();
    std::vector<std::size_t> starts;
    for (std::size_t at = all.find("\n- ") + 1; at != 0 && at != all.size(); at = all.find('\n', at) + 1) {
        starts.push_back(at);
    }
    ASSERT_EQ(starts.size(), 4U);
    const auto line = [&](std::size_t i) { return all.substr(starts[i], (i + 1 < 4 ? starts[i + 1] : all.size()) - starts[i]); };
    const std::string head = all.substr(0, starts[0]);
    for (const std::string& changed : {head + line(1) + line(2) + line(3), head + line(0) + line(2) + line(3),
                                       head + line(0) + line(0) + line(1), head + line(1) + line(0) + line(2) + line(3),
                                       all + line(3), head + line(0) + "\n" + line(1), head + line(0) + "# c\n" + line(1)}) {
        put(changed);
        EXPECT_EQ(Journal::read(path_).error().code, "AF-JRNL-002");
    }
}

TEST_F(JournalFile, detects_a_replaced_header_of_valid_form) {
    {
        Journal journal = create();
        append(journal, 1);
    }
    std::string all = bytes();
    all.replace(all.find("task-20260102-x"), 15, "task-20260102-y");
    put(all);
    EXPECT_EQ(Journal::open(path_).error().code, "AF-JRNL-002");
}

TEST_F(JournalFile, refuses_files_that_are_not_journals) {
    for (const std::string& text : {std::string(), std::string("actions:\n"), std::string("agentforge_journal: 0\nactions:\n"),
                                    std::string("agentforge_journal: 1\n"), std::string("agentforge_journal: 1\nactions:"),
                                    std::string("agentforge_journal: 1\na: b\nactions:\n"),
                                    std::string("agentforge_journal: 1\na: 1\na: 2\nactions:\n"), std::string(1000, '\0')}) {
        put(text);
        EXPECT_EQ(Journal::open(path_).error().code, "AF-JRNL-002") << text;
    }
}

TEST_F(JournalFile, reports_a_newer_format) {
    put("agentforge_journal: 2\nactions:\n");
    EXPECT_EQ(Journal::open(path_).error().code, "AF-JRNL-008");
    EXPECT_EQ(bytes(), "agentforge_journal: 2\nactions:\n");
}

TEST_F(JournalFile, completes_interrupted_and_short_writes) {
    FailingDisk disk;
    Journal journal = create(disk);
    disk.interruptions = 3;
    disk.short_writes = 4;
    append(journal, 2);
    EXPECT_EQ(Journal::read(path_)->size(), 2U);
}

class JournalFailure : public JournalFile, public testing::WithParamInterface<int> {};

TEST_P(JournalFailure, of_a_write_cuts_back_and_refuses_further_appends) {
    FailingDisk disk;
    Journal journal = create(disk);
    append(journal, 2);
    const std::string before = bytes();
    disk.short_writes = 1;  // Half of the record is written first.
    disk.write_error = GetParam();
    const auto failed = journal.append({{"type", "x"}});
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, "AF-JRNL-003");
    EXPECT_EQ(failed.error().kind, ErrorKind::io);
    EXPECT_EQ(bytes(), before);
    disk.write_error = 0;
    EXPECT_EQ(journal.append({{"type", "x"}}).error().code, "AF-JRNL-004");
    EXPECT_EQ(journal.head().seq, 2U);
    auto again = Journal::open(path_);
    ASSERT_TRUE(again.ok());
    append(*again, 1);
}

TEST_P(JournalFailure, of_a_sync_is_never_retried) {
    FailingDisk disk;
    Journal journal = create(disk);
    append(journal, 1);
    const std::string before = bytes();
    const int syncs = disk.syncs;
    disk.sync_error = GetParam();
    EXPECT_EQ(journal.append({{"type", "x"}}).error().code, "AF-JRNL-003");
    EXPECT_EQ(disk.syncs, syncs + 1);
    EXPECT_EQ(bytes(), before);
    disk.sync_error = 0;
    EXPECT_EQ(journal.append({{"type", "x"}}).error().code, "AF-JRNL-004");
    EXPECT_EQ(disk.syncs, syncs + 1);
}

INSTANTIATE_TEST_SUITE_P(Errors, JournalFailure, testing::Values(ENOSPC, EIO, EDQUOT, EFBIG));

TEST_F(JournalFile, a_zero_byte_write_is_a_failure) {
    FailingDisk disk;
    Journal journal = create(disk);
    disk.write_nothing = true;
    EXPECT_EQ(journal.append({{"type", "x"}}).error().code, "AF-JRNL-003");
}

TEST_F(JournalFile, says_when_the_incomplete_record_could_not_be_cut_off_and_recovers_at_the_next_opening) {
    FailingDisk disk;
    Journal journal = create(disk);
    append(journal, 1);
    disk.short_writes = 1;
    disk.write_error = ENOSPC;
    disk.truncate_error = EIO;
    EXPECT_NE(journal.append({{"type", "x"}}).error().message.find("cut off"), std::string::npos);
    EXPECT_EQ(Journal::open(path_)->head().seq, 1U);
}

TEST_F(JournalFile, a_torn_end_that_cannot_be_cut_off_is_an_error) {
    {
        Journal journal = create();
        append(journal, 1);
    }
    put(bytes() + "- {");
    FailingDisk disk;
    disk.truncate_error = EIO;
    EXPECT_EQ(Journal::open(path_, disk).error().code, "AF-JRNL-003");
}

TEST_F(JournalFile, detects_another_writer_and_keeps_its_records) {
    Journal journal = create();
    append(journal, 1);
    auto other = Journal::open(path_);
    ASSERT_TRUE(other.ok());
    append(*other, 1);
    const std::string before = bytes();
    EXPECT_EQ(journal.append({{"type", "x"}}).error().code, "AF-JRNL-006");
    EXPECT_EQ(bytes(), before);
    EXPECT_EQ(journal.append({{"type", "x"}}).error().code, "AF-JRNL-004");
}

TEST_F(JournalFile, notices_that_it_was_deleted) {
    Journal journal = create();
    fs::remove(path_);
    EXPECT_EQ(journal.append({{"type", "x"}}).error().code, "AF-JRNL-006");
}

TEST_F(JournalFile, keeps_what_was_acknowledged_when_the_process_dies) {
    create();
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto journal = Journal::open(path_);
        for (int i = 0; journal.ok() && i < 20; ++i) {
            if (!journal->append({{"type", "x"}, {"i", i}}).ok() || ::write(ends[1], "x", 1) != 1) { ::_exit(1); }
        }
        const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
        ::_exit(::write(file, "- {\"seq\": 21, \"type", 19) == 19 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    char acknowledged[64];
    EXPECT_EQ(::read(ends[0], acknowledged, sizeof acknowledged), 20);
    ::close(ends[0]);
    ::close(ends[1]);
    auto journal = Journal::open(path_);
    ASSERT_TRUE(journal.ok()) << journal.error().to_string();
    EXPECT_EQ(journal->head().seq, 20U);
    EXPECT_TRUE(journal->recovery().torn_tail);
    append(*journal, 1);
}

TEST_F(JournalFile, moves_with_its_records) {
    Journal first = create();
    append(first, 1);
    Journal second = std::move(first);
    append(second, 1);
    EXPECT_EQ(second.head().seq, 2U);
    EXPECT_EQ(Journal::read(path_)->size(), 2U);
}

TEST_F(JournalFile, gives_its_header_and_each_record_to_a_visitor_in_order) {
    {
        Journal journal = create();
        append(journal, 3);
    }
    std::vector<std::uint64_t> seen;
    const auto header = [&](const json::object& fields) -> Result<void> {
        EXPECT_TRUE(seen.empty());
        EXPECT_FALSE(fields.empty());
        seen.push_back(0);
        return {};
    };
    const auto record = [&](const Record& one) -> Result<void> {
        seen.push_back(one.seq);
        return {};
    };
    ASSERT_TRUE(Journal::open(path_, JournalDisk::system(), {header, record}).ok());
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST_F(JournalFile, that_its_visitor_refuses_stays_unchanged) {
    {
        Journal journal = create();
        append(journal, 2);
    }
    put(bytes() + "- {\"seq\"");
    const std::string before = bytes();
    const auto refuse = [](const Record&) -> Result<void> { return Error{"AF-TEST-001", "refused", "", "", ErrorKind::invalid}; };
    EXPECT_EQ(Journal::open(path_, JournalDisk::system(), {{}, refuse}).error().code, "AF-TEST-001");
    EXPECT_EQ(bytes(), before);
}

TEST_F(JournalFile, is_read_in_parts_with_lines_longer_than_one) {
    Journal journal = create();
    for (const std::size_t length : {10U, 600'000U, 300'000U, 1U}) {
        ASSERT_TRUE(journal.append({{"type", "x"}, {"text", std::string(length, 't')}}).ok());
    }
    const auto records = Journal::read(path_);
    ASSERT_TRUE(records.ok()) << records.error().to_string();
    ASSERT_EQ(records->size(), 4U);
    EXPECT_EQ((*records)[1].body.at("text").as_string().size(), 600'000U);
    EXPECT_TRUE(Journal::open(path_)->append({{"type", "x"}}).ok());
}

/// A journal that continues after record 2 of the one beside it.
class JournalFork : public JournalFile {
protected:
    void SetUp() override {
        Journal parent = create();
        append(parent, 3);
        ASSERT_TRUE(make_directories(child_.parent_path()).ok());
        ASSERT_TRUE(Journal::share_history(path_, "task-a", child_).ok());
        const json::object origin{{"task", "task-a"}, {"seq", 2}, {"hash", appended_[1].hash}};
        ASSERT_TRUE(Journal::create(child_, {{"task_id", "task-b"}, {"forked_from", origin}}).ok());
    }
    const fs::path child_ = folder_.path() / "child" / "actions.yaml";
    const fs::path history_ = child_.parent_path() / "history" / "task-a.yaml";
};

TEST_F(JournalFork, begins_with_the_records_of_its_parent_and_continues_after_them) {
    auto journal = Journal::open(child_);
    ASSERT_TRUE(journal.ok()) << journal.error().to_string();
    EXPECT_EQ(journal->head().seq, 2U);
    const auto third = journal->append({{"type", "forked"}});
    ASSERT_TRUE(third.ok());
    EXPECT_EQ(third->seq, 3U);
    const auto all = Journal::read(child_);
    ASSERT_TRUE(all.ok()) << all.error().to_string();
    ASSERT_EQ(all->size(), 3U);
    EXPECT_EQ(all->at(1).hash, appended_[1].hash);
    EXPECT_EQ(all->at(2).type(), "forked");
}

TEST_F(JournalFork, copies_nothing_and_outlives_its_parent) {
    EXPECT_TRUE(fs::equivalent(history_, path_));
    fs::remove(path_);
    EXPECT_EQ(Journal::read(child_).value().size(), 2U);
}

TEST_F(JournalFork, is_unaffected_when_its_parent_continues) {
    auto parent = Journal::open(path_);
    ASSERT_TRUE(parent->append({{"type", "step"}}).ok());
    EXPECT_EQ(Journal::read(child_).value().size(), 2U);
}

TEST_F(JournalFork, detects_a_missing_or_replaced_history) {
    fs::remove(history_);
    EXPECT_EQ(Journal::read(child_).error().code, "AF-JRNL-013");
    auto other = Journal::create(history_, {{"task_id", "task-a"}});
    for (int record = 0; record < 3; ++record) { ASSERT_TRUE(other->append({{"type", "step"}}).ok()); }
    EXPECT_EQ(Journal::read(child_).error().code, "AF-JRNL-013");
}

TEST_F(JournalFork, is_refused_if_its_header_names_no_record) {
    const fs::path wrong = child_.parent_path() / "wrong.yaml";
    ASSERT_TRUE(write_file_atomic(wrong,
                                  "agentforge_journal: 1\nforked_from: {\"task\": \"../task-a\", \"seq\": 2, \"hash\": \"" +
                                      appended_[1].hash + "\"}\nactions:\n",
                                  Durability::cached)
                    .ok());
    EXPECT_EQ(Journal::read(wrong).error().code, "AF-JRNL-002");
}

TEST_F(JournalFork, may_be_forked_again) {
    {
        auto journal = Journal::open(child_);
        ASSERT_TRUE(journal->append({{"type", "forked"}}).ok());
    }
    const auto third = Journal::read(child_).value().back();
    const fs::path grandchild = folder_.path() / "grandchild" / "actions.yaml";
    ASSERT_TRUE(make_directories(grandchild.parent_path()).ok());
    ASSERT_TRUE(Journal::share_history(child_, "task-b", grandchild).ok());
    ASSERT_TRUE(Journal::create(grandchild, {{"task_id", "task-c"},
                                             {"forked_from", json::object{{"task", "task-b"}, {"seq", 3}, {"hash", third.hash}}}})
                    .ok());
    fs::remove_all(child_.parent_path());
    fs::remove(path_);
    EXPECT_EQ(Journal::read(grandchild).value().size(), 3U);
}

TEST(JournalFormat, a_newer_format_is_reported_as_newer_not_damaged) {
    const TemporaryDirectory folder("journal-format");
    const auto file = folder.path() / "actions.yaml";
    ASSERT_TRUE(write_file_atomic(file, "agentforge_journal: 12\ntask_id: \"x\"\nactions:\n", Durability::cached).ok());
    const auto read = Journal::read(file);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "AF-JRNL-008");
    EXPECT_NE(read.error().message.find("format 12"), std::string::npos);
    EXPECT_EQ(Journal::open(file).error().code, "AF-JRNL-008");
}

TEST(JournalFormat, a_non_numeric_format_is_damage) {
    const TemporaryDirectory folder("journal-format");
    const auto file = folder.path() / "actions.yaml";
    for (const char* line : {"agentforge_journal: one\n", "agentforge_journal: \n", "agentforge_journal: 99999999999999\n",
                             "agentforge_journal: 2", "\n", ""}) {
        ASSERT_TRUE(write_file_atomic(file, line, Durability::cached).ok());
        EXPECT_EQ(Journal::read(file).error().code, std::string(line) == "agentforge_journal: 2" ? "AF-JRNL-008" : "AF-JRNL-002")
            << line;
    }
}

}  // namespace
}  // namespace agentforge::kernel
