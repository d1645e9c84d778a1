// SPDX-License-Identifier: Apache-2.0
// Compares with an independent reader: Python's json and yaml.safe_load, all cases of a test in one process.
#pragma once

#include <sys/wait.h>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <agentforge/json.hpp>

#include "base/files.hpp"

namespace agentforge::kernel::test {

/// Fails (with Python's message) unless reading `text` gives exactly `expected`, including types. `reader` is json or yaml.
struct ReaderCase {
    std::string name;
    std::string reader;
    std::string text;
    json::value expected;
};

/// Returns empty if every case holds; otherwise Python's output.
inline std::string read_with_python(const std::vector<ReaderCase>& cases) {
    constexpr std::string_view script = R"(
import json, sys, yaml
def same(a, b):
    if type(a) is not type(b): return False
    if isinstance(a, dict): return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list): return len(a) == len(b) and all(map(same, a, b))
    return a == b
sys.setrecursionlimit(10000)
bad = 0
for case in json.load(open(sys.argv[1], encoding='utf-8')):
    try:
        read = json.loads(case['text']) if case['reader'] == 'json' else yaml.safe_load(case['text'])
    except Exception as error:
        read = error
    if not same(read, case['expected']):
        bad += 1
        print(case['name'], case['reader'], 'wanted', ascii(case['expected'])[:300], 'read', ascii(read)[:300], 'from', ascii(case['text'])[:300])
print(f'{bad} wrong')
)";
    const TemporaryDirectory folder("python");
    json::array list;
    for (const auto& one : cases) {
        list.push_back({{"name", one.name}, {"reader", one.reader}, {"text", one.text}, {"expected", one.expected}});
    }
    // Uses Boost.JSON's own writer, so that ours is not its own judge.
    if (!write_file_atomic(folder.path() / "cases.json", json::serialize(list), Durability::cached).ok()) {
        return "cases not written";
    }
    if (!write_file_atomic(folder.path() / "check.py", script, Durability::cached).ok()) { return "script not written"; }
    const std::string command =
        "/usr/bin/python3 " + (folder.path() / "check.py").string() + " " + (folder.path() / "cases.json").string() + " 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) { return "python did not start"; }
    std::string output;
    char bytes[4096];
    for (std::size_t count = 0; (count = std::fread(bytes, 1, sizeof bytes, pipe)) > 0;) { output.append(bytes, count); }
    const int status = ::pclose(pipe);
    return status == 0 && output == "0 wrong\n" ? std::string() : output;
}

/// Returns texts that some reader or writer is known to get wrong.
inline std::vector<std::string> tricky_strings() {
    using namespace std::string_literals;
    std::vector<std::string> list{"",
                                  " ",
                                  "yes",
                                  "no",
                                  "Yes",
                                  "NO",
                                  "on",
                                  "off",
                                  "y",
                                  "n",
                                  "true",
                                  "True",
                                  "false",
                                  "FALSE",
                                  "~",
                                  "null",
                                  "Null",
                                  "1",
                                  "-1",
                                  "+1",
                                  "1.0",
                                  "1.",
                                  ".5",
                                  "012",
                                  "0o17",
                                  "0x1f",
                                  "0b11",
                                  "1e3",
                                  "1E3",
                                  "1.0e+3",
                                  "1_000",
                                  ".inf",
                                  "-.INF",
                                  ".nan",
                                  "2024-01-01",
                                  "2001-12-14t21:59:43.10-05:00",
                                  "12:30:45",
                                  "190:20:30",
                                  "=",
                                  "<<",
                                  "!",
                                  "!!str x",
                                  "&a",
                                  "*a",
                                  "%TAG",
                                  "@x",
                                  "`x`",
                                  "|",
                                  ">",
                                  "|-",
                                  "-",
                                  "- a",
                                  "--",
                                  "---",
                                  "--- a",
                                  "...",
                                  "?",
                                  "? a",
                                  ":",
                                  ": a",
                                  "key: v",
                                  "key:",
                                  "a:b",
                                  "# c",
                                  "a # c",
                                  "a#c",
                                  "[",
                                  "]",
                                  "{",
                                  "}",
                                  "[a, b]",
                                  "{a: b}",
                                  ",",
                                  "'",
                                  "\"",
                                  "''",
                                  "\"\"",
                                  "it's",
                                  "a\"b",
                                  "\\",
                                  "\\n",
                                  "C:\\temp\\new",
                                  " leading",
                                  "trailing ",
                                  "\tleading tab",
                                  "trailing tab\t",
                                  "a\tb",
                                  "one\ntwo",
                                  "one\ntwo\n",
                                  "one\ntwo\n\n",
                                  "one\n\n\ntwo",
                                  "\none",
                                  "\n",
                                  "\n\n",
                                  " \n",
                                  "\n ",
                                  "  indented\nless",
                                  "one\n  more\nless",
                                  "a\n \nb",
                                  "a\n   ",
                                  "a\n\t",
                                  "\ta\nb",
                                  "a\n\tb",
                                  "a \nb ",
                                  "---\na",
                                  "a\n---\nb",
                                  "a\n...\nb",
                                  "# c\nd",
                                  "a\n# c\nb",
                                  "- a\n- b",
                                  "key: v\nother: w",
                                  "key:\n  v\n",
                                  "a: |\n  b\n",
                                  "%YAML 1.1\n---\n",
                                  "a\rb",
                                  "a\r\nb",
                                  "a\r",
                                  "\r\n",
                                  "\"quoted\"\nlines",
                                  "back\\slash\nlines",
                                  "emoji \U0001F600",
                                  "\U0001F600\nlines \U0001F469\u200D\U0001F4BB",
                                  "\u00e9\u00fc\u4e2d\u6587",
                                  "\u4e2d\n\u6587\n",
                                  "a\u0085b",
                                  "a\u2028b",
                                  "a\u2029b",
                                  "\uFEFFa",
                                  "a\uFEFFb",
                                  "a\u00A0b",
                                  "a\u00ADb",
                                  "\uFFFD",
                                  "\uFFFE",
                                  "\uFFFF",
                                  "\U0010FFFF",
                                  "\U0001FFFE",
                                  "a\u0085b\nc",
                                  "a\u2028b\nc",
                                  "\uE000",
                                  std::string(5000, 'x'),
                                  std::string(5000, ' '),
                                  std::string(3000, '"'),
                                  std::string(2000, 'a') + " b " + std::string(2000, 'c') + "\nsecond",
                                  "a\0b"s,
                                  "\0"s,
                                  "${HOME}",
                                  "{{ x }}",
                                  "</script>",
                                  "a, b: c",
                                  "- ",
                                  "a:\n",
                                  "\"",
                                  "a: 'b",
                                  "0",
                                  "-0",
                                  "0.0",
                                  "9223372036854775808",
                                  "1e400",
                                  "nan",
                                  "inf"};
    for (unsigned c = 1; c <= 0x1F; ++c) { list.push_back("a" + std::string(1, static_cast<char>(c)) + "b"); }
    list.push_back(
        "a\x7F"
        "b");
    for (unsigned c = 0x80; c <= 0x9F; ++c) { list.push_back("a\xC2" + std::string(1, static_cast<char>(c)) + "b"); }
    for (unsigned c = 0x21; c < 0x7F; ++c) {
        list.emplace_back(1, static_cast<char>(c));
        list.push_back(std::string(1, static_cast<char>(c)) + " x");
        list.push_back(std::string(1, static_cast<char>(c)) + "x\n" + std::string(1, static_cast<char>(c)) + " y\n");
        list.push_back("x" + std::string(1, static_cast<char>(c)));
    }
    return list;
}

}  // namespace agentforge::kernel::test
