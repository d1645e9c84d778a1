// SPDX-License-Identifier: Apache-2.0
#include "gates/conformance/named_violations.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/yaml.hpp"
#include "gates/language/source_text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t digits = 12;
constexpr YamlLimits baseline_limits{.max_bytes = 64UL << 20U, .max_nodes = 5'000'000, .max_depth = 10};

Error wrong(const std::string& what, const std::string& where) {
    return {"AF-GATE-170", "A violation's record, or the baseline, is not valid: " + what + ".", where,
            "Write it again: `agentforge check` for a record, `agentforge check --update-baseline` for the baseline.",
            ErrorKind::invalid};
}

/// Ignores blanks: a line that only changed its indentation is the same line.
std::string without_blanks(std::string_view text) {
    std::string result;
    for (const char byte : text) {
        if (byte != ' ' && byte != '\t') { result += byte; }
    }
    return result;
}

std::string fingerprint(std::string_view text) {
    const auto plain = without_blanks(text);
    return plain.empty() ? std::string{} : sha256(plain).substr(0, digits);
}

using Group = std::tuple<std::string, std::string, std::string>;

Group group_of(const NamedViolation& named) { return {named.violation.file, named.violation.check_id, named.text}; }

std::string counted_id(const Group& group, std::size_t number) {
    const auto& [file, check, text] = group;
    return "V-" + sha256(check + "\n" + file + "\n" + text + "\n" + std::to_string(number)).substr(0, digits);
}

/// The first and the last line of a file lack a neighbour. That tells no lines apart: a twin appended to the file lacks it, too.
int shared_neighbours(const NamedViolation& one, const NamedViolation& other) {
    const auto is_shared = [](const std::string& mine, const std::string& its) { return !mine.empty() && mine == its; };
    return static_cast<int>(is_shared(one.above, other.above)) + static_cast<int>(is_shared(one.below, other.below));
}

/// Gives the members of one group the ids of known ones: first where the line and what is around it match, then both neighbours,
/// then one, then in order. Of several known ones it prefers the one that lacks the same neighbours.
void take_known_ids(const std::vector<NamedViolation*>& members, std::vector<const NamedViolation*> known) {
    for (int shared = 3; shared >= 0; --shared) {
        for (auto* member : members) {
            if (!member->id.empty()) { continue; }
            auto best = known.end();
            int most_equal = -1;
            for (auto each = known.begin(); each != known.end(); ++each) {
                const int equal =
                    static_cast<int>((*each)->above == member->above) + static_cast<int>((*each)->below == member->below);
                const bool in_place = equal == 2 && (*each)->violation.line == member->violation.line;
                if ((in_place ? 3 : shared_neighbours(**each, *member)) < shared || equal <= most_equal) { continue; }
                best = each;
                most_equal = equal;
            }
            if (best == known.end()) { continue; }
            member->id = (*best)->id;
            known.erase(best);
        }
    }
}

void name_group(const Group& group, const std::vector<NamedViolation*>& members,
                const std::vector<const NamedViolation*>& known) {
    take_known_ids(members, known);
    std::set<std::string> taken;
    for (const auto* each : known) { taken.insert(each->id); }
    std::size_t number = 0;
    for (auto* member : members) {
        while (member->id.empty()) {
            auto id = counted_id(group, ++number);
            if (taken.insert(id).second) { member->id = std::move(id); }
        }
    }
}

bool in_order(const NamedViolation& one, const NamedViolation& other) {
    return std::tie(one.violation.file, one.violation.line, one.violation.check_id, one.id) <
           std::tie(other.violation.file, other.violation.line, other.violation.check_id, other.id);
}

}  // namespace

bool is_violation_id(std::string_view text) noexcept {
    return text.size() == digits + 2 && text.starts_with("V-") &&
           text.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

std::vector<NamedViolation> name_violations(const std::vector<Finding>& findings, const std::vector<NamedViolation>& known) {
    std::vector<NamedViolation> named;
    named.reserve(findings.size());
    for (const auto& finding : findings) {
        named.push_back(
            {"", finding.violation, fingerprint(finding.key), fingerprint(finding.above), fingerprint(finding.below)});
    }
    std::sort(named.begin(), named.end(), in_order);
    std::map<Group, std::vector<NamedViolation*>> groups;
    for (auto& each : named) { groups[group_of(each)].push_back(&each); }
    std::map<Group, std::vector<const NamedViolation*>> known_groups;
    std::set<std::string> ids;
    for (const auto& each : known) {
        if (ids.insert(each.id).second) { known_groups[group_of(each)].push_back(&each); }
    }
    for (const auto& [group, members] : groups) {
        const auto found = known_groups.find(group);
        name_group(group, members, found == known_groups.end() ? std::vector<const NamedViolation*>{} : found->second);
    }
    std::sort(named.begin(), named.end(), in_order);
    return named;
}

namespace {

/// Each line that occurs once, without its blanks, and its number.
std::map<std::string, std::uint64_t> unique_lines(std::string_view text) {
    std::map<std::string, std::uint64_t> numbers;
    std::set<std::string> repeated;
    std::uint64_t number = 0;
    for (const std::string_view line : lines_of(text)) {
        ++number;
        if (std::string plain = without_blanks(line); !numbers.emplace(plain, number).second) {
            repeated.insert(std::move(plain));
        }
    }
    for (const std::string& each : repeated) { numbers.erase(each); }
    return numbers;
}

}  // namespace

std::optional<LineRange> part_of_line(std::string_view before, std::string_view now, std::uint64_t line) {
    const auto then = unique_lines(before);
    const auto today = unique_lines(now);
    std::uint64_t above = 0;
    std::uint64_t below = std::numeric_limits<std::uint64_t>::max();
    LineRange part{1, lines_of(now).size()};
    for (const auto& [text, number] : then) {
        const auto found = today.find(text);
        if (found == today.end() || number == line) { continue; }
        if (number < line && number > above) {
            above = number;
            part.first = found->second + 1;
        } else if (number > line && number < below) {
            below = number;
            part.last = found->second - 1;
        }
    }
    return part.first <= part.last + 1 ? std::optional(part) : std::nullopt;
}

json::object to_json(const NamedViolation& named) {
    const auto& violation = named.violation;
    return {{"id", named.id},
            {"check", violation.check_id},
            {"category", violation.contract},
            {"severity", violation.severity},
            {"file", violation.file},
            {"line", violation.line},
            {"message", violation.message},
            {"fix_hint", violation.fix_hint},
            {"text", named.text},
            {"above", named.above},
            {"below", named.below}};
}

Result<NamedViolation> named_violation_from_json(const json::object& value, const std::string& where) {
    NamedViolation named;
    const std::map<std::string_view, std::string*> texts{{"id", &named.id},
                                                         {"check", &named.violation.check_id},
                                                         {"category", &named.violation.contract},
                                                         {"severity", &named.violation.severity},
                                                         {"file", &named.violation.file},
                                                         {"message", &named.violation.message},
                                                         {"fix_hint", &named.violation.fix_hint},
                                                         {"text", &named.text},
                                                         {"above", &named.above},
                                                         {"below", &named.below}};
    for (const auto& field : value) {
        const std::string key(field.key());
        if (key == "agentforge_violation") { continue; }
        if (key == "line") {
            boost::system::error_code error;
            named.violation.line = field.value().to_number<std::uint64_t>(error);
            if (error) { return wrong("`line` must be a number from 0 on", where); }
            continue;
        }
        const auto text = texts.find(key);
        if (text == texts.end()) { return wrong("unknown field `" + key + "`", where); }
        if (!field.value().is_string()) { return wrong("`" + key + "` must be a string", where); }
        *text->second = std::string(field.value().get_string());
    }
    if (!is_violation_id(named.id)) { return wrong("`id` must be V- and twelve hexadecimal digits", where); }
    if (named.violation.check_id.empty() || named.violation.file.empty()) { return wrong("`check` or `file` is missing", where); }
    return named;
}

Result<std::vector<NamedViolation>> read_baseline(const std::filesystem::path& file) {
    std::vector<NamedViolation> violations;
    std::error_code failure;
    if (!std::filesystem::exists(file, failure)) { return violations; }
    AF_TRY(const auto document, load_yaml(file.string(), baseline_limits));
    const auto* root = document.value.if_object();
    if (root == nullptr || root->size() != 2 || !root->contains("agentforge_baseline") ||
        root->at("agentforge_baseline") != json::value(1)) {
        return wrong("a baseline contains `agentforge_baseline: 1` and `violations`, and nothing else", file.string());
    }
    const auto* list = root->contains("violations") ? root->at("violations").if_array() : nullptr;
    if (list == nullptr) { return wrong("`violations` must be a list", file.string()); }
    for (std::size_t index = 0; index < list->size(); ++index) {
        const auto where = document.where("/violations/" + std::to_string(index));
        const auto* fields = (*list)[index].if_object();
        if (fields == nullptr) { return wrong("each violation must be a mapping", where); }
        AF_TRY(auto named, named_violation_from_json(*fields, where));
        violations.push_back(std::move(named));
    }
    return violations;
}

std::string baseline_text(std::vector<NamedViolation> violations) {
    std::sort(violations.begin(), violations.end(), in_order);
    json::array list;
    for (const auto& each : violations) {
        list.push_back(json::object{{"id", each.id},
                                    {"check", each.violation.check_id},
                                    {"file", each.violation.file},
                                    {"text", each.text},
                                    {"above", each.above},
                                    {"below", each.below}});
    }
    return "# Violations that were there when this was written; `agentforge check` fails on others only. Commit it.\n"
           "# Write it again with: agentforge check --update-baseline\n" +
           to_yaml(json::object{{"agentforge_baseline", 1}, {"violations", std::move(list)}});
}

namespace {

std::filesystem::path record_file(const std::filesystem::path& folder, const std::string& id) { return folder / (id + ".yaml"); }

std::string record_text(const NamedViolation& named) {
    auto record = to_json(named);
    record["agentforge_violation"] = 1;
    return to_yaml(record);
}

}  // namespace

Result<NamedViolation> read_record(const std::filesystem::path& folder, const std::string& id) {
    const auto unknown =
        Error{"AF-GATE-171", "No violation `" + id + "` is recorded.", record_file(folder, id).string(),
              "`agentforge check` looks for violations, records them and lists their ids.", ErrorKind::not_found};
    std::error_code failure;
    if (!is_violation_id(id) || !std::filesystem::is_regular_file(record_file(folder, id), failure)) { return unknown; }
    AF_TRY(const auto document, load_yaml(record_file(folder, id).string()));
    const auto* fields = document.value.if_object();
    if (fields == nullptr) { return wrong("it must be a mapping", record_file(folder, id).string()); }
    AF_TRY(auto named, named_violation_from_json(*fields, record_file(folder, id).string()));
    if (named.id != id) { return wrong("its `id` is " + named.id, record_file(folder, id).string()); }
    return named;
}

std::vector<NamedViolation> read_records(const std::filesystem::path& folder) {
    std::vector<NamedViolation> records;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
        const auto id = entry.path().stem().string();
        if (entry.path().extension() != ".yaml" || !is_violation_id(id)) { continue; }
        auto record = read_record(folder, id);
        if (record.ok()) { records.push_back(std::move(*record)); }
    }
    std::sort(records.begin(), records.end(), in_order);
    return records;
}

Result<void> write_records(const std::filesystem::path& folder, const std::vector<NamedViolation>& violations,
                           const std::vector<std::string>& gone) {
    if (!violations.empty()) { AF_CHECK(make_directories(folder)); }
    for (const auto& each : violations) {
        const auto text = record_text(each);
        const auto file = record_file(folder, each.id);
        const auto present = read_file(file);
        if (present.ok() && *present == text) { continue; }
        AF_CHECK(write_file_atomic(file, text, Durability::cached));  // Whatever is lost is measured again.
    }
    for (const auto& id : gone) {
        std::error_code failure;
        std::filesystem::remove(record_file(folder, id), failure);
    }
    return {};
}

}  // namespace agentforge::kernel
