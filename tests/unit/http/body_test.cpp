// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/body.hpp>

namespace agentforge::http {
namespace {

TEST(BodyReader, reads_chunks_at_every_split) {
    const std::string text = "4;x=y\r\nabcd\r\n0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nnext";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        BodyReader reader(Framing::chunked);
        std::string body;
        ASSERT_TRUE(reader.feed(text.substr(0, cut), body).ok());
        ASSERT_TRUE(reader.feed(text.substr(cut), body).ok());
        ASSERT_EQ(body, "abcd0123456789") << cut;
        ASSERT_TRUE(reader.whole());
    }
}

TEST(BodyReader, truncated_chunks_are_incomplete) {
    const std::string text = "4\r\nabcd\r\n0\r\n\r\n";
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
        BodyReader reader(Framing::chunked);
        std::string body;
        ASSERT_TRUE(reader.feed(text.substr(0, cut), body).ok());
        ASSERT_FALSE(reader.may_end()) << cut;
    }
}

TEST(BodyReader, a_body_shorter_than_its_length_is_incomplete) {
    BodyReader reader(Framing::length, 5);
    std::string body;
    ASSERT_TRUE(reader.feed("abcd", body).ok());
    EXPECT_FALSE(reader.may_end());
    ASSERT_TRUE(reader.feed("efgh", body).ok());
    EXPECT_TRUE(reader.whole());
    EXPECT_EQ(body, "abcde");
}

TEST(BodyReader, a_body_without_a_length_ends_with_the_connection) {
    BodyReader reader(Framing::until_close);
    std::string body;
    ASSERT_TRUE(reader.feed("abcd", body).ok());
    EXPECT_TRUE(reader.may_end());
    EXPECT_FALSE(reader.whole());
}

class BodyReaderBrokenChunks : public ::testing::TestWithParam<std::string> {};

TEST_P(BodyReaderBrokenChunks, are_refused) {
    BodyReader reader(Framing::chunked);
    std::string body;
    const auto fed = reader.feed(GetParam(), body);
    ASSERT_FALSE(fed.ok());
    EXPECT_EQ(fed.error().code, "AF-LLM-409");
}

INSTANTIATE_TEST_SUITE_P(Sizes, BodyReaderBrokenChunks,
                         ::testing::Values("x\r\n", "\r\n", "-1\r\n", "4\r\nabcdefg\r\n", "fffffffffffffffff\r\n",
                                           std::string(20'000, '0')));

}  // namespace
}  // namespace agentforge::http
