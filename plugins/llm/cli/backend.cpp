// SPDX-License-Identifier: Apache-2.0
#include "backend.hpp"

#include "answer.hpp"
#include "prompt.hpp"

#include <agentforge/process.hpp>

#include <fcntl.h>
#include <re2/re2.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace agentforge::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t longest_argument = 120'000;  // The kernel accepts 128 KiB for one argument.
constexpr std::size_t shown_bytes = 2'000;
constexpr const char* default_path = "/usr/local/bin:/usr/bin:/bin";

/// Variables with which such a program finds its user, its log-in and its server.
constexpr std::array<std::string_view, 22> passed_on{"PATH",
                                                     "HOME",
                                                     "USER",
                                                     "LOGNAME",
                                                     "SHELL",
                                                     "LANG",
                                                     "LANGUAGE",
                                                     "TZ",
                                                     "TERM",
                                                     "TMPDIR",
                                                     "NO_COLOR",
                                                     "HTTPS_PROXY",
                                                     "HTTP_PROXY",
                                                     "ALL_PROXY",
                                                     "NO_PROXY",
                                                     "https_proxy",
                                                     "http_proxy",
                                                     "no_proxy",
                                                     "SSL_CERT_FILE",
                                                     "SSL_CERT_DIR",
                                                     "NODE_EXTRA_CA_CERTS",
                                                     "DBUS_SESSION_BUS_ADDRESS"};
constexpr std::array<std::string_view, 2> passed_prefixes{"LC_", "XDG_"};

std::vector<std::string_view> preset_prefixes(Preset preset) {
    switch (preset) {
        case Preset::claude:
            return {"ANTHROPIC_", "CLAUDE_", "AWS_", "GOOGLE_"};
        case Preset::codex:
            return {"OPENAI_", "CODEX_"};
        case Preset::none:
            break;
    }
    return {};
}

/// Makes `claude` a plain model, unless the user sets otherwise: no second call that names the session, no notes kept between
/// calls, and nothing sent except the question (nor a line that differs with each question and would defeat the prompt cache).
/// The host's journaled retry rules replace its own.
constexpr std::array<std::pair<const char*, const char*>, 6> claude_variables{{{"CLAUDE_CODE_DISABLE_TERMINAL_TITLE", "1"},
                                                                               {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
                                                                               {"CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"},
                                                                               {"CLAUDE_CODE_MAX_RETRIES", "0"},
                                                                               {"CLAUDE_CODE_ATTRIBUTION_HEADER", "0"},
                                                                               {"DISABLE_AUTOUPDATER", "1"}}};

std::map<std::string, std::string> child_environment(const Settings& settings) {
    std::map<std::string, std::string> made;
    const std::vector<std::string_view> prefixes = preset_prefixes(settings.preset);
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos || equals == 0) { continue; }
        const std::string_view name = text.substr(0, equals);
        const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
        const bool wanted =
            std::find(passed_on.begin(), passed_on.end(), name) != passed_on.end() ||
            std::find(settings.environment.begin(), settings.environment.end(), name) != settings.environment.end() ||
            std::any_of(passed_prefixes.begin(), passed_prefixes.end(), begins) ||
            std::any_of(prefixes.begin(), prefixes.end(), begins);
        if (wanted) { made.emplace(name, text.substr(equals + 1)); }
    }
    if (settings.preset == Preset::claude) {
        for (const auto& [name, value] : claude_variables) { made.emplace(name, value); }
    }
    return made;
}

/// An empty folder for one call, deleted afterwards.
class Scratch {
public:
    Scratch() = default;
    /// A folder that its owner empties.
    explicit Scratch(std::string path) : path_(std::move(path)), own_(false) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;  // Anything left is in the user's temporary folder.
        if (own_ && !path_.empty()) { std::filesystem::remove_all(path_, ignored); }
    }
    Result<void> make() {
        std::error_code error;
        const std::filesystem::path place = std::filesystem::temp_directory_path(error);
        std::string pattern = ((error ? std::filesystem::path("/tmp") : place) / "agentforge-cli-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) { return failure("A temporary folder cannot be made", pattern); }
        path_ = pattern;
        return {};
    }
    Result<std::string> write(const std::string& name, const std::string& prompt) const {
        std::string file = path_ + "/" + name;
        const int handle = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (handle < 0) { return failure("The prompt cannot be written", file); }
        for (std::size_t done = 0; done < prompt.size();) {
            const ssize_t size = ::write(handle, prompt.data() + done, prompt.size() - done);
            if (size < 0 && errno == EINTR) { continue; }
            if (size < 0) {
                Error error = failure("The prompt cannot be written", file);
                ::close(handle);
                return error;
            }
            done += static_cast<std::size_t>(size);
        }
        ::close(handle);
        return file;
    }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    static Error failure(const std::string& what, const std::string& where) {
        return {"AF-LLM-308", what + ": " + std::system_category().message(errno), where,
                "Free space there, or set TMPDIR to a writable folder.", ErrorKind::io};
    }
    std::string path_;
    bool own_ = true;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

struct Invocation {
    std::vector<std::string> argv;
    std::string input;
};

std::vector<std::string> program_words(const Settings& settings) {
    if (!settings.command.empty()) { return settings.command; }
    return {settings.preset == Preset::claude ? "claude" : "codex"};
}

Error too_long(std::size_t size) {
    return {"AF-LLM-306", "The prompt has " + std::to_string(size) + " bytes, more than one argument can hold",
            "prompt: argument", "Set 'prompt: stdin', or use {prompt_file} in the command.", ErrorKind::invalid};
}

/// The arguments that make `claude` a plain model: the system prompt is only ours, and nothing of the user's configuration
/// applies except the log-in.
Result<Invocation> claude_invocation(const Settings& settings, const CompletionRequest& request, const std::string& model,
                                     const Scratch& scratch) {
    Invocation made{program_words(settings), {}};
    made.argv.insert(made.argv.end(), {"-p", "--output-format", "json", "--tools", "", "--max-turns", "1", "--strict-mcp-config",
                                       "--setting-sources=", "--disable-slash-commands", "--no-session-persistence"});
    if (!request.system.empty()) {
        AF_TRY(std::string file, scratch.write("system.txt", process::to_utf8(request.system)));
        made.argv.insert(made.argv.end(), {"--system-prompt-file", std::move(file)});
    }
    if (!model.empty()) { made.argv.insert(made.argv.end(), {"--model", model}); }
    std::string prompt = process::to_utf8(request.user);
    if (settings.prompt == PromptBy::standard_input || prompt.size() > longest_argument) {
        made.input = std::move(prompt);
        return made;
    }
    made.argv.insert(made.argv.end(), {"--", std::move(prompt)});
    return made;
}

/// Disables the tools of `codex` and its instructions to a model about them. It ignores unknown names. The user's config.toml is
/// not read: it may start servers, and an empty `mcp_servers` would be added to them.
constexpr std::array<const char*, 20> codex_overrides{"features.shell_tool=false",
                                                      "features.unified_exec=false",
                                                      "features.multi_agent=false",
                                                      "features.view_image=false",
                                                      "features.image_generation=false",
                                                      "features.sleep_tool=false",
                                                      "features.goals=false",
                                                      "features.apps=false",
                                                      "features.plugins=false",
                                                      "features.hooks=false",
                                                      "features.memories=false",
                                                      "features.tool_suggest=false",
                                                      "features.unbounded_connection_retries=false",
                                                      "skills.include_instructions=false",
                                                      "include_permissions_instructions=false",
                                                      "include_environment_context=false",
                                                      "include_apps_instructions=false",
                                                      "project_doc_max_bytes=0",
                                                      "web_search=\"disabled\"",
                                                      "analytics.enabled=false"};

Result<Invocation> codex_invocation(const Settings& settings, const CompletionRequest& request, const std::string& model,
                                    const Scratch& scratch) {
    Invocation made{program_words(settings), {}};
    made.argv.insert(made.argv.end(), {"exec", "--json", "--sandbox", "read-only", "--skip-git-repo-check", "--ephemeral",
                                       "--ignore-user-config"});
    for (const char* const override_ : codex_overrides) { made.argv.insert(made.argv.end(), {"-c", override_}); }
    if (!request.system.empty()) {
        AF_TRY(const std::string file, scratch.write("system.txt", process::to_utf8(request.system)));
        made.argv.insert(made.argv.end(), {"-c", "model_instructions_file=" + json::serialize(json::string(file))});
    }
    if (!model.empty()) { made.argv.insert(made.argv.end(), {"--model", model}); }
    std::string prompt = process::to_utf8(request.user);
    // It appends piped input to a prompt given as an argument; `-` makes the input the prompt.
    if (settings.prompt == PromptBy::standard_input || prompt.size() > longest_argument) {
        made.argv.emplace_back("-");
        made.input = std::move(prompt);
    } else {
        made.argv.insert(made.argv.end(), {"--", std::move(prompt)});
    }
    return made;
}

/// The arguments that make `claude` work autonomously under the host's confinement. Its instructions stay its own; ours come as
/// the prompt.
Result<Invocation> agentic_claude(const Settings& settings, const std::string& prompt, const std::string& model) {
    Invocation made{program_words(settings), prompt};
    made.argv.insert(made.argv.end(), {"-p", "--output-format", "json", "--tools", "Bash,Edit,Read,Write,Glob,Grep",
                                       "--allowedTools", "Bash,Edit,Read,Write,Glob,Grep", "--permission-mode", "acceptEdits",
                                       "--max-turns", std::to_string(settings.max_turns), "--strict-mcp-config",
                                       "--setting-sources=", "--disable-slash-commands", "--no-session-persistence"});
    if (!model.empty()) { made.argv.insert(made.argv.end(), {"--model", model}); }
    return made;
}

/// Features that `codex` does not need for work: everything except reading, writing and running here.
constexpr std::array<const char*, 13> codex_agentic_overrides{"features.multi_agent=false",
                                                              "features.image_generation=false",
                                                              "features.goals=false",
                                                              "features.apps=false",
                                                              "features.plugins=false",
                                                              "features.hooks=false",
                                                              "features.memories=false",
                                                              "features.tool_suggest=false",
                                                              "features.unbounded_connection_retries=false",
                                                              "skills.include_instructions=false",
                                                              "include_apps_instructions=false",
                                                              "web_search=\"disabled\"",
                                                              "analytics.enabled=false"};

/// Its own sandbox is off because the host's is on, and it cannot create one inside.
Result<Invocation> agentic_codex(const Settings& settings, const std::string& prompt, const std::string& model) {
    Invocation made{program_words(settings), prompt};
    made.argv.insert(made.argv.end(), {"exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check",
                                       "--ephemeral", "--ignore-user-config"});
    for (const char* const override_ : codex_agentic_overrides) { made.argv.insert(made.argv.end(), {"-c", override_}); }
    if (!model.empty()) { made.argv.insert(made.argv.end(), {"--model", model}); }
    made.argv.emplace_back("-");
    return made;
}

/// Returns what the program itself needs to read: its folder, and for one installed by npm everything that was installed with it.
std::vector<std::string> program_places(const std::string& program) {
    std::vector<std::string> places{std::filesystem::path(program).parent_path().string()};
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(program, error);
    if (error) { return places; }
    for (std::filesystem::path folder = real.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
        if (folder.filename() == "node_modules") {
            places.push_back(folder.string());
            return places;
        }
    }
    places.push_back(real.parent_path().string());
    return places;
}

/// Returns the command as the user wrote it with its placeholders filled in. Each is checked once, so a prompt that contains
/// `{model}` stays as it is.
Result<Invocation> plain_invocation(const Settings& settings, const std::string& prompt, const std::string& model,
                                    const Scratch& scratch) {
    Invocation made;
    bool handed_over = false;
    for (const std::string& word : settings.command) {
        std::string filled = word;
        if (filled.find("{model}") != std::string::npos) {
            if (model.empty()) {
                return Error{"AF-LLM-306", "The command needs {model}, but no model is set", "model",
                             "Set 'model' for this backend or for the agent.", ErrorKind::invalid};
            }
            replace_all(filled, "{model}", model);
        }
        if (filled.find("{prompt_file}") != std::string::npos) {
            if (!std::filesystem::exists(scratch.path() + "/prompt.txt")) { AF_CHECK(scratch.write("prompt.txt", prompt)); }
            replace_all(filled, "{prompt_file}", scratch.path() + "/prompt.txt");
            handed_over = true;
        }
        if (word.find("{prompt}") != std::string::npos) {
            if (prompt.size() > longest_argument) { return too_long(prompt.size()); }
            replace_all(filled, "{prompt}", prompt);
            handed_over = true;
        }
        made.argv.push_back(std::move(filled));
    }
    if (handed_over) { return made; }
    if (settings.prompt == PromptBy::standard_input) {
        made.input = prompt;
        return made;
    }
    if (prompt.size() > longest_argument) { return too_long(prompt.size()); }
    made.argv.push_back(prompt);
    return made;
}

std::string tail(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) { text.remove_suffix(1); }
    if (text.size() <= shown_bytes) { return process::to_utf8(text); }
    return "…" + process::to_utf8(text.substr(text.size() - shown_bytes));
}

std::string head(std::string_view text) {
    if (text.size() <= shown_bytes) { return std::string(text); }
    return process::to_utf8(text.substr(0, shown_bytes)) + "…";
}

Error missing(const Settings& settings, const Error& cause) {
    std::string remedy = "Correct 'command' in the settings of the cli backend, or install the program.";
    if (settings.preset == Preset::claude) {
        remedy = "Install Claude Code so that 'claude' is on PATH, or set 'command' to its path.";
    }
    if (settings.preset == Preset::codex) {
        remedy = "Install Codex CLI so that 'codex' is on PATH, or set 'command' to its path.";
    }
    return {"AF-LLM-301", cause.message, cause.where, std::move(remedy), ErrorKind::unavailable};
}

std::string remedy_for(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::denied:
            return "Log in with the program itself, or set its key, then resume.";
        case ErrorKind::unavailable:
            return "Do as its message says (a limit that must be reset, a model it does not know), or choose another backend; then resume.";
        case ErrorKind::transient:
            return "It may succeed when tried again.";
        default:
            return "Run the command by hand to see what it needs.";
    }
}

/// A failure that needs a person pauses the task, instead of using up the stage's attempts.
ErrorKind pausing(ErrorKind kind) { return kind == ErrorKind::transient ? kind : ErrorKind::unavailable; }

std::string find_session(const std::string& pattern, const process::Outcome& outcome) {
    std::string id;
    if (pattern.empty()) { return id; }
    const re2::RE2 expression(pattern, re2::RE2::Quiet);
    if (!re2::RE2::PartialMatch(outcome.out, expression, &id)) { re2::RE2::PartialMatch(outcome.err, expression, &id); }
    return process::to_utf8(id);
}

/// Estimates about four bytes a token, if the program reports no figure, or less than a prompt of this size can have.
void estimate(Usage& usage, std::uint64_t requests, std::size_t prompt_bytes, std::size_t answer_bytes) {
    constexpr std::uint64_t most_bytes_a_token = 12;
    const bool reported = usage.input_tokens != 0 || usage.output_tokens != 0;
    if (reported && usage.input_tokens >= requests * prompt_bytes / most_bytes_a_token) { return; }
    usage.input_tokens = requests * ((prompt_bytes + 3) / 4);
    usage.output_tokens = std::max<std::uint64_t>(usage.output_tokens, (answer_bytes + 3) / 4);
    usage.estimated = true;
}

/// Counts a plain call's requests to its model's server, as a lower bound. Beyond the limit the host takes the count, and the
/// task pauses.
void count_requests(const Settings& settings, Completion& completion, std::uint64_t requests) {
    if (requests > 1) { completion.diagnostics["requests"] = requests; }
    if (settings.mode == Mode::plain && requests > settings.max_requests) {
        completion.diagnostics["requests_limit"] = settings.max_requests;
    }
}

/// The result of a call that was ended because it asked too often: its cost, and no action.
Completion ended_at_limit(const Settings& settings, std::uint64_t requests, const std::string& model, std::size_t prompt_bytes) {
    Completion completion;
    completion.model = model;
    completion.text = "(no answer: the command asked its model's server " + std::to_string(requests) + " times and was stopped)";
    estimate(completion.usage, requests, prompt_bytes, 0);
    count_requests(settings, completion, requests);
    return completion;
}

/// What was called, for judging how it ended.
struct Call {
    std::string name;
    std::string program;
    milliseconds timeout{0};
    std::string model;
    std::size_t prompt_bytes = 0;
    bool artifact = false;  ///< agentic: an artifact was left.
};

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

/// Returns the error of a call that was ended from outside.
std::optional<Error> ended_early(const Settings& settings, const Call& call, const process::Outcome& outcome) {
    if (outcome.cancelled) {
        return Error{"AF-LLM-307", "The call of '" + call.name + "' was cancelled", "", "Resume the task to continue.",
                     ErrorKind::cancelled};
    }
    if (outcome.timed_out) {
        const std::string last_words =
            settings.preset == Preset::codex ? read_codex(process::to_utf8(outcome.out)).failure : std::string();
        return Error{"AF-LLM-303",
                     "'" + call.name + "' did not answer within " + std::to_string(call.timeout.count()) + " ms and was stopped" +
                         (last_words.empty() ? "" : "; its last words: " + head(last_words)),
                     tail(outcome.err), "Raise 'timeout_seconds' of the cli backend, or ask for less.", ErrorKind::timeout};
    }
    if (outcome.out_truncated) {
        return Error{"AF-LLM-305",
                     "'" + call.name + "' printed more than " + std::to_string(settings.max_output_bytes) + " bytes", "",
                     "Make the command print only its answer.", ErrorKind::unavailable};
    }
    return std::nullopt;
}

Answer read_answer(const Settings& settings, const std::string& output) {
    if (settings.preset == Preset::codex) { return read_codex(output); }
    return settings.output == OutputAs::json ? read_claude(output) : read_text(output);
}

Error failed(const Call& call, const process::Outcome& outcome, const Answer& answer) {
    const ErrorKind kind = kind_of_failure(answer.failure, answer.status_kind);
    return Error{"AF-LLM-304", "'" + call.name + "' failed: " + head(answer.failure),
                 "exit code " + std::to_string(outcome.exit_code), remedy_for(kind), pausing(kind)};
}

Error ended_badly(const Call& call, const process::Outcome& outcome) {
    const std::string said = outcome.err.empty() ? tail(outcome.out) : tail(outcome.err);
    const ErrorKind kind = kind_of_failure(said);
    return Error{"AF-LLM-302",
                 "'" + call.name + "' ended with " +
                     (outcome.signal != 0 ? "signal " + std::to_string(outcome.signal)
                                          : "exit code " + std::to_string(outcome.exit_code)) +
                     (said.empty() ? "" : ": " + said),
                 call.program, remedy_for(kind), pausing(kind)};
}

Completion completion_of(const Settings& settings, const Call& call, const process::Outcome& outcome, Answer answer) {
    Completion completion = std::move(answer.completion);
    if (const std::string session = find_session(settings.session_id_pattern, outcome); !session.empty()) {
        completion.session_id = session;
    }
    if (completion.model.empty()) { completion.model = call.model; }
    if (!outcome.err.empty()) { completion.diagnostics["stderr"] = tail(outcome.err); }
    completion.diagnostics["duration_ms"] = outcome.duration.count();
    const std::uint64_t requests =
        settings.mode == Mode::plain
            ? std::max(answer.requests, requests_by_tokens(completion.usage.input_tokens, call.prompt_bytes))
            : answer.requests;
    estimate(completion.usage, answer.requests, call.prompt_bytes, completion.text.size());
    count_requests(settings, completion, requests);
    return completion;
}

/// Returns the answer, or the error in the program's own words if it has any.
Result<Completion> judge(const Settings& settings, const Call& call, const process::Outcome& outcome) {
    if (auto error = ended_early(settings, call, outcome)) { return *std::move(error); }
    const std::string output = process::to_utf8(outcome.out);
    Answer answer = read_answer(settings, output);
    // A program's own report of a failure tells more than its exit code, so it comes first.
    if (answer.failed) { return failed(call, outcome, answer); }
    if (outcome.exit_code != 0) { return ended_badly(call, outcome); }
    if (call.artifact && is_blank(answer.completion.text)) {
        answer.found = true;  // A command that leaves an artifact need print nothing.
        answer.completion.text = "(an artifact without text)";
    }
    if (!answer.found || is_blank(answer.completion.text)) {
        return Error{"AF-LLM-305", "'" + call.name + "' gave no answer", outcome.err.empty() ? head(output) : tail(outcome.err),
                     "Run the command by hand and compare its output with the settings of the cli backend.",
                     ErrorKind::unavailable};
    }
    return completion_of(settings, call, outcome, std::move(answer));
}

Result<Invocation> model_invocation(const Settings& settings, const CompletionRequest& request, const std::string& prompt,
                                    const std::string& model, const Scratch& scratch) {
    if (settings.preset == Preset::claude) { return claude_invocation(settings, request, model, scratch); }
    if (settings.preset == Preset::codex) { return codex_invocation(settings, request, model, scratch); }
    return plain_invocation(settings, prompt, model, scratch);
}

Result<Invocation> agentic_invocation(const Settings& settings, const std::string& prompt, const std::string& model,
                                      AgenticContext& place) {
    if (settings.preset == Preset::claude) { return agentic_claude(settings, prompt, model); }
    if (settings.preset == Preset::codex) { return agentic_codex(settings, prompt, model); }
    return plain_invocation(settings, prompt, model, Scratch(place.scratch()));
}

milliseconds time_for(const Settings& settings, const CallContext& context) {
    milliseconds time = settings.timeout;
    if (const auto deadline = context.deadline()) {
        time = std::clamp(std::chrono::ceil<milliseconds>(*deadline - std::chrono::steady_clock::now()), milliseconds(0), time);
    }
    return time;
}

}  // namespace

CliBackend::CliBackend(json::object settings) : settings_(read_settings(settings)) {}

BackendInfo CliBackend::info() const {
    BackendInfo about;
    about.name = "cli";
    about.description = "A command line program (claude, codex or any other) driven as a plain model";
    about.config_schema = settings_schema();
    return about;
}

Result<Completion> CliBackend::complete(const CompletionRequest& request, StreamSink* sink, CallContext& context) {
    if (context.cancelled()) {
        return Error{"AF-LLM-307", "The call was cancelled", "", "Resume the task to continue.", ErrorKind::cancelled};
    }
    if (settings_.mode == Mode::agentic) { return work_in_workspace(request, sink, context); }
    return ask(request, sink, context);
}

/// Runs the command in a workspace, which the call must have.
Result<Completion> CliBackend::work_in_workspace(const CompletionRequest& request, StreamSink* sink, CallContext& context) const {
    AgenticContext* const place = agentic_context(context);
    if (place == nullptr) {
        return Error{"AF-LLM-309", "Agentic mode needs a workspace, but this call has none", "mode",
                     "Set `llm.mode` instead of `mode` below llm.settings.", ErrorKind::unavailable};
    }
    auto answer = work(request, *place);
    if (answer.ok() && sink != nullptr) { sink->text(answer->text); }
    return answer;
}

/// Runs the command in an empty folder, as a plain model.
Result<Completion> CliBackend::ask(const CompletionRequest& request, StreamSink* sink, CallContext& context) const {
    Scratch scratch;
    AF_CHECK(scratch.make());
    const std::string prompt = build_agent_prompt(request);
    const std::string model = request.model.empty() ? settings_.model : request.model;
    AF_TRY(Invocation invocation, model_invocation(settings_, request, prompt, model, scratch));
    process::Command command;
    command.environment = child_environment(settings_);
    const auto path = command.environment.find("PATH");
    auto program = process::find_program(invocation.argv.front(), path != command.environment.end() ? path->second : default_path,
                                         scratch.path());
    if (!program) { return missing(settings_, program.error()); }
    command.program = *program;
    command.argv = std::move(invocation.argv);
    command.directory = scratch.path();
    command.input = std::move(invocation.input);
    command.max_output_bytes = settings_.max_output_bytes;
    command.timeout = time_for(settings_, context);

    RequestCount count;
    const auto too_often = [&] { return count.requests() > settings_.max_requests; };
    const bool tells_events =
        settings_.preset == Preset::codex || settings_.output == OutputAs::json;  // All other output is the answer itself.
    const auto hear = [&count](std::string_view part) { count.hear(part); };
    auto ran = process::run(
        command, [&] { return context.cancelled() || too_often(); },
        tells_events ? process::Listener(hear) : process::Listener());
    if (!ran) {
        if (ran.error().code != "AF-EXEC-002") { return missing(settings_, ran.error()); }
        return Error{"AF-LLM-308", ran.error().message, ran.error().where, ran.error().remedy, ErrorKind::io};
    }
    if (ran->cancelled && too_often() && !context.cancelled()) {
        return ended_at_limit(settings_, count.requests(), model, prompt.size());
    }
    auto answer = judge(settings_, {command.argv.front(), command.program, command.timeout, model, prompt.size(), false}, *ran);
    if (answer.ok() && sink != nullptr) { sink->text(answer->text); }
    return answer;
}

/// The host runs the command in the workspace with the role's rights. The command's own tools are on, its own confinement is off.
Result<Completion> CliBackend::work(const CompletionRequest& request, AgenticContext& place) const {
    const std::string prompt = build_agent_prompt(request);
    const std::string model = request.model.empty() ? settings_.model : request.model;
    AF_TRY(Invocation invocation, agentic_invocation(settings_, prompt, model, place));
    AgenticCommand command;
    command.environment = child_environment(settings_);
    if (std::find(settings_.environment.begin(), settings_.environment.end(), "HOME") == settings_.environment.end()) {
        // Its own configuration may start programs and store things, and a command that may write there could plant what you run
        // tomorrow.
        for (const char* const variable : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
                                           "CLAUDE_CONFIG_DIR", "CODEX_HOME"}) {
            command.environment.erase(variable);
        }
    }
    const auto path = command.environment.find("PATH");
    auto program = process::find_program(invocation.argv.front(), path != command.environment.end() ? path->second : default_path,
                                         place.workspace());
    if (!program) { return missing(settings_, program.error()); }
    const std::string name = invocation.argv.front();
    invocation.argv.front() = *program;
    command.argv = std::move(invocation.argv);
    command.input = std::move(invocation.input);
    command.timeout = time_for(settings_, place);
    command.max_output_bytes = settings_.max_output_bytes;
    command.readable = program_places(*program);
    command.readable.insert(command.readable.end(), settings_.readable.begin(), settings_.readable.end());
    command.writable = settings_.writable;
    AF_TRY(AgenticOutcome done, place.run_command(command));
    process::Outcome outcome;
    outcome.exit_code = done.process.exit_code;
    outcome.timed_out = done.process.timed_out;
    outcome.out_truncated = done.process.output_truncated && done.process.out.size() >= settings_.max_output_bytes;
    outcome.out = std::move(done.process.out);
    outcome.err = std::move(done.process.err);
    outcome.duration = done.process.duration;
    auto answer = judge(settings_, {name, *program, command.timeout, model, prompt.size(), done.artifact}, outcome);
    if (answer.ok()) { answer->diagnostics["confinement"] = std::move(done.process.confinement); }
    return answer;
}

Result<std::string> CliBackend::check(CallContext& context) {
    Scratch scratch;
    AF_CHECK(scratch.make());
    process::Command command;
    command.environment = child_environment(settings_);
    const std::vector<std::string> words = program_words(settings_);
    const auto path = command.environment.find("PATH");
    auto program =
        process::find_program(words.front(), path != command.environment.end() ? path->second : default_path, scratch.path());
    if (!program) { return missing(settings_, program.error()); }
    command.program = *program;
    command.argv = {words.front(), "--version"};
    command.directory = scratch.path();
    command.timeout = milliseconds(10'000);
    command.grace = milliseconds(500);
    command.max_output_bytes = 4'096;
    auto ran = process::run(command, [&context] { return context.cancelled(); });
    if (!ran) { return missing(settings_, ran.error()); }
    const std::string said = process::to_utf8(ran->out.substr(0, ran->out.find('\n')));
    // Not every command supports --version. It is enough that it exists and runs.
    if (ran->exit_code != 0 || said.empty()) { return *program; }
    return said + " (" + *program + ")";
}

}  // namespace agentforge::cli
