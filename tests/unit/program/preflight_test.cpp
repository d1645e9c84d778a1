// SPDX-License-Identifier: Apache-2.0
// The machine that a task runs on: folders, disks, limits, and requests that are not requests.
#include "program/project/preflight.hpp"

#include <sys/stat.h>
#include <filesystem>
#include <string>

#include "unit/config/fixtures.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

/// A project with its git folder, and a state folder outside of it.
struct Surroundings {
    Folder folder;
    fs::path root = fs::path(folder.path()) / "project";
    fs::path agentforge = root / ".agentforge";
    fs::path git = root / ".git";
    fs::path state = fs::path(folder.path()) / "state";

    Surroundings() { fs::create_directories(git / "objects"); }
    [[nodiscard]] Result<void> check() const { return check_environment(root, agentforge, git, state); }
};

std::string code_of(const Result<void>& result) { return result.ok() ? "" : result.error().code; }

TEST(Preflight, accepts_a_valid_environment_without_creating_files) {
    const Surroundings place;
    EXPECT_EQ(code_of(place.check()), "");
    EXPECT_FALSE(fs::exists(place.agentforge));
    EXPECT_FALSE(fs::exists(place.state));
}

TEST(Preflight, a_state_folder_inside_the_repository_is_refused) {
    Surroundings place;
    place.state = place.root / "state";
    EXPECT_EQ(code_of(place.check()), "AF-CLI-138");
}

TEST(Preflight, refuses_a_state_folder_linked_into_the_repository) {
    const Surroundings place;
    fs::create_symlink(place.root, place.state);
    EXPECT_EQ(code_of(place.check()), "AF-CLI-138");
}

TEST(Preflight, accepts_a_state_folder_that_shares_a_prefix_with_the_repository) {
    Surroundings place;
    place.state = fs::path(place.root.string() + "-state");
    EXPECT_EQ(code_of(place.check()), "");
}

TEST(Preflight, refuses_a_state_folder_that_is_a_file) {
    const Surroundings place;
    place.folder.write("state", "x");
    const auto result = place.check();
    ASSERT_EQ(code_of(result), "AF-CLI-132");
    EXPECT_THAT(result.error().message, ::testing::HasSubstr("it is a file"));
    EXPECT_EQ(result.error().where, place.state.string());
}

TEST(Preflight, a_state_folder_below_a_file_is_refused_and_names_the_file) {
    Surroundings place;
    place.folder.write("state", "x");
    place.state /= "deeper/still";
    const auto result = place.check();
    ASSERT_EQ(code_of(result), "AF-CLI-132");
    EXPECT_THAT(result.error().where, ::testing::EndsWith("/state"));
}

TEST(Preflight, refuses_a_state_folder_behind_a_dangling_link) {
    const Surroundings place;
    fs::create_symlink("/nowhere/at/all", place.state);
    EXPECT_EQ(code_of(place.check()), "AF-CLI-132");
}

TEST(Preflight, refuses_a_state_folder_that_cannot_be_created) {
    const Surroundings place;
    EXPECT_EQ(code_of(check_environment(place.root, place.agentforge, place.git, "/proc/agentforge")), "AF-CLI-132");
}

TEST(PreflightOwnFolder, that_is_missing_is_accepted) {
    const Surroundings place;
    EXPECT_EQ(code_of(check_own_folder(place.agentforge)), "");
}

TEST(PreflightOwnFolder, that_is_a_link_is_refused_wherever_it_leads) {
    for (const char* target : {"/tmp", "/nowhere", "project"}) {
        const Surroundings place;
        fs::create_symlink(target, place.agentforge);
        EXPECT_EQ(code_of(check_own_folder(place.agentforge)), "AF-CLI-130") << target;
    }
}

TEST(PreflightOwnFolder, that_is_a_file_is_refused) {
    const Surroundings place;
    place.folder.write("project/.agentforge", "x");
    EXPECT_EQ(code_of(check_own_folder(place.agentforge)), "AF-CLI-130");
}

TEST(PreflightOwnFolder, with_a_linked_subfolder_is_refused_by_name) {
    for (const char* name : {"tasks", "escalations", "logs", "violations", "audit", "cache"}) {
        const Surroundings place;
        fs::create_directories(place.agentforge);
        fs::create_symlink("/tmp", place.agentforge / name);
        const auto result = check_own_folder(place.agentforge);
        ASSERT_EQ(code_of(result), "AF-CLI-130") << name;
        EXPECT_THAT(result.error().message, ::testing::HasSubstr(name));
    }
}

TEST(PreflightOwnFolder, with_a_pipe_in_place_of_the_tasks_is_refused) {
    const Surroundings place;
    fs::create_directories(place.agentforge);
    ASSERT_EQ(::mkfifo((place.agentforge / "tasks").c_str(), 0600), 0);
    EXPECT_EQ(code_of(check_own_folder(place.agentforge)), "AF-CLI-130");
}

TEST(PreflightOwnFolder, with_linked_definitions_is_accepted) {
    const Surroundings place;
    fs::create_directories(place.agentforge);
    fs::create_symlink("/tmp", place.agentforge / "agents");
    EXPECT_EQ(code_of(check_own_folder(place.agentforge)), "");
}

TEST(PreflightRequest, naming_an_existing_file_is_refused_with_the_way_to_read_it) {
    const Surroundings place;
    place.folder.write("project/docs/TASK 1.md", "Add a flag");
    for (const char* request : {"docs", "docs/", "./docs", " docs/TASK 1.md\n", "docs/../docs"}) {
        const auto result = check_request_is_no_path(request, {place.root});
        EXPECT_EQ(code_of(result), "AF-CLI-135") << request;
    }
    const auto result = check_request_is_no_path("docs/TASK 1.md", {place.root});
    EXPECT_THAT(result.error().remedy, ::testing::HasSubstr("start - < docs/TASK 1.md"));
}

TEST(PreflightRequest, that_looks_like_a_path_is_refused_even_if_nothing_exists_there) {
    for (const char* request : {"/nowhere/x.md", "./nothing", "../x", "~/notes.txt"}) {
        EXPECT_EQ(code_of(check_request_is_no_path(request, {"/tmp"})), "AF-CLI-135") << request;
    }
}

TEST(PreflightRequest, in_words_is_accepted) {
    const Surroundings place;
    place.folder.write("project/docs/x", "");
    for (const char* request : {"document docs", "/ is the root: handle it", "refactor", "docs\nand more", "a", "🙂", ""}) {
        EXPECT_EQ(code_of(check_request_is_no_path(request, {place.root})), "") << request;
    }
}

TEST(PreflightMisnamedFiles, are_reported_with_the_likely_name) {
    const Surroundings place;
    place.folder.write("project/.agentforge/agent/x.yaml", "");
    place.folder.write("project/.agentforge/config/setting.yaml", "");
    place.folder.write("project/.agentforge/orchestration/pipelines.yaml", "");
    EXPECT_THAT(
        misnamed(place.agentforge),
        ::testing::ElementsAre(
            ".agentforge/agent is not read; did you mean .agentforge/agents?",
            ".agentforge/config/setting.yaml is not read; did you mean .agentforge/config/settings.yaml?",
            ".agentforge/orchestration/pipelines.yaml is not read; did you mean .agentforge/orchestration/pipeline.yaml?"));
}

TEST(PreflightMisnamedFiles, do_not_include_known_files_and_other_user_files) {
    const Surroundings place;
    for (const char* name :
         {"agents/x.yaml", "config/settings.yaml", "transcripts/x.yaml", "plugins/x", ".gitignore", "tasks/x"}) {
        place.folder.write(std::string("project/.agentforge/") + name, "");
    }
    EXPECT_THAT(misnamed(place.agentforge), ::testing::IsEmpty());
}

TEST(PreflightVariables, of_git_that_point_elsewhere_are_reported) {
    const Surroundings place;
    EXPECT_THAT(variables_not_followed({{"GIT_DIR", "/nowhere"}}, place.root),
                ::testing::ElementsAre(::testing::HasSubstr("GIT_DIR is set but ignored")));
    EXPECT_THAT(variables_not_followed({{"GIT_WORK_TREE", "/tmp"}}, place.root), ::testing::SizeIs(1));
}

TEST(PreflightVariables, of_git_that_point_to_this_repository_are_not_reported) {
    const Surroundings place;
    EXPECT_THAT(variables_not_followed(
                    {{"GIT_DIR", place.git.string()}, {"GIT_WORK_TREE", place.root.string()}, {"GIT_EDITOR", "vi"}}, place.root),
                ::testing::IsEmpty());
}

}  // namespace
}  // namespace agentforge::kernel
