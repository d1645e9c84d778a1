// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules.hpp"

#include <algorithm>
#include <set>

#include "base/json_fields.hpp"
#include "base/requirement_text.hpp"
#include "base/text.hpp"
#include "base/versions.hpp"
#include "contracts/names.hpp"

namespace agentforge::kernel {

namespace {

const json::object& object_of(const json::object& object, std::string_view key) {
    static const json::object none;
    const auto* found = object.if_contains(key);
    const auto* inner = found == nullptr ? nullptr : found->if_object();
    return inner == nullptr ? none : *inner;
}

/// Calls `visit(item, path)` for every object in a list.
template <class Visit>
void each_object(const json::object& object, std::string_view key, const ArtifactPath& path, Visit visit) {
    const auto& list = list_of(object, key);
    const auto list_path = path.field(key);
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (const auto* item = list[i].if_object()) { visit(*item, list_path.item(i)); }
    }
}

template <class Visit>
void each_text(const json::object& object, std::string_view key, const ArtifactPath& path, Visit visit) {
    const auto& list = list_of(object, key);
    const auto list_path = path.field(key);
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (const auto* text = list[i].if_string()) { visit(view(*text), list_path.item(i)); }
    }
}

/// Returns the specification among the artifacts. If the map is not by contract, returns the first that looks like one.
const json::object* specification_in(const RuleContext& context) {
    if (context.artifacts == nullptr) { return nullptr; }
    const auto is_specification = [](const json::object& artifact) {
        return artifact.contains("spec_id") && artifact.contains("requirements");
    };
    if (const auto found = context.artifacts->find(contract_name::specification);
        found != context.artifacts->end() && found->second.contains("requirements")) {
        return &found->second;
    }
    for (const auto& [stage, artifact] : *context.artifacts) {
        if (is_specification(artifact)) { return &artifact; }
    }
    return nullptr;
}

const json::object* artifact_with(const RuleContext& context, std::string_view contract, std::string_view field) {
    if (context.artifacts == nullptr) { return nullptr; }
    if (const auto found = context.artifacts->find(contract);
        found != context.artifacts->end() && found->second.contains(field)) {
        return &found->second;
    }
    for (const auto& [name, artifact] : *context.artifacts) {
        if (artifact.contains(field)) { return &artifact; }
    }
    return nullptr;
}

void requirements_have_criteria(const NamedRule& rule, const json::object& artifact, const RuleContext&,
                                ViolationList& violations) {
    each_object(artifact, "requirements", {}, [&](const json::object& requirement, const ArtifactPath& path) {
        if (list_of(requirement, "acceptance_criteria").empty()) {
            violations.add(path.field("acceptance_criteria"), rule.text,
                           path.words() + " (" + ellipsis(text_of(requirement, "id"), 40) + ") has no acceptance criterion");
        }
    });
}

void paths_are_relative(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    const auto check = [&](std::string_view text, const ArtifactPath& path) {
        if (const auto problem = relative_path_problem(text); !problem.empty()) {
            violations.add(path, rule.text, path.words() + " is " + show(json::string(text)) + ", which " + problem);
        }
    };
    for (const std::string_view list : {"files_to_modify", "files_to_create", "affected_files", "files_created", "files_modified",
                                        "final_files", "skeleton_files", "test_files"}) {
        each_text(artifact, list, {}, check);
        each_object(artifact, list, {}, [&](const json::object& item, const ArtifactPath& path) {
            if (item.contains("path")) { check(text_of(item, "path"), path.field("path")); }
        });
    }
    each_object(artifact, "components", {}, [&](const json::object& item, const ArtifactPath& path) {
        auto text = text_of(item, "path");
        if (text.size() > 1 && text.ends_with('/')) { text.pop_back(); }  // A component may be a folder.
        if (!text.empty()) { check(text, path.field("path")); }
    });
    each_object(artifact, "interfaces", {}, [&](const json::object& item, const ArtifactPath& path) {
        if (item.contains("file")) { check(text_of(item, "file"), path.field("file")); }
    });
    each_object(object_of(artifact, "dependencies"), "external", ArtifactPath().field("dependencies"),
                [&](const json::object& item, const ArtifactPath& path) {
                    if (item.contains("artifact")) { check(text_of(item, "artifact"), path.field("artifact")); }
                });
    each_object(artifact, "improvements", {},
                [&](const json::object& item, const ArtifactPath& path) { each_text(item, "files", path, check); });
    for (const auto& [key, note] : object_of(artifact, "file_notes")) {
        const std::string_view name(key.data(), key.size());
        check(name, ArtifactPath().field("file_notes").field(name));
    }
}

/// Looks for a cycle in `depends_on` from each node, without recursion, so that a long chain cannot overflow the stack.
std::vector<std::string> find_cycle(const std::map<std::string, std::vector<std::string>>& edges) {
    enum class Colour : unsigned char { grey = 1, black };
    std::map<std::string, Colour> colours;
    for (const auto& [start, unused] : edges) {
        if (colours.contains(start)) { continue; }
        std::vector<std::pair<std::string, std::size_t>> trail{{start, 0}};
        colours[start] = Colour::grey;
        while (!trail.empty()) {
            auto& [node, next] = trail.back();
            const auto found = edges.find(node);
            if (found == edges.end() || next >= found->second.size()) {
                colours[node] = Colour::black;
                trail.pop_back();
                continue;
            }
            const std::string target = found->second[next++];
            const auto colour = colours.find(target);
            if (colour == colours.end()) {
                colours[target] = Colour::grey;
                trail.emplace_back(target, 0);
            } else if (colour->second == Colour::grey) {
                std::vector<std::string> cycle;
                bool inside = false;
                for (const auto& [name, unused_next] : trail) {
                    inside = inside || name == target;
                    if (inside) { cycle.push_back(name); }
                }
                cycle.push_back(target);
                return cycle;
            }
        }
    }
    return {};
}

void no_cycles(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    const auto check = [&](std::string_view list, std::string_view name_key) {
        std::map<std::string, std::vector<std::string>> edges;
        each_object(artifact, list, {}, [&](const json::object& item, const ArtifactPath& path) {
            auto& targets = edges[std::string(text_of(item, name_key))];
            each_text(item, "depends_on", path,
                      [&](std::string_view target, const ArtifactPath&) { targets.emplace_back(target); });
        });
        const auto cycle = find_cycle(edges);
        if (cycle.empty()) { return; }
        std::string words;
        for (const auto& name : cycle) { words += (words.empty() ? "" : " → ") + ellipsis(name, 60); }
        violations.add(ArtifactPath().field(list), rule.text, std::string(list) + " depend on each other in a cycle: " + words);
    };
    check("components", "name");
    check("requirements", "id");
}

void requirements_are_unique(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    std::set<std::string, std::less<>> seen;
    each_object(artifact, "requirements", {}, [&](const json::object& requirement, const ArtifactPath& path) {
        const auto id = text_of(requirement, "id");
        if (!id.empty() && !seen.emplace(id).second) {
            violations.add(path.field("id"), rule.text,
                           path.words_of("id") + " is " + show(json::string(id)) + ", which another requirement has already");
        }
    });
}

std::set<std::string, std::less<>> requirement_ids(const json::object& specification) {
    std::set<std::string, std::less<>> ids;
    each_object(specification, "requirements", {},
                [&](const json::object& requirement, const ArtifactPath&) { ids.emplace(text_of(requirement, "id")); });
    return ids;
}

void add_unknown_reference(const NamedRule& rule, const std::set<std::string, std::less<>>& ids, std::string_view reference,
                           const ArtifactPath& path, ViolationList& violations) {
    if (reference.empty() || ids.contains(reference)) { return; }
    violations.add(path, rule.text,
                   path.words() + " is " + show(json::string(reference)) + ", which is not a requirement of the specification");
}

void test_cases_name_requirements(const NamedRule& rule, const json::object& artifact, const RuleContext&,
                                  ViolationList& violations) {
    const auto ids = requirement_ids(artifact);
    each_object(artifact, "test_cases", {}, [&](const json::object& test, const ArtifactPath& path) {
        add_unknown_reference(rule, ids, text_of(test, "requirement_ref"), path.field("requirement_ref"), violations);
    });
}

void outdated_tests_name_requirements(const NamedRule& rule, const json::object& artifact, const RuleContext&,
                                      ViolationList& violations) {
    const auto ids = requirement_ids(artifact);
    each_object(artifact, "outdated_tests", {}, [&](const json::object& test, const ArtifactPath& path) {
        add_unknown_reference(rule, ids, text_of(test, "requirement_ref"), path.field("requirement_ref"), violations);
    });
}

void versions_are_ranges(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    const auto path = ArtifactPath().field("dependencies");
    each_object(object_of(artifact, "dependencies"), "external", path,
                [&](const json::object& dependency, const ArtifactPath& place) {
                    const std::string version = text_of(dependency, "version");
                    if (VersionRange::parse(version)) { return; }
                    violations.add(place.field("version"), rule.text,
                                   place.field("version").words() + " is " + show(json::string(version)) +
                                       ", which is not a version range, such as `>=1.2.0, <2`, `^1.2` or `1.4.0`");
                });
}

template <class Visit>
void each_test(const json::object& suite, Visit visit) {
    each_object(suite, "test_files", {},
                [&](const json::object& file, const ArtifactPath& file_path) { each_object(file, "tests", file_path, visit); });
}

bool is_guard(const json::object& test) { return text_of(test, "kind") == "guard"; }

/// A refactoring and a deletion change no behaviour that a new test could check.
bool guards_suffice(const RuleContext& context) {
    const auto* intake = artifact_with(context, contract_name::intake_record, "extracted_intent");
    if (intake == nullptr) { return false; }
    const auto action = text_of(object_of(*intake, "extracted_intent"), "action");
    return action == "refactor" || action == "delete";
}

void requirements_have_tests(const NamedRule& rule, const json::object& artifact, const RuleContext& context,
                             ViolationList& violations) {
    const auto* specification = specification_in(context);
    if (specification == nullptr) {
        violations.add({}, rule.text, "there is no specification to compare the tests with");
        return;
    }
    std::set<std::string, std::less<>> with_new;
    std::set<std::string, std::less<>> with_guard;
    each_test(artifact, [&](const json::object& test, const ArtifactPath&) {
        (is_guard(test) ? with_guard : with_new).emplace(text_of(test, "requirement_ref"));
    });
    const bool guards = guards_suffice(context);
    each_object(*specification, "requirements", {}, [&](const json::object& requirement, const ArtifactPath&) {
        const auto method = text_of(requirement, "verification_method");
        if (!method.empty() && method != "test") { return; }
        const auto id = text_of(requirement, "id");
        const bool stays = !with_new.empty() && says_that_something_stays(text_of(requirement, "description"));
        if (with_new.contains(id) || ((guards || stays) && with_guard.contains(id))) { return; }
        violations.add(
            ArtifactPath().field("test_files"), rule.text,
            "requirement " + ellipsis(id, 40) +
                (with_guard.contains(id) ? " has only guards; it needs a test that fails before the change" : " has no test"));
    });
}

void tests_name_requirements(const NamedRule& rule, const json::object& artifact, const RuleContext& context,
                             ViolationList& violations) {
    const auto* specification = specification_in(context);
    if (specification == nullptr) { return; }  // Reported by the rule on tests for requirements.
    const auto ids = requirement_ids(*specification);
    each_test(artifact, [&](const json::object& test, const ArtifactPath& path) {
        add_unknown_reference(rule, ids, text_of(test, "requirement_ref"), path.field("requirement_ref"), violations);
    });
}

/// Requires the measured fact `verification.<field>` to be true.
void require_verified(const NamedRule& rule, const json::object& artifact, std::string_view field, std::string_view broken,
                      ViolationList& violations) {
    const auto& verification = object_of(artifact, "verification");
    const auto* fact = verification.if_contains(field);
    const auto path = ArtifactPath().field("verification").field(field);
    if (fact == nullptr) {
        violations.add(path, rule.text, path.words() + " was not measured");
    } else if (!fact->is_bool() || !fact->get_bool()) {
        violations.add(path, rule.text, path.words() + " is " + show(*fact) + ": " + std::string(broken));
    }
}

void tests_fail(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    require_verified(rule, artifact, "all_tests_fail", "a new test passes before the implementation exists, or did not run",
                     violations);
}

void failing_tests_exist(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    bool expects_failures = false;
    each_test(artifact,
              [&](const json::object& test, const ArtifactPath&) { expects_failures = expects_failures || !is_guard(test); });
    if (expects_failures && list_of(artifact, "failing_tests").empty()) {
        violations.add(ArtifactPath().field("failing_tests"), rule.text, "failing_tests is empty: no test was seen to fail");
    }
}

void suite_passes(const NamedRule& rule, const json::object& artifact, const RuleContext& context, ViolationList& violations) {
    require_verified(rule, artifact, "all_tests_pass", "a test fails", violations);
    const auto* suite = artifact_with(context, contract_name::test_suite, "failing_tests");
    if (suite == nullptr || !artifact.contains("passing_tests")) { return; }
    std::set<std::string, std::less<>> passing;
    each_text(artifact, "passing_tests", {}, [&](std::string_view test, const ArtifactPath&) { passing.emplace(test); });
    each_text(*suite, "failing_tests", {}, [&](std::string_view test, const ArtifactPath&) {
        const auto first = passing.lower_bound(test);  // The test itself, or the first of its parameters: `test[1]`.
        if (first == passing.end() || (*first != test && !first->starts_with(std::string(test) + "["))) {
            violations.add(ArtifactPath().field("passing_tests"), rule.text,
                           ellipsis(test, 200) + " failed before the change and does not pass now");
        }
    });
}

void conformance_passes(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    require_verified(rule, artifact, "conformance_passing", "a conformance check found a violation", violations);
}

void nothing_broken(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    require_verified(rule, artifact, "no_regressions", "a test that passed before fails", violations);
}

void deployment_ready(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    require_verified(rule, artifact, "deployment_ready", "the tree to be delivered does not pass its gates", violations);
}

void blocking_issues_have_remediation(const NamedRule& rule, const json::object& artifact, const RuleContext&,
                                      ViolationList& violations) {
    each_object(artifact, "blocking_issues", {}, [&](const json::object& issue, const ArtifactPath& path) {
        const auto remediation = text_of(issue, "remediation");
        if (remediation.find_first_not_of(" \t\r\n") == std::string_view::npos) {
            violations.add(path.field("remediation"), rule.text, path.words() + " blocks but says no remediation");
        }
    });
}

void answers_have_confidence(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    each_object(artifact, "questions", {}, [&](const json::object& question, const ArtifactPath& path) {
        if (text_of(question, "source") == "agent_inference" && !question.contains("confidence")) {
            violations.add(path.field("confidence"), rule.text, path.words() + " was inferred; it must say its confidence");
        }
    });
}

void tools_do_not_overlap(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    const auto& tools = object_of(object_of(artifact, "capabilities"), "tools");
    std::set<std::string, std::less<>> forbidden;
    each_text(tools, "forbidden", {}, [&](std::string_view tool, const ArtifactPath&) { forbidden.emplace(tool); });
    each_text(tools, "allowed", ArtifactPath().field("capabilities").field("tools"),
              [&](std::string_view tool, const ArtifactPath& path) {
                  if (forbidden.contains(tool)) {
                      violations.add(path, rule.text,
                                     path.words() + " is " + show(json::string(tool)) + ", which is also forbidden");
                  }
              });
}

void output_contract_exists(const NamedRule& rule, const json::object& artifact, const RuleContext& context,
                            ViolationList& violations) {
    if (!context.contract_exists) { return; }
    const auto& output = object_of(object_of(artifact, "capabilities"), "output");
    const auto path = ArtifactPath().field("capabilities").field("output").field("contract");
    const auto check = [&](const json::value& name, const ArtifactPath& at) {
        const auto* text = name.if_string();
        if (text != nullptr && !context.contract_exists(view(*text))) {
            violations.add(at, rule.text, at.words() + " is " + show(name) + ", and there is no such contract");
        }
    };
    const auto* contract = output.if_contains("contract");
    if (contract == nullptr) { return; }
    if (const auto* by_stage = contract->if_object()) {
        for (const auto& [stage, name] : *by_stage) { check(name, path.field(std::string_view(stage.data(), stage.size()))); }
    } else {
        check(*contract, path);
    }
}

void named_agents_exist(const NamedRule& rule, const json::object& artifact, std::string_view key, const RuleContext& context,
                        ViolationList& violations) {
    if (!context.agent_exists) { return; }
    each_text(object_of(artifact, "orchestration"), key, ArtifactPath().field("orchestration"),
              [&](std::string_view role, const ArtifactPath& path) {
                  if (!context.agent_exists(role)) {
                      violations.add(path, rule.text,
                                     path.words() + " is " + show(json::string(role)) + ", and there is no such agent");
                  }
              });
}

void receives_from_exist(const NamedRule& rule, const json::object& artifact, const RuleContext& context,
                         ViolationList& violations) {
    named_agents_exist(rule, artifact, "receives_from", context, violations);
}
void hands_off_to_exist(const NamedRule& rule, const json::object& artifact, const RuleContext& context,
                        ViolationList& violations) {
    named_agents_exist(rule, artifact, "hands_off_to", context, violations);
}
void reviewed_by_exist(const NamedRule& rule, const json::object& artifact, const RuleContext& context,
                       ViolationList& violations) {
    named_agents_exist(rule, artifact, "reviewed_by", context, violations);
}
void reviews_exist(const NamedRule& rule, const json::object& artifact, const RuleContext& context, ViolationList& violations) {
    named_agents_exist(rule, artifact, "reviews", context, violations);
}

std::int64_t whole_number(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    if (value == nullptr) { return 0; }
    if (value->is_int64()) { return value->get_int64(); }
    return value->is_uint64() ? static_cast<std::int64_t>(value->get_uint64()) : 0;
}

void steps_are_numbered(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    std::int64_t expected = 0;
    each_object(artifact, "steps", {}, [&](const json::object& step, const ArtifactPath& path) {
        expected += 1;
        if (const auto number = whole_number(step, "number"); number != expected) {
            violations.add(
                path.field("number"), rule.text,
                path.words_of("number") + " is " + std::to_string(number) + "; it must be " + std::to_string(expected));
        }
    });
}

void steps_depend_on_earlier(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    each_object(artifact, "steps", {}, [&](const json::object& step, const ArtifactPath& path) {
        for (const auto& other : list_of(step, "depends_on")) {
            const auto number = other.is_int64() ? other.get_int64() : 0;
            if (number >= 1 && number < whole_number(step, "number")) { continue; }
            violations.add(path.field("depends_on"), rule.text,
                           path.words_of("depends_on") + " holds " + show(other) + ", which is not a step before it");
        }
    });
}

void steps_name_requirements(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    const auto ids = requirement_ids(artifact);
    each_object(artifact, "steps", {}, [&](const json::object& step, const ArtifactPath& path) {
        each_text(step, "requirements", path, [&](std::string_view reference, const ArtifactPath& at) {
            add_unknown_reference(rule, ids, reference, at, violations);
        });
    });
}

void tested_requirements_have_steps(const NamedRule& rule, const json::object& artifact, const RuleContext&,
                                    ViolationList& violations) {
    std::set<std::string, std::less<>> named;
    each_object(artifact, "steps", {}, [&](const json::object& step, const ArtifactPath& path) {
        each_text(step, "requirements", path, [&](std::string_view reference, const ArtifactPath&) { named.emplace(reference); });
    });
    each_object(artifact, "requirements", {}, [&](const json::object& requirement, const ArtifactPath& path) {
        const auto method = text_of(requirement, "verification_method");
        const auto id = text_of(requirement, "id");
        if ((!method.empty() && method != "test") || id.empty() || named.contains(id)) { return; }
        violations.add(path.field("id"), rule.text,
                       path.words_of("id") + " is " + show(json::string(id)) + ", which no step names under `requirements`");
    });
}

void decision_fits_issues(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    const bool approves = text_of(artifact, "decision") == "approve";
    if (!approves && list_of(artifact, "issues").empty()) {
        violations.add(ArtifactPath().field("issues"), rule.text,
                       "the work is sent back, but `issues` is empty, so nobody would know what to change");
    }
    if (!approves) { return; }
    each_object(artifact, "issues", {}, [&](const json::object& issue, const ArtifactPath& path) {
        const auto severity = text_of(issue, "severity");
        if (severity != "high" && severity != "critical") { return; }
        violations.add(path.field("severity"), rule.text,
                       path.words_of("severity") + " is " + std::string(severity) +
                           ", but the decision is approve: send the work back, or give the issue a lower severity");
    });
}

void stages_are_unique(const NamedRule& rule, const json::object& artifact, const RuleContext&, ViolationList& violations) {
    std::set<std::string, std::less<>> seen;
    each_object(object_of(artifact, "pipeline"), "stages", ArtifactPath().field("pipeline"),
                [&](const json::object& stage, const ArtifactPath& path) {
                    const auto name = text_of(stage, "name");
                    if (!name.empty() && !seen.emplace(name).second) {
                        violations.add(
                            path.field("name"), rule.text,
                            path.words_of("name") + " is " + show(json::string(name)) + ", which another stage has already");
                    }
                });
}

}  // namespace

std::string relative_path_problem(std::string_view path) {
    if (path.empty()) { return "is empty"; }
    if (path.size() > 4096) { return "is longer than 4096 bytes"; }
    if (path.front() == '/') { return "is absolute; it must be relative to the project"; }
    if (path.front() == '~') { return "starts with ~; it must be relative to the project"; }
    for (const char c : path) {
        if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) { return "contains a control character"; }
        if (c == '\\') { return "contains a backslash; folders are separated by /"; }
    }
    if (path.size() > 1 && path[1] == ':') { return "names a drive; it must be relative to the project"; }
    std::size_t start = 0;
    while (start <= path.size()) {
        const auto end = std::min(path.find('/', start), path.size());
        const auto part = path.substr(start, end - start);
        if (part.empty()) { return end == path.size() ? "ends in /; it must name a file" : "contains an empty folder name"; }
        if (part == "." || part == "..") { return "holds " + std::string(part) + "; write the path from the project's top"; }
        if (part.size() > 255) { return "contains a name longer than 255 bytes"; }
        start = end + 1;
    }
    return "";
}

const std::vector<NamedRule>& named_rules() {
    static const std::vector<NamedRule> rules{
        {"every requirement has at least one acceptance criterion", false, requirements_have_criteria},
        {"all file paths are valid relative paths", false, paths_are_relative},
        {"no circular dependencies", false, no_cycles},
        {"requirement ids are unique", false, requirements_are_unique},
        {"every test case names a requirement of this specification", false, test_cases_name_requirements},
        {"every outdated test names a requirement of this specification", false, outdated_tests_name_requirements},
        {"every version of a dependency is a range of versions", false, versions_are_ranges},
        {"every requirement in spec has at least one test", false, requirements_have_tests},
        {"every test names a requirement of the specification", false, tests_name_requirements},
        {"all tests currently fail (verified by execution)", true, tests_fail},
        {"failing tests exist unless every test is a guard", true, failing_tests_exist},
        {"all tests from test_suite now pass", true, suite_passes},
        {"conformance checks pass", true, conformance_passes},
        {"no existing tests broken", true, nothing_broken},
        {"the delivered tree passes its gates", true, deployment_ready},
        {"every blocking issue has a remediation", false, blocking_issues_have_remediation},
        {"every inferred answer has a confidence", false, answers_have_confidence},
        {"allowed and forbidden tools must not overlap", false, tools_do_not_overlap},
        {"output contract must exist in contracts directory", false, output_contract_exists},
        {"receives_from agents must exist", false, receives_from_exist},
        {"hands_off_to agents must exist", false, hands_off_to_exist},
        {"reviewed_by agents must exist", false, reviewed_by_exist},
        {"reviewed agents must exist", false, reviews_exist},
        {"stage names are unique", false, stages_are_unique},
        {"steps are numbered from 1 without a gap", false, steps_are_numbered},
        {"steps depend on earlier steps only", false, steps_depend_on_earlier},
        {"steps name requirements of this specification", false, steps_name_requirements},
        {"every requirement that is tested belongs to a step", false, tested_requirements_have_steps},
        {"work is approved without grave issues and sent back with at least one issue", false, decision_fits_issues},
    };
    return rules;
}

const NamedRule* find_rule(std::string_view text) {
    const auto& rules = named_rules();
    const auto found = std::find_if(rules.begin(), rules.end(), [&](const NamedRule& rule) { return rule.text == text; });
    return found == rules.end() ? nullptr : &*found;
}

}  // namespace agentforge::kernel
