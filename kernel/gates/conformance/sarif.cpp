// SPDX-License-Identifier: Apache-2.0
#include "gates/conformance/sarif.hpp"

#include <map>
#include <string_view>

namespace agentforge::kernel {
namespace {

/// SARIF has three levels besides `none`.
const char* level_of(std::string_view severity) {
    if (severity == "minor") { return "note"; }
    return severity == "major" ? "warning" : "error";
}

/// Converts a path to a relative URI (RFC 3986): encodes everything except plain path characters.
std::string uri_of(std::string_view path) {
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=@";
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string uri;
    for (const char byte : path) {
        if (plain.find(byte) != std::string_view::npos) {
            uri += byte;
            continue;
        }
        const auto value = static_cast<unsigned char>(byte);
        uri += {'%', hex[value >> 4U], hex[value & 0xFU]};
    }
    return uri;
}

json::object rule_of(const ConformanceCheck& check) {
    json::object rule{{"id", check.id},
                      {"shortDescription", json::object{{"text", check.description.empty() ? check.message : check.description}}},
                      {"defaultConfiguration", json::object{{"level", level_of(check.severity)}}},
                      {"properties", json::object{{"category", check.category}, {"severity", check.severity}}}};
    if (!check.fix_hint.empty()) { rule["help"] = json::object{{"text", check.fix_hint}}; }
    return rule;
}

json::object location_of(const std::string& file) {
    return {{"artifactLocation", json::object{{"uri", uri_of(file)}, {"uriBaseId", "%SRCROOT%"}}}};
}

json::object notification_of(const UnmeasuredFile& missed) {
    return {{"level", "warning"},
            {"message", json::object{{"text", "not measured: " + missed.file + " (" + missed.reason + ")"}}},
            {"locations", json::array{json::object{{"physicalLocation", location_of(missed.file)}}}}};
}

json::object result_of(const NamedViolation& named, bool fresh) {
    const auto& violation = named.violation;
    json::object place = location_of(violation.file);
    if (violation.line > 0) { place["region"] = json::object{{"startLine", violation.line}}; }
    return {{"ruleId", violation.check_id},
            {"level", level_of(violation.severity)},
            {"message", json::object{{"text", violation.message}}},
            {"locations", json::array{json::object{{"physicalLocation", std::move(place)}}}},
            {"partialFingerprints", json::object{{"agentforgeViolation/v1", named.id}}},
            {"baselineState", fresh ? "new" : "unchanged"}};
}

}  // namespace

json::object to_sarif(const std::vector<NamedViolation>& violations, const std::set<std::string>& fresh,
                      const std::vector<ConformanceCheck>& checks, const std::string& version,
                      const std::vector<UnmeasuredFile>& not_measured) {
    json::array rules;
    std::map<std::string_view, std::size_t> index_of;
    for (const auto& check : checks) {
        index_of[check.id] = rules.size();
        rules.push_back(rule_of(check));
    }
    json::array results;
    for (const auto& each : violations) {
        auto result = result_of(each, fresh.contains(each.id));
        if (const auto index = index_of.find(each.violation.check_id); index != index_of.end()) {
            result["ruleIndex"] = index->second;
        }
        results.push_back(std::move(result));
    }
    json::object run{
        {"tool", json::object{{"driver",
                               json::object{{"name", "AgentForge"}, {"semanticVersion", version}, {"rules", std::move(rules)}}}}},
        {"columnKind", "unicodeCodePoints"},
        {"results", std::move(results)}};
    if (!not_measured.empty()) {
        json::array notifications;
        for (const auto& each : not_measured) { notifications.push_back(notification_of(each)); }
        run["invocations"] =
            json::array{json::object{{"executionSuccessful", true}, {"toolExecutionNotifications", std::move(notifications)}}};
    }
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", json::array{std::move(run)}}};
}

}  // namespace agentforge::kernel
