// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/sse.hpp>

namespace agentforge::http {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events read(const std::vector<std::string>& parts) {
    Events events;
    EventReader reader;
    for (const std::string& part : parts) {
        const auto fed = reader.feed(part, [&events](const Event& event) -> Result<bool> {
            events.emplace_back(event.type, event.data);
            return true;
        });
        EXPECT_TRUE(fed.ok());
    }
    return events;
}

TEST(EventReader, reads_type_and_data) { EXPECT_EQ(read({"event: ping\ndata: {}\n\n"}), (Events{{"ping", "{}"}})); }
TEST(EventReader, joins_several_data_lines) { EXPECT_EQ(read({"data: a\ndata:b\ndata:\n\n"}), (Events{{"", "a\nb\n"}})); }
TEST(EventReader, strips_only_one_space) { EXPECT_EQ(read({"data:  a\n\n"}), (Events{{"", " a"}})); }
TEST(EventReader, ignores_comments_and_other_fields) {
    EXPECT_EQ(read({": hello\nid: 7\nretry: 5\nfoo\ndata: a\n\n"}), (Events{{"", "a"}}));
}
TEST(EventReader, ignores_a_byte_order_mark_at_the_start) {
    EXPECT_EQ(read({"\xEF\xBB\xBF"
                    "data: a\n\n"}),
              (Events{{"", "a"}}));
}
TEST(EventReader, keeps_a_byte_order_mark_inside) { EXPECT_EQ(read({"data: \xEF\xBB\xBF\n\n"}), (Events{{"", "\xEF\xBB\xBF"}})); }
TEST(EventReader, ignores_an_event_without_data) { EXPECT_EQ(read({"event: lost\n\ndata: a\n\n"}), (Events{{"", "a"}})); }
TEST(EventReader, ignores_an_event_without_a_final_empty_line) { EXPECT_EQ(read({"data: a\n\ndata: b\n"}), (Events{{"", "a"}})); }
TEST(EventReader, treats_an_empty_data_line_as_data) { EXPECT_EQ(read({"data\n\n"}), (Events{{"", ""}})); }

TEST(EventReader, the_same_events_at_every_split_into_three) {
    const Events expected{{"", "one\ntwo"}, {"x", "\xC3\xA9"}, {"", "three"}, {"", "four"}};
    for (const std::string end : {"\n", "\r\n", "\r"}) {
        std::string text = "\xEF\xBB\xBF";
        for (const std::string line : {": c", "data: one", "data:two", "", "event: x", "data: \xC3\xA9", "id: 1", "", "",
                                       "data: three", "", "data: four", ""}) {
            text += line + end;
        }
        for (std::size_t first = 0; first <= text.size(); ++first) {
            for (std::size_t second = first; second <= text.size(); ++second) {
                ASSERT_EQ(read({text.substr(0, first), text.substr(first, second - first), text.substr(second)}), expected)
                    << first << " " << second;
            }
        }
    }
}

TEST(EventReader, stops_when_told_to) {
    EventReader reader;
    unsigned seen = 0;
    const auto fed = reader.feed("data: a\n\ndata: b\n\n", [&seen](const Event&) -> Result<bool> { return ++seen < 1; });
    ASSERT_TRUE(fed.ok());
    EXPECT_FALSE(fed.value());
    EXPECT_EQ(seen, 1U);
}

TEST(EventReader, refuses_an_endless_line) {
    EventReader reader(100);
    const auto use = [](const Event&) -> Result<bool> { return true; };
    ASSERT_TRUE(reader.feed("data: " + std::string(90, 'a'), use).ok());
    const auto fed = reader.feed(std::string(10, 'a'), use);
    ASSERT_FALSE(fed.ok());
    EXPECT_EQ(fed.error().code, "AF-LLM-412");
}

TEST(EventReader, refuses_an_event_of_endless_lines) {
    EventReader reader(100);
    const auto use = [](const Event&) -> Result<bool> { return true; };
    std::string lines;
    for (int i = 0; i < 20; ++i) { lines += "data: aaaaaaa\n"; }
    EXPECT_FALSE(reader.feed(lines, use).ok());
}

}  // namespace
}  // namespace agentforge::http
