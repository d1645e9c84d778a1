// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/plain/go_code.hpp"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "gates/stubs/plain/plain_text.hpp"

namespace agentforge::kernel {

namespace {

/// Standard library packages that a signature may name by their last part.
constexpr std::pair<std::string_view, std::string_view> go_packages[] = {
    {"errors", "errors"},      {"fmt", "fmt"},         {"time", "time"},       {"io", "io"},
    {"context", "context"},    {"sync", "sync"},       {"strings", "strings"}, {"bytes", "bytes"},
    {"bufio", "bufio"},        {"os", "os"},           {"regexp", "regexp"},   {"math", "math"},
    {"big", "math/big"},       {"rand", "math/rand"},  {"http", "net/http"},   {"url", "net/url"},
    {"json", "encoding/json"}, {"sort", "sort"},       {"reflect", "reflect"}, {"log", "log"},
    {"iter", "iter"},          {"slices", "slices"},   {"maps", "maps"},       {"cmp", "cmp"},
    {"utf8", "unicode/utf8"},  {"unicode", "unicode"}, {"strconv", "strconv"}, {"list", "container/list"},
    {"heap", "container/heap"}};

}  // namespace

std::string without_unused_imports(const std::string& text) {
    const auto code = read_code(text, bracket_rules()).code;
    static const RE2 import_line(R"re((?m)^(\s*(?:import\s+)?)(?:([\w.]+)\s+)?"([^"\n]+)"[ \t]*(?://.*)?$)re");
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = text.substr(at, end - at);
        std::string lead;
        std::string alias;
        std::string path;
        std::string written = line;
        if (RE2::FullMatch(line, import_line, &lead, &alias, &path) && alias != "_" && alias != "." && path != "C") {
            static const RE2 last(R"(([A-Za-z_]\w*)(?:/v\d+|\.v\d+)?$)");
            auto name = alias;
            if (name.empty()) { RE2::PartialMatch(path, last, &name); }
            if (!name.empty() && !RE2::PartialMatch(code, R"(\b)" + name + R"(\.\w)")) { written = lead + "_ \"" + path + "\""; }
        }
        result += written + (end < text.size() ? "\n" : "");
        at = end + 1;
    }
    return result;
}

std::string_view standard_go_package(std::string_view name) {
    for (const auto& [package, path] : go_packages) {
        if (package == name) { return path; }
    }
    return {};
}

}  // namespace agentforge::kernel
