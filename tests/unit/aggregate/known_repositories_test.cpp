// SPDX-License-Identifier: Apache-2.0
#include "aggregate/known_repositories.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.hpp"

namespace agentforge::kernel::testing {
namespace {

class KnownRepositoriesTest : public ::testing::Test {
protected:
    std::string refusal_of(const char* text) {
        std::ofstream(file_) << text;
        const auto list = repositories_.list();
        return list.ok() ? "" : list.error().code;
    }
    TemporaryDirectory folder_{"known"};
    std::filesystem::path file_ = folder_.path() / "repos.yaml";
    KnownRepositories repositories_{file_};
};

TEST_F(KnownRepositoriesTest, repositories_are_added_listed_and_removed) {
    EXPECT_TRUE(repositories_.list()->empty());
    ASSERT_TRUE(repositories_.add({"backend", "/src/backend"}).ok());
    ASSERT_TRUE(repositories_.add({"data-layer", "/src/data"}).ok());
    EXPECT_EQ(*repositories_.list(), (std::vector<KnownRepository>{{"backend", "/src/backend"}, {"data-layer", "/src/data"}}));
    EXPECT_EQ(repositories_.remove("backend")->path, "/src/backend");
    EXPECT_EQ(repositories_.list()->size(), 1U);
}

TEST_F(KnownRepositoriesTest, a_repository_has_one_name_and_one_path) {
    ASSERT_TRUE(repositories_.add({"backend", "/src/backend"}).ok());
    EXPECT_EQ(repositories_.add({"backend", "/src/other"}).error().code, "AF-CONF-072");
    EXPECT_EQ(repositories_.add({"other", "/src/backend"}).error().code, "AF-CONF-072");
    EXPECT_EQ(repositories_.add({"a/b", "/src/other"}).error().code, "AF-CONF-071");
    EXPECT_EQ(repositories_.remove("backnd").error().code, "AF-CONF-073");
    EXPECT_NE(repositories_.remove("backnd").error().remedy.find("`backend`"), std::string::npos);
}

TEST_F(KnownRepositoriesTest, refuses_a_file_of_another_form) {
    EXPECT_EQ(refusal_of("repositories:\n  - name: a\n    path: /a\n"), "");
    EXPECT_EQ(refusal_of("repositories:\n  - name: a\n    path: a\n"), "AF-CONF-070");
    EXPECT_EQ(refusal_of("repositories:\n  - name: a\n"), "AF-CONF-070");
    EXPECT_EQ(refusal_of("repositories:\n  - name: a\n    path: /a\n    pth: /b\n"), "AF-CONF-070");
    EXPECT_EQ(refusal_of("repositories:\n  - {name: a, path: /a}\n  - {name: a, path: /b}\n"), "AF-CONF-070");
    EXPECT_EQ(refusal_of("repos: []\n"), "AF-CONF-070");
}

TEST_F(KnownRepositoriesTest, a_repository_is_named_after_its_folder) {
    EXPECT_EQ(repository_name("/src/text kit", {}), "text-kit");
    EXPECT_EQ(repository_name("/src/backend", {{"backend", "/a"}, {"backend-2", "/b"}}), "backend-3");
    EXPECT_EQ(repository_name("/src/.hidden", {}), "hidden");
}

}  // namespace
}  // namespace agentforge::kernel::testing
