// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/plain/java_code.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <re2/re2.h>

#include "gates/stubs/plain/plain_text.hpp"

namespace agentforge::kernel {

namespace {

/// Packages of the standard library, and the types that a signature may name without them.
constexpr std::pair<std::string_view, std::string_view> java_packages[] = {
    {"java.util",
     "List Map Set Optional OptionalInt ArrayList LinkedList HashMap TreeMap LinkedHashMap HashSet TreeSet Collection Iterator Queue Deque ArrayDeque PriorityQueue "
     "Comparator Date UUID Random Locale NoSuchElementException BitSet Objects Arrays Collections Scanner SortedMap SortedSet"},
    {"java.util.function",
     "Function BiFunction Predicate BiPredicate Supplier Consumer BiConsumer UnaryOperator BinaryOperator IntPredicate IntFunction IntUnaryOperator"},
    {"java.util.stream", "Stream IntStream LongStream Collectors"},
    {"java.time", "LocalDate LocalDateTime LocalTime Instant Duration DayOfWeek Month ZonedDateTime Year YearMonth Period"},
    {"java.math", "BigDecimal BigInteger"},
    {"java.io", "IOException InputStream OutputStream Reader Writer File"},
    {"java.nio.file", "Path Files"},
    {"java.util.concurrent", "Callable Future ExecutorService CompletableFuture TimeUnit ConcurrentHashMap"}};

}  // namespace

std::vector<TypeRange> java_types(const std::string& code) {
    std::vector<TypeRange> types;
    static const RE2 head(R"(\b(class|interface|enum|record)\s+(\w+))");
    re2::StringPiece parts[3];
    for (std::size_t at = 0; at < code.size() && head.Match(code, at, code.size(), RE2::UNANCHORED, parts, 3);) {
        at = static_cast<std::size_t>(parts[0].data() - code.data()) + parts[0].size();
        auto open = code.find_first_of("{(;", at);
        if (open != std::string::npos && code[open] == '(') {
            const auto close = closing_bracket(code, open);
            open = close == std::string::npos ? close : code.find_first_of("{;", close);
        }
        if (open == std::string::npos || code[open] != '{') { continue; }
        const auto close = closing_bracket(code, open);
        if (close != std::string::npos) { types.push_back({std::string(parts[1]), std::string(parts[2]), open, close}); }
    }
    return types;
}

std::size_t end_of_constants(const std::string& code, const TypeRange& type) {
    for (auto at = type.open + 1; at < type.close; ++at) {
        if (code[at] == '(' || code[at] == '{') { at = std::min(closing_bracket(code, at), type.close); }
        if (code[at] == ';') { return at; }
    }
    return std::string::npos;
}

std::string with_java_bodies(const std::string& text, const std::string& marker) {
    const auto code = read_code(text, bracket_rules()).code;
    const auto types = java_types(code);
    std::map<std::size_t, std::string, std::greater<>> bodies;
    for (const auto& type : types) {
        auto begin = type.open + 1;
        if (type.kind == "enum") { begin = std::min(end_of_constants(code, type), type.close - 1) + 1; }
        for (auto at = begin; at < type.close; ++at) {
            if (code[at] == '(') { at = std::min(closing_bracket(code, at), type.close); }
            if (code[at] == '{') {
                at = std::min(closing_bracket(code, at), type.close);
                begin = at + 1;
            }
            if (at >= type.close || code[at] != ';') { continue; }
            const auto member = code.substr(begin, at - begin);
            begin = at + 1;
            static const RE2 method(R"((?s)^[^=]*?(\w+)\s*\([^()]*\)\s*(?:throws\s+[\w., ]+)?\s*$)");
            static const RE2 abstract(R"(\b(?:abstract|native)\b)");
            static const RE2 of_interface(R"(\b(?:default|static|private)\b)");
            std::string name;
            if (!RE2::FullMatch(member, method, &name) || RE2::PartialMatch(member, abstract) ||
                (type.kind == "interface" && !RE2::PartialMatch(member, of_interface))) {
                continue;
            }
            bodies[at] = " { throw new UnsupportedOperationException(\"" + marker + " " + name + "\"); }";
        }
    }
    std::string result = text;
    for (const auto& [at, body] : bodies) { result.replace(at, 1, body); }
    return result;
}

std::string package_line(const std::string& path) {
    auto package = folder_path(path);
    const auto java = package.rfind("java/");
    package = java == std::string::npos ? std::string{} : package.substr(java + 5);
    std::replace(package.begin(), package.end(), '/', '.');
    return package.empty() ? "" : "package " + package + ";\n\n";
}

void import_java(std::string& text, const std::string& signature) {
    std::string lines;
    for (const auto& [package, words] : java_packages) {
        for (auto rest = words; !rest.empty();) {
            const auto end = std::min(rest.find(' '), rest.size());
            const std::string word(rest.substr(0, end));
            rest.remove_prefix(std::min(rest.size(), end + 1));
            if (!RE2::PartialMatch(signature, R"((?:^|[^\w.]))" + word + R"(\b)") ||
                RE2::PartialMatch(text, R"((?m)^import\s+[\w.]+\.)" + word + R"(\s*;)") ||
                text.find("import " + std::string(package) + ".*;") != std::string::npos) {
                continue;
            }
            lines += "import " + std::string(package) + "." + word + ";\n";
        }
    }
    if (lines.empty()) { return; }
    std::string package;
    const auto place =
        RE2::PartialMatch(text, R"((?m)^(package\s+[^;]+;[^\n]*\n))", &package) ? text.find(package) + package.size() : 0;
    text.insert(place, (place > 0 ? "\n" : "") + lines + (place > 0 || text.starts_with("import") ? "" : "\n"));
}

}  // namespace agentforge::kernel
