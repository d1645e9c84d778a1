// SPDX-License-Identifier: Apache-2.0
// JUnit XML as written by pytest, Surefire, CTest, Vitest, jest-junit, node, gotestsum and others. There is no standard; this
// reads the common elements: testsuites, testsuite (nested to any depth), testcase, and in it failure, error, skipped.
#include <algorithm>
#include <charconv>

#include <re2/re2.h>

#include <Poco/SAX/Attributes.h>
#include <Poco/SAX/DefaultHandler.h>
#include <Poco/SAX/SAXException.h>
#include <Poco/SAX/SAXParser.h>

#include "gates/formats/format.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t max_junit_text = 64UL << 10U;
constexpr std::size_t max_junit_depth = 64;

std::uint64_t junit_number(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc{} ? value : 0;
}

bool is_path_of_source(const std::string& text) {
    const auto dot = text.rfind('.');
    const auto slash = text.rfind('/');
    return slash != std::string::npos && dot != std::string::npos && dot > slash && text.find(' ') == std::string::npos;
}

/// Some writers report everything as a failure and name the exception: `TypeError` is not an assertion, `AssertionFailedError` is
/// one.
bool is_other_error(const std::string& type) {
    if (!type.ends_with("Error") && !type.ends_with("Exception")) { return false; }
    for (const auto* word : {"Assert", "Expect", "Fail", "Comparison"}) {
        if (type.find(word) != std::string::npos) { return false; }
    }
    return true;
}

/// `com.example.OuterTest$Inner`.
bool is_java_class(const std::string& name) {
    static const RE2 form(R"([\pL_][\pL\pN_]*(?:[.$][\pL_][\pL\pN_]*)*)");
    return RE2::FullMatch(name, form);
}

/// Converts classes and methods to their form in the source: `Outer$Inner` to `Outer::Inner`; `writes{long, String}[1]` (Surefire
/// before 3) and `writes(long, String)[1]` to `writes[1]`.
void take_java_names(ReportedTest& test) {
    static const RE2 in_braces(R"(^([\pL_][\pL\pN_]*)\{[^{}]*\})");
    static const RE2 in_parentheses(R"(^([\pL_][\pL\pN_]*)\([^()]*\))");
    if (!is_java_class(test.suite)) { return; }
    const bool packaged =
        test.suite.find('.') != std::string::npos;  // Other runners' suites look like a class without a package.
    test.whole_file = test.name.empty() || (packaged && test.name == test.suite);
    RE2::Replace(&test.name, in_braces, "\\1");
    if (packaged) { RE2::Replace(&test.name, in_parentheses, "\\1"); }
    for (auto at = test.suite.find('$'); at != std::string::npos; at = test.suite.find('$', at)) {
        test.suite.replace(at, 1, "::");
    }
}

/// Meson: `project:suite / name` in the class `project`.
void take_meson_name(ReportedTest& test) {
    const auto slash = test.name.find(" / ");
    if (test.suite.empty() || slash == std::string::npos || !test.name.starts_with(test.suite)) { return; }
    test.name.erase(0, slash + 3);
}

/// Returns what a test's element of this name says of it.
TestStatus junit_status(std::string_view element) {
    if (element == "failure") { return TestStatus::failed_assertion; }
    return element == "error" ? TestStatus::error : TestStatus::skipped;
}

/// Of several statuses, a test has the one of the highest rank.
int junit_rank(TestStatus status) {
    if (status == TestStatus::error) { return 3; }
    if (status == TestStatus::failed_assertion) { return 2; }
    return status == TestStatus::skipped ? 1 : 0;
}

class JunitReader final : public Poco::XML::DefaultHandler {
public:
    explicit JunitReader(FormatResult& result) : result_(result) {}

    void startElement(const Poco::XML::XMLString&, const Poco::XML::XMLString&, const Poco::XML::XMLString& name,
                      const Poco::XML::Attributes& attributes) override {
        if (++depth_ > max_junit_depth) { throw Poco::XML::SAXException("elements are nested too deeply"); }
        if (depth_ == 1 && name != "testsuites" && name != "testsuite") {
            throw Poco::XML::SAXException("the outermost element is " + name + ", not testsuites or testsuite");
        }
        if (name == "testsuite" || name == "testsuites") {
            auto file = attributes.getValue("file");
            if (file.empty()) { file = attributes.getValue("filepath"); }
            if (file.empty() && !suites_.empty()) { file = suites_.back().file; }
            suites_.push_back({name == "testsuite" ? attributes.getValue("name") : std::string{}, std::move(file),
                               junit_number(attributes.getValue("tests")),
                               junit_number(attributes.getValue("failures")) + junit_number(attributes.getValue("errors")), 0,
                               0});
        } else if (name == "testcase" && !inside_) {
            begin_test(attributes);
        } else if (inside_ && (name == "failure" || name == "error" || name == "skipped")) {
            in_detail_ = true;
            detail(name, attributes);
        } else if (inside_ && name == "system-err") {
            in_errors_ = true;
        }
    }

    void endElement(const Poco::XML::XMLString&, const Poco::XML::XMLString&, const Poco::XML::XMLString& name) override {
        --depth_;
        if (name == "testcase" && inside_) {
            end_test();
        } else if (name == "failure" || name == "error" || name == "skipped") {
            in_detail_ = false;
        } else if (name == "system-err") {
            in_errors_ = false;
        } else if ((name == "testsuite" || name == "testsuites") && !suites_.empty()) {
            const auto suite = suites_.back();
            suites_.pop_back();
            if (result_.problem.empty() && (suite.tests > suite.seen || suite.bad > suite.seen_bad)) {
                result_.problem = "the report's counts do not agree with its tests (" +
                                  (suite.name.empty() ? "in all" : suite.name) + ": " + std::to_string(suite.tests) +
                                  " tests and " + std::to_string(suite.bad) + " failures announced, " +
                                  std::to_string(suite.seen) + " and " + std::to_string(suite.seen_bad) + " told)";
            }
            if (!suites_.empty()) {
                suites_.back().seen += suite.seen;
                suites_.back().seen_bad += suite.seen_bad;
            }
        }
    }

    void characters(const Poco::XML::XMLChar text[], int start, int length) override {
        if (!in_detail_ && !in_errors_) { return; }
        auto& kept = in_detail_ ? test_.message : errors_;
        if (kept.size() < max_junit_text) { kept.append(text + start, static_cast<std::size_t>(length)); }
    }

private:
    struct Suite {
        std::string name;
        std::string file;
        std::uint64_t tests;
        std::uint64_t bad;
        std::uint64_t seen;
        std::uint64_t seen_bad;
    };

    void begin_test(const Poco::XML::Attributes& attributes) {
        inside_ = true;
        test_ = {};
        errors_.clear();
        test_.status = TestStatus::passed;
        test_.name = attributes.getValue("name");
        test_.suite = attributes.getValue("classname");
        test_.file = attributes.getValue("file");
        test_.line = junit_number(attributes.getValue("line"));
        if (test_.file.empty() && !suites_.empty()) { test_.file = suites_.back().file; }
        if (test_.file.empty() && is_path_of_source(test_.suite)) { test_.file = test_.suite; }
        if (test_.name == test_.file && !test_.file.empty()) {
            test_.suite.clear();  // The file as a whole, which could not be loaded.
        } else if (test_.suite == test_.file && !test_.file.empty()) {
            // Vitest: the class is the file, and the name contains the suites.
            test_.suite.clear();
            for (auto at = test_.name.find(" > "); at != std::string::npos; at = test_.name.find(" > ")) {
                test_.suite += (test_.suite.empty() ? "" : "::") + test_.name.substr(0, at);
                test_.name.erase(0, at + 3);
            }
        } else if (test_.suite.empty() || test_.suite == "test") {
            // node: the suites are the enclosing elements.
            test_.suite.clear();
            for (const auto& suite : suites_) {
                if (!suite.name.empty() && suite.name != test_.file) {
                    test_.suite += (test_.suite.empty() ? "" : "::") + suite.name;
                }
            }
        }
        take_java_names(test_);
        take_meson_name(test_);
        // CTest and GoogleTest report it in an attribute.
        const auto status = attributes.getValue("status");
        if (status == "notrun" || status == "disabled") { test_.status = TestStatus::skipped; }
        if (status == "fail") { test_.status = TestStatus::failed_assertion; }
    }

    void detail(const std::string& name, const Poco::XML::Attributes& attributes) {
        const auto status = junit_status(name);
        if (junit_rank(status) > junit_rank(test_.status)) { test_.status = status; }
        const auto type = attributes.getValue("type");
        if (name == "failure" && is_other_error(type)) { test_.status = TestStatus::error; }
        const auto message = attributes.getValue("message");
        if (!test_.message.empty()) { test_.message += "\n"; }
        if (!message.empty()) { test_.message += message + "\n"; }
    }

    void end_test() {
        inside_ = false;
        in_detail_ = false;
        if (test_.name.empty()) { test_.name = test_.suite; }
        if (test_.name.empty()) {
            result_.problem = "a test has no name";
            return;
        }
        if (test_.name == test_.file && test_.status == TestStatus::failed_assertion) { test_.status = TestStatus::error; }
        // Meson reports a failure only by the program's output.
        const bool unexplained =
            test_.message.empty() && (test_.status == TestStatus::failed_assertion || test_.status == TestStatus::error);
        test_.message = failure_text(unexplained ? errors_ : test_.message);
        if (!suites_.empty()) {
            ++suites_.back().seen;
            const bool bad = test_.status == TestStatus::failed_assertion || test_.status == TestStatus::error;
            suites_.back().seen_bad += bad ? 1 : 0;
        }
        result_.tests.push_back(std::move(test_));
    }

    FormatResult& result_;
    std::vector<Suite> suites_;
    ReportedTest test_;
    std::string errors_;  ///< The test's output on standard error.
    std::size_t depth_ = 0;
    bool inside_ = false;
    bool in_detail_ = false;
    bool in_errors_ = false;
};

}  // namespace

FormatResult parse_junit_xml(const RunOutput& output) {
    FormatResult result;
    for (const auto& [name, content] : output.files) {
        if (!name.ends_with(".xml")) { continue; }
        // No JUnit XML writer declares a document type, and entities can expand a small file without end.
        if (content.find("<!DOCTYPE") != std::string::npos || content.find("<!ENTITY") != std::string::npos) {
            result.problem = name + " declares a document type, which no test report does";
            continue;
        }
        FormatResult one;
        JunitReader reader(one);
        try {
            Poco::XML::SAXParser parser;
            parser.setFeature(Poco::XML::XMLReader::FEATURE_NAMESPACES, false);  // Names stay as written.
            parser.setContentHandler(&reader);
            parser.parseMemoryNP(content.data(), content.size());
        } catch (const Poco::Exception& error) {
            one.problem = "it is not complete JUnit XML: " + failure_text(error.displayText());
        }
        std::move(one.tests.begin(), one.tests.end(), std::back_inserter(result.tests));
        if (!one.problem.empty() && result.problem.empty()) { result.problem = name + ": " + one.problem; }
    }
    if (result.tests.empty() && result.problem.empty() &&
        std::none_of(output.files.begin(), output.files.end(), [](const auto& file) { return file.first.ends_with(".xml"); })) {
        result.problem = "the runner wrote no file whose name ends in .xml";
    }
    return result;
}

}  // namespace agentforge::kernel
