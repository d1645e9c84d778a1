// SPDX-License-Identifier: Apache-2.0
#include "gates/formats/format.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t max_failure_text = 64UL << 10U;

/// All formats that a language file can name, by name.
constexpr std::array known_formats{
    Format{"cargo-test", FormatInput::out, &parse_cargo_test},
    Format{"go-test-json", FormatInput::out, &parse_go_test_json},
    Format{"ctest", FormatInput::files, &parse_ctest},
    Format{"googletest-json", FormatInput::files, &parse_googletest_json},
    Format{"junit-xml", FormatInput::files, &parse_junit_xml},
    Format{"tap", FormatInput::out, &parse_tap},
    Format{"tap-or-junit-xml", FormatInput::out, &parse_tap_or_junit_xml},
};

}  // namespace

const Format* find_format(std::string_view name) {
    for (const auto& format : known_formats) {
        if (format.name == name) { return &format; }
    }
    return nullptr;
}

std::string format_names() {
    std::string names;
    for (const auto& format : known_formats) { names += (names.empty() ? "" : ", ") + std::string(format.name); }
    return names;
}

FormatResult parse_tap_or_junit_xml(const RunOutput& output) {
    const bool xml =
        std::any_of(output.files.begin(), output.files.end(), [](const auto& file) { return file.first.ends_with(".xml"); });
    return xml ? parse_junit_xml(output) : parse_tap(output);
}

std::string path_in_tree(std::string_view path, std::string_view root) {
    std::string result(path);
    for (auto& each : result) {
        if (each == '\\') { each = '/'; }
    }
    if (!root.empty() && result.size() > root.size() && result.compare(0, root.size(), root) == 0 && result[root.size()] == '/') {
        result.erase(0, root.size() + 1);
    }
    while (result.compare(0, 2, "./") == 0) { result.erase(0, 2); }
    return result;
}

std::string failure_text(std::string_view text) {
    std::string plain;
    plain.reserve(std::min(text.size(), max_failure_text));
    for (std::size_t at = 0; at < text.size() && plain.size() < max_failure_text; ++at) {
        if (text[at] == '\x1b' && at + 1 < text.size() && text[at + 1] == '[') {
            // A colour: ESC [ parameters, up to the letter that ends it.
            at += 2;
            while (at < text.size() && (text[at] < '@' || text[at] > '~')) { ++at; }
            continue;
        }
        plain.push_back(text[at]);
    }
    return sanitize_utf8(plain);
}

}  // namespace agentforge::kernel
