// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/dropped_errors.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include <re2/re2.h>

#include "gates/language/string_piece.hpp"
#include "gates/removal/source_lines.hpp"

namespace agentforge::kernel {
namespace {

/// A branch on an error. Lines are indexes.
struct ErrorBranch {
    std::size_t first = 0;  ///< The line that begins it.
    std::size_t last = 0;
    std::string body;         ///< Its code without texts.
    std::string name;         ///< Of the error. May be empty.
    std::size_t insert = 0;   ///< In the first line, where its code begins. Python: unused.
    std::string ends_a_test;  ///< The statement for that place.
};

/// Returns the code between this brace and its partner, and the line of the partner; nothing if it has none.
std::optional<std::pair<std::string, std::size_t>> braced(const SourceLines& text, std::size_t line, std::size_t brace) {
    int open = 0;
    std::string body;
    for (auto at = line; at < text.blanked.size(); ++at) {
        const std::string_view code = text.blanked[at];
        for (auto byte = at == line ? brace : 0; byte < code.size(); ++byte) {
            open += code[byte] == '{' ? 1 : 0;
            open -= code[byte] == '}' ? 1 : 0;
            if (open == 0) { return std::pair(body, at); }
            body += code[byte];
        }
        body += '\n';
    }
    return std::nullopt;
}

/// Returns the statement that throws in a `catch`. `type`: what stands before the name of the error.
const char* rethrown(re2::StringPiece type, const CodeRules& rules) {
    if (rules.preprocessor) { return " throw; "; }
    // JavaScript names no type; Java refuses statements that nothing can reach.
    const bool is_java = !type.empty();
    return is_java ? " if (true) throw new IllegalStateException(\"agentforge\"); " : " throw new Error(\"agentforge\"); ";
}

std::optional<ErrorBranch> braced_branch(const SourceLines& text, std::size_t line, const CodeRules& rules) {
    static const RE2 caught(R"(\bcatch\s*(?:\(([^()]*?)(\w*)\s*\)\s*)?(\{))");
    static const RE2 go(R"(\bif\s(?:.*;\s*)?()(\w*[eE]rr) != nil\s*(\{))");
    static const RE2 rust(R"(\bErr\(()(\w+)\)\s*=(?:>\s*|\s.*)(\{))");
    struct Form {
        const RE2& head;
        const char* ends_a_test;
    };
    const Form forms[] = {{go, " panic(\"agentforge\"); "}, {rust, " panic!(\"agentforge\"); "}, {caught, nullptr}};
    const std::string& code = text.blanked[line];
    for (const auto& form : forms) {
        re2::StringPiece type;
        re2::StringPiece name;
        re2::StringPiece brace;
        if (!RE2::PartialMatch(code, form.head, &type, &name, &brace)) { continue; }
        const auto at = static_cast<std::size_t>(brace.data() - code.data());
        const auto body = braced(text, line, at);
        if (!body) { return std::nullopt; }
        ErrorBranch branch{line, body->second, body->first, std::string(name), at + 1, {}};
        branch.ends_a_test = form.ends_a_test != nullptr ? form.ends_a_test : rethrown(type, rules);
        return branch;
    }
    return std::nullopt;
}

std::optional<ErrorBranch> indented_branch(const SourceLines& text, std::size_t line) {
    static const RE2 except(R"(^\s*except\b(?:.*\bas\s+(\w+))?.*:\s*$)");
    ErrorBranch branch;
    branch.first = branch.last = line;
    if (!RE2::PartialMatch(text.blanked[line], except, &branch.name)) { return std::nullopt; }
    const auto margin = margin_of(text.blanked[line]);
    for (auto at = line + 1; at < text.blanked.size(); ++at) {
        const auto inner = margin_of(text.blanked[at]);
        if (inner == std::string::npos) { continue; }
        if (inner <= margin) { break; }
        if (branch.last == line) { branch.ends_a_test = std::string(inner, ' ') + "raise\n"; }
        branch.last = at;
        branch.body += text.blanked[at] + "\n";
    }
    return branch.last == line ? std::nullopt : std::optional(branch);
}

/// True if the branch says that there was an error, in any way.
bool uses_error(const ErrorBranch& branch) {
    static const RE2 words(
        R"((?i)\b(?:raise|throw|panic|abort|exit|die|fatal\w*|reject\w*|log\w*|warn\w*|print\w*|console|std(?:err|out)|write\w*|assert\w*|expect\w*|unreachable)\b|err(?:or)?|exception|fail|usage|invalid|problem|skipp)");
    if (RE2::PartialMatch(branch.body, words)) { return true; }
    return branch.name.size() > 1 && RE2::PartialMatch(branch.body, "\\b" + RE2::QuoteMeta(branch.name) + "\\b");
}

/// True if the line before the branch, or the branch's own, only cleans up.
bool cleans_up(const SourceLines& text, const ErrorBranch& branch) {
    static const RE2 cleaning(
        R"((?i)\w*(?:close|unlink|remove|rmdir|rmtree|kill|terminate|flush|shutdown|disconnect|cancel|release|cleanup|dispose|stop)\w*\()");
    const auto cleans = [&](std::size_t line) { return RE2::PartialMatch(text.blanked[line], cleaning); };
    return cleans(branch.first) || (branch.first > 0 && cleans(branch.first - 1));
}

std::string with_ended_tests(const std::string& whole, const ErrorBranch& branch, bool braces) {
    std::string text;
    std::size_t number = 0;
    for (const auto line : lines_of(whole)) {
        std::string written(line);
        if (number == branch.first && braces) { written.insert(branch.insert, branch.ends_a_test); }
        text += written + "\n";
        if (number == branch.first && !braces) { text += branch.ends_a_test; }
        ++number;
    }
    return text;
}

}  // namespace

std::vector<DroppedError> dropped_errors(const std::vector<ChangedText>& files, const CodeRules& rules) {
    std::vector<DroppedError> found;
    for (const auto& file : files) {
        if (!file.is_source || file.now.empty()) { continue; }
        const SourceLines text(file.now, rules);
        const auto changed = changed_line_numbers(file.now, file.before);
        const bool braces = !rules.comment_begins.empty();
        for (std::size_t line = 0; line < text.blanked.size(); ++line) {
            const auto branch = braces ? braced_branch(text, line, rules) : indented_branch(text, line);
            if (!branch || uses_error(*branch) || cleans_up(text, *branch)) { continue; }
            const auto first = changed.lower_bound(branch->first + 1);
            if (first == changed.end() || *first > branch->last + 1) { continue; }
            found.push_back({{file.path, line + 1, std::string(bare_line(text.written[line]))},
                             {{file.path, with_ended_tests(file.whole, *branch, braces)}}});
        }
    }
    return found;
}

}  // namespace agentforge::kernel
