// SPDX-License-Identifier: Apache-2.0
// The services of the host for a plugin: cancellation and deadline, log, progress, clock, workspace, processes and gates. A
// plugin does no I/O of its own where the host offers it: only the host's I/O is enforced and recorded.
//
// Deadlines: run_process, run_gate, run_agent and the workspace may block. The host owns their deadline and ends what they
// started. A plugin must bound its own waits: it checks cancelled() and deadline(). If a call has not returned some seconds after
// its deadline, the host abandons it and reports the plugin's name. The call's thread goes on alone, every further call on its
// context fails or does nothing, the task pauses, and the process ends without running destructors.
//
// Threads: a context belongs to the call that received it. Use it only from the thread that runs that call, and never after the
// call has returned.
#pragma once

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge {

enum class LogLevel : unsigned char { debug = 1, info, warning, error };

/// Given to every call that may take time.
class CallContext {
public:
    /// True once the caller wants the call to end. Return an Error of kind `cancelled` soon (aim: within 200 ms).
    [[nodiscard]] virtual bool cancelled() const noexcept = 0;
    /// The time at which the caller stops waiting; empty if it never does.
    [[nodiscard]] virtual std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept = 0;
    /// Writes one structured log line. Adds `fields` to the ids of task, stage, step and trace.
    virtual void log(LogLevel level, std::string_view message, const json::object& fields = {}) = 0;
    /// Shows the user one short line about current work.
    virtual void progress(std::string_view text) = 0;
    /// Reads the recorded clock: a replayed call gets the same value again.
    [[nodiscard]] virtual std::chrono::system_clock::time_point now() = 0;

protected:
    ~CallContext() = default;
};

// ---------------------------------------------------------------------------------- workspace --

/// A file, whole or in part. Lines count from 1.
struct FileView {
    std::string path;
    std::string content;           ///< The exact bytes of the lines first_line…last_line.
    std::string sha256;            ///< Hash of the whole file.
    std::uint64_t size_bytes = 0;  ///< Size of the whole file.
    std::uint64_t first_line = 1;
    std::uint64_t last_line = 0;
    std::uint64_t total_lines = 0;
    bool truncated = false;  ///< True if the line range or the size limit left something out.
};

struct ReadOptions {
    std::uint64_t first_line = 1;
    std::uint64_t last_line = 0;  ///< 0: to the end of the file.
    std::uint64_t max_bytes = 256ULL * 1024;
};

struct ListEntry {
    std::string path;  ///< Relative to the workspace, `/`-separated.
    bool directory = false;
    std::uint64_t size_bytes = 0;
};

struct ListOptions {
    bool recursive = true;
    std::string glob;  ///< Gitignore-style patterns, comma-separated. Empty: all files.
    std::size_t limit = 1000;
};

struct SearchQuery {
    std::string pattern;  ///< RE2 syntax, or a literal.
    bool literal = false;
    bool ignore_case = false;
    std::string glob;         ///< Files to search: gitignore-style patterns, comma-separated. Empty: all files.
    std::size_t limit = 100;  ///< Maximum number of hits.
};

struct SearchHit {
    std::string path;
    std::uint64_t line = 0;
    std::string text;  ///< The line, cut to 300 bytes.
};

struct Listing {
    std::vector<ListEntry> entries;
    bool truncated = false;
};
struct SearchHits {
    std::vector<SearchHit> hits;
    bool truncated = false;
};

/// The result of a write. The host records it.
struct Change {
    std::string path;
    std::string before_sha256;  ///< Empty if the file did not exist.
    std::string after_sha256;   ///< Empty if the file no longer exists.
    std::uint64_t lines_added = 0;
    std::uint64_t lines_removed = 0;
    bool created = false;
};

/// The task's own checkout, with the rights of the role that runs. Paths are relative to its root. Every write is checked against
/// the role's path rules, whatever tool makes it. No role can reach `.git` and `.agentforge`. Errors: `denied` AF-TOOL-0xx (names
/// the rule), `not_found`, `invalid`, `conflict`, `io`.
class Workspace {
public:
    [[nodiscard]] virtual Result<FileView> read(std::string_view path, const ReadOptions& options = {}) = 0;
    [[nodiscard]] virtual Result<Listing> list(std::string_view directory, const ListOptions& options = {}) = 0;
    [[nodiscard]] virtual Result<SearchHits> search(const SearchQuery& query) = 0;
    [[nodiscard]] virtual bool exists(std::string_view path) = 0;
    /// Creates a file and its folders. `conflict` if the file exists, unless `overwrite` is set.
    [[nodiscard]] virtual Result<Change> create(std::string_view path, std::string_view content, bool overwrite = false) = 0;
    /// Replaces the only occurrence of `search`. `invalid` (with the nearest lines) if it occurs nowhere or more than once.
    [[nodiscard]] virtual Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) = 0;
    [[nodiscard]] virtual Result<Change> move(std::string_view from, std::string_view to) = 0;
    [[nodiscard]] virtual Result<Change> remove(std::string_view path) = 0;

protected:
    ~Workspace() = default;
};

// ---------------------------------------------------------------------------------- processes --

struct ProcessSpec {
    std::vector<std::string> argv;                   ///< argv[0] is looked up on PATH.
    std::string directory;                           ///< Relative to the workspace. Empty: its root.
    std::map<std::string, std::string> environment;  ///< Added to the allow-listed environment.
    std::string input;                               ///< Standard input. Empty: /dev/null.
    std::chrono::milliseconds timeout{60'000};
    std::size_t max_output_bytes = 1024UL * 1024;  ///< Limit for each stream. The middle of longer output is dropped.
};

struct ProcessResult {
    int exit_code = -1;  ///< 128 + signal if a signal ended the process.
    bool timed_out = false;
    bool output_truncated = false;
    std::string out;
    std::string err;
    std::chrono::milliseconds duration{0};
    json::object confinement;  ///< The confinement in force: Landlock ABI, network, limits.
};

// -------------------------------------------------------------------------------------- gates --

/// How one test ended. RED accepts only the failures `failed_assertion` and `failed_skeleton`.
enum class TestStatus : unsigned char {
    passed = 1,
    failed_assertion,  ///< Failed at an assertion.
    failed_skeleton,   ///< Failed at the marker of a generated skeleton.
    error,             ///< Failed in any other way: import, typo, missing fixture, unexpected exception.
    skipped,
    not_collected
};

struct TestOutcome {
    std::string id;  ///< Stable across runs, e.g. `tests/test_slug.py::TestSlug::test_lowercase`.
    std::string name;
    std::string file;
    std::uint64_t line = 0;
    TestStatus status = TestStatus::not_collected;
    std::string message;  ///< At most 500 characters.
};

struct Violation {
    std::string check_id;
    std::string contract;  ///< The category: style, architecture, pattern, security or quality.
    std::string severity;  ///< minor, major or critical
    std::string file;
    std::uint64_t line = 0;
    std::string message;
    std::string fix_hint;
};

/// What a gate measured, and on which tree. The kernel writes it; nothing in it is a model's claim.
struct GateReport {
    std::string gate;
    std::string tree;  ///< Id of the git tree that was measured.
    bool passed = false;
    std::string summary;  ///< One line.
    std::vector<std::string> blocking_issues;
    std::vector<TestOutcome> tests;
    std::vector<Violation> violations;
    json::object facts;  ///< Measured facts by name, e.g. {"all_tests_fail": true}.
    std::chrono::milliseconds duration{0};
};

/// The gate to run: `syntax`, `types`, `conformance`, `tests`, `red`, `green`, `refactor` or `deliver`. Any other name is an
/// error.
struct GateRequest {
    std::string gate;
    std::vector<std::string> paths;  ///< Limits the check to these files. Empty: all files.
    json::object parameters;
};

}  // namespace agentforge
