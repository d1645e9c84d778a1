// SPDX-License-Identifier: Apache-2.0
#include "gates/formats/line_counts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include <re2/re2.h>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::array<std::string_view, 3> coverage_formats{"gcov-json", "go-coverprofile", "lcov"};
constexpr std::uint64_t longest_block = 100'000;

Error not_its_format(std::string_view format, const std::string& file, std::size_t line, const std::string& what) {
    return {"AF-GATE-160", "A coverage report is not valid " + std::string(format) + ": " + what + ".",
            file + (line == 0 ? "" : ":" + std::to_string(line)),
            "Correct the coverage command of the language's runner, or its format.", ErrorKind::invalid};
}

/// Parses a whole number. Larger values saturate.
bool whole_number(std::string_view text, std::uint64_t& value) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc::result_out_of_range) { value = ~std::uint64_t{0}; }
    return failure != std::errc::invalid_argument && end == text.data() + text.size();
}

class LineCountReader {
public:
    explicit LineCountReader(const CoverageReportInput& input) : input_(input) {
        for (const auto& file : input.sources) { by_name_[std::filesystem::path(file).filename().string()].push_back(file); }
    }

    Result<LineCounts> read(std::string_view format) {
        for (const auto& [file, content] : input_.reports) {
            if (format == "lcov") { AF_CHECK(lcov(file, content)); }
            if (format == "gcov-json") { AF_CHECK(gcov(file, content)); }
            if (format == "go-coverprofile") { AF_CHECK(go(file, content)); }
        }
        return std::move(counts_);
    }

private:
    /// Returns the lines of the file that a report names, or nullptr if the tree has no such file.
    std::map<std::uint64_t, std::uint64_t>* lines_of(std::string_view name) {
        if (const auto known = names_.find(name); known != names_.end()) {
            return known->second.empty() ? nullptr : &counts_[known->second];
        }
        auto path = std::filesystem::path(name).lexically_normal().generic_string();
        bool inside = false;
        for (const auto& root : input_.roots) {
            const auto folder = root.ends_with("/") ? root : root + "/";
            if (path.starts_with(folder)) {
                path.erase(0, folder.size());
                inside = true;
                break;
            }
        }
        std::string best;
        if (inside || !path.starts_with("/")) {
            const auto candidates = by_name_.find(std::filesystem::path(path).filename().string());
            for (const auto& candidate : candidates == by_name_.end() ? std::vector<std::string>{} : candidates->second) {
                const bool means =
                    candidate == path || (!inside && (path.ends_with("/" + candidate) || candidate.ends_with("/" + path)));
                if (candidate == path) {
                    best = candidate;
                    break;
                }
                if (means && candidate.size() > best.size()) { best = candidate; }
            }
        }
        names_.emplace(std::string(name), best);
        return best.empty() ? nullptr : &counts_[best];
    }

    static void add(std::map<std::uint64_t, std::uint64_t>& lines, std::uint64_t line, std::uint64_t count) {
        auto& sum = lines[line];
        sum = sum + count < sum ? ~std::uint64_t{0} : sum + count;
    }

    template <typename Each>
    static Result<void> each_line(std::string_view text, Each each) {
        std::size_t number = 0;
        while (!text.empty()) {
            const auto end = text.find('\n');
            auto line = text.substr(0, end);
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            if (!line.empty() && line.back() == '\r') { line.remove_suffix(1); }
            AF_CHECK(each(line, ++number));
        }
        return {};
    }

    Result<void> lcov(const std::string& file, std::string_view text) {
        std::map<std::uint64_t, std::uint64_t>* lines = nullptr;
        bool named = false;
        return each_line(text, [&](std::string_view line, std::size_t number) -> Result<void> {
            if (line.starts_with("SF:")) {
                lines = lines_of(line.substr(3));
                named = true;
            } else if (line == "end_of_record") {
                named = false;
            } else if (line.starts_with("DA:")) {
                const auto comma = line.find(',');
                const auto second = comma == std::string_view::npos ? comma : line.find(',', comma + 1);
                std::uint64_t at = 0;
                std::uint64_t count = 0;
                const bool counted =
                    comma != std::string_view::npos && whole_number(line.substr(3, comma - 3), at) &&
                    whole_number(line.substr(comma + 1, second == std::string_view::npos ? second : second - comma - 1), count);
                if (!named || !counted) {
                    return not_its_format(
                        "lcov", file, number,
                        named ? "a line that begins with DA: has no line and count" : "a count is outside of a file");
                }
                if (lines != nullptr && at > 0) { add(*lines, at, count); }
            }
            return {};
        });
    }

    Result<void> gcov(const std::string& file, std::string_view text) {
        return each_line(text, [&](std::string_view line, std::size_t number) -> Result<void> {
            if (line.empty()) { return {}; }
            auto parsed = parse_json(line, file);
            const auto* document = parsed.ok() ? parsed->if_object() : nullptr;
            const auto* files = document == nullptr ? nullptr : document->if_contains("files");
            if (files == nullptr || !files->is_array()) {
                return not_its_format("gcov-json", file, number, "it is not an object with `files`");
            }
            for (const auto& entry : files->get_array()) {
                const auto* source = entry.if_object();
                const auto* name = source == nullptr ? nullptr : source->if_contains("file");
                const auto* list = source == nullptr ? nullptr : source->if_contains("lines");
                if (name == nullptr || !name->is_string() || list == nullptr || !list->is_array()) {
                    return not_its_format("gcov-json", file, number, "an entry of `files` has no `file` and `lines`");
                }
                auto* lines = lines_of(std::string_view(name->get_string()));
                if (lines == nullptr) { continue; }
                for (const auto& each : list->get_array()) {
                    const auto* counted_line = each.if_object();
                    const auto* at = counted_line == nullptr ? nullptr : counted_line->if_contains("line_number");
                    const auto* count = counted_line == nullptr ? nullptr : counted_line->if_contains("count");
                    if (at == nullptr || !at->is_int64() || count == nullptr || !(count->is_int64() || count->is_uint64())) {
                        return not_its_format("gcov-json", file, number, "an entry of `lines` has no `line_number` and `count`");
                    }
                    const auto times = count->is_uint64()
                                           ? count->get_uint64()
                                           : static_cast<std::uint64_t>(std::max<std::int64_t>(0, count->get_int64()));
                    if (at->get_int64() > 0) { add(*lines, static_cast<std::uint64_t>(at->get_int64()), times); }
                }
            }
            return {};
        });
    }

    /// Sets each line of a block. If blocks share a line, the higher count wins.
    Result<void> go(const std::string& file, std::string_view text) {
        static const RE2 block(R"(^(.+):([0-9]+)\.[0-9]+,([0-9]+)\.[0-9]+ [0-9]+ ([0-9]+)$)");
        return each_line(text, [&](std::string_view line, std::size_t number) -> Result<void> {
            if (line.empty() || line.starts_with("mode: ")) { return {}; }
            std::string name;
            std::string first;
            std::string last;
            std::string count;
            if (!RE2::FullMatch(re2::StringPiece(line.data(), line.size()), block, &name, &first, &last, &count)) {
                return not_its_format("go-coverprofile", file, number,
                                      "a line is not a `file:line.column,line.column statements count`");
            }
            std::uint64_t from = 0;
            std::uint64_t to = 0;
            std::uint64_t times = 0;
            whole_number(first, from);
            whole_number(last, to);
            whole_number(count, times);
            if (from == 0 || to < from || to - from > longest_block) {
                return not_its_format("go-coverprofile", file, number, "a block ends before it begins");
            }
            auto* lines = lines_of(name);
            for (auto at = from; lines != nullptr && at <= to; ++at) {
                auto& known = (*lines)[at];
                known = std::max(known, times);
            }
            return {};
        });
    }

    const CoverageReportInput& input_;
    std::map<std::string, std::vector<std::string>> by_name_;
    std::map<std::string, std::string, std::less<>> names_;
    LineCounts counts_;
};

}  // namespace

bool is_coverage_format(std::string_view format) noexcept {
    return std::find(coverage_formats.begin(), coverage_formats.end(), format) != coverage_formats.end();
}

std::string coverage_format_names() {
    std::string names;
    for (const auto format : coverage_formats) { names += (names.empty() ? "" : ", ") + std::string(format); }
    return names;
}

Result<LineCounts> read_line_counts(std::string_view format, const CoverageReportInput& input) {
    if (input.reports.empty()) {
        return Error{"AF-GATE-161", "The coverage command wrote no report.", "{results}",
                     "Make the runner's coverage command write its report below {results}.", ErrorKind::invalid};
    }
    return LineCountReader(input).read(format);
}

}  // namespace agentforge::kernel
