// SPDX-License-Identifier: Apache-2.0
// What the host does for a plugin: cancel and deadline, log, progress, clock, the workspace,
// processes and gates. A plugin does no I/O of its own where the host offers it, because the host
// is where it is enforced and recorded.
//
// Deadlines: whatever may block goes through the host (run_process, run_gate, run_agent, the workspace), which owns the deadline
// and ends what it started. What a plugin waits for by itself it must bound: look at cancelled() and deadline(). A call that has
// not returned some seconds after its deadline is given up and reported with the plugin's name: its thread goes on alone, every
// further call on its context fails or does nothing, the task pauses, and the process ends without destructors.
//
// Threads: a context belongs to the call that received it. Use it only from the thread that runs
// that call and never after the call returned.
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
    /// True once the caller wants the call to end; return an Error of kind `cancelled` soon (aim: 200 ms).
    [[nodiscard]] virtual bool cancelled() const noexcept = 0;
    /// When the caller stops waiting, if it does.
    [[nodiscard]] virtual std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept = 0;
    /// Writes one structured log line; `fields` are added to the task, stage, step and trace ids.
    virtual void log(LogLevel level, std::string_view message, const json::object& fields = {}) = 0;
    /// Shows a person what is going on; one short line.
    virtual void progress(std::string_view text) = 0;
    /// The recorded clock: the same value again when the call is replayed.
    [[nodiscard]] virtual std::chrono::system_clock::time_point now() = 0;

protected:
    ~CallContext() = default;
};

// ---------------------------------------------------------------------------------- workspace --

/// A file as it was read. Lines are counted from 1.
struct FileView {
    std::string path;
    std::string content;           ///< Exactly the bytes of the lines first_line…last_line.
    std::string sha256;            ///< Of the whole file.
    std::uint64_t size_bytes = 0;  ///< Of the whole file.
    std::uint64_t first_line = 1;
    std::uint64_t last_line = 0;
    std::uint64_t total_lines = 0;
    bool truncated = false;  ///< The range or the size limit left something out.
};

struct ReadOptions {
    std::uint64_t first_line = 1;
    std::uint64_t last_line = 0;  ///< 0: to the end.
    std::uint64_t max_bytes = 256ULL * 1024;
};

struct ListEntry {
    std::string path;  ///< Relative to the workspace, `/`-separated.
    bool directory = false;
    std::uint64_t size_bytes = 0;
};

struct ListOptions {
    bool recursive = true;
    std::string glob;  ///< Gitignore-style, comma-separated; empty: all.
    std::size_t limit = 1000;
};

struct SearchQuery {
    std::string pattern;  ///< RE2 syntax, or a literal.
    bool literal = false;
    bool ignore_case = false;
    std::string glob;         ///< Which files; gitignore-style, comma-separated; empty: all.
    std::size_t limit = 100;  ///< Hits at the most.
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

/// What a write did; the host records it.
struct Change {
    std::string path;
    std::string before_sha256;  ///< Empty: the file did not exist.
    std::string after_sha256;   ///< Empty: the file exists no more.
    std::uint64_t lines_added = 0;
    std::uint64_t lines_removed = 0;
    bool created = false;
};

/// The task's own checkout, seen with the rights of the role that runs. Paths are relative to its
/// root. Every write is checked against the role's path rules whatever tool makes it; `.git` and
/// `.agentforge` are closed to all.
/// Errors: `denied` AF-TOOL-0xx (says which rule), `not_found`, `invalid`, `conflict`, `io`.
class Workspace {
public:
    [[nodiscard]] virtual Result<FileView> read(std::string_view path, const ReadOptions& options = {}) = 0;
    [[nodiscard]] virtual Result<Listing> list(std::string_view directory, const ListOptions& options = {}) = 0;
    [[nodiscard]] virtual Result<SearchHits> search(const SearchQuery& query) = 0;
    [[nodiscard]] virtual bool exists(std::string_view path) = 0;
    /// Creates a file and its folders. `conflict` where the file exists, unless `overwrite`.
    [[nodiscard]] virtual Result<Change> create(std::string_view path, std::string_view content, bool overwrite = false) = 0;
    /// Replaces the one place where `search` stands; `invalid` (with the nearest lines) where it stands nowhere or more than
    /// once.
    [[nodiscard]] virtual Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) = 0;
    [[nodiscard]] virtual Result<Change> move(std::string_view from, std::string_view to) = 0;
    [[nodiscard]] virtual Result<Change> remove(std::string_view path) = 0;

protected:
    ~Workspace() = default;
};

// ---------------------------------------------------------------------------------- processes --

struct ProcessSpec {
    std::vector<std::string> argv;                   ///< argv[0] is looked up on PATH.
    std::string directory;                           ///< Relative to the workspace; empty: its root.
    std::map<std::string, std::string> environment;  ///< Added to the allow-listed environment.
    std::string input;                               ///< Standard input; empty: /dev/null.
    std::chrono::milliseconds timeout{60'000};
    std::size_t max_output_bytes = 1024UL * 1024;  ///< Each stream; the middle is left out beyond it.
};

struct ProcessResult {
    int exit_code = -1;  ///< 128 + signal where a signal ended it.
    bool timed_out = false;
    bool output_truncated = false;
    std::string out;
    std::string err;
    std::chrono::milliseconds duration{0};
    json::object confinement;  ///< What was in force: landlock ABI, network, limits.
};

// -------------------------------------------------------------------------------------- gates --

/// How one test ended. `failed_assertion` and `failed_skeleton` are the only failures that RED accepts.
enum class TestStatus : unsigned char {
    passed = 1,
    failed_assertion,  ///< At an assertion.
    failed_skeleton,   ///< At the marker of a generated skeleton.
    error,             ///< Anything else: import, typo, missing fixture, unexpected exception.
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
    std::string contract;  ///< The category: style, architecture, pattern, security, quality.
    std::string severity;  ///< minor, major, critical
    std::string file;
    std::uint64_t line = 0;
    std::string message;
    std::string fix_hint;
};

/// What a gate measured, on which tree. The kernel made it; nothing in it was claimed by a model.
struct GateReport {
    std::string gate;
    std::string tree;  ///< Git tree id it was measured on.
    bool passed = false;
    std::string summary;  ///< One line.
    std::vector<std::string> blocking_issues;
    std::vector<TestOutcome> tests;
    std::vector<Violation> violations;
    json::object facts;  ///< Measured facts by name, e.g. {"all_tests_fail": true}.
    std::chrono::milliseconds duration{0};
};

/// Which gate to run. Known gates: `syntax`, `types`, `conformance`, `tests`, `red`, `green`,
/// `refactor`, `deliver`; an unknown name is an error.
struct GateRequest {
    std::string gate;
    std::vector<std::string> paths;  ///< Limits the check to these files; empty: all.
    json::object parameters;
};

}  // namespace agentforge
