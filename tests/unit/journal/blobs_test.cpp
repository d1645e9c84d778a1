// SPDX-License-Identifier: Apache-2.0
#include "journal/blobs.hpp"

#include <thread>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

class Blobs : public testing::Test {
protected:
    fs::path place(const std::string& hash) const { return root_ / hash.substr(0, 2) / hash.substr(2); }
    TemporaryDirectory folder_{"blobs"};
    fs::path root_ = folder_.path() / "deep" / "blobs";
    BlobStore store_{root_};
};

TEST_F(Blobs, gives_back_what_was_put) {
    for (const std::string& bytes : {std::string(), std::string("a\0\xFF", 3), std::string(3'000'000, 'x')}) {
        const auto hash = store_.put(bytes);
        ASSERT_TRUE(hash.ok()) << hash.error().to_string();
        EXPECT_EQ(*hash, sha256(bytes));
        EXPECT_TRUE(store_.contains(*hash));
        EXPECT_EQ(store_.get(*hash).value(), bytes);
        EXPECT_EQ(read_file(place(*hash)).value(), bytes);
    }
}

TEST_F(Blobs, put_twice_is_one_file) {
    const auto hash = store_.put("x");
    const auto written = fs::last_write_time(place(*hash));
    EXPECT_EQ(store_.put("x").value(), *hash);
    EXPECT_EQ(fs::last_write_time(place(*hash)), written);
    EXPECT_EQ(std::distance(fs::directory_iterator(place(*hash).parent_path()), fs::directory_iterator()), 1);
}

TEST_F(Blobs, what_was_not_put_is_not_found) {
    const std::string hash = sha256("never");
    EXPECT_FALSE(store_.contains(hash));
    EXPECT_EQ(store_.get(hash).error().code, "AF-JRNL-011");
    EXPECT_EQ(store_.get(hash).error().kind, ErrorKind::not_found);
}

TEST_F(Blobs, names_that_are_no_hashes_lead_nowhere) {
    ASSERT_TRUE(store_.put("x").ok());
    for (const std::string& name : {std::string(), std::string("../../../etc/passwd"), std::string(64, 'g'), std::string(64, 'A'), std::string(63, 'a'), std::string(64, '.'), std::string(64, '/')}) {
        EXPECT_FALSE(store_.contains(name));
        EXPECT_EQ(store_.get(name).error().code, "AF-JRNL-011");
    }
}

TEST_F(Blobs, a_damaged_blob_is_refused_and_replaced_by_the_next_put) {
    const std::string hash = store_.put("good").value();
    ASSERT_TRUE(write_file_atomic(place(hash), "evil", Durability::cached).ok());
    EXPECT_EQ(store_.get(hash).error().code, "AF-JRNL-012");
    EXPECT_EQ(store_.get(hash).error().kind, ErrorKind::corrupt);
    EXPECT_EQ(store_.put("good").value(), hash);
    EXPECT_EQ(store_.get(hash).value(), "good");
}

TEST_F(Blobs, may_be_put_by_many_at_once) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            BlobStore own(root_);
            for (int j = 0; j < 5; ++j) {
                const std::string bytes = "blob " + std::to_string((i + j) % 4);
                const auto hash = own.put(bytes);
                ASSERT_TRUE(hash.ok()) << hash.error().to_string();
                EXPECT_EQ(own.get(*hash).value(), bytes);
            }
        });
    }
    for (auto& thread : threads) { thread.join(); }
}

TEST_F(Blobs, a_store_that_cannot_be_written_is_an_io_error) {
    ASSERT_TRUE(write_file_atomic(folder_.path() / "file", "x", Durability::cached).ok());
    BlobStore store(folder_.path() / "file" / "blobs");
    EXPECT_EQ(store.put("x").error().code, "AF-JRNL-010");
    EXPECT_EQ(store.put("x").error().kind, ErrorKind::io);
}

}  // namespace
}  // namespace agentforge::kernel
