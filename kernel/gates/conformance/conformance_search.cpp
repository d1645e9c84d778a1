// SPDX-License-Identifier: Apache-2.0
#include "gates/conformance/conformance_search.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <re2/re2.h>

#include "base/json_keywords.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t max_searched_bytes = 2UL << 20U;

Error wrong(const std::string& where, const std::string& what, std::string remedy = {}) {
    return {"AF-GATE-020", "A conformance check is not valid: " + what + ".", where,
            remedy.empty() ? "See `agentforge help docs/gates.md` for the fields of a check." : std::move(remedy),
            ErrorKind::invalid};
}

/// A declared check before its fields are read: later files may change fields of earlier ones.
struct Declaration {
    json::object fields;
    std::string where;
};

Result<void> merge_file(const std::string& path, std::vector<Declaration>& declared) {
    AF_TRY(const auto document, load_yaml(path));
    const auto* root = document.value.if_object();
    if (root == nullptr) { return wrong(path, "the file must be a mapping"); }
    std::string category;
    const json::array* checks = nullptr;
    bool versioned = false;
    for (const auto& field : *root) {
        const auto where = document.where("/" + std::string(field.key()));
        if (field.key() == "agentforge_conformance") {
            if (field.value() != json::value(1)) { return wrong(where, "`agentforge_conformance` must be 1"); }
            versioned = true;
        } else if (field.key() == "category") {
            if (!field.value().is_string()) { return wrong(where, "`category` must be a string"); }
            category = std::string(field.value().get_string());
        } else if (field.key() == "checks") {
            checks = field.value().if_array();
            if (checks == nullptr) { return wrong(where, "`checks` must be a list"); }
        } else {
            return wrong(document.where("/" + std::string(field.key()) + "#"), "unknown key `" + std::string(field.key()) + "`");
        }
    }
    if (!versioned) { return wrong(path, "`agentforge_conformance: 1` is missing"); }
    if (checks == nullptr) { return wrong(path, "`checks` is missing"); }
    for (std::size_t index = 0; index < checks->size(); ++index) {
        const auto where = document.where("/checks/" + std::to_string(index));
        const auto* fields = (*checks)[index].if_object();
        const auto* id = fields == nullptr ? nullptr : fields->if_contains("id");
        if (id == nullptr || !id->is_string()) { return wrong(where, "each check must be a mapping with an `id`"); }
        auto known =
            std::find_if(declared.begin(), declared.end(), [&](const Declaration& one) { return one.fields.at("id") == *id; });
        if (known == declared.end()) {
            declared.push_back({{}, where});
            known = std::prev(declared.end());
        }
        known->where = where;
        for (const auto& field : *fields) { known->fields[field.key()] = field.value(); }
        if (!category.empty() && fields->if_contains("category") == nullptr) { known->fields["category"] = category; }
    }
    return {};
}

class CheckReader {
public:
    explicit CheckReader(const Declaration& declaration) : fields_(declaration.fields), where_(declaration.where) {}

    Result<ConformanceCheck> read() {
        static const std::vector<std::string> known{"id",      "category", "severity", "enforcement", "applies_to",
                                                    "pattern", "patterns", "allow",    "metric",      "threshold",
                                                    "message", "fix_hint", "enabled",  "description"};
        for (const auto& field : fields_) {
            const std::string key(field.key());
            if (std::find(known.begin(), known.end(), key) != known.end()) { continue; }
            const auto near = nearest(key, known);
            return wrong(where_, "unknown field `" + key + "`", near.empty() ? "" : "Did you mean `" + near + "`?");
        }
        ConformanceCheck check;
        check.where = where_;
        check.id = text("id", true);
        check.description = text("description", false);
        check.category = one_of("category", {"style", "architecture", "pattern", "security", "quality"});
        check.severity = one_of("severity", {"minor", "major", "critical"});
        check.enforcement =
            one_of("enforcement", {"every_edit", "phase_end"}) == "phase_end" ? Enforcement::phase_end : Enforcement::every_edit;
        check.applies_to = texts("applies_to");
        check.patterns = texts("patterns");
        if (fields_.if_contains("pattern") != nullptr) { check.patterns.push_back(text("pattern", true)); }
        check.allow = texts("allow");
        check.metric = text("metric", false);
        check.message = text("message", true);
        check.fix_hint = text("fix_hint", false);
        if (const auto* threshold = fields_.if_contains("threshold")) {
            if (threshold->is_int64()) {
                check.threshold = threshold->get_int64();
            } else {
                fail("`threshold` must be a whole number");
            }
        }
        if (check.applies_to.empty()) { fail("`applies_to` is missing"); }
        if (check.metric.empty() == check.patterns.empty()) { fail("a check has either `pattern` or `metric`"); }
        for (const auto* list : {&check.patterns, &check.allow}) {
            for (const auto& pattern : *list) {
                const RE2 expression(pattern, RE2::Quiet);
                if (!expression.ok()) { fail("the pattern `" + pattern + "` cannot be read: " + expression.error()); }
            }
        }
        if (!problem_.empty()) { return wrong(where_, "`" + check.id + "`: " + problem_); }
        return check;
    }

private:
    void fail(std::string problem) {
        if (problem_.empty()) { problem_ = std::move(problem); }
    }
    std::string text(const char* key, bool required) {
        const auto* found = fields_.if_contains(key);
        if (found != nullptr && found->is_string()) { return std::string(found->get_string()); }
        if (found != nullptr || required) { fail(std::string("`") + key + "` must be a string"); }
        return {};
    }
    std::string one_of(const char* key, const std::vector<std::string>& values) {
        auto value = text(key, true);
        if (std::find(values.begin(), values.end(), value) == values.end()) {
            std::string list;
            for (const auto& each : values) { list += (list.empty() ? "" : ", ") + each; }
            fail(std::string("`") + key + "` must be one of " + list);
        }
        return value;
    }
    std::vector<std::string> texts(const char* key) {
        std::vector<std::string> result;
        const auto* found = fields_.if_contains(key);
        if (found == nullptr) { return result; }
        const auto* list = found->if_array();
        if (list == nullptr) {
            fail(std::string("`") + key + "` must be a list of strings");
            return result;
        }
        for (const auto& item : *list) {
            if (item.is_string()) {
                result.emplace_back(item.get_string());
            } else {
                fail(std::string("`") + key + "` must be a list of strings");
            }
        }
        return result;
    }

    const json::object& fields_;
    std::string where_;
    std::string problem_;
};

void fill(std::string& text, std::string_view name, const std::string& value) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
        text.replace(at, name.size(), value);
    }
}

Finding make_finding(const ConformanceCheck& check, const std::string& path, std::uint64_t line, const std::string& name,
                     std::int64_t value, std::string key) {
    auto message = check.message;
    fill(message, "{name}", name);
    fill(message, "{value}", std::to_string(value));
    fill(message, "{threshold}", std::to_string(check.threshold));
    return {{check.id, check.category, check.severity, path, line, std::move(message), check.fix_hint},
            std::move(key),
            check.blocks()};
}

/// Returns null for another name.
const std::vector<std::string>* patterns_named(std::string_view name, const Language& language) {
    if (name == "@tests") { return &language.test_patterns; }
    return name == "@sources" ? &language.source_patterns : nullptr;
}

std::vector<std::string> resolved(const std::vector<std::string>& patterns, const Language& language) {
    std::vector<std::string> result;
    for (const auto& pattern : patterns) {
        const bool excluded = pattern.front() == '!';
        const auto name = pattern.substr(excluded ? 1 : 0);
        const auto* list = patterns_named(name, language);
        if (list == nullptr) {
            result.push_back(pattern);
            continue;
        }
        for (const auto& each : *list) { result.push_back((excluded ? "!" : "") + each); }
    }
    return result;
}

}  // namespace

Result<std::vector<ConformanceCheck>> load_checks(const std::vector<std::string>& directories,
                                                  const std::map<std::string, std::int64_t, std::less<>>& thresholds) {
    std::vector<Declaration> declared;
    for (const auto& directory : directories) {
        std::set<std::string> files;
        std::error_code failure;
        for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
            if (entry.path().extension() == ".yaml" || entry.path().extension() == ".yml") {
                files.insert(entry.path().string());
            }
        }
        if (failure && failure != std::errc::no_such_file_or_directory) {
            return wrong(directory, "the folder cannot be read: " + failure.message());
        }
        for (const auto& file : files) { AF_CHECK(merge_file(file, declared)); }
    }
    std::vector<ConformanceCheck> checks;
    std::vector<std::string> ids;
    for (const auto& declaration : declared) {
        ids.emplace_back(declaration.fields.at("id").get_string());
        const auto* enabled = declaration.fields.if_contains("enabled");
        if (enabled != nullptr && !enabled->is_bool()) { return wrong(declaration.where, "`enabled` must be true or false"); }
        if (enabled != nullptr && !enabled->get_bool()) { continue; }
        AF_TRY(auto check, CheckReader(declaration).read());
        if (const auto threshold = thresholds.find(check.id); threshold != thresholds.end()) {
            if (check.metric.empty()) {
                return Error{"AF-GATE-021", "The check `" + check.id + "` has no threshold to set.",
                             "gates.thresholds." + check.id, "Only checks of a metric have one.", ErrorKind::invalid};
            }
            check.threshold = threshold->second;
        }
        checks.push_back(std::move(check));
    }
    for (const auto& [id, value] : thresholds) {
        if (std::find(ids.begin(), ids.end(), id) != ids.end()) { continue; }
        const auto near = nearest(id, ids);
        return Error{"AF-GATE-021", "There is no check `" + id + "` to set a threshold for.", "gates.thresholds." + id,
                     near.empty() ? "See config/conformance for the checks." : "Did you mean `" + near + "`?",
                     ErrorKind::invalid};
    }
    return checks;
}

struct ConformanceSearch::Compiled {
    ConformanceCheck check;
    Globs paths;
    std::vector<std::unique_ptr<RE2>> wanted = {};
    std::vector<std::unique_ptr<RE2>> allowed = {};
};

ConformanceSearch::ConformanceSearch(const std::vector<ConformanceCheck>& checks, const Language& language) {
    for (const auto& check : checks) {
        auto& compiled = checks_.emplace_back(Compiled{check, Globs(resolved(check.applies_to, language))});
        for (const auto& pattern : check.patterns) { compiled.wanted.push_back(std::make_unique<RE2>(pattern, RE2::Quiet)); }
        for (const auto& pattern : check.allow) { compiled.allowed.push_back(std::make_unique<RE2>(pattern, RE2::Quiet)); }
    }
}

ConformanceSearch::~ConformanceSearch() = default;

namespace {

std::vector<std::string_view> searched_lines(std::string_view content) {
    std::vector<std::string_view> lines;
    if (content.size() > max_searched_bytes || content.find('\0') != std::string_view::npos) { return lines; }
    for (auto rest = content; !rest.empty();) {
        const auto end = rest.find('\n');
        auto line = rest.substr(0, end);
        if (!line.empty() && line.back() == '\r') { line.remove_suffix(1); }
        lines.push_back(line);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return lines;
}

std::string_view without_indentation(std::string_view line) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) { return {}; }
    return line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

void add_neighbours(Finding& finding, const std::vector<std::string_view>& lines) {
    const auto line = finding.violation.line;
    if (line == 0 || line > lines.size()) { return; }
    for (auto at = line - 1; at > 0 && finding.above.empty(); --at) { finding.above = without_indentation(lines[at - 1]); }
    for (auto at = line; at < lines.size() && finding.below.empty(); ++at) { finding.below = without_indentation(lines[at]); }
}

}  // namespace

std::vector<Finding> ConformanceSearch::find(const std::string& path, std::string_view content,
                                             const std::vector<Metric>& metrics) const {
    // A file in another encoding is searched as well: its bytes that are no UTF-8 are replaced, line by line the same.
    const std::string readable = is_valid_utf8(content) ? std::string() : sanitize_utf8(content);
    if (!readable.empty()) { content = readable; }
    std::vector<Finding> findings;
    const auto lines = searched_lines(content);
    for (const auto& [check, paths, wanted, allowed] : checks_) {
        if (!paths.matches(path)) { continue; }
        if (check.metric == "file-length") {
            const auto length = static_cast<std::int64_t>(lines.size());
            if (length > check.threshold) { findings.push_back(make_finding(check, path, 1, path, length, "")); }
            continue;
        }
        if (check.metric == "line-length") {
            for (std::size_t index = 0; index < lines.size(); ++index) {
                const auto length = static_cast<std::int64_t>(count_characters(lines[index]));
                if (length > check.threshold) {
                    findings.push_back(make_finding(check, path, index + 1, "", length, std::string(lines[index])));
                }
            }
            continue;
        }
        if (!check.metric.empty()) {
            for (const auto& metric : metrics) {
                if (metric.metric != check.metric || metric.value <= check.threshold) { continue; }
                findings.push_back(make_finding(check, path, metric.line, metric.name, metric.value, metric.name));
            }
            continue;
        }
        for (std::size_t index = 0; index < lines.size(); ++index) {
            const re2::StringPiece line(lines[index].data(), lines[index].size());
            const auto matches = [&](const auto& expression) { return RE2::PartialMatch(line, *expression); };
            if (std::any_of(wanted.begin(), wanted.end(), matches) && std::none_of(allowed.begin(), allowed.end(), matches)) {
                findings.push_back(make_finding(check, path, index + 1, "", 0, std::string(lines[index])));
            }
        }
    }
    for (auto& finding : findings) { add_neighbours(finding, lines); }
    return findings;
}

std::vector<Finding> find_violations(const std::vector<ConformanceCheck>& checks, const Language& language,
                                     const std::string& path, std::string_view content, const std::vector<Metric>& metrics) {
    return ConformanceSearch(checks, language).find(path, content, metrics);
}

std::vector<Finding> only_new(std::vector<Finding> now, const std::vector<Finding>& before) {
    std::map<std::string, std::size_t> known;
    const auto name = [](const Finding& finding) {
        return finding.violation.check_id + "\n" + finding.violation.file + "\n" + finding.key;
    };
    for (const auto& finding : before) { ++known[name(finding)]; }
    std::erase_if(now, [&](const Finding& finding) {
        auto& left = known[name(finding)];
        if (left == 0) { return false; }
        --left;
        return true;
    });
    return now;
}

}  // namespace agentforge::kernel
