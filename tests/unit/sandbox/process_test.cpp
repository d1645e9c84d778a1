// SPDX-License-Identifier: Apache-2.0
// The runner and its helper, with real programs. Nothing here needs to be root, and nothing fails as root.
#include "sandbox/process_runner.hpp"

#include <agentforge/process.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;

std::string read_all(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// True if the process that locked this file is alive. Its id would not tell: it may be from another namespace.
bool holder_alive(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool taken = file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0;
    ::close(file);
    return taken;
}

/// Waits for a condition that another process causes.
template <class Condition>
bool comes_true(Condition condition, milliseconds within = milliseconds(10'000)) {
    const auto end = steady_clock::now() + within;
    while (!condition()) {
        if (steady_clock::now() > end) { return false; }
        ::poll(nullptr, 0, 5);
    }
    return true;
}

class Sandbox : public testing::Test {
protected:
    Sandbox() {
        std::string pattern = (fs::canonical(fs::temp_directory_path()) / "agentforge-sandbox-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
        fs::create_directories(inside());
        fs::create_directories(outside());
    }
    ~Sandbox() override {
        std::error_code ignored;
        fs::remove_all(root_, ignored);
    }

    [[nodiscard]] fs::path inside() const { return root_ / "ws"; }
    [[nodiscard]] fs::path outside() const { return root_ / "ws-evil"; }

    static void put(const fs::path& path, std::string_view text, bool executable = false) {
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        if (executable) { fs::permissions(path, fs::perms::owner_all); }
    }

    [[nodiscard]] ProcessRequest command(std::vector<std::string> argv) const {
        ProcessRequest request;
        request.argv = std::move(argv);
        request.directory = inside().string();
        request.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
        request.timeout = milliseconds(30'000);
        request.grace = milliseconds(200);
        request.confinement.writable = {inside().string()};
        return request;
    }
    [[nodiscard]] ProcessRequest shell(const std::string& script) const { return command({"sh", "-c", script}); }
    [[nodiscard]] ProcessRequest python(const std::string& script) const {
        return command({"/usr/bin/python3", "-I", "-c", script});
    }

    Result<ProcessOutcome> run(const ProcessRequest& request, const Stop& stop = {}) { return runner_->run(request, stop); }

    /// Checks that a child which `host` starts, and which locks `up`, ends after the process that runs `host` is killed.
    template <class Host>
    void expect_death_with(Host host) const {
        const pid_t process = ::fork();
        ASSERT_GE(process, 0);
        if (process == 0) { ::_exit(host() ? 0 : 1); }
        const bool up = comes_true([this] { return fs::exists(inside() / "up"); });
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
        ASSERT_TRUE(up);
        EXPECT_TRUE(comes_true([this] { return !holder_alive(inside() / "up"); }));
    }

    fs::path root_;
    const ExecHelper helper_{AGENTFORGE_EXEC, {"metadata"}};  // These tests also run where namespaces are forbidden.
    std::unique_ptr<ProcessRunner> runner_ = make_process_runner(helper_);
};

// ------------------------------------------------------------------------------------ outcomes --

TEST_F(Sandbox, a_program_that_succeeds_gives_its_output) {
    auto outcome = run(shell("echo out; echo err >&2"));
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(outcome->exit_code, 0);
    EXPECT_EQ(outcome->out, "out\n");
    EXPECT_EQ(outcome->err, "err\n");
}

TEST_F(Sandbox, the_exit_code_is_the_programs) { EXPECT_EQ(run(shell("exit 77"))->exit_code, 77); }

TEST_F(Sandbox, exit_code_125_of_a_program_is_not_a_failure_of_the_helper) { EXPECT_EQ(run(shell("exit 125"))->exit_code, 125); }

TEST_F(Sandbox, a_signal_is_reported_as_128_plus_its_number) {
    auto outcome = run(shell("kill -SEGV $$"));
    EXPECT_EQ(outcome->signal, SIGSEGV);
    EXPECT_EQ(outcome->exit_code, 128 + SIGSEGV);
}

TEST_F(Sandbox, argv0_is_as_requested) { EXPECT_EQ(run(command({"sh", "-c", "echo $0"}))->out, "sh\n"); }

TEST_F(Sandbox, the_program_runs_in_the_directory) { EXPECT_EQ(run(command({"pwd"}))->out, inside().string() + "\n"); }

TEST_F(Sandbox, input_arrives_and_ends) {
    auto request = command({"cat"});
    request.input = std::string(300'000, 'x') + "\nend";
    EXPECT_EQ(run(request)->out, request.input);
}

TEST_F(Sandbox, without_input_standard_input_is_empty) { EXPECT_EQ(run(shell("cat; echo done"))->out, "done\n"); }

TEST_F(Sandbox, output_that_is_not_utf8_is_kept_as_bytes) {
    EXPECT_EQ(run(shell("printf 'a\\377\\000b'"))->out, std::string("a\xFF\0b", 4));
}

TEST_F(Sandbox, no_descriptor_of_the_host_is_inherited) {
    const int leaked = ::open("/etc/passwd", O_RDONLY);  // Without CLOEXEC, as in a careless library.
    auto outcome = run(shell("ls /proc/self/fd"));
    ::close(leaked);
    EXPECT_EQ(outcome->out, "0\n1\n2\n3\n");  // 3 is ls reading the folder.
}

TEST_F(Sandbox, blocked_signals_of_the_host_are_not_inherited) {
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    auto outcome = run(shell("grep SigBlk /proc/self/status"));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_THAT(outcome->out, HasSubstr("0000000000000000"));
}

TEST_F(Sandbox, the_program_has_no_controlling_terminal) { EXPECT_NE(run(shell("exec 3<>/dev/tty"))->exit_code, 0); }

// --------------------------------------------------------------------------------- environment --

TEST_F(Sandbox, nothing_of_the_hosts_environment_leaks) {
    ::setenv("ANTHROPIC_API_KEY", "sk-canary", 1);
    auto outcome = run(command({"env"}));
    ::unsetenv("ANTHROPIC_API_KEY");
    EXPECT_EQ(outcome->out, "LANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\n");
}

TEST(BaseEnvironment, keeps_what_programs_need) {
    const std::map<std::string, std::string> all{{"PATH", "/bin"}, {"HOME", "/h"}, {"LC_ALL", "C"}, {"TMPDIR", "/t"}};
    EXPECT_EQ(base_environment(all), all);
}

TEST(BaseEnvironment, drops_keys_tokens_and_unknown_variables) {
    EXPECT_TRUE(base_environment({{"OPENAI_API_KEY", "x"},
                                  {"GITHUB_TOKEN", "x"},
                                  {"LC_SECRET", "x"},
                                  {"lc_password", "x"},
                                  {"LD_PRELOAD", "x"},
                                  {"GIT_DIR", "x"},
                                  {"BASH_ENV", "x"}})
                    .empty());
}

TEST(CurrentEnvironment, holds_what_the_process_has) {
    ::setenv("AGENTFORGE_TEST_VARIABLE", "a=b", 1);
    EXPECT_EQ(current_environment().at("AGENTFORGE_TEST_VARIABLE"), "a=b");
    ::unsetenv("AGENTFORGE_TEST_VARIABLE");
}

// ------------------------------------------------------------------------------------- bounds --

TEST_F(Sandbox, long_output_keeps_head_and_tail_and_notes_the_omission) {
    auto request = python("import sys; sys.stdout.write('A' * 50 + 'm' * 1000 + 'Z' * 50)");
    request.max_output_bytes = 100;
    auto outcome = run(request);
    EXPECT_TRUE(outcome->out_truncated);
    EXPECT_EQ(outcome->out, std::string(50, 'A') + "\n[… 1000 bytes left out …]\n" + std::string(50, 'Z'));
}

TEST_F(Sandbox, output_of_exactly_the_limit_is_complete) {
    auto request = shell("printf 1234567");
    request.max_output_bytes = 7;
    auto outcome = run(request);
    EXPECT_EQ(outcome->out, "1234567");
    EXPECT_FALSE(outcome->out_truncated);
}

TEST_F(Sandbox, a_flood_on_both_streams_is_bounded_and_ends) {
    auto request = shell("yes flood | head -c 50000000; yes flood | head -c 50000000 >&2");
    request.max_output_bytes = 4096;
    auto outcome = run(request);
    EXPECT_EQ(outcome->exit_code, 0);
    EXPECT_LT(outcome->out.size() + outcome->err.size(), 2 * (4096U + 100U));
}

TEST_F(Sandbox, an_endless_flood_is_stopped_by_the_timeout) {
    auto request = command({"yes"});
    request.timeout = milliseconds(200);
    EXPECT_TRUE(run(request)->timed_out);
}

// --------------------------------------------------------------------------- timeout and cancel --

TEST_F(Sandbox, the_timeout_ends_a_program_that_blocks) {
    auto request = command({"sleep", "1000"});
    request.timeout = milliseconds(100);
    auto outcome = run(request);
    EXPECT_TRUE(outcome->timed_out);
    EXPECT_EQ(outcome->signal, SIGTERM);
}

TEST_F(Sandbox, a_program_that_ignores_term_is_killed_after_the_grace) {
    auto request = shell("trap '' TERM; while :; do sleep 1000; done");
    request.timeout = milliseconds(200);
    auto outcome = run(request);
    EXPECT_TRUE(outcome->timed_out);
    EXPECT_EQ(outcome->signal, SIGKILL);
}

TEST_F(Sandbox, a_program_may_clean_up_on_term) {
    auto request = shell("trap 'echo cleaned; exit 3' TERM; echo up; while :; do sleep 0.05; done");
    request.timeout = milliseconds(500);
    request.grace = milliseconds(10'000);
    auto outcome = run(request);
    EXPECT_EQ(outcome->exit_code, 3);
    EXPECT_THAT(outcome->out, HasSubstr("cleaned"));
}

TEST_F(Sandbox, the_callers_deadline_applies_if_earlier) {
    Stop stop;
    stop.deadline = steady_clock::now() + milliseconds(100);
    EXPECT_TRUE(run(command({"sleep", "1000"}), stop)->timed_out);
}

constexpr const char* daemon_script = R"(
import fcntl, os, sys, time, signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for number in (0, 1, 2): os.close(number)
        held = open('up.part', 'w')
        fcntl.flock(held, fcntl.LOCK_EX)
        os.rename('up.part', 'up')
        while True: time.sleep(1000)
    os._exit(0)
os.wait()
while not os.path.exists('up'): time.sleep(0.01)
)";

TEST_F(Sandbox, a_daemon_left_behind_dies_with_the_program) {
    auto outcome = run(python(daemon_script));
    ASSERT_EQ(outcome->exit_code, 0) << outcome->err;
    EXPECT_FALSE(holder_alive(inside() / "up"));
}

TEST_F(Sandbox, the_timeout_kills_a_grandchild_that_called_setsid) {
    auto request = python(std::string(daemon_script) + "time.sleep(1000)\n");
    request.timeout = milliseconds(1'500);
    auto outcome = run(request);
    ASSERT_TRUE(outcome->timed_out);
    EXPECT_FALSE(holder_alive(inside() / "up"));
}

TEST_F(Sandbox, a_background_child_that_keeps_the_pipe_open_does_not_block_the_call) {
    auto outcome = run(shell("sleep 1000 & echo left"));
    EXPECT_EQ(outcome->out, "left\n");
    EXPECT_LT(outcome->duration, milliseconds(10'000));
}

TEST_F(Sandbox, cancel_ends_a_blocked_program_soon) {
    CancelToken cancel;
    Stop stop;
    stop.cancel = &cancel;
    steady_clock::time_point asked;
    std::thread person([&] {
        comes_true([this] { return fs::exists(inside() / "up"); });
        asked = steady_clock::now();
        cancel.request();
    });
    auto outcome = run(shell("touch up; exec sleep 1000"), stop);
    const auto took = steady_clock::now() - asked;
    person.join();
    EXPECT_TRUE(outcome->cancelled);
    EXPECT_LT(took, milliseconds(1'000));  // Aim: 200 ms, but the test machine may be busy.
}

TEST_F(Sandbox, the_process_tree_dies_with_a_killed_host) {
    expect_death_with([this] { return run(python(std::string(daemon_script) + "time.sleep(1000)\n")).ok(); });
}

TEST_F(Sandbox, an_interactive_program_dies_with_a_killed_host) {
    expect_death_with([this] {
        const auto talk = start_interactive(helper_, python(std::string(daemon_script) + "time.sleep(1000)\n"));
        while (talk.ok()) { ::pause(); }
        return false;
    });
}

/// The plain runner in a process whose environment names the helper, as in the program `agentforge`.
class PlainRunner : public Sandbox {
protected:
    PlainRunner() { ::setenv(process::supervisor_variable, AGENTFORGE_EXEC, 1); }
    ~PlainRunner() override { ::unsetenv(process::supervisor_variable); }

    [[nodiscard]] process::Command plain(const std::string& program, std::vector<std::string> argv) const {
        process::Command command;
        command.program = program;
        command.argv = std::move(argv);
        command.directory = inside().string();
        command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
        command.timeout = milliseconds(30'000);
        return command;
    }
    [[nodiscard]] process::Command plain_shell(const std::string& script) const { return plain("/bin/sh", {"sh", "-c", script}); }
};

TEST_F(PlainRunner, a_supervised_program_has_the_same_output) {
    const auto outcome = process::run(plain_shell("echo \"$0\"; echo wrong >&2; exit 7"), {});
    EXPECT_EQ(outcome->out + outcome->err, "sh\nwrong\n");
    EXPECT_EQ(outcome->exit_code, 7);
    EXPECT_EQ(outcome->report, "");
}

TEST_F(PlainRunner, a_signal_that_ends_a_supervised_program_is_reported) {
    const auto outcome = process::run(plain_shell("kill -USR1 $$"), {});
    EXPECT_EQ(outcome->signal, SIGUSR1);
    EXPECT_EQ(outcome->exit_code, 128 + SIGUSR1);
}

TEST_F(PlainRunner, a_supervisor_cannot_execute_a_script_without_its_interpreter) {
    put(inside() / "script", "#!/nowhere/interpreter\n", true);
    const auto outcome = process::run(plain((inside() / "script").string(), {"script"}), {});
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-EXEC-003");
}

TEST_F(PlainRunner, passes_only_the_environment_of_the_command) {
    EXPECT_EQ(process::run(plain("/usr/bin/env", {"env"}), {})->out, "PATH=/usr/local/bin:/usr/bin:/bin\n");
}

TEST_F(PlainRunner, its_process_tree_dies_with_a_killed_host) {
    expect_death_with([this] {
        return process::run(plain("/usr/bin/python3", {"python3", "-I", "-c", std::string(daemon_script) + "time.sleep(1000)\n"}),
                            {})
            .ok();
    });
}

TEST_F(PlainRunner, cancel_does_not_wait_for_the_grace_period) {
    CancelToken cancel;
    steady_clock::time_point asked;
    auto command = plain(
        "/usr/bin/python3",
        {"python3", "-I", "-c",
         "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen('up', 'w')\nwhile True: time.sleep(1000)\n"});
    command.grace = milliseconds(20'000);
    std::thread person([&] {
        comes_true([this] { return fs::exists(inside() / "up"); });
        asked = steady_clock::now();
        cancel.request();
    });
    const auto outcome = process::run(command, [&] { return cancel.requested(); });
    const auto took = steady_clock::now() - asked;
    person.join();
    EXPECT_TRUE(outcome->cancelled);
    EXPECT_LT(took, milliseconds(1'000));  // Aim: 200 ms, but the test machine may be busy.
}

// --------------------------------------------------------------------------------- not started --

TEST_F(Sandbox, a_missing_program_error_names_path) {
    auto outcome = run(command({"agentforge-no-such-program"}));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-EXEC-001");
    EXPECT_THAT(outcome.error().where, HasSubstr("PATH=/usr/local/bin"));
}

TEST_F(Sandbox, a_program_that_is_not_executable_has_its_own_error) {
    put(inside() / "tool", "#!/bin/sh\n");
    EXPECT_EQ(run(command({"./tool"})).error().code, "AF-EXEC-003");
}

TEST_F(Sandbox, a_script_without_its_interpreter_cannot_be_executed) {
    put(inside() / "tool", "#!/no/such/interpreter\n", true);
    EXPECT_EQ(run(command({"./tool"})).error().code, "AF-EXEC-003");
}

TEST_F(Sandbox, a_missing_directory_is_named) {
    auto request = command({"true"});
    request.directory = (root_ / "gone").string();
    auto outcome = run(request);
    EXPECT_EQ(outcome.error().code, "AF-EXEC-002");
    EXPECT_THAT(outcome.error().where, HasSubstr("gone"));
}

TEST_F(Sandbox, an_empty_command_is_refused) { EXPECT_EQ(run(command({})).error().code, "AF-EXEC-002"); }

TEST_F(Sandbox, an_argument_with_a_nul_byte_is_refused) {
    EXPECT_EQ(run(command({"echo", std::string("a\0b", 3)})).error().code, "AF-EXEC-002");
}

TEST_F(Sandbox, a_missing_helper_is_reported_as_a_broken_installation) {
    runner_ = make_process_runner((root_ / "no-helper").string());
    EXPECT_EQ(run(command({"true"})).error().code, "AF-EXEC-005");
}

TEST_F(Sandbox, a_relative_entry_of_path_is_ignored) {
    put(inside() / "bin" / "agentforge-planted", "#!/bin/sh\n", true);
    auto request = command({"agentforge-planted"});
    request.environment["PATH"] = "bin::.:/usr/bin";
    EXPECT_EQ(run(request).error().code, "AF-EXEC-001");
}

// --------------------------------------------------------------------------------- confinement --

TEST_F(Sandbox, reports_the_confinement_in_force) {
    auto outcome = run(command({"true"}));
    ASSERT_TRUE(outcome.ok());
    const json::object& confinement = outcome->confinement;
    EXPECT_TRUE(confinement.at("mode") == json::value("full") || confinement.at("landlock_abi").to_number<int>() >= 1);
    EXPECT_TRUE(confinement.at("no_new_privs").as_bool());
    EXPECT_TRUE(confinement.at("cgroup") == "used" || confinement.at("cgroup") == "not used");
    EXPECT_EQ(confinement.at("memory_bytes").to_number<std::uint64_t>(), 4ULL << 30U);
    EXPECT_NE(confinement.at("network").as_string(), "open");
}

TEST_F(Sandbox, without_namespaces_a_kernel_that_allows_signals_is_refused_with_a_remedy) {
    auto request = command({"true"});
    request.confinement.namespaces = false;
    request.confinement.landlock_at_most = 5;
    auto outcome = run(request);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-EXEC-004");
    EXPECT_THAT(outcome.error().message, HasSubstr("signals to any process of this user"));
    EXPECT_THAT(outcome.error().message, HasSubstr("Linux 6.12"));
    EXPECT_THAT(outcome.error().message, ::testing::AllOf(HasSubstr("`signals`"), HasSubstr("sandbox.accept")));
}

TEST_F(Sandbox, without_namespaces_unprotected_metadata_must_be_accepted_by_name) {
    auto request = command({"true"});
    request.confinement.namespaces = false;
    runner_ = make_process_runner(AGENTFORGE_EXEC);
    auto outcome = run(request);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "AF-EXEC-004");
    EXPECT_THAT(outcome.error().message, HasSubstr("`metadata`: programs could change owner group, permissions and times"));
}

TEST_F(Sandbox, a_gap_accepted_by_name_is_in_the_report) {
    auto request = command({"true"});
    request.confinement.namespaces = false;
    request.confinement.landlock_at_most = 5;
    runner_ = make_process_runner({AGENTFORGE_EXEC, {"signals", "metadata"}});
    auto outcome = run(request);
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
    EXPECT_EQ(outcome->confinement.at("open_gaps"), json::value({"signals", "metadata"}));
    EXPECT_EQ(outcome->confinement.at("mode").as_string(), "landlock");
    EXPECT_EQ(outcome->confinement.at("landlock_abi").to_number<int>(), 5);
}

TEST_F(Sandbox, accepting_one_gap_does_not_accept_another) {
    auto request = command({"true"});
    request.confinement.namespaces = false;
    request.confinement.landlock_at_most = 2;
    runner_ = make_process_runner({AGENTFORGE_EXEC, {"signals"}});
    auto outcome = run(request);
    ASSERT_FALSE(outcome.ok());
    EXPECT_THAT(outcome.error().message, HasSubstr("`truncate`: programs could empty"));
}

TEST_F(Sandbox, a_kernel_without_landlock_and_namespaces_is_always_refused) {
    auto request = command({"true"});
    request.confinement.namespaces = false;
    request.confinement.landlock_at_most = 0;
    runner_ = make_process_runner({AGENTFORGE_EXEC, {"signals", "truncate"}});
    EXPECT_EQ(run(request).error().code, "AF-EXEC-004");
}

TEST_F(Sandbox, writing_inside_works) {
    EXPECT_EQ(run(shell("mkdir a && echo new > a/f && mv a/f g && rm -r a && cat g"))->out, "new\n");
}

TEST_F(Sandbox, writing_outside_is_refused) {
    put(outside() / "kept", "before");
    auto outcome = run(shell("echo x > '" + (outside() / "kept").string() + "'"));
    EXPECT_NE(outcome->exit_code, 0);
    EXPECT_EQ(read_all(outside() / "kept"), "before");
}

TEST_F(Sandbox, making_and_removing_outside_is_refused) {
    put(outside() / "kept", "before");
    EXPECT_NE(run(shell("touch '" + (outside() / "new").string() + "'"))->exit_code, 0);
    static_cast<void>(run(shell("rm -f '" + (outside() / "kept").string() + "'")));
    EXPECT_TRUE(fs::exists(outside() / "kept"));
    EXPECT_FALSE(fs::exists(outside() / "new"));
}

TEST_F(Sandbox, reading_outside_is_refused) {
    put(outside() / "secret", "canary");
    EXPECT_THAT(run(shell("cat '" + (outside() / "secret").string() + "'"))->out, Not(HasSubstr("canary")));
}

TEST_F(Sandbox, a_read_only_path_cannot_be_written) {
    put(outside() / "file", "text");
    auto request = shell("cat '" + (outside() / "file").string() + "' && echo x > '" + (outside() / "file").string() + "'");
    request.confinement.readable = {outside().string()};
    auto outcome = run(request);
    EXPECT_EQ(outcome->out, "text");
    EXPECT_NE(outcome->exit_code, 0);
    EXPECT_EQ(read_all(outside() / "file"), "text");
}

TEST_F(Sandbox, the_hosts_tmp_cannot_be_written) {
    static_cast<void>(run(shell("touch '" + (root_ / "beside").string() + "'")));
    EXPECT_FALSE(fs::exists(root_ / "beside"));
}

TEST_F(Sandbox, a_link_inside_to_a_file_outside_gives_no_access) {
    put(outside() / "secret", "canary");
    fs::create_symlink(outside(), inside() / "link");
    auto outcome = run(shell("cat link/secret; echo x > link/new"));
    EXPECT_THAT(outcome->out, Not(HasSubstr("canary")));
    EXPECT_FALSE(fs::exists(outside() / "new"));
}

TEST_F(Sandbox, a_writable_path_over_a_link_is_refused) {
    fs::create_symlink(outside(), inside() / "build");
    auto request = command({"true"});
    request.confinement.writable.push_back((inside() / "build").string());
    auto outcome = run(request);
    EXPECT_EQ(outcome.error().code, "AF-EXEC-004");
    EXPECT_THAT(outcome.error().message, HasSubstr("symbolic link"));
}

TEST_F(Sandbox, a_path_with_dots_is_refused) {
    auto request = command({"true"});
    request.confinement.writable.push_back(inside().string() + "/../ws-evil");
    EXPECT_EQ(run(request).error().code, "AF-EXEC-004");
}

TEST_F(Sandbox, a_missing_granted_path_is_reported) {
    auto request = command({"true"});
    request.confinement.readable = {(root_ / "gone").string()};
    auto outcome = run(request);
    EXPECT_EQ(outcome->confinement.at("absent").as_array().at(0).as_string(), (root_ / "gone").string());
}

TEST_F(Sandbox, a_hidden_folder_cannot_be_read_or_written) {
    put(inside() / ".git" / "config", "canary");
    put(inside() / "src" / "a.txt", "open");
    auto request = shell("cat .git/config; echo x > .git/config; echo x > .git/new; cat src/a.txt; ls");
    request.confinement.hidden = {(inside() / ".git").string()};
    auto outcome = run(request);
    EXPECT_THAT(outcome->out, Not(HasSubstr("canary")));
    EXPECT_THAT(outcome->out, HasSubstr("open"));
    EXPECT_THAT(outcome->out, HasSubstr("src"));
    EXPECT_EQ(read_all(inside() / ".git" / "config"), "canary");
    EXPECT_FALSE(fs::exists(inside() / ".git" / "new"));
}

TEST_F(Sandbox, a_hidden_file_cannot_be_read) {
    put(inside() / ".env", "canary");
    auto request = shell("cat .env; echo done");
    request.confinement.hidden = {(inside() / ".env").string()};
    EXPECT_THAT(run(request)->out, Not(HasSubstr("canary")));
}

TEST_F(Sandbox, the_environment_of_the_host_cannot_be_read_through_proc) {
    auto request = shell("cat /proc/" + std::to_string(::getpid()) + "/environ | wc -c");
    EXPECT_EQ(run(request)->out, "0\n");
}

TEST_F(Sandbox, privileges_cannot_be_gained) {
    EXPECT_THAT(run(shell("grep NoNewPrivs /proc/self/status"))->out, HasSubstr("1"));
}

TEST_F(Sandbox, a_test_run_works_inside) {
    put(inside() / "tests" / "test_a.py",
        "import pathlib, tempfile\n"
        "def test_scratch():\n"
        "    with tempfile.NamedTemporaryFile() as file: assert file.name\n"
        "    pathlib.Path('made').write_text('x')\n");
    auto request = command({"/usr/bin/python3", "-m", "pytest", "-q"});
    request.environment["HOME"] = inside().string();
    request.environment["TMPDIR"] = inside().string();
    auto outcome = run(request);
    EXPECT_EQ(outcome->exit_code, 0) << outcome->out << outcome->err;
}

TEST_F(Sandbox, the_supervisor_cannot_be_killed_from_inside) {
    auto outcome = run(shell("kill -KILL $PPID 2>/dev/null; echo after"));
    EXPECT_EQ(outcome->out, "after\n");
}

TEST_F(Sandbox, shared_memory_of_the_host_cannot_be_written) {
    const std::string name = "/dev/shm/agentforge-test-" + std::to_string(::getpid());
    static_cast<void>(run(shell("echo x > " + name)));
    EXPECT_FALSE(fs::exists(name));
}

// ------------------------------------------------------------------------------------- network --

class Listener {
public:
    Listener() : handle_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(handle_, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(handle_, 8) == 0 &&
            ::getsockname(handle_, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
            port_ = ntohs(address.sin_port);
        }
    }
    ~Listener() { ::close(handle_); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    [[nodiscard]] std::string connect_script() const {
        return "import socket; socket.create_connection(('127.0.0.1', " + std::to_string(port_) + "), 5); print('connected')";
    }

private:
    int handle_;
    int port_ = 0;
};

TEST_F(Sandbox, without_network_a_listener_on_the_host_is_unreachable) {
    const Listener listener;
    EXPECT_THAT(run(python(listener.connect_script()))->out, Not(HasSubstr("connected")));
}

TEST_F(Sandbox, with_network_a_listener_is_reached) {
    const Listener listener;
    auto request = python(listener.connect_script());
    request.confinement.network = Network::full;
    auto outcome = run(request);
    EXPECT_EQ(outcome->out, "connected\n") << outcome->err;
    EXPECT_EQ(outcome->confinement.at("network").as_string(), "open");
}

/// A listening UNIX socket, by path or abstract.
class UnixListener {
public:
    explicit UnixListener(const std::string& name) : handle_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name.data(), name.size());
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        listening_ = ::bind(handle_, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(handle_, 8) == 0;
    }
    ~UnixListener() { ::close(handle_); }
    UnixListener(const UnixListener&) = delete;
    UnixListener& operator=(const UnixListener&) = delete;
    [[nodiscard]] bool listening() const { return listening_; }

private:
    int handle_;
    bool listening_ = false;
};

TEST_F(Sandbox, a_unix_socket_of_the_host_is_unreachable) {
    const std::string path = (outside() / "socket").string();
    const UnixListener listener(path);
    ASSERT_TRUE(listener.listening());
    EXPECT_THAT(run(python("import socket; socket.socket(socket.AF_UNIX).connect('" + path + "'); print('connected')"))->out,
                Not(HasSubstr("connected")));
}

TEST_F(Sandbox, an_abstract_unix_socket_of_the_host_is_unreachable_even_with_network) {
    const std::string name = "agentforge-test-" + std::to_string(::getpid());
    const UnixListener listener(std::string(1, '\0') + name);
    ASSERT_TRUE(listener.listening());
    auto request = python("import socket; socket.socket(socket.AF_UNIX).connect('\\0" + name + "'); print('connected')");
    EXPECT_THAT(run(request)->out, Not(HasSubstr("connected")));
    request.confinement.network = Network::full;
    EXPECT_THAT(run(request)->out, Not(HasSubstr("connected")));
}

// -------------------------------------------------------------------------------------- limits --

TEST_F(Sandbox, total_memory_of_all_processes_is_limited_and_named) {
    auto request = python(
        "import os, time\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0: break\n"
        "held = b'x' * (100 << 20)\n"
        "time.sleep(1000)\n");
    request.confinement.max_memory_bytes = 256ULL << 20U;
    auto outcome = run(request);
    EXPECT_FALSE(outcome->timed_out);
    EXPECT_EQ(outcome->confinement.at("limit").as_string(), "memory");
}

TEST_F(Sandbox, memory_shared_by_a_fork_counts_once) {
    auto request = python(
        "import os, time\n"
        "held = b'x' * (100 << 20)\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0: time.sleep(2); os._exit(0)\n"
        "for _ in range(4): os.wait()\n");
    request.confinement.max_memory_bytes = 256ULL << 20U;
    EXPECT_EQ(run(request)->exit_code, 0);
}

TEST_F(Sandbox, shared_memory_that_no_process_maps_counts) {
    auto request = python(
        "import os, time\n"
        "files = [os.memfd_create('m') for _ in range(4)]\n"
        "for file in files: os.write(file, b'x' * (100 << 20))\n"
        "time.sleep(1000)\n");
    request.confinement.max_memory_bytes = 256ULL << 20U;
    auto outcome = run(request);
    EXPECT_FALSE(outcome->timed_out);
    EXPECT_EQ(outcome->confinement.at("limit").as_string(), "memory");
}

TEST_F(Sandbox, total_file_size_of_all_processes_is_limited_and_named) {
    auto request = shell("for i in 1 2 3 4; do head -c 30000000 /dev/urandom > big$i; done; sync; sleep 1000");
    request.confinement.max_file_bytes = 60'000'000;
    auto outcome = run(request);
    EXPECT_FALSE(outcome->timed_out);
    EXPECT_EQ(outcome->confinement.at("limit").as_string(), "file_bytes");
}

TEST_F(Sandbox, total_cpu_time_of_all_processes_is_limited_and_named) {
    const auto processors = std::to_string(2 * std::thread::hardware_concurrency());
    auto request =
        shell("for i in $(seq " + processors +
              "); do (n=0; while [ $n -lt 2000 ]; do n=$((n+1)); timeout 0.5 sh -c 'while :; do :; done'; done) & done; wait");
    request.confinement.max_cpu_seconds = 2;
    auto outcome = run(request);
    EXPECT_FALSE(outcome->timed_out);
    EXPECT_EQ(outcome->confinement.at("limit").as_string(), "cpu_seconds");
}

TEST_F(Sandbox, zombie_processes_count) {
    auto request = python(
        "import os, time\n"
        "try:\n"
        "    for _ in range(20000):\n"
        "        if os.fork() == 0: os._exit(0)\n"
        "    print('made all')\n"
        "except OSError: pass\n"
        "time.sleep(0.3)\n");
    request.confinement.max_processes = 50;
    auto outcome = run(request);
    EXPECT_THAT(outcome->out, Not(HasSubstr("made all")));
    EXPECT_FALSE(outcome->timed_out);
}

TEST_F(Sandbox, a_thousand_threads_are_possible_if_the_limit_allows) {
    auto request = python(
        "import threading\n"
        "go = threading.Event()\n"
        "all = [threading.Thread(target=go.wait) for _ in range(1000)]\n"
        "for one in all: one.start()\n"
        "go.set()\n"
        "for one in all: one.join()\n"
        "print(len(all))\n");
    request.confinement.max_processes = 1'100;
    EXPECT_EQ(run(request)->out, "1000\n");
}

TEST_F(Sandbox, processes_are_limited) {
    auto request = python(
        "import os, time\n"
        "for _ in range(400):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(1000)\n"
        "print('made all', flush=True)\n"
        "time.sleep(1000)\n");
    request.confinement.max_processes = 20;
    auto outcome = run(request);
    EXPECT_FALSE(outcome->timed_out);
    EXPECT_NE(outcome->exit_code, 0);
}

TEST_F(Sandbox, file_size_is_limited) {
    auto request = shell("head -c 2000000 /dev/zero > big");
    request.confinement.max_file_bytes = 1'000'000;
    EXPECT_NE(run(request)->exit_code, 0);
    EXPECT_LE(fs::file_size(inside() / "big"), 1'000'000U);
}

TEST_F(Sandbox, processor_time_is_limited) {
    auto request = shell("while :; do :; done");
    request.confinement.max_cpu_seconds = 1;
    auto outcome = run(request);
    EXPECT_FALSE(outcome->timed_out);
    EXPECT_NE(outcome->signal, 0);
}

// ---------------------------------------------------------------------------------- unconfined --

TEST_F(Sandbox, an_unconfined_program_keeps_the_users_rights) {
    auto request = shell("echo x > '" + (outside() / "new").string() + "'");
    request.confinement.enabled = false;
    auto outcome = run(request);
    EXPECT_TRUE(fs::exists(outside() / "new"));
    EXPECT_FALSE(outcome->confinement.at("enabled").as_bool());
}

TEST_F(Sandbox, an_unconfined_program_leaves_no_daemon_behind) {
    auto request = python(daemon_script);
    request.confinement.enabled = false;
    ASSERT_EQ(run(request)->exit_code, 0);
    EXPECT_FALSE(holder_alive(inside() / "up"));
}

// ------------------------------------------------------------------------------- what is readable --

class ReadableOnPath : public Sandbox {
protected:
    [[nodiscard]] std::vector<std::string> folders(const fs::path& bin) const {
        return program_folders({{"HOME", (root_ / "home").string()}, {"PATH", bin.string() + ":/usr/bin"}});
    }
};

TEST_F(ReadableOnPath, exposes_programs_of_a_tool_folder_and_not_its_keys) {
    const fs::path cargo = root_ / "home" / ".cargo";
    put(cargo / "bin" / "cargo", "", true);
    put(cargo / "lib" / "a", "");
    put(cargo / "credentials.toml", "canary");
    EXPECT_THAT(folders(cargo / "bin"), testing::UnorderedElementsAre((cargo / "bin").string(), (cargo / "lib").string()));
}

TEST_F(ReadableOnPath, exposes_files_beside_installed_programs_except_dot_files) {
    const fs::path node = root_ / "home" / "node";
    put(node / "bin" / "node", "", true);
    put(node / "lib" / "a", "");
    put(node / ".npmrc", "canary");
    EXPECT_THAT(folders(node / "bin"), testing::UnorderedElementsAre((node / "bin").string(), (node / "lib").string()));
}

TEST_F(ReadableOnPath, never_exposes_the_home_folder) {
    put(root_ / "home" / "bin" / "tool", "", true);
    put(root_ / "home" / "private", "canary");
    EXPECT_THAT(folders(root_ / "home" / "bin"), testing::ElementsAre((root_ / "home" / "bin").string()));
}

TEST_F(Sandbox, files_below_etc_that_are_not_world_readable_are_hidden_from_their_owner_too) {
    const auto outcome = run(shell("find /etc -type f ! -perm -o=r -exec head -c 1 {} + 2>/dev/null | wc -c"));
    EXPECT_EQ(outcome->out, "0\n");
    EXPECT_THAT(run(shell("cat /etc/shadow"))->out, testing::IsEmpty());
}

// ----------------------------------------------------------------------------------------- text --

TEST(ToUtf8, keeps_well_formed_text) {
    EXPECT_EQ(process::to_utf8("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(ToUtf8, replaces_lone_overlong_and_surrogate_bytes) {
    EXPECT_EQ(process::to_utf8("\xFFz\xC0\xAF"), "\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD");
    EXPECT_EQ(process::to_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace agentforge::kernel
