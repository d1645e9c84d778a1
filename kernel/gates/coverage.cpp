// SPDX-License-Identifier: Apache-2.0
// Which of the lines that a task changed its tests run; by the language's `coverage` command.
#include <map>

#include "base/text.hpp"
#include "gates/measure.hpp"

namespace agentforge::kernel {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

/// Numbers of the lines of `now` that `old` has not, each as often as it has it.
json::array changed_lines(std::string_view now, std::string_view old) {
    std::map<std::string_view, std::size_t> known;
    for (const auto line : lines_of(old)) { ++known[line]; }
    json::array numbers;
    std::int64_t number = 0;
    for (const auto line : lines_of(now)) {
        ++number;
        auto& left = known[line];
        if (left > 0) {
            --left;
        } else {
            numbers.emplace_back(number);
        }
    }
    return numbers;
}

std::string coverage_text(const json::object& line, const char* key) {
    const auto* found = line.if_contains(key);
    return found != nullptr && found->is_string() ? ellipsis(std::string(found->get_string()), 300) : std::string{};
}

std::uint64_t coverage_number(const json::object& line, const char* key) {
    const auto* found = line.if_contains(key);
    return found != nullptr && found->is_int64() && found->get_int64() > 0 ? static_cast<std::uint64_t>(found->get_int64()) : 0;
}

}  // namespace

Result<Coverage> Measure::coverage(const std::string& base_tree, const std::string& tree, const std::vector<std::string>& tests, const Stop& stop) {
    Coverage result;
    AF_TRY(const auto* found, language(tree));
    if (!found->commands.contains("coverage") || tests.empty() || base_tree.empty()) { return result; }
    AF_TRY(const auto changes, checkout_->changes(base_tree, tree));
    json::object changed;
    for (const auto& change : changes) {
        if (change.status == 'D' || !found->sources.matches(change.path) || found->belongs_to_tests(change.path)) { continue; }
        AF_TRY(const auto now, checkout_->file(tree, change.path));
        AF_TRY(const auto before, checkout_->file(base_tree, change.old_path.empty() ? change.path : change.old_path));
        if (!now) { continue; }
        if (auto lines = changed_lines(*now, before.value_or("")); !lines.empty()) { changed[change.path] = std::move(lines); }
    }
    if (changed.empty()) { return result; }
    AF_CHECK(checkout_->check_out(tree));
    json::array files;
    for (const auto& file : tests) { files.emplace_back(file); }
    const json::object input{{"root", checkout_->path().string()}, {"files", std::move(files)}, {"changed", std::move(changed)},
                             {"marker", found->skeleton_marker}};
    const auto lines = commands_->run_for_lines(*found, "coverage", tree, input, stop);
    if (!lines.ok()) {
        if (lines.error().kind == ErrorKind::cancelled) { return lines.error(); }
        result.problem = lines.error().message + (lines.error().where.empty() ? "" : " (" + last_words(lines.error().where) + ")");
        return result;
    }
    result.measured = true;
    for (const auto& line : *lines) {
        if (line.if_contains("end") != nullptr) { break; }
        CoveredLine each{coverage_text(line, "file"), coverage_number(line, "line"), coverage_text(line, "special"), {}};
        if (const auto* names = line.if_contains("tests"); names != nullptr && names->is_array()) {
            for (const auto& name : names->get_array()) {
                if (name.is_string()) { each.tests.push_back(ellipsis(std::string(name.get_string()), 300)); }
            }
        }
        if (!each.special.empty()) {
            result.special.push_back(std::move(each));
            continue;
        }
        ++result.lines;
        if (coverage_number(line, "count") == 0) { result.missing.push_back(std::move(each)); }
    }
    return result;
}

}  // namespace agentforge::kernel
