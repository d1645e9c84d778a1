// SPDX-License-Identifier: Apache-2.0
#include "secrets/rules.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t shortest_keyword = 3;

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

class Reader {
public:
    explicit Reader(const YamlDocument& document) : document_(document) {}

    Result<std::vector<SecretRule>> read() {
        const json::object* root = document_.value.if_object();
        const json::value* list = root == nullptr ? nullptr : root->if_contains("rules");
        if (list == nullptr || !list->is_array() || root->size() != 1) {
            return wrong("", "the file must contain `rules:`, a list, and nothing else");
        }
        std::vector<SecretRule> rules;
        for (std::size_t i = 0; i < list->get_array().size(); ++i) {
            const std::string at = "/rules/" + std::to_string(i);
            AF_TRY(SecretRule rule, read_rule(list->get_array()[i], at));
            const auto same = [&rule](const SecretRule& other) { return other.name == rule.name; };
            if (std::any_of(rules.begin(), rules.end(), same)) {
                return wrong(at + "/name", "the rule `" + rule.name + "` appears twice");
            }
            rules.push_back(std::move(rule));
        }
        return rules;
    }

private:
    [[nodiscard]] Error wrong(const std::string& at, std::string what) const {
        return {"AF-SEC-001", "the rules for secrets are invalid: " + std::move(what), document_.where(at),
                "fix the file, or reinstall AgentForge", ErrorKind::invalid};
    }

    Result<SecretRule> read_rule(const json::value& value, const std::string& at) const {
        if (!value.is_object()) { return wrong(at, "a rule must be a map"); }
        SecretRule rule;
        for (const auto& [key, field] : value.get_object()) {
            const std::string place = at + "/" + std::string(key);
            const bool text = field.is_string();
            if (key == "name" && text) {
                rule.name = std::string(field.get_string());
            } else if (key == "pattern" && text) {
                rule.pattern = std::string(field.get_string());
            } else if (key == "entropy" && field.is_number()) {
                rule.entropy = field.to_number<double>();
            } else if (key == "digits" && field.is_int64() && field.get_int64() >= 0) {
                rule.digits = static_cast<unsigned>(field.get_int64());
            } else if (key == "lines" && field.is_bool()) {
                rule.lines = field.get_bool();
            } else if (key == "keywords" || key == "example") {
                if (!field.is_array()) { return wrong(place, "`" + std::string(key) + "` must be a list of strings"); }
                for (const json::value& item : field.get_array()) {
                    if (!item.is_string()) { return wrong(place, "`" + std::string(key) + "` must be a list of strings"); }
                    if (key == "example") {
                        rule.example += std::string_view(item.get_string());
                    } else {
                        rule.keywords.emplace_back(item.get_string());
                    }
                }
            } else {
                return wrong(place, "`" + std::string(key) + "` is not a field of a rule, or has another type");
            }
        }
        if (!is_name(rule.name)) { return wrong(at, "a rule needs a `name` of small letters, digits and `-`"); }
        if (rule.example.empty()) { return wrong(at, "the rule `" + rule.name + "` needs an `example`"); }
        const auto too_short = [](const std::string& keyword) { return keyword.size() < shortest_keyword; };
        if (rule.keywords.empty() || std::any_of(rule.keywords.begin(), rule.keywords.end(), too_short)) {
            return wrong(at, "the rule `" + rule.name + "` needs `keywords` of three bytes or more");
        }
        if (rule.pattern.empty()) { return wrong(at, "the rule `" + rule.name + "` needs a `pattern`"); }
        return rule;
    }

    const YamlDocument& document_;
};

}  // namespace

Result<std::vector<SecretRule>> load_secret_rules(const std::string& file) {
    AF_TRY(const YamlDocument document, load_yaml(file));
    return Reader(document).read();
}

Result<void> check_secret_rules(const std::vector<SecretRule>& rules) {
    for (const SecretRule& rule : rules) {
        const RE2 pattern(rule.pattern, RE2::Quiet);
        if (pattern.ok()) { continue; }
        return Error{"AF-SEC-001",
                     "the rules for secrets are invalid: the `pattern` of the rule `" + rule.name +
                         "` is not an RE2 expression: " + pattern.error(),
                     "", "fix the file, or reinstall AgentForge", ErrorKind::invalid};
    }
    return {};
}

double shannon_entropy(std::string_view text) {
    std::array<unsigned, 256> counts{};
    for (const char c : text) { ++counts[static_cast<unsigned char>(c)]; }
    double bits = 0;
    for (const unsigned count : counts) {
        if (count == 0) { continue; }
        const double share = static_cast<double>(count) / static_cast<double>(text.size());
        bits -= share * std::log2(share);
    }
    return bits;
}

}  // namespace agentforge::kernel
