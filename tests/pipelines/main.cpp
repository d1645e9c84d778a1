// SPDX-License-Identifier: Apache-2.0
// One GoogleTest case a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "pipelines/run_case.hpp"

namespace {

using namespace agentforge::kernel::pipelines;

class PipelineCase : public ::testing::Test {
public:
    explicit PipelineCase(std::string file) : file_(std::move(file)) {}
    void TestBody() override {
        const auto test = read_case(file_);
        ASSERT_TRUE(test.ok()) << test.error().to_string();
        if (const auto missing = missing_program(*test); !missing.empty()) {
            GTEST_SKIP() << "not run: " << missing << " is not installed";
        }
        SCOPED_TRACE(file_ + ": " + test->shows);
        run(*test);
    }

private:
    std::string file_;
};

/// Sees no configuration of the machine it runs on.
void isolate() {
    ::setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    ::setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
    ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) { ::unsetenv(name); }
}

}  // namespace

int main(int argc, char** argv) {
    isolate();
    ::testing::InitGoogleTest(&argc, argv);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(AGENTFORGE_CASES)) {
        if (entry.path().extension() == ".yaml") { files.push_back(entry.path()); }
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        std::string name = file.stem().string();
        std::replace(name.begin(), name.end(), '-', '_');
        ::testing::RegisterTest("PipelineCase", name.c_str(), nullptr, nullptr, file.c_str(), 1,
                                [path = file.string()]() -> ::testing::Test* { return new PipelineCase(path); });
    }
    return RUN_ALL_TESTS();
}
