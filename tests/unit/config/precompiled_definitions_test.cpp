// SPDX-License-Identifier: Apache-2.0
#include "config/precompiled_definitions.hpp"

#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace agentforge::kernel {
namespace {

TEST(PrecompiledDefinitions, equal_the_parsed_files) {
    for (const PrecompiledYaml& known : precompiled_definitions()) {
        use_precompiled_yaml({});
        const auto read = parse_yaml(known.text, "f.yaml");
        ASSERT_TRUE(read.ok()) << read.error().to_string();
        use_precompiled_yaml(precompiled_definitions());
        const auto found = parse_yaml(known.text, "f.yaml");
        use_precompiled_yaml({});
        ASSERT_TRUE(found.ok());
        EXPECT_EQ(found->value, read->value) << known.text.substr(0, 80);
        ASSERT_EQ(found->places.size(), read->places.size()) << known.text.substr(0, 80);
        for (const auto& [pointer, place] : read->places) { EXPECT_EQ(found->where(pointer), read->where(pointer)) << pointer; }
    }
}

TEST(PrecompiledDefinitions, include_every_file_of_config) {
    std::set<std::string> known;
    for (const PrecompiledYaml& document : precompiled_definitions()) { known.emplace(document.text); }
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(AGENTFORGE_SOURCE_DIR "/config")) {
        if (!entry.is_regular_file() || entry.path().extension() != ".yaml") { continue; }
        ++files;
        const auto text = read_file(entry.path().string());
        ASSERT_TRUE(text.ok());
        EXPECT_TRUE(known.contains(*text)) << entry.path();
    }
    EXPECT_GT(files, 30U);
}

}  // namespace
}  // namespace agentforge::kernel
