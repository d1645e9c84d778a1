// SPDX-License-Identifier: Apache-2.0
// `go test -json` (go doc test2json), 1.10 and later: one event a line. Tests are the top-level ones; a sub-test is part of its
// test, whose outcome is the worst of them. config/languages/go/each.sh first prints `agentforge: folder /…`, the folder of a
// package.
#include "gates/formats/format.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::string_view go_folder_mark = "agentforge: folder ";
constexpr std::size_t go_kept_output = 64UL << 10U;

struct GoTest {
    std::string output;
    std::vector<std::string> ends;  ///< pass, fail or skip of the test itself; exactly one if all is well.
};

struct GoPackage {
    std::string folder;  ///< Relative to the root. `?` if not reported.
    bool folder_reported = false;
    std::vector<std::string> order;
    std::map<std::string, GoTest> tests;
    std::string output;  ///< Outside any test.
    std::string end;
    std::string failed_build;
};

std::string go_text(const json::object& event, const char* key) {
    const auto* found = event.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string{};
}

std::string_view go_trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) { text.remove_prefix(1); }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '\n')) {
        text.remove_suffix(1);
    }
    return text;
}

/// Without the framework's own lines, and without the stack of a panic.
std::string go_message(std::string_view output, bool panicked) {
    std::string message;
    bool stack = false;
    for_each_line(output, [&](std::string_view line) {
        const auto text = go_trimmed(line);
        if (text.starts_with("=== ") || text.starts_with("--- ") || text.empty()) { return; }
        stack = stack || (panicked && text.starts_with("goroutine "));
        if (stack || message.size() > 4096) { return; }
        message += (message.empty() ? "" : "\n") + std::string(text);
    });
    return failure_text(message);
}

/// `slug_test.go:11: …`: returns the first line of a test file that the output names.
std::uint64_t go_line(std::string_view output) {
    const auto at = output.find("_test.go:");
    if (at == std::string_view::npos) { return 0; }
    std::uint64_t number = 0;
    for (auto digits = output.substr(at + 9, 9); !digits.empty() && digits.front() >= '0' && digits.front() <= '9';
         digits.remove_prefix(1)) {
        number = number * 10 + static_cast<std::uint64_t>(digits.front() - '0');
    }
    return number;
}

bool go_crashed(std::string_view output) {
    for (const std::string_view sign : {"\npanic: ", "\nfatal error: ", "\n\tpanic: ", "\nSIG", "\ntest timed out"}) {
        if (output.find(sign) != std::string_view::npos) { return true; }
    }
    return false;
}

ReportedTest go_reported(const std::string& name, const GoTest& test, const std::string& end, const GoPackage& package) {
    ReportedTest reported;
    reported.name = name;
    if (package.folder_reported) { reported.places.push_back({package.folder + "/", ""}); }
    const bool crashed = go_crashed("\n" + test.output);
    if (end == "pass") {
        reported.status = TestStatus::passed;
    } else if (end == "skip") {
        reported.status = TestStatus::skipped;
        reported.message = go_message(test.output, false);
    } else {
        reported.status = end == "fail" && !crashed ? TestStatus::failed_assertion : TestStatus::error;
        reported.line = go_line(test.output);
        reported.message = go_message(test.output, crashed);
        if (end.empty() && reported.message.empty()) { reported.message = "the test began and did not end"; }
        if (reported.message.empty()) { reported.message = "failed"; }
    }
    return reported;
}

struct GoEvents {
    std::map<std::string, GoPackage> packages;
    std::vector<std::string> order;
    std::map<std::string, std::string>
        builds;                       ///< By import path. go 1.24 and later report them as events, older ones on standard error.
    std::vector<std::string> broken;  ///< Packages that could not be built.
    std::string root;
    std::string problem;

    /// Lines that are not events are output of go itself.
    void read(std::string_view out) {
        for_each_line(out, [&](std::string_view line) {
            if (line.starts_with('{')) {
                boost::system::error_code error;
                const auto value = json::parse({line.data(), line.size()}, error);
                if (!error && value.is_object()) {
                    event(value.get_object());
                    return;
                }
                problem = "a line of `go test -json` is not an event";
            } else if (line.starts_with("FAIL\t") && (line.ends_with(" [build failed]") || line.ends_with(" [setup failed]"))) {
                broken.emplace_back(line.substr(5, line.rfind(" [") - 5));
            }
        });
    }

    /// Returns what the compiler reported for one package and its tests.
    [[nodiscard]] std::string build_output(const std::string& package_name) const {
        std::string text;
        for (const auto& [import, said] : builds) {
            if (import == package_name || import.starts_with(package_name + " ") || import.starts_with(package_name + "_test")) {
                text += said;
            }
        }
        return text;
    }

    GoPackage& package(const std::string& name) {
        const auto [place, fresh] = packages.emplace(name, GoPackage{});
        if (fresh) { order.push_back(name); }
        return place->second;
    }

    void output_of(GoPackage& package, const std::string& test, const std::string& text) {
        if (!test.empty()) {
            const auto found = package.tests.find(test.substr(0, test.find('/')));
            if (found != package.tests.end() && found->second.output.size() < go_kept_output) { found->second.output += text; }
            return;
        }
        if (!package.folder_reported && text.starts_with(go_folder_mark)) {
            package.folder = path_in_tree(go_trimmed(std::string_view(text).substr(go_folder_mark.size())), root);
            if (package.folder == root) { package.folder = "."; }
            package.folder_reported = true;
        } else if (package.output.size() < go_kept_output) {
            package.output += text;
        }
    }

    void event(const json::object& event) {
        const auto action = go_text(event, "Action");
        if (action == "build-output" || action == "build-fail") {
            builds[go_text(event, "ImportPath")] += go_text(event, "Output");
            return;
        }
        auto& owner = package(go_text(event, "Package"));
        const auto name = go_text(event, "Test");
        const bool top = !name.empty() && name.find('/') == std::string::npos;
        if (top && owner.tests.emplace(name, GoTest{}).second) { owner.order.push_back(name); }
        if (action == "output") {
            output_of(owner, name, go_text(event, "Output"));
        } else if (action == "pass" || action == "fail" || action == "skip") {
            if (top) {
                owner.tests[name].ends.push_back(action);
            } else if (name.empty()) {
                owner.end = action;
                owner.failed_build = go_text(event, "FailedBuild");
            }
        }
    }
};

/// Returns the compiler's output for one package: `# example.com/slug [example.com/slug.test]`, then its lines.
std::string go_build_output(std::string_view err, const std::string& package) {
    std::string text;
    bool inside = false;
    for_each_line(err, [&](std::string_view line) {
        if (line.starts_with("# ")) {
            const auto named = line.substr(2, line.find(' ', 2) - 2);
            inside = named == package || named == package + "_test";
        } else if (inside && text.size() < go_kept_output) {
            text += std::string(line) + "\n";
        }
    });
    return text;
}

void go_report_tests(const GoPackage& package, std::vector<ReportedTest>& tests) {
    for (const auto& name : package.order) {
        const auto& test = package.tests.find(name)->second;
        if (test.ends.empty()) { tests.push_back(go_reported(name, test, "", package)); }
        for (const auto& end : test.ends) { tests.push_back(go_reported(name, test, end, package)); }
    }
}

bool go_failed_to_build(const GoPackage& package) {
    return !package.failed_build.empty() || package.output.find(" [build failed]") != std::string::npos ||
           package.output.find(" [setup failed]") != std::string::npos;
}

/// Returns how the end of a package disagrees with its tests. Empty if it does not.
std::string go_problem_of(const std::string& name, const GoPackage& package) {
    if (package.end.empty()) { return "the package " + name + " has no end"; }
    const bool all_pass =
        std::ranges::all_of(package.tests, [](const auto& test) { return test.second.ends == std::vector<std::string>{"pass"}; });
    if (package.end != "fail" || !all_pass) { return {}; }
    return "the package " + name +
           " failed although none of its tests did: " + ellipsis(first_line(go_message(package.output, true)), 200);
}

/// Each test file that the compiler names is an error. If it names none, the package itself is reported.
void go_not_built(const std::string& package, const std::string& output, const std::string& root,
                  std::vector<ReportedTest>& tests) {
    std::map<std::string, std::pair<std::uint64_t, std::string>> files;
    std::string first;
    for_each_line(output, [&](std::string_view line) {
        const auto end = line.find(".go:");
        if (end == std::string_view::npos) { return; }
        auto file = path_in_tree(go_trimmed(line.substr(0, end + 3)), root);
        if (file.starts_with("vet: ")) { file.erase(0, 5); }
        if (first.empty()) { first = go_trimmed(line); }
        if (file.ends_with("_test.go")) { files.emplace(file, std::pair(go_line(line), std::string(go_trimmed(line)))); }
    });
    for (const auto& [file, error] : files) {
        ReportedTest test;
        test.name = file;
        test.file = file;
        test.line = error.first;
        test.message = failure_text("does not build: " + error.second);
        tests.push_back(std::move(test));
    }
    if (!files.empty()) { return; }
    ReportedTest test;
    test.name = "(build)";
    test.suite = package;
    test.message = failure_text("the package does not build: " + (first.empty() ? std::string(go_trimmed(output)) : first));
    tests.push_back(std::move(test));
}

}  // namespace

FormatResult parse_go_test_json(const RunOutput& output) {
    FormatResult result;
    GoEvents events;
    events.root = std::string(output.root);
    events.read(output.out);
    for (const auto& name : events.order) {
        const auto& package = events.packages.find(name)->second;
        go_report_tests(package, result.tests);
        if (go_failed_to_build(package)) {
            events.broken.push_back(name);
        } else if (auto problem = go_problem_of(name, package); !problem.empty()) {
            events.problem = std::move(problem);
        }
    }
    std::sort(events.broken.begin(), events.broken.end());
    events.broken.erase(std::unique(events.broken.begin(), events.broken.end()), events.broken.end());
    for (const auto& name : events.broken) {
        const auto text = go_build_output(output.err, name) + events.build_output(name);
        go_not_built(name, text.empty() ? std::string(output.err.substr(0, 4096)) : text, events.root, result.tests);
    }
    // A file without a package clause prevents go from loading anything, which only standard error says.
    const bool loaded_nothing = events.order.empty() && events.broken.empty() && events.problem.empty();
    if (loaded_nothing && output.err.find(".go:") != std::string_view::npos) {
        go_not_built("(module)", std::string(output.err.substr(0, 4096)), events.root, result.tests);
    }
    result.problem = std::move(events.problem);
    return result;
}

}  // namespace agentforge::kernel
