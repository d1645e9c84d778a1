// SPDX-License-Identifier: Apache-2.0
// The Python environment of a checkout, and which parts of the machine it makes readable.
#include <gmock/gmock.h>

#include "git/detected_repository.hpp"
#include "unit/git/git_fixture.hpp"

namespace agentforge::kernel {
namespace {

class PythonEnvironmentTest : public GitTest {
protected:
    /// Makes a `.venv` of the Python below `home`.
    void make_environment(const std::filesystem::path& home) const {
        std::filesystem::create_directories(user() / ".venv/bin");
        std::ofstream(user() / ".venv/pyvenv.cfg") << "home = " << (home / "bin").string() << "\n";
        const auto python = user() / ".venv/bin/python";
        std::ofstream(python) << "#!/bin/sh\n";
        std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    }
};

TEST_F(PythonEnvironmentTest, makes_only_programs_and_libraries_of_its_python_readable) {
    const auto home = base() / "local";
    for (const char* name : {"bin", "lib", "share"}) { std::filesystem::create_directories(home / name); }
    make_environment(home);
    const auto found = python_environment(user());
    ASSERT_TRUE(found.has_value());
    EXPECT_THAT(found->folders,
                ::testing::ElementsAre((user() / ".venv").string(), (home / "bin").string(), (home / "lib").string()));
}

TEST_F(PythonEnvironmentTest, makes_only_itself_readable_if_it_uses_the_system_python) {
    make_environment("/usr");
    const auto found = python_environment(user());
    ASSERT_TRUE(found.has_value());
    EXPECT_THAT(found->folders, ::testing::ElementsAre((user() / ".venv").string()));
}

}  // namespace
}  // namespace agentforge::kernel
