// SPDX-License-Identifier: Apache-2.0
#include "pipelines/case_file.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel::pipelines {
namespace {

namespace fs = std::filesystem;

Error wrong(const std::string& where, const std::string& what) {
    return {"CASE", what, where, "tests/pipelines/README.md has the format", ErrorKind::invalid};
}

/// Maps that a case lays over those of its basis key by key; null takes a key away. Everything else replaces.
const std::vector<std::string> merged{"texts", "repository", "settings", "agents", "model"};

Result<json::object> read_with_basis(const std::string& file, std::size_t depth) {
    if (depth > 5) { return wrong(file, "`like` leads in a circle"); }
    AF_TRY(YamlDocument document, load_yaml(file));
    if (!document.value.is_object()) { return wrong(file, "a case is a map"); }
    json::object own = std::move(document.value.get_object());
    const json::value* like = own.if_contains("like");
    if (like == nullptr) { return own; }
    if (!like->is_string()) { return wrong(document.where("/like"), "`like` is a file's name"); }
    AF_TRY(json::object all,
           read_with_basis((fs::path(file).parent_path() / std::string(like->get_string())).string(), depth + 1));
    own.erase("like");
    for (auto& [key, value] : own) {
        json::value* below = all.if_contains(key);
        if (below == nullptr || !below->is_object() || !value.is_object() ||
            std::find(merged.begin(), merged.end(), std::string(key)) == merged.end()) {
            all[key] = std::move(value);
            continue;
        }
        for (auto& [name, entry] : value.get_object()) {
            if (entry.is_null()) {
                below->get_object().erase(name);
            } else {
                below->get_object()[name] = std::move(entry);
            }
        }
    }
    return all;
}

/// Puts the case's texts in the place of `{{name}}`, in every string below.
class Texts {
public:
    explicit Texts(const json::object& texts) : texts_(texts) {}
    void fill(json::value& value) {
        if (value.is_object()) {
            for (auto& [key, below] : value.get_object()) { fill(below); }
        } else if (value.is_array()) {
            for (auto& below : value.get_array()) { fill(below); }
        } else if (value.is_string()) {
            value = filled(std::string(value.get_string()), 0);
        }
    }
    std::string unknown;

private:
    std::string filled(const std::string& text, unsigned depth) {
        std::string result;
        std::size_t at = 0;
        while (true) {
            const auto begin = text.find("{{", at);
            const auto end = begin == std::string::npos ? begin : text.find("}}", begin);
            if (end == std::string::npos) { return result + text.substr(at); }
            const auto name = text.substr(begin + 2, end - begin - 2);
            const bool is_name = !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
            const json::value* found = is_name ? texts_.if_contains(name) : nullptr;
            result += text.substr(at, begin - at);
            if (!is_name) {
                result += text.substr(begin, 2);
                at = begin + 2;
                continue;
            }
            if (found == nullptr || !found->is_string() || depth > 5) {
                unknown = name;
            } else {
                result += filled(std::string(found->get_string()), depth + 1);
            }
            at = end + 2;
        }
    }
    const json::object& texts_;
};

class Reader {
public:
    explicit Reader(std::string file) : file_(std::move(file)) {}

    Result<Case> read() {
        AF_TRY(json::object all, read_with_basis(file_, 0));
        json::object texts;
        if (const json::value* given = all.if_contains("texts"); given != nullptr && given->is_object()) {
            texts = given->get_object();
        }
        all.erase("texts");
        Texts filler(texts);
        for (auto& [key, value] : all) { filler.fill(value); }
        if (!filler.unknown.empty()) { return wrong(file_, "there is no text `" + filler.unknown + "`"); }

        case_.name = fs::path(file_).stem().string();
        std::replace(case_.name.begin(), case_.name.end(), '-', '_');
        for (auto& [key, value] : all) { AF_CHECK(top(std::string(key), value)); }
        if (version_ != 1) { return wrong(file_, "agentforge_case: 1 is missing"); }
        if (case_.shows.empty() || case_.request.empty() || case_.ends.empty()) {
            return wrong(file_, "a case needs shows, request and expect.ends");
        }
        if (case_.journal.empty()) { return wrong(file_, "a case needs expect.journal"); }
        if (!case_.changes && case_.files.empty()) {
            return wrong(file_, "a case needs expect.changes or expect.files: the tree that must come out");
        }
        return std::move(case_);
    }

private:
    Result<void> top(const std::string& key, json::value& value) {
        if (key == "agentforge_case") {
            version_ = value.is_int64() ? value.get_int64() : 0;
        } else if (key == "shows") {
            return text(key, value, case_.shows);
        } else if (key == "request") {
            return text(key, value, case_.request);
        } else if (key == "pipeline") {
            return text(key, value, case_.pipeline);
        } else if (key == "through") {
            return text(key, value, case_.through);
        } else if (key == "verify_edits") {
            if (!value.is_bool()) { return wrong(file_, "verify_edits is true or false"); }
            case_.verify_edits = value.get_bool();
        } else if (key == "needs") {
            AF_TRY(case_.needs, texts_of(key, value));
        } else if (key == "repository" || key == "agents" || key == "model" || key == "expect" || key == "settings") {
            if (!value.is_object()) { return wrong(file_, "`" + key + "` is a map"); }
            return map(key, value.get_object());
        } else {
            return wrong(file_, "a case has no field `" + key + "`");
        }
        return {};
    }

    Result<void> map(const std::string& key, json::object& value) {
        if (key == "settings") { case_.settings = std::move(value); }
        if (key == "expect") {
            for (auto& [name, each] : value) { AF_CHECK(expectation(std::string(name), each)); }
        }
        if (key == "repository") {
            for (auto& [path, each] : value) { case_.repository[std::string(path)] = std::move(each); }
        }
        if (key == "agents") {
            for (auto& [role, each] : value) {
                if (!each.is_object()) { return wrong(file_, "agents." + std::string(role) + " is a map"); }
                case_.agents[std::string(role)] = std::move(each.get_object());
            }
        }
        if (key == "model") {
            for (auto& [place, each] : value) {
                if (!each.is_array()) { return wrong(file_, "model." + std::string(place) + " is a list of answers"); }
                for (auto& entry : each.get_array()) {
                    AF_TRY(Answer answer, answer_of(std::string(place), entry));
                    case_.model[std::string(place)].push_back(std::move(answer));
                }
            }
        }
        return {};
    }

    Result<Answer> answer_of(const std::string& place, json::value& entry) {
        const std::string where = file_ + ", model." + place;
        if (!entry.is_object() || entry.get_object().empty()) {
            return wrong(where, "an answer is a map: a tool and its arguments, say, shell or error");
        }
        json::object& fields = entry.get_object();
        Answer answer;
        for (auto& [name, value] : fields) {
            const std::string key(name);
            if (key == "say" || key == "shell") {
                AF_CHECK(text(key, value, key == "say" ? answer.say : answer.shell));
            } else if (key == "error") {
                if (!value.is_string()) { return wrong(where, "error is a code"); }
                answer.error = Error{std::string(value.get_string()), "the script says so", "", "", ErrorKind::invalid};
            } else if (value.is_object() && answer.tool.empty()) {
                answer.tool = key;
                answer.arguments = std::move(value.get_object());
            } else {
                return wrong(where, "`" + key + "` is neither a tool with a map of arguments nor say, shell or error");
            }
        }
        if (fields.size() > 1 && (answer.shell.empty() || answer.tool != "complete" || fields.size() > 2)) {
            return wrong(where, "an answer is one thing; only shell may have a complete beside it");
        }
        return answer;
    }

    Result<void> expectation(const std::string& key, json::value& value) {
        if (key == "ends") { return text(key, value, case_.ends); }
        if (key == "error") { return text(key, value, case_.error); }
        if (key == "changes") {
            AF_TRY(auto changes, texts_of(key, value));
            std::sort(changes.begin(), changes.end());
            case_.changes = std::move(changes);
            return {};
        }
        if (key == "unseen") {
            AF_TRY(case_.unseen, texts_of(key, value));
            return {};
        }
        if (key == "files") {
            if (!value.is_object()) { return wrong(file_, "expect.files is a map"); }
            for (auto& [path, each] : value.get_object()) {
                if (!each.is_string() && !each.is_null()) {
                    return wrong(file_, "expect.files." + std::string(path) + " is a text, or null where there must be none");
                }
                case_.files[std::string(path)] = each.is_string() ? std::optional(std::string(each.get_string())) : std::nullopt;
            }
            return {};
        }
        if (key != "journal" && key != "never") { return wrong(file_, "expect has no field `" + key + "`"); }
        if (!value.is_array()) { return wrong(file_, "expect." + key + " is a list of records"); }
        std::size_t number = 0;
        for (auto& entry : value.get_array()) {
            const std::string where = "expect." + key + "[" + std::to_string(number++) + "]";
            if (!entry.is_object() || entry.get_object().size() != 1 || !entry.get_object().begin()->value().is_object()) {
                return wrong(file_, where + " is `type: {field: value}`");
            }
            Expected expected{std::string(entry.get_object().begin()->key()),
                              std::move(entry.get_object().begin()->value().get_object()), where};
            (key == "journal" ? case_.journal : case_.never).push_back(std::move(expected));
        }
        return {};
    }

    Result<void> text(const std::string& key, const json::value& value, std::string& into) {
        if (!value.is_string()) { return wrong(file_, "`" + key + "` is a text"); }
        into = std::string(value.get_string());
        return {};
    }

    Result<std::vector<std::string>> texts_of(const std::string& key, const json::value& value) {
        if (!value.is_array()) { return wrong(file_, "`" + key + "` is a list of texts"); }
        std::vector<std::string> result;
        for (const auto& each : value.get_array()) {
            if (!each.is_string()) { return wrong(file_, "`" + key + "` is a list of texts"); }
            result.emplace_back(each.get_string());
        }
        return result;
    }

    std::string file_;
    Case case_;
    std::int64_t version_ = 0;
};

}  // namespace

Result<Case> read_case(const std::string& file) { return Reader(file).read(); }

}  // namespace agentforge::kernel::pipelines
