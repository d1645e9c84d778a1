// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/check.hpp"

#include <dlfcn.h>
#include <agentforge/process.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "plugins/library.hpp"
#include "plugins/plugin_registry.hpp"
#include "plugins/symbols.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr unsigned most_children = 10;
constexpr unsigned calls_a_child = 40;  ///< Time limit of a child process, in call limits.
constexpr std::size_t names_shown = 5;

std::string signal_name(int signal) {
    const char* name = ::sigabbrev_np(signal);
    return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

std::string one_line(std::string_view text) {
    std::string line = sanitize_utf8(text);
    while (line.ends_with('\n')) { line.pop_back(); }
    for (std::size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n', at)) { line.replace(at, 1, " | "); }
    return line;
}

std::string some(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t index = 0; index < std::min(names.size(), names_shown); ++index) {
        text += (index == 0 ? "`" : ", `") + ellipsis(names[index], 160) + "`";
    }
    return names.size() > names_shown ? text + " and " + std::to_string(names.size() - names_shown) + " more" : text;
}

/// True if a name belongs to the host: to the SDK, the kernel, or the C names that every process already has.
bool belongs_to_host(const DynamicSymbol& symbol, const std::string& readable) {
    if (symbol.name.starts_with("agentforge_")) { return true; }
    if (symbol.name.starts_with("_Z")) {
        // The name itself, without argument types: `int mine(agentforge::Tool&)` belongs to the plugin.
        const std::string head = readable.substr(0, readable.find('('));
        for (const char* opening : {"vtable for ", "typeinfo for ", "typeinfo name for ", "guard variable for ", ""}) {
            if (head.starts_with(std::string(opening) + "agentforge::")) { return true; }
        }
        const auto space = head.find(" agentforge::");  // A template's mangled name begins with its result type.
        return space != std::string::npos && head.find('<') > space;
    }
    return symbol.name != "_init" && symbol.name != "_fini" && !symbol.name.starts_with("__") &&
           ::dlsym(RTLD_DEFAULT, symbol.name.c_str()) != nullptr;
}

CheckStatus status_of(std::string_view text) {
    for (const CheckStatus status : {CheckStatus::pass, CheckStatus::warning, CheckStatus::skipped}) {
        if (to_string(status) == text) { return status; }
    }
    return CheckStatus::error;
}

CheckFinding make_finding(std::string step, CheckStatus status, Error error, std::string found, std::string expected) {
    CheckFinding finding;
    finding.step = std::move(step);
    finding.status = status;
    finding.error = std::move(error);
    finding.found = std::move(found);
    finding.expected = std::move(expected);
    return finding;
}

class Check {
public:
    Check(const CheckOptions& options, const std::function<bool()>& cancelled) : options_(options), cancelled_(cancelled) {}

    Result<CheckReport> run() {
        if (find_files() && read_library() && read_the_manifest()) {
            judge_symbols();
            if (report_.passed() || loadable_) { AF_CHECK(try_it()); }
        }
        complete();
        return std::move(report_);
    }

private:
    void add(std::string step, CheckStatus status, Error error, std::string found = {}, std::string expected = {}) {
        report_.findings.push_back(
            make_finding(std::move(step), status, std::move(error), std::move(found), std::move(expected)));
    }
    void pass(std::string step, std::string message) {
        add(std::move(step), CheckStatus::pass, {"", std::move(message), "", "", ErrorKind::invalid});
    }
    bool fail(std::string step, Error error, std::string found = {}, std::string expected = {}) {
        add(std::move(step), CheckStatus::error, std::move(error), std::move(found), std::move(expected));
        return false;
    }

    bool find_files() {
        std::error_code failure;
        const fs::path given = fs::absolute(options_.file, failure).lexically_normal();
        report_.file = given.string();
        const auto status = fs::status(given, failure);
        if (!fs::exists(status)) {
            return fail("file",
                        {"AF-CHECK-002", "There is no file " + given.string(), given.string(),
                         "Name a plugin's library, its plugin.json, or the folder of both.", ErrorKind::not_found},
                        "nothing", "a .so, a plugin.json or their folder");
        }
        if (fs::is_directory(status)) {
            report_.manifest = (given / "plugin.json").string();
        } else if (given.extension() == ".json") {
            report_.manifest = given.string();
        }
        if (!report_.manifest.empty()) {
            pass("file", "the plugin's folder exists");
            if (!read_the_manifest()) { return false; }
            report_.file = manifest_.directory + "/" + manifest_.library;
            if (!fs::exists(report_.file, failure)) {
                return fail(
                    "elf",
                    {"AF-PLUG-011", "The plugin library cannot be opened: " + report_.file + " does not exist", report_.file,
                     "Put the library that plugin.json names next to it, and make it readable.", ErrorKind::not_found},
                    "nothing", manifest_.library + " beside plugin.json");
            }
            return true;
        }
        report_.manifest = (given.parent_path() / "plugin.json").string();
        pass("file", "found");
        return true;
    }

    bool read_library() {
        if (auto whole = check_elf(report_.file); !whole.ok()) {
            Error error = std::move(whole).error();
            std::string found = error.message.substr(error.message.find(": ") + 2);
            return fail("elf", std::move(error), std::move(found), "a complete shared library (ELF) for this machine");
        }
        auto contents = read_symbols(report_.file);
        if (!contents.ok()) {
            return fail("elf", std::move(contents).error(), "no readable symbol table",
                        "a shared library with a dynamic symbol table");
        }
        contents_ = std::move(*contents);
        pass("elf", "it is a complete shared library for this machine");
        return true;
    }

    bool read_the_manifest() {
        if (!report_.id.empty()) { return true; }  // Already read: FILE was the manifest.
        std::error_code failure;
        if (!fs::exists(report_.manifest, failure)) {
            return fail(
                "manifest",
                {"AF-PLUG-001",
                 "The plugin manifest cannot be read: there is no " + fs::path(report_.manifest).filename().string() + " in " +
                     fs::path(report_.manifest).parent_path().string(),
                 report_.manifest, "Put a plugin.json beside the library; `agentforge help docs/plugins.md` lists its fields.",
                 ErrorKind::not_found},
                "nothing", "plugin.json beside the library");
        }
        auto manifest = read_manifest(report_.manifest);
        if (!manifest.ok()) { return fail("manifest", std::move(manifest).error()); }
        manifest_ = std::move(*manifest);
        report_.id = manifest_.id;
        report_.version = manifest_.version;
        if (manifest_.library.empty()) {
            add("manifest", CheckStatus::error,
                {"AF-CHECK-003", "The plugin `" + manifest_.id + "` has no library", report_.manifest,
                 "`plugins check` checks shared libraries; try a plugin that is a process with `agentforge servers check " +
                     manifest_.id + "`.",
                 ErrorKind::unavailable},
                "no library", "the name of a .so file");
            return false;
        }
        const std::string given = fs::path(options_.file).filename().string();
        if (given.ends_with(".so") && given != manifest_.library) {
            return fail("manifest",
                        {"AF-CHECK-003", "The plugin.json beside " + given + " names another library, " + manifest_.library,
                         report_.manifest + ", field library",
                         "Correct `library` in plugin.json, or check the library that it names.", ErrorKind::invalid},
                        manifest_.library, given);
        }
        pass("manifest", "plugin.json is valid");
        return true;
    }

    /// The names that the library exports.
    struct Exports {
        const DynamicSymbol* entry = nullptr;
        std::vector<std::string> own;  ///< The plugin's own symbols first, then those of templates and inline functions.
        std::vector<std::string> of_host;
    };

    void judge_symbols() {
        const std::size_t before = report_.count(CheckStatus::error);
        const Exports exports = exports_of_library();
        judge_entry(exports.entry);
        judge_other_exports(exports);
        if (report_.count(CheckStatus::error) == before && exports.own.empty()) {
            pass("symbols", "it exports `" + std::string(entry_symbol) + "` and nothing else");
        }
        judge_fingerprint();
    }

    [[nodiscard]] Exports exports_of_library() const {
        Exports exports;
        std::vector<std::string> inlined;
        for (const DynamicSymbol& symbol : contents_.symbols) {
            if (!symbol.defined) { continue; }
            if (symbol.name == entry_symbol) {
                exports.entry = &symbol;
                continue;
            }
            const std::string readable = readable_symbol(symbol.name);
            if (belongs_to_host(symbol, readable)) {
                exports.of_host.push_back(readable);
            } else {
                (symbol.weak ? inlined : exports.own).push_back(readable);
            }
        }
        exports.own.insert(exports.own.end(), inlined.begin(), inlined.end());
        return exports;
    }

    void judge_entry(const DynamicSymbol* entry) {
        if (entry == nullptr) {
            fail("symbols",
                 {"AF-PLUG-013", "The library of plugin `" + manifest_.id + "` does not export `" + entry_symbol + "`",
                  report_.file, "Put AGENTFORGE_PLUGIN(…) into one of its sources and build it with agentforge_add_plugin.",
                  ErrorKind::invalid},
                 "no symbol `" + std::string(entry_symbol) + "`", "one function of this name");
            loadable_ = false;
        } else if (!entry->function) {
            fail("symbols", entry_is_data(manifest_), "data", "a function");
            loadable_ = false;
        }
    }

    void judge_other_exports(const Exports& exports) {
        constexpr const char* hide =
            "Build it with agentforge_add_plugin, or with -fvisibility=hidden and a version script that makes all else local.";
        if (!exports.of_host.empty()) {
            fail("symbols",
                 {"AF-CHECK-004",
                  "The library of plugin `" + manifest_.id + "` exports " + std::to_string(exports.of_host.size()) +
                      " symbol(s) of the host: " + some(exports.of_host),
                  report_.file, hide, ErrorKind::invalid},
                 some(exports.of_host), "`" + std::string(entry_symbol) + "` and nothing else");
        }
        if (!exports.own.empty()) {
            add("symbols", CheckStatus::warning,
                {"AF-CHECK-005",
                 "The library of plugin `" + manifest_.id + "` exports " + std::to_string(exports.own.size()) +
                     " symbol(s) besides its entry: " + some(exports.own),
                 report_.file, hide, ErrorKind::invalid},
                some(exports.own), "`" + std::string(entry_symbol) + "` and nothing else");
        }
    }

    void judge_fingerprint() {
        for (const DynamicSymbol& symbol : contents_.symbols) {
            if (symbol.defined || symbol.name != "agentforge_abi_fingerprint" || symbol.version.empty()) { continue; }
            if (symbol.version == agentforge_abi_fingerprint()) {
                pass("fingerprint", symbol.version);
            } else {
                fail("fingerprint", explain_load_failure("version `" + symbol.version + "' not found", manifest_), symbol.version,
                     agentforge_abi_fingerprint());
                loadable_ = false;
            }
        }
    }

    /// Runs one child after another. Each skips the calls that ended earlier ones.
    Result<void> try_it() {
        if (!loadable_) { return {}; }
        std::set<std::uint64_t> left_out;
        std::vector<CheckFinding> ends;
        std::vector<CheckFinding> findings;
        bool over = false;
        for (unsigned child = 0; child < most_children && !over; ++child) {
            findings.clear();
            AF_TRY(const auto end, run_child(left_out, findings));
            if (!end) {
                over = true;
                continue;
            }
            ends.push_back(end->finding);
            // A library that does not open cannot be tested further.
            over = end->finding.step == "load" || end->finding.step == "descriptor" || end->finding.step.empty() ||
                   !left_out.insert(end->call).second;
            if (child + 1 == most_children && !over) {
                add("calls", CheckStatus::warning,
                    {"AF-CHECK-020",
                     "The check stopped after " + std::to_string(most_children) +
                         " calls that ended the process; there may be more",
                     report_.file, "Fix these and check again.", ErrorKind::invalid});
            }
        }
        for (auto* list : {&ends, &findings}) {
            for (CheckFinding& finding : *list) { report_.findings.push_back(std::move(finding)); }
        }
        return {};
    }

    struct End {
        CheckFinding finding;
        std::uint64_t call = 0;
    };

    /// Reads what the child reported. Returns the call that ended it, if there is one.
    Result<std::optional<End>> run_child(const std::set<std::uint64_t>& left_out, std::vector<CheckFinding>& findings) {
        AF_TRY(const auto temporary, TemporaryDirectory::make("plugins-check"));
        const TemporaryDirectory& folder = *temporary;
        process::Command command;
        command.program = options_.program;
        command.argv = {options_.program};
        command.argv.insert(command.argv.end(), options_.arguments.begin(), options_.arguments.end());
        command.directory = folder.path().string();
        command.environment = environment(folder.path().string());
        command.timeout = options_.call_limit * calls_a_child;
        command.grace = std::chrono::milliseconds(200);
        command.max_output_bytes = 64UL * 1024;
        json::array numbers;
        for (const std::uint64_t number : left_out) { numbers.push_back(number); }
        command.extra_input = json::serialize(json::object{
            {"manifest", report_.manifest}, {"call_limit_ms", options_.call_limit.count()}, {"left_out", std::move(numbers)}});
        auto outcome = process::run(command, cancelled_);
        if (!outcome.ok()) {
            Error error = std::move(outcome).error();
            return Error{"AF-CHECK-001", "The plugin could not be tested: " + error.message, error.where, error.remedy,
                         error.kind};
        }
        if (outcome->cancelled) {
            return Error{"AF-CHECK-001", "The check was cancelled", report_.file, "Run it again.", ErrorKind::cancelled};
        }
        return judge(*outcome, findings);
    }

    [[nodiscard]] std::map<std::string, std::string> environment(const std::string& folder) const {
        // No credentials and no programs: a backend under test must not reach a model.
        std::map<std::string, std::string> made{{"PATH", folder}, {"HOME", folder}, {"TMPDIR", folder}, {"LANG", "C.UTF-8"}};
        for (const char* name : {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
            if (const auto found = options_.environment.find(name); found != options_.environment.end()) {
                made[name] = found->second;
            }
        }
        // Signals end the child as they end the program, with or without a sanitizer.
        std::string& asan = made["ASAN_OPTIONS"];
        asan +=
            std::string(asan.empty() ? "" : ":") +
            "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:detect_leaks=0:allocator_may_return_null=1";
        return made;
    }

    Result<std::optional<End>> judge(const process::Outcome& outcome, std::vector<CheckFinding>& findings) {
        json::object at;
        bool hung = false;
        bool done = false;
        for (std::size_t begin = 0; begin < outcome.report.size();) {
            const std::size_t end = std::min(outcome.report.find('\n', begin), outcome.report.size());
            json::error_code failure;
            const json::value record = json::parse(std::string_view(outcome.report).substr(begin, end - begin), failure);
            begin = end + 1;
            if (failure || !record.is_object()) { continue; }  // The last line of a child that was killed while writing.
            const json::object& fields = record.get_object();
            const std::string type = text_of(fields, "r");
            if (type == "at") {
                at = fields;
            } else if (type == "hang") {
                hung = true;
            } else if (type == "done") {
                done = true;
                report_.calls = fields.at("calls").to_number<std::uint64_t>();
            } else if (type == "fact") {
                if (const auto* value = fields.if_contains("load_us")) { report_.load_us = value->to_number<std::int64_t>(); }
                if (const auto* value = fields.if_contains("network_closed")) { report_.network_closed = value->as_bool(); }
            } else if (type == "finding" || type == "pass") {
                CheckFinding finding;
                finding.step = text_of(fields, "step");
                finding.status = type == "pass" ? CheckStatus::pass : status_of(text_of(fields, "status"));
                finding.object = text_of(fields, "object");
                finding.method = text_of(fields, "method");
                finding.input = text_of(fields, "input");
                finding.error = {text_of(fields, "code"), text_of(fields, "message"), text_of(fields, "where"),
                                 text_of(fields, "remedy"), ErrorKind::invalid};
                finding.found = text_of(fields, "found");
                finding.expected = text_of(fields, "expected");
                findings.push_back(std::move(finding));
            }
        }
        if (done) {
            after_the_last(outcome, findings);
            return std::optional<End>();
        }
        if (at.empty() && outcome.signal == 0 && !outcome.timed_out) {
            return Error{"AF-CHECK-001",
                         "The plugin could not be tested: the child ended with code " + std::to_string(outcome.exit_code) + ": " +
                             ellipsis(sanitize_utf8(outcome.err), 500),
                         report_.file, "Run `agentforge doctor`.", ErrorKind::internal};
        }
        return std::optional<End>(ended(outcome, at, hung));
    }

    End ended(const process::Outcome& outcome, const json::object& at, bool hung) const {
        End end;
        CheckFinding& finding = end.finding;
        finding.status = CheckStatus::error;
        finding.step = text_of(at, "step");
        finding.object = text_of(at, "object");
        finding.method = text_of(at, "method");
        finding.input = text_of(at, "input");
        if (const auto* number = at.if_contains("n")) { end.call = number->to_number<std::uint64_t>(); }
        const std::string whose = finding.object.empty() ? "The plugin `" + manifest_.id + "`"
                                                         : "The " + finding.object + " of plugin `" + manifest_.id + "`";
        const std::string place = place_of(finding, !at.empty());
        if (hung || outcome.timed_out) {
            explain_hang(finding, whose, place);
        } else if (is_sanitizer_report(outcome.err)) {
            explain_defect(finding, whose, place, outcome);
        } else if (outcome.signal != 0) {
            explain_crash(finding, whose, place, outcome);
        } else {
            explain_exit(finding, whose, place, outcome);
        }
        return end;
    }

    /// Returns when the process ended. `in_call`: during the finding's call, not before the first.
    static std::string place_of(const CheckFinding& finding, bool in_call) {
        std::string place = "in " + finding.method + "()";
        if (finding.method == "load") {
            place = "while it was loaded (in a static constructor)";
        } else if (!in_call) {
            place = "before it was loaded";
        }
        if (!finding.input.empty()) { place += " with the input \"" + finding.input + "\""; }
        return place;
    }

    static bool is_sanitizer_report(const std::string& err) {
        return err.find("ERROR: AddressSanitizer") != std::string::npos || err.find("runtime error: ") != std::string::npos ||
               err.find("ERROR: ThreadSanitizer") != std::string::npos;
    }

    void explain_hang(CheckFinding& finding, const std::string& whose, const std::string& place) const {
        const std::string limit = std::to_string(options_.call_limit.count()) + " ms";
        finding.found = "no return within " + limit;
        finding.expected = "a return within the limit";
        finding.error = {"AF-CHECK-011", whose + " hung " + place + ": it did not return within " + limit + " and was killed",
                         report_.file,
                         "Look at cancelled() and deadline(), and use the host's services to wait; --timeout raises the limit.",
                         ErrorKind::timeout};
    }

    void explain_defect(CheckFinding& finding, const std::string& whose, const std::string& place,
                        const process::Outcome& outcome) const {
        const auto begin = std::min(outcome.err.find("ERROR: "), outcome.err.find("runtime error: "));
        finding.found = ellipsis(sanitize_utf8(outcome.err.substr(begin)), 1500);
        finding.expected = "no defect";
        finding.error = {"AF-CHECK-018",
                         whose + " was stopped by a sanitizer " + place + ": " + first_line(outcome.err.substr(begin)),
                         report_.file, author_remedy(), ErrorKind::internal};
    }

    void explain_crash(CheckFinding& finding, const std::string& whose, const std::string& place,
                       const process::Outcome& outcome) const {
        finding.found = signal_name(outcome.signal);
        finding.expected = "the call returns";
        finding.error = {"AF-CHECK-010",
                         whose + " crashed " + place + ": " + signal_name(outcome.signal) + " (" + ::strsignal(outcome.signal) +
                             ")" + said(outcome),
                         report_.file, author_remedy(), ErrorKind::internal};
    }

    void explain_exit(CheckFinding& finding, const std::string& whose, const std::string& place,
                      const process::Outcome& outcome) const {
        finding.found = "exit code " + std::to_string(outcome.exit_code);
        finding.expected = "the call returns";
        finding.error = {
            "AF-CHECK-012",
            whose + " ended the whole process " + place + ": exit code " + std::to_string(outcome.exit_code) + said(outcome),
            report_.file, "Return an error instead: exit() in a plugin ends the host.", ErrorKind::internal};
    }

    static const char* author_remedy() {
        return "Run this call in a debugger or with -fsanitize=address; in the host it would end the program.";
    }
    static std::string said(const process::Outcome& outcome) {
        const std::string text = ellipsis(one_line(outcome.err), 300);
        return text.empty() ? "" : "; on standard error: " + text;
    }

    void after_the_last(const process::Outcome& outcome, std::vector<CheckFinding>& findings) const {
        const auto add_finding = [&](std::string step, CheckStatus status, Error error, std::string found, std::string expected) {
            findings.push_back(make_finding(std::move(step), status, std::move(error), std::move(found), std::move(expected)));
        };
        if (report_.load_us > std::chrono::microseconds(options_.slow_load).count()) {
            add_finding(
                "load", CheckStatus::warning,
                {"AF-CHECK-006",
                 "The plugin `" + manifest_.id + "` takes " + std::to_string(report_.load_us / 1000) + " ms to load",
                 report_.file, "Do nothing in static constructors; prepare in the object's constructor or at the first call.",
                 ErrorKind::invalid},
                std::to_string(report_.load_us / 1000) + " ms", "at most " + std::to_string(options_.slow_load.count()) + " ms");
        } else if (report_.load_us > 0) {
            add_finding("load", CheckStatus::pass,
                        {"", "it loads in " + std::to_string(report_.load_us) + " µs", "", "", ErrorKind::invalid}, "", "");
        }
        if (!outcome.err.empty()) {
            add_finding(
                "output", CheckStatus::warning,
                {"AF-CHECK-021",
                 "The plugin `" + manifest_.id + "` wrote to standard error: " + ellipsis(one_line(outcome.err), 300),
                 report_.file, "Use the context's log(): standard error is for the host's own messages.", ErrorKind::invalid},
                ellipsis(sanitize_utf8(outcome.err), 300), "nothing on standard error");
        }
        if (!outcome.out.empty()) {  // Missed by the child's own check: written through a duplicated descriptor.
            add_finding(
                "output", CheckStatus::error,
                {"AF-CHECK-014",
                 "The plugin `" + manifest_.id + "` wrote " + std::to_string(outcome.out.size()) + " bytes to standard output",
                 report_.file, "Use the context's log() or progress(): standard output is the program's answer.",
                 ErrorKind::invalid},
                ellipsis(sanitize_utf8(outcome.out), 200), "nothing on standard output");
        }
    }

    /// Sorts by step and adds the steps that were not reached.
    void complete() {
        const auto place = [](const CheckFinding& finding) {
            const auto& steps = check_steps();
            return std::ranges::find(steps, finding.step) - steps.begin();
        };
        for (const std::string& step : check_steps()) {
            const bool is_reported =
                std::ranges::any_of(report_.findings, [&](const CheckFinding& finding) { return finding.step == step; });
            if (is_reported) { continue; }
            const bool reached = report_.calls > 0 || report_.load_us > 0;
            if (step == "output" && reached) {
                pass(step, "it wrote nothing to standard output or standard error");
            } else {
                add(step, CheckStatus::skipped, {"", "not reached", "", "", ErrorKind::invalid});
            }
        }
        // A step with faults does not also pass.
        std::set<std::string> faulty;
        for (const CheckFinding& finding : report_.findings) {
            if (finding.status == CheckStatus::error || finding.status == CheckStatus::warning) {
                faulty.insert(finding.step + "\n" + finding.object);
            }
        }
        std::erase_if(report_.findings, [&](const CheckFinding& finding) {
            return finding.status == CheckStatus::pass && faulty.contains(finding.step + "\n" + finding.object);
        });
        fold();
        std::ranges::stable_sort(report_.findings, {}, place);
    }

    /// Reports the same fault with several inputs once, listing the inputs.
    void fold() {
        std::vector<CheckFinding> folded;
        const auto without_input = [](const CheckFinding& finding) {
            std::string text = finding.error.message;
            const std::string given = "the input \"" + finding.input + "\"";
            if (const auto at = text.find(given); !finding.input.empty() && at != std::string::npos) {
                text.erase(at, given.size());
            }
            return std::array{text,           finding.step,       finding.object,
                              finding.method, finding.error.code, std::string(to_string(finding.status))};
        };
        std::map<std::array<std::string, 6>, std::size_t> known;
        for (CheckFinding& finding : report_.findings) {
            const bool is_reported = finding.status == CheckStatus::error || finding.status == CheckStatus::warning;
            const auto [place, first] = known.try_emplace(without_input(finding), folded.size());
            if (is_reported && !first) {
                folded[place->second].other_inputs.push_back(finding.input);
            } else {
                folded.push_back(std::move(finding));
            }
        }
        report_.findings = std::move(folded);
    }

    const CheckOptions& options_;
    const std::function<bool()>& cancelled_;
    CheckReport report_;
    DynamicLibrary contents_;
    PluginManifest manifest_;
    bool loadable_ = true;
};

}  // namespace

std::string_view to_string(CheckStatus status) noexcept {
    switch (status) {
        case CheckStatus::pass:
            return "pass";
        case CheckStatus::warning:
            return "warning";
        case CheckStatus::error:
            return "error";
        case CheckStatus::skipped:
            return "skipped";
    }
    return "error";
}

const std::vector<std::string>& check_steps() {
    static const std::vector<std::string> steps = {"file",        "elf",   "manifest",   "symbols",       "undefined",
                                                   "fingerprint", "load",  "descriptor", "config_schema", "create",
                                                   "describe",    "calls", "destroy",    "output"};
    return steps;
}

std::size_t CheckReport::count(CheckStatus status) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(findings, [&](const CheckFinding& finding) { return finding.status == status; }));
}

Result<CheckReport> check_plugin(const CheckOptions& options, const std::function<bool()>& cancelled) {
    return Check(options, cancelled).run();
}

json::object check_json(const CheckReport& report) {
    json::array findings;
    for (const CheckFinding& finding : report.findings) {
        json::object one{{"step", finding.step}, {"status", to_string(finding.status)}};
        const auto put = [&](const char* key, const std::string& value) {
            if (!value.empty()) { one[key] = sanitize_utf8(value); }
        };
        put("object", finding.object);
        put("method", finding.method);
        put("input", finding.input);
        if (!finding.other_inputs.empty()) { one["other_inputs"] = json::value_from(finding.other_inputs); }
        put("code", finding.error.code);
        put("message", finding.error.message);
        put("where", finding.error.where);
        put("found", finding.found);
        put("expected", finding.expected);
        put("remedy", finding.error.remedy);
        findings.push_back(std::move(one));
    }
    return {{"format", 1},
            {"file", report.file},
            {"manifest", report.manifest},
            {"id", report.id},
            {"version", report.version},
            {"host", agentforge_abi_fingerprint()},
            {"sdk", sdk_version},
            {"passed", report.passed()},
            {"errors", report.count(CheckStatus::error)},
            {"warnings", report.count(CheckStatus::warning)},
            {"load_us", report.load_us},
            {"calls", report.calls},
            {"network_closed", report.network_closed},
            {"findings", std::move(findings)}};
}

std::string check_text(const CheckReport& report) {
    std::string text = report.file + (report.id.empty() ? "" : " (" + report.id + " " + report.version + ")") + "\n";
    const auto line = [&](std::string_view key, const std::string& value) {
        if (!value.empty()) { text += "                          " + std::string(key) + value + "\n"; }
    };
    for (const CheckFinding& finding : report.findings) {
        std::string status(to_string(finding.status));
        std::string step = finding.step;
        status.resize(9, ' ');
        step.resize(15, ' ');
        text += "  " + status + step;
        if (finding.status == CheckStatus::pass || finding.status == CheckStatus::skipped) {
            text += (finding.object.empty() ? "" : finding.object + ": ") + finding.error.message + "\n";
            continue;
        }
        text += finding.error.code + ": " + sanitize_utf8(finding.error.message) + "\n";
        line("where:    ", finding.error.where);
        std::string others;
        for (const std::string& input : finding.other_inputs) { others += (others.empty() ? "" : "; ") + input; }
        line("also:     ", others.empty() ? "" : "with " + others);
        line("found:    ", first_line(sanitize_utf8(finding.found)));
        line("expected: ", finding.expected);
        line("to do:    ", finding.error.remedy);
    }
    const auto counted = [](std::size_t count, const char* what) {
        return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    };
    text += (report.passed() ? "passed: " : "failed: ") + counted(report.count(CheckStatus::error), "error") + ", " +
            counted(report.count(CheckStatus::warning), "warning") + ", " +
            counted(static_cast<std::size_t>(report.calls), "call") + " returned\n";
    return text;
}

}  // namespace agentforge::kernel
