// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

TEST(Journal, reads_back_what_was_appended) {
    const TemporaryDirectory folder("journal");
    const auto path = folder.path() / "actions.yaml";
    auto journal = Journal::create(path, {{"task_id", "t"}, {"request", "yes"}});
    ASSERT_TRUE(journal.ok()) << journal.error().to_string();
    for (int i = 0; i < 3; ++i) { ASSERT_TRUE(journal->append({{"type", "step"}, {"text", "1.0"}}).ok()); }
    auto again = Journal::open(path);
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    ASSERT_EQ(again->records().size(), 3U);
    EXPECT_EQ(again->records()[2].body, journal->records()[2].body);
    EXPECT_EQ(again->head().hash, journal->head().hash);
}

}  // namespace
}  // namespace agentforge::kernel
