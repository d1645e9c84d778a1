// SPDX-License-Identifier: Apache-2.0
// JavaScript and TypeScript projects, measured by real node in the real sandbox: the report for each way in which a test can end.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gates/project.hpp"
#include "unit/gates/registries.hpp"

namespace agentforge::kernel::testing {
namespace {

using ::testing::HasSubstr;

const Files javascript_package{{"package.json", R"({"name": "slug", "type": "module"})"}};
constexpr const char* javascript_skeleton =
    "export function slugify(text) {\n  throw new Error(\"agentforge: skeleton of slugify\");\n}\n";

Files with(Files files, const Files& more) {
    for (const auto& [path, content] : more) { files[path] = content; }
    return files;
}

const char* const node_tests = R"(import assert from 'node:assert/strict';
import test, { describe, it, before } from 'node:test';
import { slugify } from '../src/slug.js';

describe('slugify', () => {
  it('skeleton', () => { assert.equal(slugify('A'), 'a'); });
  it('assertion', () => { assert.equal(1, 2, 'one is not two'); });
  it('skipped', { skip: 'later' }, () => {});
  it.todo('todo');
  it('passes', async () => { await 1; });
  it('other error', () => { throw new TypeError('x'); });
});
test('parent', async (t) => {
  await t.test('passes', () => {});
  await t.test('fails', () => { assert.ok(0, 'rounds 3.5 to 4'); });
});
describe('hooks', () => {
  before(() => { throw new Error('no database'); });
  it('never run', () => {});
});
test('same', () => {});
test('same', () => {});
test('compares', () => { throw Object.assign(new Error('the slug is wrong'), { name: 'AssertionError', expected: 'hello', actual: ['Hello'] }); });
)";

TEST(NodeTests, distinguishes_outcomes) {
    Project project;
    project.tree("t") = with(
        javascript_package,
        {{"src/slug.js", javascript_skeleton},
         {"test/slug.test.js", node_tests},
         {"test/bad.test.js", "import x from 'nothere';\n"},
         {"test/open.test.js",
          "import http from 'node:http';\nimport test from 'node:test';\nhttp.createServer().listen(0);\ntest('leaves a server', () => {});\n"},
         {"test/stuck.test.js",
          "import test from 'node:test';\ntest('quick', () => {});\ntest('stuck', () => new Promise(() => {}));\n"}});
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    const std::string prefix = "test/slug.test.js::";
    EXPECT_EQ(status_of(report, prefix + "slugify::skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status_of(report, prefix + "slugify::assertion"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "slugify::skipped"), TestStatus::skipped);
    EXPECT_EQ(status_of(report, prefix + "slugify::todo"), TestStatus::skipped);
    EXPECT_EQ(status_of(report, prefix + "slugify::passes"), TestStatus::passed);
    EXPECT_EQ(status_of(report, prefix + "slugify::other error"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "parent"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "parent::passes"), TestStatus::passed);
    EXPECT_EQ(status_of(report, prefix + "parent::fails"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "hooks::never run"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "same"), TestStatus::passed);
    EXPECT_EQ(status_of(report, prefix + "same[2]"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "test/bad.test.js"), TestStatus::error);
    EXPECT_EQ(status_of(report, "test/open.test.js::leaves a server"), TestStatus::passed);
    EXPECT_EQ(status_of(report, "test/stuck.test.js::stuck"), TestStatus::error);
    EXPECT_EQ(status_of(report, "test/stuck.test.js::quick"), TestStatus::error);
    const auto* assertion = find_test(report, prefix + "slugify::assertion");
    ASSERT_NE(assertion, nullptr);
    EXPECT_EQ(assertion->line, 7U);
    EXPECT_THAT(assertion->message, HasSubstr("one is not two"));
    EXPECT_THAT(find_test(report, prefix + "compares")->message,
                HasSubstr("the slug is wrong expected: 'hello' actual: [ 'Hello' ]"));
    EXPECT_THAT(find_test(report, "test/bad.test.js")->message, HasSubstr("Cannot find package 'nothere'"));
}

const char* const tests_of_missing_code = R"(import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { Transform, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test, { after, before, beforeEach, describe, it } from 'node:test';
import * as slug from '../src/slug.js';
const { slugify } = slug;

class Slugs extends Transform {
  _transform(chunk, encoding, done) { done(null, slugify(chunk)); }
}
it('in a stream', async () => { await pipeline(Readable.from(['A']), new Slugs(), async (all) => { for await (const each of all) assert.equal(each, 'a'); }); });
it('in a callback', async () => {
  const events = new EventEmitter();
  setImmediate(() => { events.emit('slug', slugify('A')); });
  assert.deepEqual(await once(events, 'slug'), ['a']);
});
it('rejected', async () => { Promise.reject(slug.rejected()); await new Promise((resolve) => { setTimeout(resolve, 50); }); });
it('asserts in a callback', (t, done) => { setTimeout(() => { assert.equal(1, 2); done(); }, 1); });
it('fails in a callback', (t, done) => { setTimeout(() => { throw new Error('other'); }, 1); });
describe('before', () => { before(() => { slugify('A'); }); it('waits', () => {}); });
describe('beforeEach', () => { beforeEach(() => { slugify('A'); }); it('waits', () => {}); });
describe('after', () => { after(() => { slugify('A'); }); it('is closed', () => {}); });
describe('bad', () => { before(() => { throw new Error('no database'); }); it('never run', () => {}); });
test('missing', async (t) => { await t.test('one', () => { slug.nothing(1); }); await t.test('two', () => { slug.nothing(2); }); });
test('mixed', async (t) => { await t.test('one', () => { slugify('A'); }); await t.test('two', () => { assert.ok(false, 'no'); }); await t.test('three', () => {}); });
)";

TEST(NodeTests, fail_at_a_skeleton_wherever_they_meet_it) {
    Project project;
    project.tree("t") =
        with(javascript_package,
             {{"src/slug.js", std::string(javascript_skeleton) +
                                  "export function rejected() {\n  return new Error('agentforge: skeleton of rejected');\n}\n"},
              {"test/slug.test.js", tests_of_missing_code}});
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    const std::string prefix = "test/slug.test.js::";
    for (const char* name :
         {"in a stream", "in a callback", "rejected", "before::waits", "beforeEach::waits", "after::is closed", "mixed::one"}) {
        EXPECT_EQ(status_of(report, prefix + name), TestStatus::failed_skeleton) << name;
    }
    EXPECT_EQ(status_of(report, prefix + "asserts in a callback"), TestStatus::failed_assertion);
    EXPECT_EQ(status_of(report, prefix + "fails in a callback"), TestStatus::error);
    EXPECT_EQ(status_of(report, prefix + "bad::never run"), TestStatus::error);
    EXPECT_THAT(find_test(report, prefix + "bad::never run")->message, HasSubstr("in a hook: Error: no database"));
    for (const char* suite : {"before", "beforeEach", "after", "bad"}) {
        EXPECT_EQ(find_test(report, prefix + suite), nullptr) << suite;
    }
}

TEST(NodeTests, a_suite_that_meets_a_skeleton_outside_its_tests_does_not_load) {
    Project project;
    project.tree("t") =
        with(javascript_package,
             {{"src/slug.js", javascript_skeleton},
              {"test/slug.test.js",
               "import { describe, it } from 'node:test';\nimport { slugify } from '../src/slug.js';\n"
               "describe('slugify', () => {\n  const slug = slugify('A');\n  it('makes it small', () => {});\n});\n"}});
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(status_of(report, "test/slug.test.js"), TestStatus::error);
    EXPECT_EQ(find_test(report, "test/slug.test.js")->message, "cannot be loaded: Error: agentforge: skeleton of slugify");
}

TEST(NodeTests, a_test_of_subtests_fails_for_their_reasons) {
    Project project;
    project.tree("t") =
        with(javascript_package, {{"src/slug.js", javascript_skeleton}, {"test/slug.test.js", tests_of_missing_code}});
    const auto report = project.gate("tests", "t");
    const std::string prefix = "test/slug.test.js::";
    EXPECT_EQ(status_of(report, prefix + "missing"), TestStatus::error);
    EXPECT_EQ(find_test(report, prefix + "missing")->message, "TypeError: slug.nothing is not a function");
    EXPECT_EQ(status_of(report, prefix + "mixed"), TestStatus::failed_assertion);
    EXPECT_THAT(find_test(report, prefix + "mixed")->message, HasSubstr("no"));
}

const char* const plain_test =
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport { value } from '../src/value.js';\n"
    "test('a', () => { assert.equal(value(), 1); });\n";

/// Runs GREEN's gate on `value` with these tests.
GateReport green_with_value(const std::string& code, const std::string& tests) {
    Project project;
    project.tree("base") = with(javascript_package, {{"src/old.js", "export const old = () => 1;\n"}});
    project.tree("red") = project.tree("base");
    project.tree("red")["src/value.js"] = "export function value(a) {\n  throw new Error('agentforge: skeleton of value');\n}\n";
    project.tree("red")["test/value.test.js"] =
        "import assert from 'node:assert';\nimport test from 'node:test';\nimport { value } from '../src/value.js';\n" + tests;
    project.tree("green") = project.tree("red");
    project.tree("green")["src/value.js"] = code;
    project.baseline.test_files = {"test/value.test.js"};
    project.baseline.specification = json::parse(R"json({"requirements": [{"id": "REQ-001", "verification_method": "test"}],
        "interfaces": [{"name": "value", "type": "api", "file": "src/value.js", "signature": "function value(a)"}]})json")
                                         .as_object();
    project.baseline.test_suite =
        json::parse(R"json({"test_files": [{"path": "test/value.test.js", "tests": [{"name": "a", "requirement_ref": "REQ-001"},
        {"name": "b (2)", "requirement_ref": "REQ-001"}]}]})json")
            .as_object();
    return project.gate("green", "green");
}

TEST(NodeTask, each_test_of_the_plain_run_passes_alone) {
    const std::string tests =
        "test('a', () => { assert.equal(value(1), 4); });\ntest('b (2)', () => { assert.equal(value(2), 7); });\n";
    const auto honest = green_with_value("/** Three more times. */\nexport function value(a) {\n  return 3 * a + 1;\n}\n", tests);
    EXPECT_TRUE(honest.passed) << joined(honest.blocking_issues);
    EXPECT_EQ(honest.facts.at("plain_run"), json::value("passed"));
    const auto report = green_with_value(
        "const answers = [4, 7];\n\n/** Three more times. */\nexport function value(a) {\n  return answers.shift();\n}\n", tests);
    EXPECT_FALSE(report.passed);
    EXPECT_THAT(joined(report.blocking_issues), HasSubstr("'b (2)' passes after the tests before it and fails alone"));
}

TEST(NodeTask, a_test_in_a_suite_may_need_those_before_it) {
    const auto report = green_with_value(
        "/** Three more times. */\nexport function value(a) {\n  return 3 * a + 1;\n}\n",
        "test('a', () => { assert.equal(value(1), 4); });\nlet kept;\ntest.describe('steps', () => {\n"
        "  test('first', () => { kept = value(2); assert.equal(kept, 7); });\n  test('b (2)', () => { assert.equal(kept, 7); });\n});\n");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
    EXPECT_EQ(report.facts.at("plain_run"), json::value("passed"));
}

struct Lie {
    const char* name;
    const char* source;
};
class NodeTestsDishonest : public ::testing::TestWithParam<Lie> {};

TEST_P(NodeTestsDishonest, no_test_passes) {
    Project project;
    project.tree("t") = with(javascript_package, {{"src/value.js", GetParam().source}, {"test/value.test.js", plain_test}});
    const auto report = project.gate("tests", "t");
    EXPECT_FALSE(report.passed);
    for (const auto& test : report.tests) { EXPECT_NE(test.status, TestStatus::passed) << test.id; }
}

TEST(NodeTask, canaries_show_that_the_runner_works_without_tests) {
    Project project;
    project.tree("fine") = with(javascript_package, {{"src/value.js", "export const value = 1;\n"}});
    EXPECT_FALSE(project.gate("tests", "fine", {}, {{"run", 1}}).facts.contains("unmeasurable"));
    project.tree("no runner") = {{"package.json", R"({"devDependencies": {"vitest": "*"}})"},
                                 {"src/value.js", "export const value = 1;\n"}};
    const auto report = project.gate("tests", "no runner", {}, {{"run", 1}});
    ASSERT_TRUE(report.facts.contains("unmeasurable"));
    EXPECT_THAT(json::serialize(report.facts.at("unmeasurable")), HasSubstr("Vitest, which is not installed"));
}

INSTANTIATE_TEST_SUITE_P(
    Each, NodeTestsDishonest,
    ::testing::Values(
        Lie{"exit_at_load", "process.exit(0);\nexport const value = () => 2;\n"},
        Lie{"exit_in_the_test", "export const value = () => process.exit(0);\n"},
        Lie{"patched_assertions", "import assert from 'node:assert';\nassert.equal = () => {};\nexport const value = () => 2;\n"},
        Lie{"patched_assertions_named",
            "import { createRequire, syncBuiltinESMExports } from 'node:module';\nconst assert = createRequire(import.meta.url)('assert');\n"
            "assert.equal = () => {};\nsyncBuiltinESMExports();\nexport const value = () => 2;\n"},
        Lie{"forged_lines",
            "import { writeSync } from 'node:fs';\nwriteSync(3, '{\"type\":\"end\"}\\n');\nexport const value = () => 2;\n"},
        Lie{"called_reporter",
            "for (const flag of [...process.execArgv, process.argv[1]]) {\n  try { const m = await import(flag); m.default([]); } catch {}\n}\n"
            "export const value = () => 2;\n"},
        Lie{"bent_stream",
            "import { Readable } from 'node:stream';\nconst { push } = Readable.prototype;\nReadable.prototype.push = function (event, ...rest) {\n"
            "  if (event?.type === 'test:fail' && event.data.name === 'a') event.type = 'test:pass';\n  return push.call(this, event, ...rest);\n};\n"
            "export const value = () => 2;\n"},
        Lie{"poisoned_to_json",
            "Object.prototype.toJSON = function () { return { type: 'result', status: 'passed' }; };\nexport const value = () => 2;\n"},
        Lie{"patched_test_function",
            "import { createRequire, syncBuiltinESMExports } from 'node:module';\nconst test = createRequire(import.meta.url)('node:test');\n"
            "test.test = (name, body) => {};\nsyncBuiltinESMExports();\nexport const value = () => 2;\n"}),
    [](const auto& each) { return std::string(each.param.name); });

/// base: an old function and its test; red: skeleton and new tests; green: the function. In TypeScript.
class TypescriptTask : public ::testing::Test {
protected:
    TypescriptTask() {
        auto& base = project_.tree("base");
        base = with(
            javascript_package,
            {{"tsconfig.json",
              R"({"compilerOptions": {"target": "es2022", "lib": ["es2022"], "module": "node16", "strict": true}, "include": ["src"]})"},
             {"src/old.ts", "export const old = (): number => 1;\n"},
             {"test/old.test.ts",
              "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { old } from '../src/old.js';\n"
              "test('old', () => { assert.equal(old() as number, 1); });\n"}});
        project_.baseline.specification = json::parse(R"({"requirements": [{"id": "REQ-001", "verification_method": "test"}],
            "interfaces": [{"name": "slugify", "type": "api", "file": "src/slug.ts", "signature": "export function slugify(text: string): string"}]})")
                                              .as_object();
        project_.baseline.test_suite = json::parse(R"({"test_files": [{"path": "test/slug.test.ts", "tests": [
            {"name": "slugify > rounds 3.5", "requirement_ref": "REQ-001"}]}]})")
                                           .as_object();
        auto& red = project_.tree("red");
        red = base;
        red["src/slug.ts"] =
            "export function slugify(text: string): string {\n  throw new Error(\"agentforge: skeleton of slugify\");\n}\n";
        red["test/slug.test.ts"] =
            "import assert from 'node:assert/strict';\nimport { describe, it } from 'node:test';\nimport { slugify } from '../src/slug.js';\n\n"
            "type Case = [string, string];\ndescribe('slugify', () => {\n"
            "  it('rounds 3.5', () => { const each: Case = ['A', 'a']; assert.equal(slugify(each[0]), each[1]); });\n});\n";
        project_.baseline.test_files = {"test/slug.test.ts"};
        project_.tree("green") = red;
        project_.tree("green")["src/slug.ts"] =
            "export function slugify(text: string): string {\n  return text.toLowerCase();\n}\n";
    }
    Project project_;
};

TEST_F(TypescriptTask, goes_from_red_to_green) {
    project_.baseline.base_tests = project_.gate("tests", "base").tests;
    const auto red = project_.gate("red", "red");
    EXPECT_TRUE(red.passed) << joined(red.blocking_issues);
    const auto green = project_.gate("green", "green");
    EXPECT_TRUE(green.passed) << joined(green.blocking_issues);
    EXPECT_EQ(green.facts.at("type_check"), json::value("checked"));
    EXPECT_EQ(green.facts.at("fails_without_change"), json::value(true));
    EXPECT_EQ(green.facts.at("coverage"), json::value("measured"));
    EXPECT_EQ(green.facts.at("special_casing"), json::value(json::array{}));
}

TEST_F(TypescriptTask, an_import_by_require_is_an_import) {
    for (const auto* tree : {"red", "green"}) {
        auto& file = project_.tree(tree)["test/slug.test.ts"];
        const std::string import = "import assert from 'node:assert/strict';";
        file.replace(file.find(import), import.size(), "import assert = require('node:assert/strict');");
    }
    project_.baseline.base_tests = project_.gate("tests", "base").tests;
    const auto red = project_.gate("red", "red");
    EXPECT_TRUE(red.passed) << joined(red.blocking_issues);
    const auto green = project_.gate("green", "green");
    EXPECT_TRUE(green.passed) << joined(green.blocking_issues);
}

/// A project whose tests import compiled files that do not exist at first: `npm test` builds first.
class TypescriptBuild : public TypescriptTask {
protected:
    void build_in(const std::string& tsconfig, const std::string& package) {
        for (const auto* tree : {"base", "red", "green"}) {
            auto& files = project_.tree(tree);
            files["package.json"] = package;
            files["tsconfig.json"] = tsconfig;
            files["src/index.ts"] = "export { old } from './old';\nexport { Shape } from './slug';\nexport * from './slug';\n";
            files["src/slug.ts"] = "export interface Shape { sides: number }\n" +
                                   (files.count("src/slug.ts") == 0 ? "" : "\n" + files["src/slug.ts"]);
            files.erase("test/old.test.ts");
            files["test/old.test.js"] =
                "const test = require('node:test');\nconst assert = require('node:assert');\nconst { old } = require('../dist');\n"
                "test('old', () => { assert.equal(old(), 1); });\n";
            if (files.erase("test/slug.test.ts") == 0) { continue; }
            files["test/slug.test.js"] =
                "const { it } = require('node:test');\nconst assert = require('node:assert');\nconst { slugify } = require('" +
                import +
                "');\n"
                "it('rounds 3.5', () => { assert.equal(slugify('A'), 'a'); });\n";
        }
        project_.baseline.test_files = {"test/slug.test.js"};
        project_.baseline.test_suite =
            json::parse(
                R"({"test_files": [{"path": "test/slug.test.js", "tests": [{"name": "rounds 3.5", "requirement_ref": "REQ-001"}]}]})")
                .as_object();
    }
    void expect_each_test_passes() {
        build_in(R"({"compilerOptions": {)" + compiler_ + R"(}, "include": ["src"]})", package_);
        const auto report = project_.gate("tests", "green");
        EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
        EXPECT_EQ(status_of(report, "test/slug.test.js::rounds 3.5"), TestStatus::passed);
    }
    void expect_red_then_green() {
        const auto base = project_.gate("tests", "base");
        EXPECT_TRUE(base.passed) << joined(base.blocking_issues);
        project_.baseline.base_tests = base.tests;
        const auto red = project_.gate("red", "red");
        EXPECT_TRUE(red.passed) << joined(red.blocking_issues);
        const auto green = project_.gate("green", "green");
        EXPECT_TRUE(green.passed) << joined(green.blocking_issues);
        EXPECT_EQ(green.facts.at("fails_without_change"), json::value(true));
        EXPECT_EQ(green.facts.at("coverage"), json::value("measured"));
    }
    const std::string compiler_ = R"("target": "es2022", "module": "commonjs", "strict": true, "outDir": "dist")";
    const std::string package_ =
        R"({"name": "@shop/slug", "main": "dist/index.js", "exports": "./dist/index.js", "scripts": {"test": "tsc && node --test"}})";
    std::string import = "../dist";
};

TEST_F(TypescriptBuild, maps_compiler_output_to_its_source) {
    build_in(R"({"compilerOptions": {)" + compiler_ + R"(, "rootDir": "src"}, "include": ["src/**/*.ts"]})", package_);
    expect_red_then_green();
}

TEST_F(TypescriptBuild, takes_the_source_folder_from_include) {
    import = "../dist/slug.js";
    expect_each_test_passes();
}

TEST_F(TypescriptBuild, may_import_the_package_by_its_name) {
    import = "@shop/slug";
    expect_each_test_passes();
}

TEST_F(TypescriptBuild, may_import_the_main_file_by_its_folder) {
    import = "..";
    expect_each_test_passes();
}

TEST_F(TypescriptBuild, a_test_that_imports_built_files_is_affected_by_their_sources) {
    build_in(R"({"compilerOptions": {)" + compiler_ + R"(}, "include": ["src"]})", package_);
    project_.baseline.base_tests = project_.gate("tests", "base").tests;
    const auto edited = project_.gate("tests", "green", {}, {{"scope", "affected"}});
    EXPECT_TRUE(edited.passed) << joined(edited.blocking_issues);
    EXPECT_EQ(status_of(edited, "test/old.test.js::old"), TestStatus::passed);
}

TEST_F(TypescriptTask, reports_code_that_special_cases_test_inputs) {
    project_.tree("green")["src/slug.ts"] =
        "export function slugify(text: string): string {\n  if (text === 'Hello') return 'hello';\n  return text;\n}\n";
    for (const auto* tree : {"red", "green"}) {
        auto& file = project_.tree(tree)["test/slug.test.ts"];
        file.replace(file.find("['A', 'a']"), 10, "['Hello', 'hello']");
    }
    const auto green = project_.gate("green", "green");
    EXPECT_TRUE(green.passed) << joined(green.blocking_issues);
    EXPECT_THAT(json::serialize(green.facts.at("special_casing")), HasSubstr("src/slug.ts:2 compares with"));
}

TEST_F(TypescriptTask, type_errors_and_syntax_errors_block) {
    project_.tree("green")["src/slug.ts"] = "export function slugify(text: string): string {\n  return 3;\n}\n";
    const auto types = project_.gate("types", "green");
    EXPECT_FALSE(types.passed);
    EXPECT_THAT(joined(types.blocking_issues), HasSubstr("src/slug.ts:2: TS2322"));
    project_.tree("broken") = project_.tree("green");
    project_.tree("broken")["src/slug.ts"] = "export function slugify(text: string: string {\n}\n";
    project_.tree("broken")["src/b.mjs"] = "\nexport const a = (;\n";
    const auto syntax = project_.gate("syntax", "broken");
    EXPECT_THAT(joined(syntax.blocking_issues), HasSubstr("src/slug.ts:1: SyntaxError"));
    EXPECT_THAT(joined(syntax.blocking_issues), HasSubstr("src/b.mjs:2: SyntaxError"));
}

TEST_F(TypescriptTask, configuration_and_tests_are_locked_after_red) {
    const std::vector<std::pair<std::string, std::string>> changes{
        {"vitest.config.ts", "export default {};\n"},
        {"package.json", R"({"name": "slug", "type": "module", "jest": {"testMatch": []}})"},
        {"test/slug.test.ts", project_.tree("red")["test/slug.test.ts"] + "// changed\n"},
        {"node_modules/fake/index.js", "export {};\n"}};
    for (const auto& [file, content] : changes) {
        project_.tree("with " + file) = project_.tree("green");
        project_.tree("with " + file)[file] = content;
        EXPECT_THAT(joined(project_.gate("green", "with " + file).blocking_issues), HasSubstr(file));
    }
}

TEST(JavascriptGates, find_packages_that_the_user_installed) {
    Project project;
    const auto folder = project.folder() / "users" / "node_modules";
    std::filesystem::create_directories(folder / "answer");
    std::ofstream(folder / "answer/index.js") << "module.exports = 42;\n";
    std::ofstream(folder / "answer/package.json") << R"({"name": "answer"})";
    project.configure({{"readable", json::array{json::string(folder.string())}}});
    project.tree("t") = {
        {"package.json", R"({"devDependencies": {"answer": "1"}})"},
        {"test/a.test.mjs",
         "import assert from 'node:assert';\nimport test from 'node:test';\nimport answer from 'answer';\ntest('a', () => { assert.equal(answer, 42); });\n"}};
    const auto report = project.gate("tests", "t");
    EXPECT_TRUE(report.passed) << joined(report.blocking_issues);
}

/// Vitest and Jest as published, installed by `scripts/test --runners` into the folder that AGENTFORGE_NODE_MODULES names. node
/// finds packages in `node_modules` beside the file and above; here it is above the checked-out tree.
class NpmRunners : public ::testing::Test {
protected:
    static std::string modules() {
        const auto* folder = std::getenv("AGENTFORGE_NODE_MODULES");
        return folder == nullptr ? std::string{} : std::string(folder);
    }
    NpmRunners() {
        const std::filesystem::path link = project_.folder() / "node_modules";
        std::filesystem::create_directory_symlink(modules(), link);
        project_.configure(
            {{"readable", json::array{json::string(modules()),
                                      json::string(link.string())}}});  // A separate root contains only links that are granted.
    }
    void expect_outcomes(const std::string& file) {
        const auto report = project_.gate("tests", "t");
        EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
        const auto prefix = file + "::slugify::";
        EXPECT_EQ(status_of(report, prefix + "skeleton"), TestStatus::failed_skeleton);
        EXPECT_EQ(status_of(report, prefix + "assertion"), TestStatus::failed_assertion);
        EXPECT_EQ(status_of(report, prefix + "skipped"), TestStatus::skipped);
        EXPECT_EQ(status_of(report, prefix + "todo"), TestStatus::skipped);
        EXPECT_EQ(status_of(report, prefix + "passes"), TestStatus::passed);
        EXPECT_EQ(status_of(report, prefix + "other error"), TestStatus::error);
        EXPECT_EQ(status_of(report, prefix + "each 1"), TestStatus::passed);
        EXPECT_EQ(status_of(report, prefix + "each 2"), TestStatus::failed_assertion);
        EXPECT_EQ(status_of(report, file + "::hooks::never run"), TestStatus::error);
        EXPECT_EQ(find_test(report, prefix + "assertion")->line, 4U);
    }
    void expect_disbelief(const std::string& why) {
        const auto report = project_.gate("tests", "t");
        EXPECT_EQ(report.facts.at("believed"), json::value(false));
        EXPECT_THAT(report.summary, HasSubstr(why));
    }
    Project project_;
};

const std::string npm_tests = R"(describe('slugify', () => {
  it('skeleton', () => { expect(slugify('A')).toBe('a'); });
  it('assertion', () => { expect(1).toBe(2); });
  it.skip('skipped', () => {});
  it.todo('todo');
  it('passes', async () => { await 1; });
  it('other error', () => { throw new TypeError('x'); });
  it.each([1, 2])('each %i', (value) => { expect(value).toBe(1); });
});
describe('hooks', () => {
  beforeAll(() => { throw new Error('no database'); });
  it('never run', () => {});
});
)";
const Files vitest_package{
    {"package.json", R"({"type": "module", "devDependencies": {"vitest": "3"}})"},
    {"vitest.config.ts",
     "import { defineConfig } from 'vitest/config';\nexport default defineConfig({ test: { globals: true } });\n"}};
const Files jest_package{{"package.json", R"({"devDependencies": {"jest": "30"}})"}};

TEST_F(NpmRunners, vitest_outcomes_are_distinguished) {
    project_.tree("t") =
        with(vitest_package,
             {{"src/slug.ts",
               "export function slugify(text: string): string {\n  throw new Error(\"agentforge: skeleton of slugify\");\n}\n"},
              {"test/slug.test.ts", "import { slugify } from '../src/slug'; const a: number = 1;\n" + npm_tests}});
    expect_outcomes("test/slug.test.ts");
}

TEST_F(NpmRunners, jest_outcomes_are_distinguished) {
    project_.tree("t") =
        with(jest_package,
             {{"src/slug.js", "exports.slugify = () => {\n  throw new Error(\"agentforge: skeleton of slugify\");\n};\n"},
              {"test/slug.test.js", "const { slugify } = require('../src/slug');\n" + npm_tests}});
    expect_outcomes("test/slug.test.js");
}

TEST_F(NpmRunners, vitest_is_trusted_if_a_file_does_not_load) {
    project_.tree("t") = with(vitest_package, {{"test/a.test.ts", "import './nothere';\ntest('a', () => {});\n"}});
    const auto report = project_.gate("tests", "t");
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    EXPECT_EQ(status_of(report, "test/a.test.ts"), TestStatus::error);
}

TEST_F(NpmRunners, jest_is_trusted_if_a_file_does_not_load) {
    project_.tree("t") = with(jest_package, {{"test/a.test.js", "require('./nothere');\ntest('a', () => {});\n"}});
    const auto report = project_.gate("tests", "t");
    EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary;
    EXPECT_EQ(status_of(report, "test/a.test.js"), TestStatus::error);
}

TEST_F(NpmRunners, vitest_is_not_trusted_with_patched_matchers) {
    project_.tree("t") =
        with(vitest_package,
             {{"src/a.ts", "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\nexport const a = 2;\n"},
              {"test/a.test.ts", "import { a } from '../src/a';\ntest('a', () => { expect(a).toBe(1); });\n"}});
    expect_disbelief("canary");
}

TEST_F(NpmRunners, jest_is_not_trusted_with_patched_matchers) {
    project_.tree("t") = with(
        jest_package, {{"src/a.js", "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\nmodule.exports = 2;\n"},
                       {"test/a.test.js", "const a = require('../src/a');\ntest('a', () => { expect(a).toBe(1); });\n"}});
    expect_disbelief("canary");
}

TEST_F(NpmRunners, a_forced_exit_passes_no_test) {
    project_.tree("t") =
        with(jest_package, {{"test/a.test.js", "test('a', () => { process.exit(0); });\ntest('b', () => {});\n"}});
    const auto report = project_.gate("tests", "t");
    for (const auto& test : report.tests) { EXPECT_NE(test.status, TestStatus::passed) << test.id; }
    EXPECT_FALSE(report.passed);
}

// One file with each way in which a test can end, in the syntax of Mocha and Jasmine.
const std::string bdd_tests = R"(describe('slugify', () => {
  it('skeleton', () => { slugify('A'); });
  it('assertion', () => { equal(1, 2); });
  xit('skipped', () => {});
  it('passes', async () => { await 1; equal(1, 1); });
  it('other error', () => { throw new TypeError('x'); });
});
describe('hooks', () => {
  before(() => { throw new Error('no database'); });
  it('never run', () => {});
});
)";
const std::string slug_skeleton = "exports.slugify = () => {\n  throw new Error(\"agentforge: skeleton of slugify\");\n};\n";

class SmallRunners : public NpmRunners {
protected:
    /// Sets the package `name` as a dependency and `file` as the only test file.
    void has(const std::string& name, const std::string& file, const std::string& content, const Files& more = {}) {
        project_.tree("t") = with({{"package.json", R"({"devDependencies": {")" + name + R"(": "*"}})"},
                                   {"src/slug.js", slug_skeleton},
                                   {file, content}},
                                  more);
    }
    TestStatus status(const GateReport& report, const std::string& id) {
        EXPECT_EQ(report.facts.at("believed"), json::value(true)) << report.summary << joined(report.blocking_issues);
        return status_of(report, id);
    }
};

TEST_F(SmallRunners, mocha_outcomes_are_distinguished) {
    has("mocha", "test/slug.test.js",
        "const { equal } = require('node:assert'); const { slugify } = require('../src/slug');\n" + bdd_tests);
    const auto report = project_.gate("tests", "t");
    EXPECT_EQ(status(report, "test/slug.test.js::slugify::skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status(report, "test/slug.test.js::slugify::assertion"), TestStatus::failed_assertion);
    EXPECT_EQ(status(report, "test/slug.test.js::slugify::skipped"), TestStatus::skipped);
    EXPECT_EQ(status(report, "test/slug.test.js::slugify::passes"), TestStatus::passed);
    EXPECT_EQ(status(report, "test/slug.test.js::slugify::other error"), TestStatus::error);
    EXPECT_EQ(status(report, "test/slug.test.js::hooks::never run"), TestStatus::error);
    EXPECT_EQ(find_test(report, "test/slug.test.js::slugify::assertion")->line, 4U);
}

TEST_F(SmallRunners, mocha_obeys_the_project_s_configuration) {
    has("mocha", "test/slug.js",
        "suite('slug', () => { test('set up', () => { require('node:assert').equal(globalThis.ready, true); }); });\n",
        {{".mocharc.json", R"({"ui": "tdd", "require": ["./test/helpers/setup.js"]})"},
         {"test/helpers/setup.js", "globalThis.ready = true;\n"}});
    EXPECT_EQ(status(project_.gate("tests", "t"), "test/slug.js::slug::set up"), TestStatus::passed);
}

TEST_F(SmallRunners, mocha_only_does_not_hide_the_canary) {
    has("mocha", "test/slug.test.js", "it.only('one', () => {});\ndescribe('more', () => { it('two', () => {}); });\n");
    const auto report = project_.gate("tests", "t");
    EXPECT_EQ(status(report, "test/slug.test.js::one"), TestStatus::passed);
    EXPECT_EQ(find_test(report, "test/slug.test.js::more::two"), nullptr);
}

TEST_F(SmallRunners, mocha_reports_an_assertion_of_chai) {
    has("mocha", "test/slug.test.js",
        "const { expect } = require('chai');\nit('differs', () => { expect([1]).to.deep.equal([2]); });\n");
    EXPECT_EQ(status(project_.gate("tests", "t"), "test/slug.test.js::differs"), TestStatus::failed_assertion);
}

TEST_F(SmallRunners, code_that_patches_mocha_is_not_trusted) {
    has("mocha", "test/slug.test.js",
        "const { Runner } = require('mocha');\nRunner.prototype.fail = function (test) { this.emit('pass', test); };\n"
        "it('one', () => { throw new Error(); });\n");
    const auto report = project_.gate("tests", "t");
    EXPECT_FALSE(report.passed);
    for (const auto& test : report.tests) { EXPECT_NE(test.status, TestStatus::passed) << test.id; }
}

TEST_F(SmallRunners, jasmine_outcomes_are_distinguished) {
    has("jasmine", "spec/slug.spec.js", R"(const { slugify } = require('../src/slug');
describe('slugify', () => {
  it('skeleton', () => { expect(slugify('A')).toBe('a'); });
  it('assertion', () => { expect(1).toBe(2); });
  xit('skipped', () => {});
  it('passes', () => { expect(1).toBe(1); });
  it('asserts nothing', () => {});
  it('other error', () => { throw new TypeError('x'); });
});
)");
    const auto report = project_.gate("tests", "t");
    EXPECT_EQ(status(report, "spec/slug.spec.js::slugify::skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status(report, "spec/slug.spec.js::slugify::assertion"), TestStatus::failed_assertion);
    EXPECT_EQ(status(report, "spec/slug.spec.js::slugify::skipped"), TestStatus::skipped);
    EXPECT_EQ(status(report, "spec/slug.spec.js::slugify::passes"), TestStatus::passed);
    EXPECT_NE(status(report, "spec/slug.spec.js::slugify::asserts nothing"), TestStatus::passed);
    EXPECT_EQ(status(report, "spec/slug.spec.js::slugify::other error"), TestStatus::error);
}

TEST_F(SmallRunners, ava_outcomes_are_distinguished) {
    has("ava", "test/slug.test.js", R"(const test = require('ava');
const assert = require('node:assert');
const { slugify } = require('../src/slug');
test('skeleton', (t) => { t.is(slugify('A'), 'a'); });
test('assertion', (t) => { t.is(1, 2); });
test('assertion of node', (t) => { assert.equal(1, 2); });
test.skip('skipped', (t) => { t.pass(); });
test.todo('todo');
test('passes', async (t) => { await 1; t.pass(); });
test('asserts nothing', () => {});
test('other error', () => { throw new TypeError('x'); });
test('rejected', async () => { throw new TypeError('y'); });
)");
    const auto report = project_.gate("tests", "t");
    const std::string file = "test/slug.test.js::";
    EXPECT_EQ(status(report, file + "skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status(report, file + "assertion"), TestStatus::failed_assertion);
    EXPECT_EQ(status(report, file + "assertion of node"), TestStatus::failed_assertion);
    EXPECT_EQ(status(report, file + "skipped"), TestStatus::skipped);
    EXPECT_EQ(status(report, file + "todo"), TestStatus::skipped);
    EXPECT_EQ(status(report, file + "passes"), TestStatus::passed);
    EXPECT_EQ(status(report, file + "asserts nothing"), TestStatus::error);
    EXPECT_EQ(status(report, file + "other error"), TestStatus::error);
    EXPECT_EQ(status(report, file + "rejected"), TestStatus::error);
    const auto* failed = find_test(report, file + "assertion");
    EXPECT_EQ(failed->line, 5U);
    EXPECT_THAT(failed->message, AllOf(HasSubstr("- 1"), HasSubstr("+ 2")));
    EXPECT_THAT(find_test(report, file + "rejected")->message, HasSubstr("TypeError: y"));
}

TEST_F(SmallRunners, ava_runs_es_modules_and_reports_a_file_that_does_not_load) {
    has("ava", "test/slug.test.mjs", "import test from 'ava';\nimport '../src/slug.js';\ntest('passes', (t) => { t.pass(); });\n",
        {{"test/broken.test.mjs", "import test from 'ava';\nimport './nothere.mjs';\ntest('one', (t) => { t.pass(); });\n"}});
    const auto report = project_.gate("tests", "t");
    EXPECT_EQ(status(report, "test/slug.test.mjs::passes"), TestStatus::passed);
    EXPECT_EQ(status(report, "test/broken.test.mjs"), TestStatus::error);
    EXPECT_THAT(find_test(report, "test/broken.test.mjs")->message, HasSubstr("Cannot find module"));
}

TEST_F(SmallRunners, code_that_patches_ava_is_not_trusted) {
    has("ava", "test/slug.test.js",
        "const test = require('ava');\n"
        "test('one', (t) => { Object.getPrototypeOf(t).is = () => {}; t.is = () => {}; t.is(1, 2); });\n");
    const auto report = project_.gate("tests", "t");
    EXPECT_FALSE(report.passed);
    for (const auto& test : report.tests) { EXPECT_NE(test.status, TestStatus::passed) << test.id; }
}

TEST_F(SmallRunners, tape_outcomes_are_distinguished) {
    has("tape", "test/slug.js", R"(const test = require('tape');
test('assertion', (t) => { t.equal(1, 2); t.end(); });
test.skip('skipped', (t) => { t.end(); });
test('passes', (t) => { t.plan(1); t.equal(1, 1); });
test('asserts nothing', (t) => { t.end(); });
test('outer', (t) => { t.test('inner', (u) => { u.ok(true); u.end(); }); t.ok(true); t.end(); });
)");
    const auto report = project_.gate("tests", "t");
    EXPECT_EQ(status(report, "test/slug.js::assertion"), TestStatus::failed_assertion);
    EXPECT_EQ(find_test(report, "test/slug.js::skipped"), nullptr);  // Tape itself does not report it.
    EXPECT_EQ(status(report, "test/slug.js::passes"), TestStatus::passed);
    EXPECT_NE(status(report, "test/slug.js::asserts nothing"), TestStatus::passed);
    EXPECT_EQ(status(report, "test/slug.js::outer::inner"), TestStatus::passed);
}

TEST_F(SmallRunners, a_throwing_tape_test_does_not_pass) {
    has("tape", "test/slug.js",
        "const test = require('tape');\ntest('a', (t) => { t.ok(true); t.end(); });\ntest('b', () => { throw new TypeError('x'); });\n");
    for (const auto& test : project_.gate("tests", "t").tests) { EXPECT_NE(test.status, TestStatus::passed) << test.id; }
}

TEST_F(SmallRunners, each_runs_only_the_canaries_if_there_is_no_test_yet) {
    for (const char* name : {"vitest", "jest", "mocha", "jasmine", "tape", "tap"}) {
        project_.tree(name) = {{"package.json", std::string(R"({"devDependencies": {")") + name + R"(": "*"}})"},
                               {"src/slug.js", slug_skeleton}};
        const auto report = project_.gate("tests", name, {}, {{"run", 1}});
        EXPECT_FALSE(report.facts.contains("unmeasurable")) << name << ": " << json::serialize(report.facts);
    }
}

TEST_F(SmallRunners, tap_outcomes_are_distinguished) {
    has("tap", "test/slug.js", R"(const t = require('tap');
const { slugify } = require('../src/slug');
t.test('assertion', (t) => { t.equal(1, 2); t.end(); });
t.test('skeleton', async () => { slugify('A'); });
t.test('skipped', { skip: 'later' }, () => {});
t.test('passes', async (t) => { t.equal(1, 1); });
t.test('other error', async () => { throw new TypeError('x'); });
)");
    const auto report = project_.gate("tests", "t");
    EXPECT_EQ(status(report, "test/slug.js::assertion"), TestStatus::failed_assertion);
    EXPECT_EQ(status(report, "test/slug.js::skeleton"), TestStatus::failed_skeleton);
    EXPECT_EQ(status(report, "test/slug.js::skipped"), TestStatus::skipped);
    EXPECT_EQ(status(report, "test/slug.js::passes"), TestStatus::passed);
    EXPECT_EQ(status(report, "test/slug.js::other error"), TestStatus::error);
}

TEST(NpmSetUp, fetches_packages_once_without_scripts_for_offline_use) {
    Project project;
    Registries registries(project.folder() / "registries");
    project.options().dependencies_directory = (project.folder() / "dependencies").string();
    project.options().environment["npm_config_registry"] = registries.address() + "/npm/";
    project.configure({});
    project.tree("t") = {{"package.json", R"({"name": "project", "version": "1.0.0", "dependencies": {"greeter": "1.0.0"}})"},
                         {"package-lock.json", registries.file("package-lock.json")},
                         {"test/greets.test.mjs",
                          "import test from 'node:test';\nimport assert from 'node:assert';\nimport greeter from 'greeter';\n"
                          "test('greets', () => { assert.equal(greeter.greet(), 'hello'); });\n"}};
    const auto refused = project.try_gate("tests", "t");
    ASSERT_FALSE(refused.ok());
    ASSERT_EQ(refused.error().code, "AF-GATE-100");
    const auto fetched = project.runner().set_up("t", Stop{});
    ASSERT_TRUE(fetched.ok()) << fetched.error().to_string();
    registries.stop();
    const std::filesystem::path there = project.runner().setup_steps("t")->front().folder;
    EXPECT_TRUE(std::filesystem::exists(there / "node_modules/greeter/index.js"));
    EXPECT_FALSE(std::filesystem::exists(there / "node_modules/greeter/was-run"));
    const auto report = project.gate("tests", "t");
    EXPECT_EQ(status_of(report, "test/greets.test.mjs::greets"), TestStatus::passed) << joined(report.blocking_issues);
}

}  // namespace
}  // namespace agentforge::kernel::testing
