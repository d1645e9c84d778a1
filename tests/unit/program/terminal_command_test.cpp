// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/terminal_command.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <sstream>

#include "program/terminal/editor.hpp"

namespace agentforge::kernel {
namespace {

const std::map<std::string, std::string> usual_environment{{"PATH", "/usr/bin:/bin"}};

volatile std::sig_atomic_t heard_interrupts = 0;

Result<std::string> edited_by(const std::string& editor) {
    std::ostringstream shown;
    Program program{.out = shown,
                    .err = shown,
                    .environment = usual_environment,
                    .directory = "/",
                    .in_is_terminal = true,
                    .out_is_terminal = true,
                    .settings = {},
                    .command = {}};
    program.environment["VISUAL"] = editor;
    return edit_text(program, "old\n", "text.yaml");
}

TEST(TerminalCommand, returns_the_exit_code_as_a_shell_does) {
    EXPECT_EQ(run_on_terminal("exit 3", "", usual_environment), 3);
    EXPECT_EQ(run_on_terminal("exec test", "a word of its own", usual_environment), 0);
    EXPECT_EQ(run_on_terminal("/nowhere/editor 2> /dev/null", "", usual_environment), 127);
    EXPECT_EQ(run_on_terminal("kill -KILL $$", "", usual_environment), 128 + SIGKILL);
}

TEST(TerminalCommand, receives_keyboard_signals_until_it_ends) {
    const auto before = std::signal(SIGINT, [](int) { heard_interrupts = heard_interrupts + 1; });
    EXPECT_EQ(run_on_terminal("kill -INT $PPID", "", usual_environment), 0);
    EXPECT_EQ(heard_interrupts, 0);
    EXPECT_EQ(run_on_terminal("kill -INT $$", "", usual_environment), 128 + SIGINT);
    ASSERT_EQ(std::raise(SIGINT), 0);
    EXPECT_EQ(heard_interrupts, 1);
    std::signal(SIGINT, before);
}

TEST(TerminalCommand, ignores_no_signal_that_this_program_ignores) {
    const auto pipe_before = std::signal(SIGPIPE, SIG_IGN);
    const auto size_before = std::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(run_on_terminal("kill -PIPE $$", "", usual_environment), 128 + SIGPIPE);
    EXPECT_EQ(run_on_terminal("ulimit -c 0; kill -XFSZ $$", "", usual_environment), 128 + SIGXFSZ);
    std::signal(SIGPIPE, pipe_before);
    std::signal(SIGXFSZ, size_before);
}

TEST(Editor, returns_the_edited_text_or_an_error_if_unchanged) {
    EXPECT_EQ(edited_by("sed -i s/old/new/").value(), "new\n");
    EXPECT_EQ(edited_by("true").error().code, "AF-ESC-038");
    EXPECT_EQ(edited_by("false").error().code, "AF-ESC-038");
}

TEST(Editor, names_a_file_that_cannot_be_created) {
    const char* before = std::getenv("TMPDIR");
    const std::string kept = before == nullptr ? "" : before;
    ::setenv("TMPDIR", "/nowhere", 1);
    const auto edited = edited_by("sed -i s/old/new/");
    before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
    ASSERT_FALSE(edited.ok());
    EXPECT_EQ(edited.error().code, "AF-BASE-015");
}

}  // namespace
}  // namespace agentforge::kernel
