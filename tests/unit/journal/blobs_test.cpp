// SPDX-License-Identifier: Apache-2.0
#include "journal/blob_store.hpp"

#include <thread>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

class BlobStoreTest : public testing::Test {
protected:
    std::string stored() const { return read_file(file_).value(); }
    void store(std::string_view bytes) { ASSERT_TRUE(write_file_atomic(file_, bytes, Durability::cached).ok()); }
    TemporaryDirectory folder_{"blobs"};
    fs::path root_ = folder_.path() / "deep" / "blobs";
    fs::path file_ = root_ / "blobs.yaml";
    BlobStore store_{root_};
};

TEST_F(BlobStoreTest, returns_what_was_put) {
    for (const std::string& bytes :
         {std::string(), std::string("a\0\xFF", 3), std::string("tab\t \x7f \xC2\x85 \"quoted\" \xF0\x9F\x98\x80\r\n"),
          std::string(3'000'000, 'x')}) {
        const auto hash = store_.put(bytes);
        ASSERT_TRUE(hash.ok()) << hash.error().to_string();
        EXPECT_EQ(*hash, sha256(bytes));
        EXPECT_TRUE(store_.contains(*hash));
        EXPECT_EQ(store_.get(*hash).value(), bytes);
        ASSERT_TRUE(store_.sync().ok());
        EXPECT_EQ(store_.get(*hash).value(), bytes);
        EXPECT_EQ(BlobStore(root_).get(*hash).value(), bytes);
    }
}

TEST_F(BlobStoreTest, are_seen_by_others_once_they_are_synced) {
    const BlobStore other(root_);
    const std::string hash = store_.put("x").value();
    EXPECT_FALSE(other.contains(hash));
    ASSERT_TRUE(store_.sync().ok());
    EXPECT_TRUE(other.contains(hash));
}

TEST_F(BlobStoreTest, put_twice_is_one_line) {
    const auto hash = store_.put("x");
    ASSERT_TRUE(store_.sync().ok());
    const std::string before = stored();
    EXPECT_EQ(store_.put("x").value(), *hash);
    EXPECT_EQ(BlobStore(root_).put("x").value(), *hash);
    ASSERT_TRUE(store_.sync().ok());
    EXPECT_EQ(stored(), before);
}

TEST_F(BlobStoreTest, are_readable_by_every_yaml_parser) {
    ASSERT_TRUE(store_.put("two\nlines: \"1\"").ok());
    ASSERT_TRUE(store_.put(std::string("\xFF\x00", 2)).ok());
    ASSERT_TRUE(store_.sync().ok());
    const auto document = load_yaml(file_.string());
    ASSERT_TRUE(document.ok()) << document.error().to_string();
    const json::array& lines = document->value.at("blobs").get_array();
    ASSERT_EQ(lines.size(), 2U);
    for (const json::value& line : lines) {
        const json::object& blob = line.get_object();
        EXPECT_EQ(std::string(blob.at("sha256").as_string()),
                  blob.contains("text") ? sha256("two\nlines: \"1\"") : sha256(std::string("\xFF\x00", 2)));
        if (const json::value* hex = blob.if_contains("hex")) { EXPECT_EQ(hex->as_string(), "ff00"); }
    }
}

TEST_F(BlobStoreTest, a_torn_last_line_is_overwritten) {
    const std::string whole = store_.put("whole").value();
    ASSERT_TRUE(store_.sync().ok());
    const std::string torn = sha256("torn");
    store(stored() + "- {\"sha256\": \"" + torn + "\", \"bytes\": 4, \"te");
    BlobStore after(root_);
    EXPECT_FALSE(after.contains(torn));
    EXPECT_EQ(after.get(whole).value(), "whole");
    EXPECT_EQ(after.put("torn").value(), torn);
    ASSERT_TRUE(after.sync().ok());
    EXPECT_EQ(BlobStore(root_).get(torn).value(), "torn");
    EXPECT_TRUE(load_yaml(file_.string()).ok());
}

TEST_F(BlobStoreTest, a_file_torn_at_creation_is_recreated) {
    ASSERT_TRUE(make_directories(root_).ok());
    store("agentforge_blobs: 1\nblo");
    const std::string hash = store_.put("x").value();
    ASSERT_TRUE(store_.sync().ok());
    EXPECT_EQ(BlobStore(root_).get(hash).value(), "x");
    EXPECT_TRUE(load_yaml(file_.string()).ok());
}

TEST_F(BlobStoreTest, does_not_append_to_a_file_of_another_kind) {
    ASSERT_TRUE(make_directories(root_).ok());
    store("agentforge_blobs: 2\nblobs:\n- more\n");
    EXPECT_EQ(store_.put("x").error().code, "AF-JRNL-012");
    EXPECT_EQ(stored(), "agentforge_blobs: 2\nblobs:\n- more\n");
}

TEST_F(BlobStoreTest, a_deleted_file_is_an_error_and_not_a_loss) {
    ASSERT_TRUE(store_.put("x").ok());
    ASSERT_TRUE(store_.sync().ok());
    fs::remove(file_);
    ASSERT_TRUE(store_.put("y").ok());
    EXPECT_EQ(store_.sync().error().code, "AF-JRNL-010");
}

TEST_F(BlobStoreTest, does_not_keep_large_blobs_in_memory) {
    const std::string hash = store_.put(std::string(9'000'000, 'x')).value();
    EXPECT_TRUE(BlobStore(root_).contains(hash));
}

TEST_F(BlobStoreTest, are_found_however_many_were_put_after_them) {
    std::vector<std::string> hashes;
    for (int blob = 0; blob < 5000; ++blob) { hashes.push_back(store_.put("blob " + std::to_string(blob)).value()); }
    ASSERT_TRUE(store_.sync().ok());
    for (int blob = 0; blob < 5000; ++blob) { ASSERT_EQ(store_.get(hashes[blob]).value(), "blob " + std::to_string(blob)); }
    const std::string later = store_.put("later").value();
    ASSERT_TRUE(store_.sync().ok());
    EXPECT_EQ(BlobStore(root_).get(later).value(), "later");
    EXPECT_EQ(store_.get(hashes.front()).value(), "blob 0");
}

TEST_F(BlobStoreTest, are_found_in_lines_longer_than_the_read_buffer) {
    const std::string first = store_.put("first").value();
    const std::string wide = store_.put(std::string(2'500'000, 'w')).value();
    const std::string last = store_.put("last").value();
    ASSERT_TRUE(store_.sync().ok());
    store(stored() + "- {\"sha256\": \"" + std::string(1'200'000, 't'));
    const BlobStore after(root_);
    EXPECT_EQ(after.get(first).value(), "first");
    EXPECT_EQ(after.get(wide)->size(), 2'500'000U);
    EXPECT_EQ(after.get(last).value(), "last");
}

TEST_F(BlobStoreTest, a_missing_blob_is_not_found) {
    const std::string hash = sha256("never");
    EXPECT_FALSE(store_.contains(hash));
    EXPECT_EQ(store_.get(hash).error().code, "AF-JRNL-011");
    EXPECT_EQ(store_.get(hash).error().kind, ErrorKind::not_found);
}

TEST_F(BlobStoreTest, that_were_freed_are_reported_as_freed) {
    const BlobStore freed(std::filesystem::temp_directory_path() / "agentforge-no-such-folder" / "blobs");
    const auto text = freed.get(std::string(64, 'a'));
    ASSERT_FALSE(text.ok());
    EXPECT_EQ(text.error().code + " " + text.error().message, "AF-JRNL-011 The task's blobs were freed");
}

TEST_F(BlobStoreTest, names_that_are_not_hashes_are_refused) {
    ASSERT_TRUE(store_.put("x").ok());
    for (const std::string& name : {std::string(), std::string("../../../etc/passwd"), std::string(64, 'g'), std::string(64, 'A'),
                                    std::string(63, 'a'), std::string(64, '.'), std::string(64, '/')}) {
        EXPECT_FALSE(store_.contains(name));
        EXPECT_EQ(store_.get(name).error().code, "AF-JRNL-011");
    }
}

TEST_F(BlobStoreTest, a_damaged_blob_is_refused_and_replaced_by_the_next_put) {
    const std::string hash = store_.put("good").value();
    ASSERT_TRUE(store_.sync().ok());
    std::string evil = stored();
    evil.replace(evil.find("good"), 4, "evil");
    store(evil);
    store_ = BlobStore(root_);
    EXPECT_EQ(store_.get(hash).error().code, "AF-JRNL-012");
    EXPECT_EQ(store_.get(hash).error().kind, ErrorKind::corrupt);
    EXPECT_EQ(store_.put("good").value(), hash);
    ASSERT_TRUE(store_.sync().ok());
    EXPECT_EQ(store_.get(hash).value(), "good");
    EXPECT_EQ(BlobStore(root_).get(hash).value(), "good");
}

TEST_F(BlobStoreTest, may_be_put_by_many_at_once) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            BlobStore own(root_);
            for (int j = 0; j < 5; ++j) {
                const std::string bytes = "blob " + std::to_string((i + j) % 4);
                const auto hash = own.put(bytes);
                ASSERT_TRUE(hash.ok()) << hash.error().to_string();
                ASSERT_TRUE(own.sync().ok());
                EXPECT_EQ(own.get(*hash).value(), bytes);
            }
        });
    }
    for (auto& thread : threads) { thread.join(); }
    const BlobStore after(root_);
    for (int i = 0; i < 4; ++i) { EXPECT_TRUE(after.contains(sha256("blob " + std::to_string(i)))); }
    EXPECT_TRUE(load_yaml(file_.string()).ok());
}

TEST_F(BlobStoreTest, are_shared_with_a_store_that_outlives_theirs) {
    BlobStore first(root_);
    const auto early = first.put("early");
    ASSERT_TRUE(first.sync().ok());
    const std::filesystem::path second = folder_.path() / "second";
    const std::filesystem::path third = folder_.path() / "third";
    ASSERT_TRUE(make_directories(second).ok());
    ASSERT_TRUE(BlobStore::share(root_, "task-a", second).ok());
    ASSERT_TRUE(make_directories(third).ok());
    ASSERT_TRUE(BlobStore::share(second, "task-b", third).ok());
    std::filesystem::remove_all(root_);
    std::filesystem::remove_all(second);
    BlobStore own(third);
    EXPECT_EQ(own.get(*early).value(), "early");
    EXPECT_TRUE(own.contains(*early));
    const auto late = own.put("late");
    ASSERT_TRUE(own.sync().ok());
    EXPECT_EQ(BlobStore(third).get(*late).value(), "late");
}

TEST_F(BlobStoreTest, an_unwritable_store_is_an_io_error) {
    ASSERT_TRUE(write_file_atomic(folder_.path() / "file", "x", Durability::cached).ok());
    BlobStore store(folder_.path() / "file" / "blobs");
    ASSERT_TRUE(store.put("x").ok());
    EXPECT_EQ(store.sync().error().code, "AF-JRNL-010");
    EXPECT_EQ(store.sync().error().kind, ErrorKind::io);
}

}  // namespace
}  // namespace agentforge::kernel
