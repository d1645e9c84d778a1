// SPDX-License-Identifier: Apache-2.0
#include "gates/language/language.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <re2/re2.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "gates/formats/format.hpp"
#include "gates/formats/line_counts.hpp"
#include "gates/stubs/skeleton_plain.hpp"

namespace agentforge::kernel {
namespace {

/// Reads the fields of a YAML mapping. Keeps the first error, with its place.
class Reader {
public:
    explicit Reader(const YamlDocument& document) : document_(document) {}

    void fail(const std::string& pointer, std::string message, std::string remedy = {}) {
        if (error_) { return; }
        error_ =
            Error{"AF-GATE-010", "A language file is not valid: " + std::move(message), document_.where(pointer),
                  remedy.empty() ? "See `agentforge help docs/gates.md` for the keys of a language file." : std::move(remedy),
                  ErrorKind::invalid};
    }
    const json::object* object(const json::value& value, const std::string& pointer) {
        if (const auto* found = value.if_object()) { return found; }
        fail(pointer, pointer + " must be a mapping.");
        return nullptr;
    }
    void keys(const json::object& value, const std::string& pointer, const std::vector<std::string>& known) {
        for (const auto& field : value) {
            const std::string key(field.key());
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                const auto near = nearest(key, known);
                fail(pointer + "/" + key + "#", "unknown key `" + key + "`.", near.empty() ? "" : "Did you mean `" + near + "`?");
            }
        }
    }
    std::string text(const json::object& value, const std::string& pointer, const char* key, bool required = true) {
        const auto* found = value.if_contains(key);
        if (found == nullptr) {
            if (required) { fail(pointer, std::string("`") + key + "` is missing."); }
            return {};
        }
        if (const auto* string = found->if_string()) { return std::string(*string); }
        fail(pointer + "/" + key, std::string("`") + key + "` must be a string.");
        return {};
    }
    std::vector<std::string> texts(const json::object& value, const std::string& pointer, const char* key, bool required = true) {
        std::vector<std::string> result;
        const auto* found = value.if_contains(key);
        if (found == nullptr) {
            if (required) { fail(pointer, std::string("`") + key + "` is missing."); }
            return result;
        }
        const auto* array = found->if_array();
        if (array == nullptr) {
            fail(pointer + "/" + key, std::string("`") + key + "` must be a list of strings.");
            return result;
        }
        for (const auto& item : *array) {
            if (const auto* string = item.if_string()) {
                result.emplace_back(*string);
            } else {
                fail(pointer + "/" + key, std::string("`") + key + "` must be a list of strings.");
            }
        }
        return result;
    }
    std::int64_t number(const json::object& value, const std::string& pointer, const char* key, std::int64_t fallback) {
        const auto* found = value.if_contains(key);
        if (found == nullptr) { return fallback; }
        if (found->is_int64() && found->as_int64() >= 0) { return found->as_int64(); }
        fail(pointer + "/" + key, std::string("`") + key + "` must be a whole number.");
        return fallback;
    }
    bool flag(const json::object& value, const std::string& pointer, const char* key, bool fallback = false) {
        const auto* found = value.if_contains(key);
        if (found == nullptr) { return fallback; }
        if (found->is_bool()) { return found->get_bool(); }
        fail(pointer + "/" + key, std::string("`") + key + "` must be true or false.");
        return fallback;
    }
    /// Returns a mapping inside this one, or null if there is none.
    const json::object* part(const json::object& value, const std::string& pointer, const char* key,
                             const std::vector<std::string>& known) {
        const auto* found = value.if_contains(key);
        const auto* fields = found == nullptr ? nullptr : object(*found, pointer + "/" + key);
        if (fields != nullptr) { keys(*fields, pointer + "/" + key, known); }
        return fields;
    }
    std::string pattern(const json::object& value, const std::string& pointer, const char* key, bool required = true) {
        auto text_of = text(value, pointer, key, required);
        const RE2 expression(text_of, RE2::Quiet);
        if (!expression.ok()) { fail(pointer + "/" + key, "the pattern cannot be read: " + expression.error() + "."); }
        return text_of;
    }
    std::vector<std::string> patterns(const json::object& value, const std::string& pointer, const char* key) {
        auto result = texts(value, pointer, key, false);
        for (const auto& each : result) {
            if (const RE2 expression(each, RE2::Quiet); !expression.ok()) {
                fail(pointer + "/" + key, "the pattern cannot be read: " + expression.error() + ".");
            }
        }
        return result;
    }
    std::map<std::string, std::string> mapping(const json::object& value, const std::string& pointer, const char* key) {
        std::map<std::string, std::string> result;
        const auto* found = value.if_contains(key);
        const auto* fields = found == nullptr ? nullptr : object(*found, pointer + "/" + key);
        if (fields == nullptr) { return result; }
        for (const auto& field : *fields) {
            const std::string name(field.key());
            result[name] = text(*fields, pointer + "/" + key, name.c_str());
        }
        return result;
    }
    /// Calls `each` with every mapping in a list and its pointer.
    template <typename Each>
    void list(const json::object& value, const std::string& pointer, const char* key, Each each) {
        const auto* found = value.if_contains(key);
        if (found == nullptr) { return; }
        const auto* items = found->if_array();
        if (items == nullptr) { return fail(pointer + "/" + key, std::string("`") + key + "` must be a list."); }
        std::size_t index = 0;
        for (const auto& item : *items) {
            const auto place = pointer + "/" + key + "/" + std::to_string(index++);
            if (const auto* entry = object(item, place)) { each(*entry, place); }
        }
    }
    std::vector<FileCondition> conditions(const json::object& value, const std::string& pointer, const char* key) {
        std::vector<FileCondition> result;
        list(value, pointer, key, [&](const json::object& entry, const std::string& place) {
            keys(entry, place, {"file", "contains"});
            result.push_back({text(entry, place, "file"), pattern(entry, place, "contains", false)});
        });
        return result;
    }
    std::vector<int> exit_codes(const json::object& value, const std::string& pointer, const char* key,
                                std::vector<int> fallback) {
        const auto* found = value.if_contains(key);
        if (found == nullptr) { return fallback; }
        std::vector<int> result;
        if (const auto* items = found->if_array()) {
            for (const auto& item : *items) {
                if (item.is_int64() && item.get_int64() >= 0 && item.get_int64() < 256) {
                    result.push_back(static_cast<int>(item.get_int64()));
                }
            }
            if (!items->empty() && result.size() == items->size()) { return result; }
        }
        fail(pointer + "/" + key, std::string("`") + key + "` must be a list of exit codes (0 to 255).");
        return fallback;
    }
    LanguageCommand command(const json::object& value, const std::string& pointer, std::string name,
                            std::int64_t timeout_seconds = 60) {
        LanguageCommand result;
        result.name = std::move(name);
        result.argv = texts(value, pointer, "argv");
        if (result.argv.empty()) { fail(pointer, "`argv` must not be empty."); }
        result.timeout = std::chrono::seconds(number(value, pointer, "timeout_seconds", timeout_seconds));
        return result;
    }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

private:
    const YamlDocument& document_;
    std::optional<Error> error_;
};

void read_runner_configuration(Reader& reader, const json::object& root, Language& language) {
    const auto* found = root.if_contains("runner_configuration");
    if (found == nullptr) { return; }
    const std::string pointer = "/runner_configuration";
    const auto* value = reader.object(*found, pointer);
    if (value == nullptr) { return; }
    reader.keys(*value, pointer, {"files", "sections"});
    language.runner_files = Globs(reader.texts(*value, pointer, "files", false));
    const auto* sections = value->if_contains("sections");
    if (sections == nullptr) { return; }
    if (!sections->is_array()) { return reader.fail(pointer + "/sections", "`sections` must be a list."); }
    for (const auto& item : sections->get_array()) {
        if (const auto* section = reader.object(item, pointer + "/sections")) {
            reader.keys(*section, pointer + "/sections", {"file", "begins", "pointer"});
            const bool lines = section->if_contains("begins") != nullptr;
            if (lines == (section->if_contains("pointer") != nullptr)) {
                reader.fail(pointer + "/sections", "a section has either `begins` or `pointer`.");
            }
            language.runner_sections.push_back({reader.text(*section, pointer + "/sections", "file"),
                                                reader.pattern(*section, pointer + "/sections", "begins", false),
                                                reader.text(*section, pointer + "/sections", "pointer", false)});
            const auto& where = language.runner_sections.back().pointer;
            if (!where.empty() && where.front() != '/') {
                reader.fail(pointer + "/sections/pointer", "`pointer` must begin with `/`.");
            }
        }
    }
}

/// A pattern for errors in a tool's output must have groups for the file, the line and the message.
std::string error_pattern(Reader& reader, const json::object& value, const std::string& pointer, const char* key, bool required) {
    auto text = reader.pattern(value, pointer, key, required);
    if (text.empty()) { return text; }
    const RE2 expression(text, RE2::Quiet);
    for (const auto* group : {"file", "line", "message"}) {
        if (expression.ok() && !expression.NamedCapturingGroups().contains(group)) {
            reader.fail(pointer + "/" + key, std::string("`") + key + "` has no group (?P<" + group + ">…).");
        }
    }
    return text;
}

std::string read_format(Reader& reader, const json::object& value, const std::string& pointer, bool lines) {
    auto name = reader.text(value, pointer, "format");
    if (!name.empty() && find_format(name) == nullptr && !(lines && name == "agentforge-lines")) {
        reader.fail(pointer + "/format", "`" + name + "` is not a known format of results.",
                    "Known formats: " + std::string(lines ? "agentforge-lines, " : "") + format_names() + ".");
    }
    return name;
}

void read_run(Reader& reader, const json::object& value, const std::string& pointer, TestRunner& runner) {
    const auto* run = reader.part(value, pointer, "run", {"argv", "format", "timeout_seconds", "exit_passed", "exit_failed"});
    if (run == nullptr) { return reader.fail(pointer, "`run` is missing."); }
    runner.run = reader.command(*run, pointer + "/run", "tests", 600);
    runner.format = read_format(reader, *run, pointer + "/run", true);
    runner.exit_passed = reader.exit_codes(*run, pointer + "/run", "exit_passed", {0});
    runner.exit_failed = reader.exit_codes(*run, pointer + "/run", "exit_failed", {1});
}

void read_coverage(Reader& reader, const json::object& value, const std::string& pointer, TestRunner& runner) {
    const auto* coverage = reader.part(value, pointer, "coverage", {"argv", "format", "timeout_seconds"});
    if (coverage == nullptr) { return; }
    runner.coverage = reader.command(*coverage, pointer + "/coverage", "coverage", 1800);
    runner.coverage_format = reader.text(*coverage, pointer + "/coverage", "format");
    if (!runner.coverage_format.empty() && !is_coverage_format(runner.coverage_format)) {
        reader.fail(pointer + "/coverage/format", "`" + runner.coverage_format + "` is not a known format of coverage.",
                    "Known formats: " + coverage_format_names() + ".");
    }
}

/// The commands that a runner may have besides `build`.
void read_runner_commands(Reader& reader, const json::object& value, const std::string& pointer, TestRunner& runner) {
    if (const auto* collect = reader.part(value, pointer, "collect", {"argv", "format", "timeout_seconds"})) {
        runner.collect = reader.command(*collect, pointer + "/collect", "collect", 120);
        runner.collect_format = read_format(reader, *collect, pointer + "/collect", false);
    }
    read_run(reader, value, pointer, runner);
    if (const auto* single = reader.part(value, pointer, "single", {"argv", "timeout_seconds"})) {
        runner.single = reader.command(*single, pointer + "/single", "tests", 600);
    }
    if (const auto* affected = reader.part(value, pointer, "affected", {"argv", "timeout_seconds"})) {
        runner.affected = reader.command(*affected, pointer + "/affected", "affected", 60);
    }
    read_coverage(reader, value, pointer, runner);
    if (const auto* plain = reader.part(value, pointer, "plain", {"argv", "timeout_seconds", "renames"})) {
        runner.plain = reader.command(*plain, pointer + "/plain", "plain", 900);
        runner.plain_renames = reader.flag(*plain, pointer + "/plain", "renames");
    }
}

Canary read_canary(Reader& reader, const json::object& entry, const std::string& place) {
    reader.keys(entry, place, {"source", "path", "tests", "fill"});
    Canary canary;
    canary.path = reader.text(entry, place, "path", false);
    canary.source = reader.text(entry, place, "source", !canary.path.empty());
    canary.tests = static_cast<std::size_t>(reader.number(entry, place, "tests", 1));
    if (canary.tests == 0) { reader.fail(place + "/tests", "`tests` must be at least 1."); }
    if (!canary.path.empty() && canary.path.find("{unique}") == std::string::npos) {
        reader.fail(place + "/path", "`path` must have {unique} in it, by which its tests are known.");
    }
    canary.fill = reader.mapping(entry, place, "fill");
    for (const auto& [name, text] : canary.fill) {
        if (const RE2 expression(text, RE2::Quiet); !expression.ok() || expression.NumberOfCapturingGroups() != 1) {
            reader.fail(place + "/fill/" + name, "`" + name + "` must be a pattern with one group.");
        }
    }
    return canary;
}

TestRunner read_runner(Reader& reader, const json::object& value, const std::string& pointer) {
    TestRunner runner;
    reader.keys(value, pointer,
                {"name", "detect", "build", "build_error", "collect", "run", "single", "affected", "coverage", "plain",
                 "environment", "canaries", "error_messages", "assertion_messages", "declaration"});
    runner.name = reader.text(value, pointer, "name");
    runner.detect = reader.conditions(value, pointer, "detect");
    reader.list(value, pointer, "build", [&](const json::object& step, const std::string& place) {
        reader.keys(step, place, {"argv", "timeout_seconds"});
        runner.build.push_back(reader.command(step, place, "build", 1800));
    });
    runner.build_error = error_pattern(reader, value, pointer, "build_error", false);
    read_runner_commands(reader, value, pointer, runner);
    runner.environment = reader.mapping(value, pointer, "environment");
    reader.list(value, pointer, "canaries", [&](const json::object& entry, const std::string& place) {
        runner.canaries.push_back(read_canary(reader, entry, place));
    });
    runner.error_messages = reader.patterns(value, pointer, "error_messages");
    runner.assertion_messages = reader.patterns(value, pointer, "assertion_messages");
    runner.declaration = reader.pattern(value, pointer, "declaration", false);
    if (const RE2 expression(runner.declaration, RE2::Quiet);
        !runner.declaration.empty() && expression.ok() && !expression.NamedCapturingGroups().contains("name")) {
        reader.fail(pointer + "/declaration", "`declaration` has no group (?P<name>…).");
    }
    return runner;
}

void read_runners(Reader& reader, const json::object& root, Language& language) {
    reader.list(root, "", "runners", [&](const json::object& value, const std::string& pointer) {
        language.runners.push_back(read_runner(reader, value, pointer));
    });
    if (language.runners.empty()) { reader.fail("", "`runners` is missing; a language needs at least one."); }
}

void read_commands(Reader& reader, const json::object& root, Language& language) {
    const auto* found = root.if_contains("commands");
    if (found == nullptr) { return; }
    const auto* value = reader.object(*found, "/commands");
    if (value == nullptr) { return; }
    reader.keys(*value, "/commands", {"syntax", "metrics", "skeleton", "stubs", "coverage"});
    for (const auto& field : *value) {
        const std::string name(field.key());
        const std::string pointer = "/commands/" + name;
        const auto* fields = reader.object(field.value(), pointer);
        if (fields == nullptr) { continue; }
        reader.keys(*fields, pointer, {"argv", "error", "timeout_seconds"});
        auto command = reader.command(*fields, pointer, name);
        command.error = error_pattern(reader, *fields, pointer, "error", false);
        if (!command.error.empty() && name != "syntax") { reader.fail(pointer + "/error", "only `syntax` may have `error`."); }
        language.commands.emplace(name, std::move(command));
    }
}

void read_stubs(Reader& reader, const json::object& root, Language& language) {
    const auto* found = root.if_contains("stubs");
    const auto* value = found == nullptr ? nullptr : reader.object(*found, "/stubs");
    if (value == nullptr) { return; }
    reader.keys(*value, "/stubs", {"body", "unless", "marked", "head", "noexcept", "failed"});
    language.stubs = {reader.pattern(*value, "/stubs", "body"),
                      reader.pattern(*value, "/stubs", "unless", false),
                      reader.text(*value, "/stubs", "marked"),
                      reader.text(*value, "/stubs", "head", false),
                      reader.pattern(*value, "/stubs", "noexcept", false),
                      reader.text(*value, "/stubs", "failed", false)};
    if (root.if_contains("code") == nullptr) { reader.fail("/stubs", "`stubs` needs `code`, by which functions are found."); }
}

void read_varied_calls(Reader& reader, const json::object& root, Language& language) {
    if (root.if_contains("varied_calls") != nullptr && root.if_contains("code") == nullptr) {
        reader.fail("/varied_calls", "`varied_calls` needs `code`, by which functions are found.");
    }
    reader.list(root, "", "varied_calls", [&](const json::object& entry, const std::string& place) {
        reader.keys(entry, place,
                    {"files", "result", "unless", "receiver", "lists", "count", "count_given", "other", "inserted", "head",
                     "tail", "beside", "helper", "package"});
        VariedCallRules rules;
        rules.files = Globs(reader.texts(entry, place, "files", false));
        rules.result = reader.pattern(entry, place, "result");
        rules.unless = reader.pattern(entry, place, "unless", false);
        rules.receiver = reader.pattern(entry, place, "receiver", false);
        reader.list(entry, place, "lists", [&](const json::object& list, const std::string& where) {
            reader.keys(list, where, {"match", "given"});
            rules.lists.push_back({reader.pattern(list, where, "match"), reader.text(list, where, "given")});
        });
        rules.count = reader.pattern(entry, place, "count", false);
        rules.count_given = reader.text(entry, place, "count_given", false);
        rules.other = reader.pattern(entry, place, "other");
        rules.inserted = reader.text(entry, place, "inserted");
        rules.head = reader.text(entry, place, "head", false);
        rules.tail = reader.text(entry, place, "tail", false);
        for (auto* text : {&rules.head, &rules.tail}) {
            for (auto at = text->find("{language}"); at != std::string::npos; at = text->find("{language}")) {
                text->replace(at, 10, language.directory);
            }
        }
        rules.beside = reader.text(entry, place, "beside", false);
        rules.package = reader.pattern(entry, place, "package", !rules.beside.empty());
        const auto helper = reader.text(entry, place, "helper", !rules.beside.empty());
        if (!helper.empty()) {
            auto content = read_file(std::filesystem::path(language.directory) / helper);
            if (content.ok()) {
                rules.helper = std::move(*content);
            } else {
                reader.fail(place + "/helper", "`" + helper + "` cannot be read.");
            }
        }
        language.varied_calls.push_back(std::move(rules));
    });
}

void read_code(Reader& reader, const json::object& root, Language& language) {
    const auto* found = root.if_contains("code");
    const std::string pointer = "/code";
    const auto* value = found == nullptr ? nullptr : reader.object(*found, pointer);
    if (value == nullptr) { return; }
    reader.keys(*value, pointer,
                {"line_comments", "block_comments", "quotes", "preprocessor", "function", "no_function", "decision",
                 "acting_comments", "comments_act_where", "compared_before", "compared_after"});
    auto& code = language.code;
    code.line_comments = reader.texts(*value, pointer, "line_comments", false);
    if (const auto* comments = value->if_contains("block_comments")) {
        if (const auto* fields = reader.object(*comments, pointer + "/block_comments")) {
            reader.keys(*fields, pointer + "/block_comments", {"begins", "ends", "nest"});
            code.comment_begins = reader.text(*fields, pointer + "/block_comments", "begins");
            code.comment_ends = reader.text(*fields, pointer + "/block_comments", "ends");
            code.comments_nest = reader.flag(*fields, pointer + "/block_comments", "nest");
            if (code.comment_begins.empty() || code.comment_ends.empty()) {
                reader.fail(pointer + "/block_comments", "`begins` and `ends` must not be empty.");
            }
        }
    }
    reader.list(*value, pointer, "quotes", [&](const json::object& entry, const std::string& place) {
        reader.keys(entry, place, {"begins", "ends", "escapes", "lines", "character"});
        CodeRules::Quote quote{reader.text(entry, place, "begins"), reader.text(entry, place, "ends"),
                               reader.flag(entry, place, "escapes", true), reader.flag(entry, place, "lines"),
                               reader.flag(entry, place, "character")};
        if (quote.begins.empty() || quote.ends.empty()) { reader.fail(place, "`begins` and `ends` must not be empty."); }
        code.quotes.push_back(std::move(quote));
    });
    code.preprocessor = reader.flag(*value, pointer, "preprocessor");
    code.function = reader.pattern(*value, pointer, "function");
    if (const RE2 expression(code.function, RE2::Quiet);
        expression.ok() && (expression.NumberOfCapturingGroups() != 1 || !expression.NamedCapturingGroups().contains("name"))) {
        reader.fail(pointer + "/function", "`function` must have one group, (?P<name>…).");
    }
    code.no_function = reader.pattern(*value, pointer, "no_function", false);
    code.decision = reader.pattern(*value, pointer, "decision", false);
    code.acting_comments = reader.pattern(*value, pointer, "acting_comments", false);
    code.comments_act_where = reader.pattern(*value, pointer, "comments_act_where", false);
    code.compared_before = reader.pattern(*value, pointer, "compared_before", false);
    code.compared_after = reader.pattern(*value, pointer, "compared_after", false);
}

void read_mutations(Reader& reader, const json::object& root, Language& language) {
    reader.list(root, "", "mutations", [&](const json::object& value, const std::string& pointer) {
        reader.keys(value, pointer, {"name", "match", "replace", "told", "files"});
        MutationRule rule;
        rule.name = reader.text(value, pointer, "name");
        rule.match = reader.pattern(value, pointer, "match");
        rule.replace = reader.text(value, pointer, "replace", false);
        rule.description = reader.text(value, pointer, "told", false);
        rule.files = Globs(reader.texts(value, pointer, "files", false));
        if (const RE2 pattern(rule.match, RE2::Quiet); pattern.ok() && pattern.NumberOfCapturingGroups() > 9) {
            reader.fail(pointer + "/match", "`match` may have nine groups.");
        }
        language.mutations.push_back(std::move(rule));
    });
    if (!language.mutations.empty() && language.code.empty()) {
        reader.fail("/mutations", "`mutations` needs `code`, which says what is code.");
    }
}

void read_type_checkers(Reader& reader, const json::object& root, Language& language) {
    reader.list(root, "", "type_checkers", [&](const json::object& value, const std::string& pointer) {
        reader.keys(value, pointer, {"name", "declared_by", "argv", "error", "timeout_seconds"});
        TypeChecker checker;
        checker.name = reader.text(value, pointer, "name");
        const bool by_build = value.if_contains("argv") == nullptr;
        if (!by_build) { checker.command = reader.command(value, pointer, "types"); }
        checker.command.name = "types";
        checker.command.error = error_pattern(reader, value, pointer, "error", !by_build);
        checker.declared_by = reader.conditions(value, pointer, "declared_by");
        if (checker.declared_by.empty()) { reader.fail(pointer, "`declared_by` must name a file."); }
        if (by_build && std::none_of(language.runners.begin(), language.runners.end(),
                                     [](const auto& runner) { return !runner.build.empty(); })) {
            reader.fail(pointer, "a type checker without `argv` is the build, and no runner has one.");
        }
        language.type_checkers.push_back(std::move(checker));
    });
}

/// True for a relative path that does not leave the tree.
bool stays_inside(const std::string& path) {
    const std::filesystem::path parts(path);
    return !path.empty() && parts.is_relative() &&
           std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part == ".." || part == ".git"; });
}

void read_setup(Reader& reader, const json::object& root, Language& language) {
    reader.list(root, "", "setup", [&](const json::object& value, const std::string& pointer) {
        reader.keys(value, pointer,
                    {"name", "lockfiles", "when", "unless", "inputs", "names", "missing", "argv", "timeout_seconds",
                     "environment", "links", "programs"});
        SetupRule rule;
        rule.name = reader.text(value, pointer, "name");
        rule.lockfiles = reader.texts(value, pointer, "lockfiles");
        rule.when = reader.conditions(value, pointer, "when");
        rule.unless = reader.conditions(value, pointer, "unless");
        rule.inputs = reader.texts(value, pointer, "inputs", false);
        rule.names = Globs(reader.texts(value, pointer, "names", false));
        rule.missing = reader.pattern(value, pointer, "missing", false);
        rule.command = reader.command(value, pointer, "setup", 900);
        rule.environment = reader.mapping(value, pointer, "environment");
        rule.links = reader.mapping(value, pointer, "links");
        rule.programs = reader.mapping(value, pointer, "programs");
        if (rule.name.empty() || !std::all_of(rule.name.begin(), rule.name.end(), [](char c) {
                return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
            })) {
            reader.fail(pointer + "/name", "`name` must consist of lower-case letters, digits and `-`.");
        }
        if (rule.lockfiles.empty()) { reader.fail(pointer + "/lockfiles", "`lockfiles` must name at least one file."); }
        for (const auto* paths : {&rule.lockfiles, &rule.inputs}) {
            for (const auto& path : *paths) {
                if (!stays_inside(path)) { reader.fail(pointer, "`" + path + "` is not a path inside the tree."); }
            }
        }
        for (const auto& [path, target] : rule.links) {
            if (!stays_inside(path)) { reader.fail(pointer + "/links", "`" + path + "` is not a path inside the tree."); }
        }
        language.setup.push_back(std::move(rule));
    });
}

void read_scaffold(Reader& reader, const json::object& root, Language& language) {
    reader.list(root, "", "scaffold", [&](const json::object& value, const std::string& pointer) {
        reader.keys(value, pointer, {"path", "content", "append", "before", "unless", "when"});
        ScaffoldFile file{reader.text(value, pointer, "path"), reader.text(value, pointer, "content"), false,
                          reader.pattern(value, pointer, "unless", false)};
        file.append = reader.flag(value, pointer, "append");
        file.before = reader.pattern(value, pointer, "before", false);
        if (const RE2 expression(file.before, RE2::Quiet);
            !file.before.empty() && expression.ok() && expression.NumberOfCapturingGroups() != 1) {
            reader.fail(pointer + "/before", "`before` must have one group, the place that the text is put in front of.");
        }
        if (file.append && !file.before.empty()) { reader.fail(pointer, "a file has either `append` or `before`."); }
        file.when = reader.conditions(value, pointer, "when");
        if (!stays_inside(file.path)) { reader.fail(pointer + "/path", "`" + file.path + "` is not a path inside the tree."); }
        language.scaffold.push_back(std::move(file));
    });
}

void read_tools(Reader& reader, const json::object& root, Language& language) {
    reader.list(root, "", "tools", [&](const json::object& value, const std::string& pointer) {
        reader.keys(value, pointer,
                    {"program", "use", "install", "version", "optional", "runners", "when", "unsupported", "name", "probe"});
        LanguageTool tool;
        tool.program = reader.text(value, pointer, "program");
        tool.use = reader.text(value, pointer, "use");
        tool.install = reader.text(value, pointer, "install", false);
        tool.version = reader.texts(value, pointer, "version", false);
        tool.optional = reader.flag(value, pointer, "optional");
        tool.unsupported = reader.flag(value, pointer, "unsupported");
        tool.when = reader.conditions(value, pointer, "when");
        tool.name = reader.text(value, pointer, "name", false);
        tool.probe = reader.texts(value, pointer, "probe", false);
        tool.runners = reader.texts(value, pointer, "runners", false);
        for (const auto& name : tool.runners) {
            if (std::none_of(language.runners.begin(), language.runners.end(),
                             [&](const auto& runner) { return runner.name == name; })) {
                reader.fail(pointer + "/runners", "there is no runner `" + name + "`.");
            }
        }
        language.tools.push_back(std::move(tool));
    });
}

void check_head(Reader& reader, const json::object& root, const std::string& name) {
    reader.keys(root, "",
                {"agentforge_language",
                 "name",
                 "detect",
                 "roots",
                 "nested_roots",
                 "sources",
                 "tests",
                 "test_support",
                 "inline_tests",
                 "runner_configuration",
                 "skeleton_marker",
                 "skeleton_reads",
                 "skeletons",
                 "environment",
                 "toolchains",
                 "runners",
                 "commands",
                 "code",
                 "stubs",
                 "varied_calls",
                 "undeclared",
                 "missing_member",
                 "result_errors",
                 "mutations",
                 "type_checkers",
                 "setup",
                 "scaffold",
                 "tools"});
    if (reader.number(root, "", "agentforge_language", 0) != 1) {
        reader.fail("/agentforge_language", "`agentforge_language` must be 1.");
    }
    if (reader.text(root, "", "name") != name) { reader.fail("/name", "`name` must be `" + name + "`, like the file."); }
}

/// Which files are sources and tests.
void read_patterns(Reader& reader, const json::object& root, Language& language) {
    language.detect = Globs(reader.texts(root, "", "detect"));
    language.roots = Globs(reader.texts(root, "", "roots", false));
    language.nested_roots = reader.flag(root, "", "nested_roots");
    language.source_patterns = reader.texts(root, "", "sources");
    language.sources = Globs(language.source_patterns);
    language.test_patterns = reader.texts(root, "", "tests");
    language.tests = Globs(language.test_patterns);
    language.test_support = Globs(reader.texts(root, "", "test_support", false));
}

void read_inline_tests(Reader& reader, const json::object& root, Language& language) {
    const auto* fields = reader.part(root, "", "inline_tests", {"files", "begins"});
    if (fields == nullptr) { return; }
    language.inline_files = Globs(reader.texts(*fields, "/inline_tests", "files"));
    language.inline_begins = reader.pattern(*fields, "/inline_tests", "begins");
}

void read_skeletons(Reader& reader, const json::object& root, Language& language) {
    language.skeleton_reads = reader.texts(root, "", "skeleton_reads", false);
    language.skeletons = reader.text(root, "", "skeletons", false);
    if (!language.skeletons.empty() && language.skeletons != "c" && !is_plain_skeleton(language.skeletons)) {
        reader.fail("/skeletons", "`" + language.skeletons + "` is not a kind of skeleton.",
                    "The kernel writes: c, go, java, rust.");
    }
}

/// The first error is kept, so the order of the reads decides which one that is.
void read_language(Reader& reader, const json::object& root, Language& language) {
    read_patterns(reader, root, language);
    language.skeleton_marker = reader.text(root, "", "skeleton_marker", false);
    read_inline_tests(reader, root, language);
    read_skeletons(reader, root, language);
    language.environment = reader.mapping(root, "", "environment");
    language.toolchains = reader.mapping(root, "", "toolchains");
    read_runners(reader, root, language);
    read_runner_configuration(reader, root, language);
    read_commands(reader, root, language);
    read_code(reader, root, language);
    read_stubs(reader, root, language);
    read_varied_calls(reader, root, language);
    language.undeclared = reader.pattern(root, "", "undeclared", false);
    language.missing_member = reader.patterns(root, "", "missing_member");
    for (const auto& pattern : language.missing_member) {
        if (const RE2 expression(pattern, RE2::Quiet); expression.ok() && expression.NumberOfCapturingGroups() != 1) {
            reader.fail("/missing_member", "a pattern of `missing_member` must have one group: the type.");
        }
    }
    language.result_errors = reader.pattern(root, "", "result_errors", false);
    read_mutations(reader, root, language);
    read_type_checkers(reader, root, language);
    read_setup(reader, root, language);
    read_scaffold(reader, root, language);
    read_tools(reader, root, language);
}

}  // namespace

Result<Language> load_language(const std::string& languages_directory, const std::string& name) {
    const auto path = std::filesystem::path(languages_directory) / (name + ".yaml");
    AF_TRY(const auto document, load_yaml(path.string()));
    Reader reader(document);
    Language language;
    if (const auto* root = reader.object(document.value, "")) {
        check_head(reader, *root, name);
        language.name = name;
        language.directory = (std::filesystem::absolute(languages_directory) / name).string();
        read_language(reader, *root, language);
    }
    if (reader.error()) { return *reader.error(); }
    return language;
}

Result<std::optional<Language>> detect_language(const std::string& languages_directory, const std::vector<std::string>& files) {
    std::set<std::string> names;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(languages_directory, failure)) {
        if (entry.path().extension() == ".yaml") { names.insert(entry.path().stem().string()); }
    }
    if (failure) {
        return Error{"AF-GATE-010", "The folder of language files cannot be read: " + failure.message() + ".",
                     languages_directory, "Check the installation with `agentforge doctor`.", ErrorKind::io};
    }
    std::optional<Language> best;
    std::ptrdiff_t most = -1;
    for (const auto& name : names) {
        AF_TRY(auto language, load_language(languages_directory, name));
        const bool detected =
            std::any_of(files.begin(), files.end(), [&](const auto& file) { return language.detect.matches(file); });
        if (!detected) { continue; }
        const auto sources =
            std::count_if(files.begin(), files.end(), [&](const auto& file) { return language.sources.matches(file); });
        if (sources > most) {
            most = sources;
            best = std::move(language);
        }
    }
    return best;
}

Result<bool> holds(const std::vector<FileCondition>& conditions, const std::vector<std::string>& files,
                   const ContentReader& content) {
    constexpr int most_files_read = 200;
    for (const auto& condition : conditions) {
        const Globs wanted({condition.file});
        int read = 0;
        for (const auto& file : files) {
            if (!wanted.matches(file)) { continue; }
            if (condition.contains.empty()) { return true; }
            if (++read > most_files_read) { break; }
            AF_TRY(const auto text, content(file));
            if (text && RE2::PartialMatch(*text, condition.contains)) { return true; }
        }
    }
    return false;
}

Result<const TestRunner*> choose_runner(const Language& language, const std::vector<std::string>& files,
                                        const ContentReader& content) {
    for (const auto& runner : language.runners) {
        if (runner.detect.empty()) { return &runner; }
        AF_TRY(const bool chosen, holds(runner.detect, files, content));
        if (chosen) { return &runner; }
    }
    return static_cast<const TestRunner*>(nullptr);
}

std::string section_text(std::string_view content, const FileSection& section) {
    if (!section.pointer.empty()) {
        const auto document = parse_json(content, section.file);
        if (!document.ok()) { return std::string(content); }
        boost::system::error_code missing;
        const auto* value = document->find_pointer(section.pointer, missing);
        return value == nullptr ? std::string{} : json::serialize(*value);
    }
    const RE2 begins(section.begins, RE2::Quiet);
    std::string result;
    bool inside = false;
    while (!content.empty()) {
        const auto end = content.find('\n');
        const auto line = content.substr(0, end);
        content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
        const auto first = line.find_first_not_of(" \t");
        if (first != std::string_view::npos && line[first] == '[') {
            // The `]` of a multi-line array does not begin a header. A nested `[` line inside one ends the section early, but no
            // TOML formatter writes such files, and both trees are read alike.
            inside = RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), begins);
        }
        if (inside) { result.append(line).push_back('\n'); }
    }
    return result;
}

}  // namespace agentforge::kernel
