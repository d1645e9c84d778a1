// SPDX-License-Identifier: Apache-2.0
#include "pipeline/entry/adopted_tests.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "contracts/names.hpp"
#include "gates/stubs/declarable_interfaces.hpp"
#include "pipeline/gate_runs.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {
namespace {

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Converts to lower case, with one separator between the parts of an id.
std::string as_id(std::string_view text) {
    std::string out;
    for (const char c : text) { out += c == '-' || c == ' ' ? '_' : lower_letter(c); }
    return out;
}

struct KnownRequirement {
    std::string spelled;
    std::string id;
};

/// Lists the names that a test may use for a requirement: its id, with or without a separator, or one of its test cases.
std::vector<KnownRequirement> known_requirements(const json::object& specification) {
    std::vector<KnownRequirement> known;
    const auto each = [&](std::string_view list, const auto& take) {
        const json::value* items = specification.if_contains(list);
        if (items == nullptr || !items->is_array()) { return; }
        for (const json::value& item : items->get_array()) {
            if (item.is_object()) { take(item.get_object()); }
        }
    };
    each("requirements", [&](const json::object& one) {
        const std::string id = text_of(one, "id");
        if (id.empty()) { return; }
        known.push_back({as_id(id), id});
        std::string joined = as_id(id);
        std::erase(joined, '_');
        known.push_back({joined, id});
    });
    each("test_cases", [&](const json::object& one) {
        if (const std::string id = text_of(one, "id"); id.size() > 2) {
            known.push_back({as_id(id), text_of(one, "requirement_ref")});
        }
    });
    return known;
}

bool in_an_id(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// Returns the requirement that a text names first.
std::string requirement_in(const std::string& text, const std::vector<KnownRequirement>& known) {
    const std::string plain = as_id(text);
    std::size_t first = std::string::npos;
    std::string found;
    for (const KnownRequirement& one : known) {
        for (std::size_t at = plain.find(one.spelled); at != std::string::npos; at = plain.find(one.spelled, at + 1)) {
            const std::size_t end = at + one.spelled.size();
            // A digit or letter next to the id makes it another word.
            const bool whole = (at == 0 || !in_an_id(plain[at - 1])) && (end == plain.size() || !in_an_id(plain[end]));
            if (!whole || at >= first) { continue; }
            first = at;
            found = one.id;
        }
    }
    return found;
}

/// Returns the first text of the form `REQ-001`, however it is spelled. For a text that names no requirement of the
/// specification.
std::string unknown_requirement_in(const std::string& text) {
    constexpr std::string_view prefix = "req";
    constexpr std::size_t digits = 3;
    const std::string plain = as_id(text);
    for (std::size_t at = plain.find(prefix); at != std::string::npos; at = plain.find(prefix, at + 1)) {
        std::size_t begin = at + prefix.size();
        begin += begin < plain.size() && plain[begin] == '_' ? 1 : 0;
        const std::string number = plain.substr(begin, digits);
        const bool is_number = number.size() == digits && number.find_first_not_of("0123456789") == std::string::npos;
        const std::size_t end = begin + digits;
        const bool whole = (at == 0 || !in_an_id(plain[at - 1])) && (end >= plain.size() || !in_an_id(plain[end]));
        if (is_number && whole) { return "REQ-" + number; }
    }
    return {};
}

/// Returns the test's own name in the file: the part after the last separator.
std::string last_word(const std::string& name) {
    std::string text = name.substr(0, name.find('['));
    for (const std::string_view separator : {"::", ".", "/", " > "}) {
        if (const auto at = text.rfind(separator); at != std::string::npos && at + separator.size() < text.size()) {
            text = text.substr(at + separator.size());
        }
    }
    return text;
}

/// True for a comment, a decorator or an attribute: it belongs to the line below.
bool leads_to_next_line(const std::string& line) {
    const std::size_t at = line.find_first_not_of(" \t\r");
    return at != std::string::npos && std::string_view("#/*@[").find(line[at]) != std::string_view::npos;
}

std::vector<std::string> lines_of_test_file(std::string_view text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

/// Returns the line where each test begins. Omits tests that are not found.
std::map<std::size_t, std::size_t> beginnings(const std::vector<std::string>& lines, const std::vector<std::string>& names) {
    std::map<std::size_t, std::size_t> found;
    for (std::size_t test = 0; test < names.size(); ++test) {
        const std::string word = last_word(names[test]);
        for (std::size_t line = 0; line < lines.size(); ++line) {
            const std::size_t at = lines[line].find(word);
            if (at == std::string::npos || found.contains(line)) { continue; }
            const auto joins = [](char c) { return in_an_id(lower_letter(c)) || c == '_'; };
            const std::size_t end = at + word.size();
            if ((at != 0 && joins(lines[line][at - 1])) || (end < lines[line].size() && joins(lines[line][end]))) { continue; }
            std::size_t first = line;
            while (first > 0 && leads_to_next_line(lines[first - 1]) && !found.contains(first - 1)) { --first; }
            found.emplace(first, test);
            break;
        }
    }
    return found;
}

std::vector<std::string> requirements_to_test(const json::object& specification) {
    std::vector<std::string> ids;
    const json::value* requirements = specification.if_contains("requirements");
    if (requirements == nullptr || !requirements->is_array()) { return ids; }
    for (const json::value& each : requirements->get_array()) {
        if (each.is_object() && text_of(each.get_object(), "verification_method") == "test") {
            ids.push_back(text_of(each.get_object(), "id"));
        }
    }
    return ids;
}

Error imported_tests_error(std::string message, std::string remedy) {
    return Error{"AF-EXT-008", std::move(message), "", std::move(remedy), ErrorKind::invalid};
}

/// Writes files as the kernel: no role's rules apply, but protected places stay closed. Records the tree.
Result<void> put_into_workspace(TaskSession& session, TaskTrees& trees,
                                const std::vector<std::pair<std::string, std::string>>& files, const std::string& reason) {
    AF_TRY(RolePaths rules, RolePaths::make("kernel", {}));
    AF_TRY(auto workspace, RoleWorkspace::open(trees.root(), std::move(rules), session.redactor()));
    workspace->pin(trees.submodules());
    std::vector<std::string> paths;
    for (const auto& [path, content] : files) {
        AF_CHECK(workspace->create(path, content, true));
        paths.push_back(path);
    }
    if (paths.empty()) { return {}; }
    AF_TRY(const std::string tree, trees.snapshot(paths));
    if (tree == session.state().tree) { return {}; }
    AF_CHECK(trees.keep("seq-" + std::to_string(session.state().seq + 1), tree));
    return session.record(
        records::Snapshot{.stage = session.state().stage().name, .tree = tree, .reason = reason, .paths = paths});
}

Result<void> declare_interfaces(TaskSession& session, TaskWorkspace& task_workspace, const json::object& specification,
                                const Stop& stop) {
    const auto interfaces = declarable_interfaces(specification);
    if (interfaces.empty()) { return {}; }
    AF_TRY(const auto files, task_workspace.skeleton(session.state().base_tree, interfaces, stop));
    return put_into_workspace(session, task_workspace, files, "the specified interfaces were declared");
}

/// The tests of one imported file.
struct FoundTests {
    std::vector<std::string> names;
    bool fails = false;
};

std::map<std::string, FoundTests> found_tests(const GateReport& report) {
    std::map<std::string, FoundTests> found;
    for (const TestOutcome& test : report.tests) {
        FoundTests& file = found[test.file];
        std::string name = test.id.starts_with(test.file + "::") ? test.id.substr(test.file.size() + 2) : test.id;
        name = name.substr(0, name.find('['));
        if (std::ranges::find(file.names, name) == file.names.end()) { file.names.push_back(std::move(name)); }
        file.fails = file.fails || (test.status != TestStatus::passed && test.status != TestStatus::skipped);
    }
    return found;
}

/// Finds the tests by running those files.
Result<std::map<std::string, FoundTests>> discover(TaskSession& session, TaskGates& gates, EventSink& events,
                                                   std::vector<std::string> paths, const Stop& stop) {
    AF_TRY(const GateBaseline baseline, gate_baseline(session, gate_name::tests, nullptr));
    GateCall call;
    call.request.gate = std::string(gate_name::tests);
    call.request.paths = std::move(paths);
    call.tree = session.state().tree;
    call.baseline = &baseline;
    events.event(event::GateStarted{call.request.gate, session.state().stage().name});
    AF_TRY(const GateReport report, gates.gate(call, stop));
    return found_tests(report);
}

/// Gives each test the requirement that its original task recorded for it: under its name, else under its last word.
void take_recorded_traces(const json::array& recorded_files, const std::string& path, std::vector<TracedTest>& tests) {
    std::map<std::string, json::object> recorded;
    for (const json::value& file : recorded_files) {
        if (!file.is_object() || text_of(file.get_object(), "path") != path) { continue; }
        for (const json::object& test : objects_of(file.get_object(), "tests")) {
            const std::string name = text_of(test, "name");
            recorded.insert_or_assign(name.starts_with(path + "::") ? name.substr(path.size() + 2) : name, test);
            recorded.emplace(last_word(name), test);
        }
    }
    for (TracedTest& test : tests) {
        auto found = recorded.find(test.name);
        if (found == recorded.end()) { found = recorded.find(last_word(test.name)); }
        if (found == recorded.end()) { continue; }
        test.requirement = text_of(found->second, "requirement_ref");
        test.guard = text_of(found->second, "kind") == "guard";
    }
}

std::string on_lines(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) { list += "\n  " + text; }
    return list;
}

json::object suite_entry(const std::string& path, const std::vector<TracedTest>& tests) {
    json::array list;
    for (const TracedTest& test : tests) {
        list.push_back(
            json::object{{"name", test.name}, {"requirement_ref", test.requirement}, {"kind", test.guard ? "guard" : "new"}});
    }
    return {{"path", path}, {"tests", std::move(list)}};
}

}  // namespace

std::vector<TracedTest> trace_tests(std::string_view file, const std::vector<std::string>& names,
                                    const json::object& specification) {
    const auto known = known_requirements(specification);
    const auto only = requirements_to_test(specification);
    const auto lines = lines_of_test_file(file);
    const auto begins = beginnings(lines, names);
    const auto part = [&](std::size_t from, std::size_t to) {
        std::string text;
        for (std::size_t line = from; line < to; ++line) { text += lines[line] + "\n"; }
        return text;
    };
    const std::string of_file = requirement_in(part(0, begins.empty() ? lines.size() : begins.begin()->first), known);
    std::vector<TracedTest> traced;
    for (std::size_t test = 0; test < names.size(); ++test) {
        TracedTest one{names[test], requirement_in(last_word(names[test]), known)};
        const auto begin = std::ranges::find_if(begins, [&](const auto& each) { return each.second == test; });
        if (begin != begins.end()) {
            const auto after = std::next(begin);
            const std::string own = part(begin->first, after == begins.end() ? lines.size() : after->first);
            one.guard = as_id(own).find("(guard)") != std::string::npos;
            if (one.requirement.empty()) { one.requirement = requirement_in(own, known); }
            if (one.requirement.empty()) { one.unknown = unknown_requirement_in(own); }
        }
        if (one.requirement.empty() && one.unknown.empty()) { one.requirement = of_file; }
        if (one.requirement.empty() && one.unknown.empty() && only.size() == 1) { one.requirement = only.front(); }
        traced.push_back(std::move(one));
    }
    return traced;
}

namespace {

/// Puts imported tests into the workspace, and measures that they fail as new tests must.
class TestAdoption {
public:
    TestAdoption(TaskSession& session, TaskWorkspace& task_workspace, EventSink& events, const Stop& stop)
        : session_(session), task_workspace_(task_workspace), events_(events), stop_(stop) {}

    /// Returns the imported tests as a test suite.
    Result<json::object> adopt();

private:
    Result<void> read_imports();
    Result<void> prepare_workspace();
    Result<std::vector<std::string>> put_tests_in();
    Result<void> trace(const std::map<std::string, FoundTests>& found);
    void trace_file(const ImportedFile& file, const std::vector<std::string>& names);
    Result<void> measure(const json::object& suite);

    TaskSession& session_;
    TaskWorkspace& task_workspace_;
    EventSink& events_;
    const Stop& stop_;
    json::object specification_;
    ImportedTests imported_;
    std::set<std::string> unchanged_;  ///< Files that the repository already has unchanged.
    json::array test_files_;
    std::vector<std::string> untraced_;  ///< Tests whose requirement is unknown.
};

Result<json::object> TestAdoption::adopt() {
    AF_CHECK(read_imports());
    AF_CHECK(prepare_workspace());
    AF_TRY(std::vector<std::string> paths, put_tests_in());
    AF_TRY(const auto found, discover(session_, task_workspace_, events_, std::move(paths), stop_));
    AF_CHECK(trace(found));
    json::object suite{{"test_files", std::move(test_files_)}};
    AF_CHECK(measure(suite));
    return suite;
}

Result<void> TestAdoption::read_imports() {
    const std::string contract = session_.state().stage_template().contract;
    AF_TRY(auto specification, session_.artifact_of(contract_name::specification));
    if (!specification) {
        return imported_tests_error("there is no specification to check the imported tests against",
                                    "Give it as well: --from-spec FILE");
    }
    specification_ = *std::move(specification);
    AF_TRY(imported_, imported_tests(session_, contract));
    return {};
}

Result<void> TestAdoption::prepare_workspace() {
    AF_CHECK(ensure_baseline(session_, task_workspace_, events_, stop_));
    AF_CHECK(begin_suite(session_, task_workspace_, session_.redactor()));
    return declare_interfaces(session_, task_workspace_, specification_, stop_);
}

/// Returns the paths.
Result<std::vector<std::string>> TestAdoption::put_tests_in() {
    std::vector<std::pair<std::string, std::string>> written;
    std::vector<std::string> paths;
    for (const ImportedFile& file : imported_.files) {
        AF_TRY(const auto before, task_workspace_.file_in_tree(session_.state().base_tree, file.path));
        if (before && *before == file.content) { unchanged_.insert(file.path); }
        written.emplace_back(file.path, file.content);
        paths.push_back(file.path);
    }
    AF_CHECK(put_into_workspace(session_, task_workspace_, written, "the imported tests were put in"));
    return paths;
}

Result<void> TestAdoption::trace(const std::map<std::string, FoundTests>& found) {
    for (const ImportedFile& file : imported_.files) {
        const auto tests = found.find(file.path);
        if (tests == found.end()) { continue; }
        const bool of_the_repository = unchanged_.contains(file.path) && !tests->second.fails;
        if (!of_the_repository) { trace_file(file, tests->second.names); }
    }
    if (test_files_.empty()) {
        return imported_tests_error(
            "none of the " + std::to_string(imported_.files.size()) +
                " imported files contains a test that the project's test command runs and that is not in the repository already",
            "Name the folder with the new tests; their files must lie where this project's tests do");
    }
    if (!untraced_.empty()) {
        return Error{"AF-EXT-009", "cannot tell which requirements these imported tests check:" + on_lines(untraced_), "",
                     "Name the requirement in the test's name or in a comment above it, such as `# REQ-001`", ErrorKind::invalid};
    }
    return {};
}

void TestAdoption::trace_file(const ImportedFile& file, const std::vector<std::string>& names) {
    auto traced = trace_tests(file.content, names, specification_);
    take_recorded_traces(imported_.traced, file.path, traced);
    for (const TracedTest& test : traced) {
        if (!test.requirement.empty()) { continue; }
        untraced_.push_back(
            file.path + "::" + test.name +
            (test.unknown.empty() ? "" : ": it names " + test.unknown + ", and the specification has no such requirement"));
    }
    test_files_.push_back(suite_entry(file.path, traced));
}

Result<void> TestAdoption::measure(const json::object& suite) {
    GateRequest request;
    request.gate = exit_gate(session_.state().stage_template());
    if (request.gate.empty()) { return {}; }
    AF_TRY(const GateReport report,
           run_and_record_gate(session_, task_workspace_, events_, request, session_.state().tree, &suite, stop_));
    if (report.passed) { return {}; }
    return imported_tests_error(
        "the imported tests do not fail as tests written before the code must:" + on_lines(report.blocking_issues),
        "Correct the tests or the specification and start a new task");
}

}  // namespace

Result<json::object> adopt_tests(TaskSession& session, TaskWorkspace& task_workspace, EventSink& events, const Stop& stop) {
    return TestAdoption(session, task_workspace, events, stop).adopt();
}

}  // namespace agentforge::kernel
