// SPDX-License-Identifier: Apache-2.0
// Package indexes on the loopback interface (registries.py), during the object's lifetime.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace agentforge::kernel::testing {

class Registries {
public:
    explicit Registries(std::filesystem::path folder) : folder_(std::move(folder)) {
        std::array<int, 2> in{};
        std::array<int, 2> out{};
        EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
        EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
        const std::string script = std::string(AGENTFORGE_SOURCE_DIR) + "/tests/unit/gates/registries.py";
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(in[0], 0);
            ::dup2(out[1], 1);
            ::execl("/usr/bin/python3", "python3", "-B", script.c_str(), folder_.c_str(), nullptr);
            ::_exit(127);
        }
        ::close(in[0]);
        ::close(out[1]);
        input_ = in[1];
        std::string said;
        for (char byte = 0; ::read(out[0], &byte, 1) == 1 && byte != '\n';) { said += byte; }
        ::close(out[0]);
        EXPECT_FALSE(said.empty()) << "the package indexes did not start";
        address_ = "http://127.0.0.1:" + said;
    }
    ~Registries() { stop(); }
    Registries(const Registries&) = delete;
    Registries& operator=(const Registries&) = delete;

    /// Stops the servers; from now on nothing answers.
    void stop() {
        if (child_ <= 0) { return; }
        ::close(input_);
        ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }
    [[nodiscard]] const std::string& address() const { return address_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    [[nodiscard]] std::string file(const std::string& name) const { return read_file(folder_ / name).value(); }

private:
    std::filesystem::path folder_;
    std::string address_;
    pid_t child_ = -1;
    int input_ = -1;
};

}  // namespace agentforge::kernel::testing
