// SPDX-License-Identifier: Apache-2.0
#include "gates/language.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <re2/re2.h>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {
namespace {

/// Reads fields of a YAML mapping; remembers the first thing that is wrong, with its place.
class Reader {
public:
    explicit Reader(const YamlDocument& document) : document_(document) {}

    void fail(const std::string& pointer, std::string message, std::string remedy = {}) {
        if (error_) { return; }
        error_ = Error{"AF-GATE-010", "A language file is not valid: " + std::move(message), document_.where(pointer),
                       remedy.empty() ? "See docs/gates.md for the keys of a language file." : std::move(remedy),
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
                fail(pointer + "/" + key, "unknown key `" + key + "`.", near.empty() ? "" : "Did you mean `" + near + "`?");
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
        fail(pointer + "/" + key, std::string("`") + key + "` must be a text.");
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
            fail(pointer + "/" + key, std::string("`") + key + "` must be a list of texts.");
            return result;
        }
        for (const auto& item : *array) {
            if (const auto* string = item.if_string()) {
                result.emplace_back(*string);
            } else {
                fail(pointer + "/" + key, std::string("`") + key + "` must be a list of texts.");
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
    std::string pattern(const json::object& value, const std::string& pointer, const char* key, bool required = true) {
        auto text_of = text(value, pointer, key, required);
        const RE2 expression(text_of, RE2::Quiet);
        if (!expression.ok()) { fail(pointer + "/" + key, "the pattern cannot be read: " + expression.error() + "."); }
        return text_of;
    }
    LanguageCommand command(const json::object& value, const std::string& pointer, std::string name) {
        LanguageCommand result;
        result.name = std::move(name);
        result.argv = texts(value, pointer, "argv");
        if (result.argv.empty()) { fail(pointer, "`argv` must not be empty."); }
        result.timeout = std::chrono::seconds(number(value, pointer, "timeout_seconds", 60));
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
            reader.keys(*section, pointer + "/sections", {"file", "begins"});
            language.runner_sections.push_back({reader.text(*section, pointer + "/sections", "file"),
                                                reader.pattern(*section, pointer + "/sections", "begins")});
        }
    }
}

void read_commands(Reader& reader, const json::object& root, Language& language) {
    const auto* found = root.if_contains("commands");
    if (found == nullptr) { return reader.fail("", "`commands` is missing."); }
    const auto* value = reader.object(*found, "/commands");
    if (value == nullptr) { return; }
    reader.keys(*value, "/commands", {"tests", "syntax", "metrics", "skeleton"});
    for (const auto& field : *value) {
        const std::string name(field.key());
        const std::string pointer = "/commands/" + name;
        const auto* command = reader.object(field.value(), pointer);
        if (command == nullptr) { continue; }
        reader.keys(*command, pointer, {"argv", "results", "timeout_seconds"});
        const auto results = reader.text(*command, pointer, "results", name == "tests");
        if (!results.empty() && results != "agentforge-lines") {
            reader.fail(pointer + "/results", "`" + results + "` is not a known format of results.", "Use agentforge-lines.");
        }
        language.commands.emplace(name, reader.command(*command, pointer, name));
    }
    if (language.commands.count("tests") == 0) { reader.fail("/commands", "`tests` is missing."); }
}

void read_type_checkers(Reader& reader, const json::object& root, Language& language) {
    const auto* found = root.if_contains("type_checkers");
    if (found == nullptr) { return; }
    if (!found->is_array()) { return reader.fail("/type_checkers", "`type_checkers` must be a list."); }
    std::size_t index = 0;
    for (const auto& item : found->get_array()) {
        const std::string pointer = "/type_checkers/" + std::to_string(index++);
        const auto* value = reader.object(item, pointer);
        if (value == nullptr) { continue; }
        reader.keys(*value, pointer, {"name", "declared_by", "argv", "error", "timeout_seconds"});
        TypeChecker checker;
        checker.name = reader.text(*value, pointer, "name");
        checker.command = reader.command(*value, pointer, checker.name);
        checker.error = reader.pattern(*value, pointer, "error");
        const auto* declared = value->if_contains("declared_by");
        if (declared == nullptr || !declared->is_array()) {
            reader.fail(pointer, "`declared_by` must be a list.");
            continue;
        }
        for (const auto& entry : declared->get_array()) {
            if (const auto* declaration = reader.object(entry, pointer + "/declared_by")) {
                reader.keys(*declaration, pointer + "/declared_by", {"file", "contains"});
                checker.declared_by.push_back({reader.text(*declaration, pointer + "/declared_by", "file"),
                                               reader.pattern(*declaration, pointer + "/declared_by", "contains", false)});
            }
        }
        language.type_checkers.push_back(std::move(checker));
    }
}

}  // namespace

Result<Language> load_language(const std::string& languages_directory, const std::string& name) {
    const auto path = std::filesystem::path(languages_directory) / (name + ".yaml");
    AF_TRY(const auto document, load_yaml(path.string()));
    Reader reader(document);
    Language language;
    const auto* root = reader.object(document.value, "");
    if (root != nullptr) {
        reader.keys(*root, "", {"agentforge_language", "name", "detect", "roots", "nested_roots", "sources", "tests", "test_support",
                                "runner_configuration", "skeleton_marker", "environment", "canary", "canary_tests", "commands",
                                "type_checkers"});
        if (reader.number(*root, "", "agentforge_language", 0) != 1) {
            reader.fail("/agentforge_language", "`agentforge_language` must be 1.");
        }
        language.name = reader.text(*root, "", "name");
        if (language.name != name) { reader.fail("/name", "`name` must be `" + name + "`, like the file."); }
        language.directory = (std::filesystem::absolute(languages_directory) / name).string();
        language.detect = Globs(reader.texts(*root, "", "detect"));
        language.roots = Globs(reader.texts(*root, "", "roots", false));
        if (const auto* nested = root->if_contains("nested_roots")) {
            if (!nested->is_bool()) { reader.fail("/nested_roots", "`nested_roots` must be true or false."); }
            language.nested_roots = nested->is_bool() && nested->get_bool();
        }
        language.source_patterns = reader.texts(*root, "", "sources");
        language.sources = Globs(language.source_patterns);
        language.test_patterns = reader.texts(*root, "", "tests");
        language.tests = Globs(language.test_patterns);
        language.test_support = Globs(reader.texts(*root, "", "test_support", false));
        language.skeleton_marker = reader.text(*root, "", "skeleton_marker", false);
        language.canary = reader.text(*root, "", "canary");
        language.canary_tests = static_cast<std::size_t>(reader.number(*root, "", "canary_tests", 1));
        if (language.canary_tests == 0) { reader.fail("/canary_tests", "`canary_tests` must be at least 1."); }
        if (const auto* environment = root->if_contains("environment")) {
            if (const auto* fields = reader.object(*environment, "/environment")) {
                for (const auto& field : *fields) {
                    const std::string key(field.key());
                    language.environment[key] = reader.text(*fields, "/environment", key.c_str());
                }
            }
        }
        read_runner_configuration(reader, *root, language);
        read_commands(reader, *root, language);
        read_type_checkers(reader, *root, language);
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
        const bool detected = std::any_of(files.begin(), files.end(), [&](const auto& file) { return language.detect.matches(file); });
        if (!detected) { continue; }
        const auto sources = std::count_if(files.begin(), files.end(), [&](const auto& file) { return language.sources.matches(file); });
        if (sources > most) {
            most = sources;
            best = std::move(language);
        }
    }
    return best;
}

std::string section_text(std::string_view content, const FileSection& section) {
    const RE2 begins(section.begins, RE2::Quiet);
    std::string result;
    bool inside = false;
    while (!content.empty()) {
        const auto end = content.find('\n');
        const auto line = content.substr(0, end);
        content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
        const auto first = line.find_first_not_of(" \t");
        if (first != std::string_view::npos && line[first] == '[') {
            // A multi-line array's `]` does not begin a header; a nested `[` line inside one only ends the section early for
            // files that no TOML formatter writes, and then in both trees alike.
            inside = RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), begins);
        }
        if (inside) { result.append(line).push_back('\n'); }
    }
    return result;
}

}  // namespace agentforge::kernel
