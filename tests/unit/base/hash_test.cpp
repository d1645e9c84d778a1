// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace agentforge::kernel {
namespace {

TEST(Sha256, agrees_with_the_standard) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, may_be_called_from_several_threads_at_once) {
    std::vector<std::string> results(4);
    std::vector<std::thread> threads;
    for (auto& result : results) {
        threads.emplace_back([&result] {
            for (int i = 0; i < 200; ++i) { result = sha256("abc"); }
        });
    }
    for (auto& thread : threads) { thread.join(); }
    for (const auto& result : results) { EXPECT_EQ(result, sha256("abc")); }
}

TEST(HashOf, does_not_depend_on_the_order_of_keys) {
    EXPECT_EQ(hash_of(json::object{{"b", 1}, {"a", json::array{1, 2}}}),
              hash_of(json::object{{"a", json::array{1, 2}}, {"b", 1}}));
    EXPECT_EQ(hash_of(json::object{{"b", 1}, {"a", "x"}}), sha256(R"({"a":"x","b":1})"));
}

TEST(HashOf, depends_on_types_and_on_the_order_of_lists) {
    EXPECT_NE(hash_of("1"), hash_of(1));
    EXPECT_NE(hash_of(json::array{1, 2}), hash_of(json::array{2, 1}));
}

}  // namespace
}  // namespace agentforge::kernel
