// SPDX-License-Identifier: Apache-2.0
// A small project of C or C++ in which a specification is declared, compiled with the machine's compiler, and called.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <re2/re2.h>

#include "gates/stubs/skeleton_c.hpp"

namespace agentforge::kernel::testing {

inline const std::string c_skeleton_marker = "agentforge: skeleton of";

using CFiles = std::map<std::string, std::string>;

inline Skeletons declare_c(const std::vector<SkeletonInterface>& interfaces, const CFiles& files) {
    std::vector<std::string> existing;
    for (const auto& [path, text] : files) { existing.push_back(path); }
    return write_c_skeletons(interfaces, files, existing, c_skeleton_marker);
}

/// Compiles files with all usual warnings as errors, as a strict project does, and runs them.
class CCompiler {
public:
    CCompiler() {
        std::string pattern = (std::filesystem::temp_directory_path() / "agentforge-skeletons-XXXXXX").string();
        EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    ~CCompiler() { std::filesystem::remove_all(folder_); }
    CCompiler(const CCompiler&) = delete;
    CCompiler& operator=(const CCompiler&) = delete;

    /// Returns the compiler's output; empty: it compiled.
    std::string compile(const CFiles& files) {
        std::string sources;
        std::string together;  // The sources of C++ as one, so that their standard headers are read once.
        for (const auto& [path, text] : files) {
            std::filesystem::create_directories((folder_ / path).parent_path());
            std::ofstream(folder_ / path) << text;
            if (path.ends_with(".c")) { sources += " " + path; }
            if (path.ends_with(".cpp")) { together += "#include \"" + path + "\"\n"; }
        }
        if (!together.empty()) {
            std::ofstream(folder_ / "together.cpp") << together;
            sources += " together.cpp";
        }
        const std::string compiler = together.empty() ? "gcc -std=c11" : "g++ -std=c++20";
        return output("cd '" + folder_.string() + "' && LC_ALL=C " + compiler + " -Wall -Wextra -Werror -I. -Iinclude" + sources +
                      " -o program 2>&1");
    }
    /// Returns what the program writes.
    std::string run() { return output("ulimit -c 0; '" + (folder_ / "program").string() + "' 2>&1"); }

private:
    static std::string output(const std::string& command) {
        std::string text;
        std::FILE* pipe = ::popen(command.c_str(), "r");
        std::array<char, 4096> buffer{};
        for (std::size_t count = 0; pipe != nullptr && (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
            text.append(buffer.data(), count);
        }
        if (pipe != nullptr) { static_cast<void>(::pclose(pipe)); }
        return text;
    }
    std::filesystem::path folder_;
};

/// Declares a specification, and turns functions that then do not compile into stubs, as the gates do.
struct DeclaredProject {
    CFiles files;
    std::string errors;  ///< Of the compiler, or the problems of the declarations. Empty: none.
    std::string output;  ///< Of the program.
};

inline DeclaredProject declare_and_run(const CFiles& before, const std::vector<SkeletonInterface>& interfaces,
                                       const std::string& main) {
    const bool cpp =
        main.find("catch") != std::string::npos || before.begin()->first.ends_with("pp") || main.find("::") != std::string::npos;
    CFiles tree = before;
    const std::string test = cpp ? "main.cpp" : "main.c";
    tree[test] = main;
    DeclaredProject result;
    auto contents = tree;
    contents.erase(test);
    std::vector<std::string> existing;
    for (const auto& [path, text] : tree) { existing.push_back(path); }
    const auto declare = [&](const CFiles& files) { return write_c_skeletons(interfaces, files, existing, c_skeleton_marker); };
    const auto skeletons = declare(contents);
    for (const auto& each : skeletons.problems) { result.errors += each + "\n"; }
    if (!result.errors.empty()) { return result; }
    for (const auto& [path, text] : skeletons.files) {
        tree[path] = text;
        contents[path] = text;
    }
    const auto again = declare(contents);
    EXPECT_TRUE(again.problems.empty() && again.files.empty()) << "declared twice, it changes nothing; but now\n"
                                                               << (again.files.empty() ? "" : again.files.front().second);
    CCompiler compiler;
    result.errors = compiler.compile(tree);
    for (int round = 0; round < 4 && !result.errors.empty(); ++round) {
        std::map<std::string, std::set<std::uint64_t>> lines;
        static const RE2 message(R"((?m)^([^\s:]+):([0-9]+):[0-9]+: error: )");
        re2::StringPiece rest(result.errors);
        std::string path;
        std::uint64_t line = 0;
        while (RE2::FindAndConsume(&rest, message, &path, &line)) {
            if (path != test) { lines[path].insert(line); }
        }
        for (const auto& [file, numbers] : lines) {
            tree[file] = stub_c_functions(file, tree[file], numbers, tree, existing, c_skeleton_marker);
        }
        if (lines.empty()) { break; }
        result.errors = compiler.compile(tree);
    }
    if (result.errors.empty()) { result.output = compiler.run(); }
    result.files = std::move(tree);
    return result;
}

}  // namespace agentforge::kernel::testing
