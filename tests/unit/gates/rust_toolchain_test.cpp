// SPDX-License-Identifier: Apache-2.0
// Rust projects, measured by the real toolchain in the real sandbox: tests beside the code that they test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

/// If its toolchain is not installed, a case is reported as not run, never as passed.
#define AGENTFORGE_NEEDS_RUST() \
    if (!std::filesystem::exists("/usr/bin/cargo")) { GTEST_SKIP() << "not run: Rust is not installed"; }

const std::string rust_manifest = "[package]\nname = \"slug\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const std::string rust_skeleton =
    "pub fn one() -> i32 {\n    1\n}\n\npub fn slugify(text: &str) -> String {\n    todo!(\"agentforge: skeleton of slugify\")\n}\n";
const std::string rust_tests =
    "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn lower_case() {\n        assert_eq!(slugify(\"A\"), \"a\");\n    }\n"
    "    #[test]\n    fn unwraps() {\n        let none: Option<i32> = None;\n        none.unwrap();\n    }\n"
    "    #[test]\n    fn stays_one() {\n        assert_eq!(one(), 1);\n    }\n}\n";

std::string without_unwrap(std::string text) {
    const auto from = text.find("    #[test]\n    fn unwraps");
    return text.erase(from, text.find("    #[test]\n    fn stays_one") - from);
}

TEST(RustTests, distinguishes_outcomes_and_finds_their_files) {
    AGENTFORGE_NEEDS_RUST()
    Project project;
    project.tree("t") = {
        {"Cargo.toml", rust_manifest},
        {"src/lib.rs", "pub mod words;\n" + rust_skeleton + rust_tests},
        {"src/words.rs",
         "#[cfg(test)]\nmod tests {\n    #[test]\n    fn wrong() {\n        assert!(1 == 2, \"one is not two\");\n    }\n}\n"},
        {"tests/outside.rs",
         "#[test]\nfn from_outside() {\n    assert_eq!(slug::one(), 1);\n}\n#[test]\n#[ignore]\nfn later() {}\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    EXPECT_EQ(status_of(report, "src/lib.rs::tests::lower_case"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, "src/lib.rs::tests::unwraps"), TestStatus::error);
    EXPECT_EQ(status_of(report, "src/lib.rs::tests::stays_one"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "src/words.rs::tests::wrong"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, "tests/outside.rs::from_outside"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "tests/outside.rs::later"), TestStatus::skipped);
    EXPECT_EQ(report.tests.size(), 6U) << joined(report.blocking_issues);
    const auto single = project.gate("tests", "t", {"src/lib.rs::tests::stays_one"});
    EXPECT_TRUE(single.passed) << joined(single.blocking_issues);
    EXPECT_EQ(single.tests.size(), 1U);
}

/// Runs GREEN's gate on a `two` with this body, with a test of it.
GateReport green_with_two(const std::string& body, const std::string& more_tests = "") {
    Project project;
    const std::string one = "pub fn one() -> i32 {\n    1\n}\n";
    project.tree("base") = {{"Cargo.toml", rust_manifest}, {"src/lib.rs", one}};
    project.tree("red") = project.tree("base");
    project.tree("red")["src/lib.rs"] =
        one + "\npub fn two(bytes: &[u8]) -> u8 {\n    todo!(\"agentforge: skeleton of two\")\n}\n";
    project.tree("red")["tests/two.rs"] =
        "#[test]\nfn adds() {\n    assert_eq!(slug::two(&[1, 3]), 4);\n    assert_eq!(slug::two(&[]), 0);\n"
        "    assert!(std::panic::catch_unwind(|| slug::two(&[255, 1])).is_err());\n}\n" +
        more_tests;
    project.tree("green") = project.tree("red");
    project.tree("green")["src/lib.rs"] = one + "\n/// The sum.\npub fn two(bytes: &[u8]) -> u8 {\n" + body + "}\n";
    project.baseline.test_files = {"tests/two.rs"};
    project.baseline.specification = json::parse(R"({"requirements": [{"id": "REQ-001", "verification_method": "test"}],
        "interfaces": [{"name": "two", "type": "api", "file": "src/lib.rs", "signature": "pub fn two(bytes: &[u8]) -> u8"}]})")
                                         .as_object();
    project.baseline.test_suite =
        json::parse(R"({"test_files": [{"path": "tests/two.rs", "tests": [{"name": "adds", "requirement_ref": "REQ-001"},
        {"name": "refuses", "requirement_ref": "REQ-001"}]}]})")
            .as_object();
    if (more_tests.empty()) { project.baseline.test_suite["test_files"].at(0).at("tests").as_array().pop_back(); }
    return project.gate("green", "green");
}

TEST(RustTests, code_that_works_only_in_test_builds_fails_the_plain_run) {
    AGENTFORGE_NEEDS_RUST()
    const std::string sum = "    let mut sum = 0;\n    for byte in bytes {\n        sum += byte;\n    }\n    sum\n";
    const auto honest = green_with_two(sum);
    EXPECT_TRUE(honest.passed) << joined(honest.blocking_issues);
    EXPECT_EQ(honest.facts.at("plain_run"), json::value("passed"));
    for (const auto* known :
         {"cfg!(debug_assertions)", "std::env::current_exe().unwrap().to_string_lossy().contains(\"/deps/\")"}) {
        const auto report = green_with_two(std::string("    if !(") + known + ") {\n        return 0;\n    }\n" + sum);
        EXPECT_FALSE(report.passed) << known;
        EXPECT_THAT(joined(report.blocking_issues), HasSubstr("fail in a plain run")) << known;
    }
}

TEST(RustTests, a_panic_expected_by_a_test_may_be_a_debug_assertion) {
    AGENTFORGE_NEEDS_RUST()
    const std::string refuses =
        "\n#[test]\n#[should_panic(expected = \"too many\")]\nfn refuses() {\n    slug::two(&[0; 9]);\n}\n";
    const std::string sum =
        "    debug_assert!(bytes.len() < 9, \"too many\");\n    let mut sum = 0;\n    for byte in bytes {\n        sum += byte;\n    }\n    sum\n";
    const auto honest = green_with_two(sum, refuses);
    EXPECT_TRUE(honest.passed) << joined(honest.blocking_issues);
    EXPECT_EQ(honest.facts.at("plain_run"), json::value("passed"));
    const auto report = green_with_two("    if !cfg!(debug_assertions) {\n        return 0;\n    }\n" + sum, refuses);
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("fail in a plain run"));
}

TEST(RustTests, asks_for_crates_without_a_lockfile_once_a_build_needs_them) {
    AGENTFORGE_NEEDS_RUST()
    Project project;
    project.options().dependencies_directory = (project.folder() / "dependencies").string();
    project.configure({});
    project.tree("t") = {{"Cargo.toml", rust_manifest + "[dev-dependencies]\nnot-fetched-yet = \"1\"\n"},
                         {"src/lib.rs", rust_skeleton + rust_tests}};
    const auto report = project.try_gate("tests", "t");
    ASSERT_FALSE(report.ok()) << report->summary;
    EXPECT_EQ(report.error().code, "AF-GATE-100");
    EXPECT_THAT(report.error().message, HasSubstr("Cargo.toml"));
    EXPECT_THAT(report.error().message, HasSubstr("cargo fetch"));
}

TEST(RustTests, a_shim_of_rustup_finds_its_toolchain) {
    AGENTFORGE_NEEDS_RUST()
    namespace fs = std::filesystem;
    Project project;
    project.tree("t") = {{"Cargo.toml", rust_manifest},
                         {"src/lib.rs", "pub fn one() -> i32 {\n    1\n}\n"},
                         {"tests/one.rs", "#[test]\nfn is_one() {\n    assert_eq!(slug::one(), 1);\n}\n"}};
    const auto shims = project.folder() / "cargo" / "bin";
    const auto home = project.folder() / "home";
    const auto program = [](const fs::path& path, const std::string& text) {
        fs::create_directories(path.parent_path());
        std::ofstream(path) << "#!/bin/sh\n" << text;
        fs::permissions(path, fs::perms::owner_all);
    };
    program(shims / "cargo", "exec \"${RUSTUP_HOME:-$HOME/.rustup}/toolchains/stable/bin/cargo\" \"$@\"\n");
    for (const auto& rustup : {project.folder() / "elsewhere", home / ".rustup"}) {
        program(rustup / "toolchains" / "stable" / "bin" / "cargo", "exec /usr/bin/cargo \"$@\"\n");
        project.options().environment = {{"PATH", shims.string() + ":/usr/bin:/bin"}, {"HOME", home.string()}};
        if (rustup != home / ".rustup") { project.options().environment["RUSTUP_HOME"] = rustup.string(); }
        project.configure({});
        const auto report = project.gate("tests", "t");
        EXPECT_EQ(report.tests.size(), 1U);
        EXPECT_TRUE(report.passed) << rustup << ": " << report.summary;
    }
}

TEST(RustTests, red_writes_inline_tests_that_are_locked_by_item) {
    AGENTFORGE_NEEDS_RUST()
    Project project;
    project.tree("base") = {{"Cargo.toml", rust_manifest}, {"src/lib.rs", "pub fn one() -> i32 {\n    1\n}\n"}};
    project.baseline.specification = json::parse(R"({"requirements": [{"id": "R1", "verification_method": "test"}],
        "interfaces": [{"name": "slugify", "file": "src/lib.rs", "signature": "pub fn slugify(text: &str) -> String"}]})")
                                         .as_object();
    project.baseline.test_suite = json::parse(R"({"test_files": [{"path": "src/lib.rs", "tests": [
        {"name": "lower_case", "requirement_ref": "R1"}, {"name": "tests::stays_one", "kind": "guard"}]}]})")
                                      .as_object();
    project.baseline.test_files = {"src/lib.rs"};
    project.tree("red") = project.tree("base");
    project.tree("red")["src/lib.rs"] = rust_skeleton + without_unwrap(rust_tests);
    const auto red = project.gate("red", "red");
    EXPECT_TRUE(red.passed) << joined(red.blocking_issues);

    const auto code = [](const std::string& body) {
        return "pub fn one() -> i32 {\n    1\n}\n\npub fn slugify(text: &str) -> String {\n    " + body + "\n}\n";
    };
    project.tree("green") = project.tree("base");
    project.tree("green")["src/lib.rs"] = code("text.to_lowercase()") + without_unwrap(rust_tests);
    const auto green = project.gate("green", "green");
    EXPECT_TRUE(green.passed) << joined(green.blocking_issues);

    project.tree("changed") = project.tree("green");
    project.tree("changed")["src/lib.rs"] =
        code("String::new()") + "#[cfg(test)]\nmod tests {\n    #[test]\n    fn lower_case() {}\n}\n";
    EXPECT_THAT(joined(project.gate("green", "changed").blocking_issues),
                HasSubstr("src/lib.rs (the tests in it): locked tests were changed"));

    project.tree("early") = project.tree("red");
    project.tree("early")["src/lib.rs"] = code("text.to_lowercase()") + without_unwrap(rust_tests);
    EXPECT_THAT(joined(project.gate("red", "early").blocking_issues),
                HasSubstr("src/lib.rs was changed, but this stage may change only tests"));
}

}  // namespace
}  // namespace agentforge::kernel::testing
