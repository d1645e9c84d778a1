// SPDX-License-Identifier: Apache-2.0
#include "config/settings.hpp"
#include "unit/config/fixtures.hpp"

namespace agentforge::kernel {

TEST(ProductPaths, home_comes_first) {
    const Folder folder;
    folder.write("config/settings_schema.yaml", "");
    folder.write("libexec/agentforge-exec", "");
    const auto paths = ProductPaths::find_for(folder.path(), "/usr/bin/agentforge");
    EXPECT_EQ(paths->config, folder.path() + "/config");
    EXPECT_EQ(paths->exec_helper, folder.path() + "/libexec/agentforge-exec");
}

TEST(ProductPaths, a_home_without_config_is_refused) {
    const Folder folder;
    EXPECT_EQ(ProductPaths::find_for(folder.path(), "/usr/bin/agentforge").error().code, "AF-CONF-023");
}

TEST(ProductPaths, an_installed_program_finds_its_files) {
    const Folder folder;
    folder.write("share/agentforge/config/settings_schema.yaml", "");
    const auto paths = ProductPaths::find_for("", folder.path() + "/bin/agentforge");
    EXPECT_EQ(paths->config, folder.path() + "/share/agentforge/config");
    EXPECT_EQ(paths->exec_helper, folder.path() + "/libexec/agentforge/agentforge-exec");
    EXPECT_THAT(paths->plugins, testing::EndsWith("/agentforge/plugins"));
}

TEST(ProductPaths, a_program_of_the_build_tree_finds_the_source) {
    const auto paths = ProductPaths::find_for("", std::string(AGENTFORGE_BINARY_DIR) + "/tests/unit/config/unit_config");
    EXPECT_EQ(paths->config, std::string(AGENTFORGE_SOURCE_DIR) + "/config");
    EXPECT_EQ(paths->plugins, std::string(AGENTFORGE_BINARY_DIR) + "/plugins");
}

TEST(ProductPaths, a_program_alone_is_told_what_to_do) {
    const Folder folder;
    EXPECT_EQ(ProductPaths::find_for("", folder.path() + "/agentforge").error().code, "AF-CONF-023");
}

TEST(ProductPaths, a_corrupt_build_tree_marker_is_named) {
    const Folder folder;
    folder.write("agentforge-build.json", "{}");
    EXPECT_EQ(ProductPaths::find_for("", folder.path() + "/bin/agentforge").error().code, "AF-CONF-024");
}

}  // namespace agentforge::kernel
