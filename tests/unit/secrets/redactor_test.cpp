// SPDX-License-Identifier: Apache-2.0
#include "secrets/redactor.hpp"

#include <cctype>
#include <functional>
#include <map>

#include "base/files.hpp"
#include "secrets/forms.hpp"
#include "secrets/restore.hpp"

namespace agentforge::kernel {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view value = "zq7-Kx/9 \"w\\Rt+3é$Lm";  // Contains characters that every encoding must encode.

const std::vector<SecretRule>& rules() {
    static const std::vector<SecretRule> all = load_secret_rules(AGENTFORGE_SOURCE_DIR "/config/secrets/rules.yaml").value();
    return all;
}

std::unique_ptr<Redactor> knowing(std::vector<Secret> known) {
    return std::make_unique<Redactor>(known, rules(), "a key for tests");
}

std::string base64_of(std::string_view bytes) {  // Independent of the code under test.
    static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    unsigned bits = 0;
    unsigned held = 0;
    for (const char c : bytes) {
        held = (held << 8U) | static_cast<unsigned char>(c);
        for (bits += 8; bits >= 6; bits -= 6) { text += letters[(held >> (bits - 6)) & 63U]; }
    }
    if (bits > 0) { text += letters[(held << (6 - bits)) & 63U]; }
    while (text.size() % 4 != 0) { text += '='; }
    return text;
}

TEST(Redactor, hides_a_known_value) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    EXPECT_THAT(redactor->redact("key=Zx8Cv5Bn2Mq1;"), testing::MatchesRegex(R"(key=\[REDACTED:SHOP_KEY:[0-9a-f]{8}\];)"));
}

TEST(Redactor, leaves_other_text_alone) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    EXPECT_EQ(redactor->redacted("def slug(text):\n    return text.lower()\n"), std::nullopt);
}

TEST(Redactor, hides_every_form_of_a_known_value_within_other_text) {
    const auto redactor = knowing({{"SHOP_KEY", std::string(value)}});
    for (const SecretForm& form : forms_of(value)) {
        EXPECT_THAT(redactor->redact("<" + form.text + ">"), Not(HasSubstr(form.text))) << form.name;
    }
}

TEST(Redactor, hides_base64_at_each_offset) {
    const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7";
    const auto redactor = knowing({{"SHOP_KEY", secret}});
    for (const std::string before : {"", "a", "ab", "abc"}) {
        for (const std::string after : {"", "y", "yz"}) {
            const std::string shown = redactor->redact(base64_of(before + secret + after));
            EXPECT_THAT(shown, HasSubstr("[REDACTED:SHOP_KEY.base64")) << before << "|" << after;
            EXPECT_LE(shown.size(), std::string("[REDACTED:SHOP_KEY.base64+1:01234567]").size() + before.size() * 2 + 8);
        }
    }
}

/// Writes each byte of a text by a function.
template <class Write>
std::string each_byte(std::string_view text, Write write) {
    std::string made;
    for (const char c : text) { made += write(static_cast<unsigned char>(c)); }
    return made;
}

std::string written(const char* form, unsigned byte) {
    char text[32];
    const int size = std::snprintf(text, sizeof text, form, byte);
    return std::string(text, static_cast<std::size_t>(size));
}

std::string base32_of(std::string_view bytes) {  // Independent of the code under test.
    std::string text;
    std::uint64_t held = 0;
    unsigned bits = 0;
    for (const char c : bytes) {
        held = (held << 8U) | static_cast<unsigned char>(c);
        for (bits += 8; bits >= 5; bits -= 5) { text += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(held >> (bits - 5)) & 31U]; }
    }
    if (bits > 0) { text += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(held << (5 - bits)) & 31U]; }
    return text;
}

TEST(Redactor, hides_a_fully_escaped_value) {
    const std::string secret = "Zx8Cv5/Bn2 Mq1We&4Rt7";
    const auto redactor = knowing({{"SHOP_KEY", secret}});
    for (const char* form : {"%%%02x",
                             "%%%02X",
                             "&#%u;",
                             "&#%05u;",
                             "&#x%x;",
                             "&#X%02X;",
                             "\\x%02x",
                             "\\x%02X",
                             "\\u%04x",
                             "\\u{%x}",
                             "\\U%08x",
                             "\\%03o",
                             "%02x:",
                             "%02X:",
                             "%02x ",
                             "%02x-",
                             "0x%02x, ",
                             "0X%02X,",
                             "=%02X",
                             "%%25%02x",
                             "\\\\x%02x",
                             "\x1b[31m%c\x1b[0m",
                             "\\x1b[1;31m%c",
                             "\\u001b[0m%c",
                             "\\033[0m%c",
                             "\xc2\x9b"
                             "1m%c",
                             "\x1b]8;;http://a\x07%c",
                             "\xe2\x80\x8b%c",
                             "\xc2\x9d"
                             "0;title\xc2\x9c%c",
                             "\xc2\x90"
                             "q\x1b\\%c",
                             "\x1bXsos\x1b\\%c",
                             "\xe1\xa0\x8e%c",
                             "\xf3\xa0\x80\xa1%c",
                             "\xef\xb8\x8f%c",
                             "\xef\xbf\xb9%c",
                             "\xcd\x8f%c"}) {
        const std::string text = each_byte(secret, [form](unsigned byte) { return written(form, byte); });
        const std::string shown = redactor->redact("before " + text + " after");
        EXPECT_THAT(shown, HasSubstr("[REDACTED:SHOP_KEY")) << form << ": " << shown;
        EXPECT_THAT(shown, StartsWith("before ")) << form;
        EXPECT_LE(shown.size(), std::string("before [REDACTED:SHOP_KEY.escaped:01234567] after").size() + 20)
            << form << ": " << shown;
    }
}

TEST(Redactor, hides_a_partly_escaped_value) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    for (const char* text : {"Zx8C%76&#53;Bn2\\u004dq1", "Zx8Cv5\x1b[0mBn2Mq1", "\x1b[1mZ\x1b[0mx8Cv5Bn2Mq1", "zX8cV5%62N2mQ1"}) {
        EXPECT_THAT(redactor->redact("a % b & c \\ " + std::string(text) + "."),
                    testing::MatchesRegex(R"(a % b & c \\ (.\[1m)?\[REDACTED:SHOP_KEY\.escaped:[0-9a-f]{8}\]\.)"))
            << text;
    }
}

TEST(Redactor, hides_a_value_in_hexadecimal_as_tools_dump_it) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1We4R"}});
    for (const char* text :
         {"00000000: 5a78 3843 7635 426e 324d 7131 5765 3452  Zx8Cv5Bn", "5A:78:38:43:76:35:42:6E:32:4D:71:31:57:65:34:52",
          "[0x5a, 0x78, 0x38, 0x43, 0x76, 0x35, 0x42, 0x6e, 0x32, 0x4d, 0x71, 0x31, 0x57, 0x65, 0x34, 0x52]"}) {
        EXPECT_THAT(redactor->redact(text), HasSubstr("[REDACTED:SHOP_KEY.hex.escaped:")) << text;
    }
}

TEST(Redactor, hides_a_value_in_base32_at_each_offset) {
    const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7";
    const auto redactor = knowing({{"SHOP_KEY", secret}});
    for (const std::string before : {"", "a", "ab", "abc", "abcd", "abcde"}) {
        const std::string text = base32_of(before + secret + "xyz");
        EXPECT_THAT(redactor->redact(text), HasSubstr("[REDACTED:SHOP_KEY.base32")) << before;
        EXPECT_THAT(
            redactor->redact(each_byte(
                text, [](unsigned byte) { return std::string(1, static_cast<char>(std::tolower(static_cast<int>(byte)))); })),
            HasSubstr("[REDACTED:SHOP_KEY.base32"))
            << before;
    }
}

TEST(Redactor, hides_a_value_encoded_twice) {
    const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7";
    const auto redactor = knowing({{"SHOP_KEY", secret}});
    const auto each = [](const char* form) {
        return [form](const std::string& text) { return each_byte(text, [form](unsigned byte) { return written(form, byte); }); };
    };
    const auto base64_url = [](const std::string& text) {
        std::string made = base64_of(text);
        std::ranges::replace(made, '+', '-');
        std::ranges::replace(made, '/', '_');
        return made;
    };
    const auto case_changed = [](const std::string& text) {
        return each_byte(text, [](unsigned byte) {
            return std::string(
                1, static_cast<char>(std::islower(static_cast<int>(byte)) != 0 ? std::toupper(static_cast<int>(byte))
                                                                               : std::tolower(static_cast<int>(byte))));
        });
    };
    const std::map<std::string, std::function<std::string(const std::string&)>> encodings{
        {"percent", each("%%%02x")},    {"html", each("&#%u;")},
        {"html hex", each("&#x%x;")},   {"hex", each("%02x")},
        {"HEX", each("%02X")},          {"hex groups", each("%02x:")},
        {"backslash", each("\\x%02x")}, {"json", each("\\u%04x")},
        {"base64", base64_of},          {"base64 url", base64_url},
        {"base32", base32_of},          {"case", case_changed},
        {"colour", each("\x1b[31m%c")}, {"no width", each("\xe2\x80\x8b%c")}};
    for (const auto& [inner, encode] : encodings) {
        for (const auto& [outer, encode_again] : encodings) {
            const bool is_no_encoding = (inner == "no width" && outer.starts_with("html")) ||
                                        (inner == "no width" && outer == "json") || (inner == "json" && outer == "case");
            if (is_no_encoding) { continue; }  // Uses bytes for code points; `\\U` with four digits.
            const std::string text = encode_again(encode(secret));
            EXPECT_THAT(redactor->redact("before " + text + " after"), HasSubstr("[REDACTED:SHOP_KEY"))
                << outer << " of " << inner;
        }
    }
}

TEST(Redactor, hides_a_value_in_another_case) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    for (const char* text : {"ZX8CV5BN2MQ1", "zx8cv5bn2mq1", "zX8cV5bN2mQ1"}) {
        EXPECT_THAT(redactor->redact(text), StartsWith("[REDACTED:SHOP_KEY.case:")) << text;
    }
}

TEST(Redactor, leaves_harmless_escapes_alone) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    for (const char* text : {"printf(\"%d %s\\n\", 5)", "a &amp; b &#; &#x; &#99999999999; \\u12 \\x \\ %",
                             "de ad be ef 00 11 22 33", "\x1b[31mred\x1b[0m \x1b", "100%"}) {
        EXPECT_EQ(redactor->redacted(text), std::nullopt) << text;
    }
}

TEST(Redactor, restores_escapes) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    const std::string text = "a %5a%78%38Cv5Bn2Mq1 ZX8CV5BN2MQ1 \x1b[1mZ\x1b[0mx8Cv5Bn2Mq1";
    std::vector<Hidden> hidden;
    const auto shown = redactor->redacted(text, &hidden);
    ASSERT_TRUE(shown.has_value());
    EXPECT_EQ(restore_secrets(*shown, text, hidden, {}, "f").value(), text);
}

TEST(Redactor, decodes_base64_across_lines) {
    const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7Yu0Io3PaSd9FgHj5Kl8Qp1WsEd4Rf7TgYh6Uj3Ik0Ol2PmZx8Cv5Bn2Mq1We4Rt7";
    const auto redactor = knowing({{"SHOP_KEY", secret}});
    const std::string whole = base64_of("user:" + secret + "\n");
    const std::string shown = redactor->redact("-\n" + whole.substr(0, 76) + "\n" + whole.substr(76) + "\n-\n");
    for (std::size_t at = 8; at + 8 < whole.size() - 8; ++at) { ASSERT_THAT(shown, Not(HasSubstr(whole.substr(at, 8)))) << at; }
}

/// Wraps lines as `base64`, `base32` and `fold` do.
std::string wrapped(const std::string& text, std::size_t width, const std::string& line_end = "\n") {
    std::string made;
    for (std::size_t at = 0; at < text.size(); at += width) { made += (at == 0 ? "" : line_end) + text.substr(at, width); }
    return made;
}

TEST(Redactor, decodes_lines_of_any_length_and_offset) {
    const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7Yu0Io3PaSd9FgHj5Kl8";
    const auto redactor = knowing({{"SHOP_KEY", secret}});
    for (const std::size_t width : {4U, 8U, 15U, 16U, 20U, 76U}) {
        for (const char* line_end : {"\n", "\r\n", "\n    ", "\\n", "\\r\\n"}) {
            const std::string shown =
                redactor->redact("token: " + wrapped(base64_of("a" + secret + "b"), width, line_end) + ", 1\nend of it\n");
            EXPECT_THAT(shown, HasSubstr("[REDACTED:")) << width << line_end;
            EXPECT_THAT(shown, Not(HasSubstr(base64_of("a" + secret).substr(8, 6)))) << width << line_end;
            EXPECT_THAT(shown, AllOf(StartsWith("token: "), EndsWith(", 1\nend of it\n"))) << width << line_end;
        }
    }
}

TEST(Redactor, hides_a_value_encoded_twice_and_split_into_lines) {
    const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7Yu0Io3PaSd9FgHj5Kl8Qp1WsEd4Rf7TgYh6Uj3Ik0Ol2PmZx8Cv5Bn2Mq1We4Rt7";
    const auto redactor = knowing({{"SHOP_KEY", secret}});
    const auto hex_of = [](const std::string& text) {
        return each_byte(text, [](unsigned byte) { return written("%02x", byte); });
    };
    const std::map<std::string, std::function<std::string(const std::string&)>> encodings{
        {"base64", [](const std::string& text) { return wrapped(base64_of(text), 76) + "\n"; }},
        {"base32", [](const std::string& text) { return wrapped(base32_of(text), 76) + "\n"; }},
        {"hex", [hex_of](const std::string& text) { return wrapped(hex_of(text), 60) + "\n"; }}};
    for (const auto& [inner, encode] : encodings) {
        for (const auto& [outer, encode_again] : encodings) {
            const std::string text = encode_again(encode(secret));
            const std::string shown = redactor->redact("before\n" + text + "after\n");
            EXPECT_THAT(shown, HasSubstr("[REDACTED:part:")) << outer << " of " << inner;
            EXPECT_THAT(shown, Not(HasSubstr(text.substr(40, 12)))) << outer << " of " << inner << ": " << shown;
            EXPECT_EQ(std::ranges::count(shown, '\n'), std::ranges::count(text, '\n') + 2) << outer << " of " << inner;
        }
    }
}

TEST(Redactor, hides_a_value_with_html_entities) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8+Cv5/Bn2=Mq#1"}});
    for (const char* text : {"Zx8&plus;Cv5&sol;Bn2&equals;Mq&num;1", "&#90x8+Cv5/Bn2=Mq#1", "Zx8&#43Cv5&#x2F;Bn2&#61Mq#1"}) {
        EXPECT_THAT(redactor->redact(text), StartsWith("[REDACTED:SHOP_KEY.escaped:")) << text;
    }
}

TEST(Redactor, leaves_lines_of_ordinary_text_alone) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    for (const char* text : {"one two\nthree four\n", "aGVsbG8gd29ybGQgaG93\nYXJlIHlvdQ==\n", "def\nreturn\n\n  x\n",
                             "Zx8Cv5 Bn\n2Mq1\n", "\n\n\n"}) {
        EXPECT_EQ(redactor->redacted(text), std::nullopt) << text;
    }
}

TEST(Redactor, keeps_the_number_of_lines) {
    const auto redactor = knowing({});
    std::string key;
    for (const SecretRule& rule : rules()) {
        if (rule.lines) { key = "a\n" + rule.example + "b\n"; }
    }
    const std::string shown = redactor->redact(key);
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), std::count(key.begin(), key.end(), '\n'));
}

TEST(Redactor, finds_the_example_of_every_rule) {
    const auto redactor = knowing({});
    for (const SecretRule& rule : rules()) {
        const std::string shown = redactor->redact("x = '" + rule.example + "'\n");
        EXPECT_THAT(shown, HasSubstr("[REDACTED:")) << rule.name << ": " << shown;
    }
}

TEST(Redactor, names_the_rule_in_the_placeholder) {
    for (const SecretRule& rule : rules()) {
        const Redactor alone({}, {rule}, "k");
        EXPECT_THAT(alone.redact(rule.example), HasSubstr("[REDACTED:" + rule.name + ":")) << rule.name;
    }
}

TEST(Redactor, every_rule_example_contains_a_keyword) {
    for (const SecretRule& rule : rules()) {
        const auto has = [&rule](const std::string& keyword) { return rule.example.find(keyword) != std::string::npos; };
        EXPECT_TRUE(std::any_of(rule.keywords.begin(), rule.keywords.end(), has)) << rule.name;
    }
}

TEST(Redactor, does_not_treat_ordinary_text_as_a_key) {
    const auto redactor = knowing({});
    for (const std::string_view text :
         {"sk-estimator-doc-link-and-more-of-it", "task-20260102-add-oauth2-authentication-1f2e3d4c",
          "https://example.com:8080/a@b", "postgres://user:secret@localhost/db", "postgres://user:password@localhost/db",
          "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "authorization: required", "xoxb-",
          "eyJhbGciOiJIUzI1NiJ9", "AKIAEXAMPLE", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}) {
        EXPECT_EQ(redactor->redacted(text), std::nullopt) << text;
    }
}

TEST(Redactor, redacts_idempotently) {
    const auto redactor = knowing({{"SHOP_KEY", std::string(value)}});
    std::string text;
    for (const SecretRule& rule : rules()) { text += rule.example + "\n"; }
    for (const SecretForm& form : forms_of(value)) { text += form.text + "\n"; }
    const std::string once = redactor->redact(text);
    EXPECT_EQ(redactor->redact(once), once);
}

TEST(Redactor, gives_a_value_the_same_placeholder_in_every_run) {
    EXPECT_EQ(knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}})->redact("Zx8Cv5Bn2Mq1"),
              knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}})->redact("Zx8Cv5Bn2Mq1"));
}

TEST(Redactor, gives_another_value_of_the_same_name_another_placeholder) {
    EXPECT_NE(knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}})->redact("Zx8Cv5Bn2Mq1"),
              knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq2"}})->redact("Zx8Cv5Bn2Mq2"));
}

TEST(Redactor, placeholders_of_known_values_depend_on_the_installations_key) {
    const std::vector<Secret> known{{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}};
    EXPECT_NE(Redactor(known, {}, "one").redact("Zx8Cv5Bn2Mq1"), Redactor(known, {}, "two").redact("Zx8Cv5Bn2Mq1"));
}

TEST(Redactor, placeholders_of_rules_are_the_same_everywhere) {
    EXPECT_EQ(Redactor({}, rules(), "one").redact(rules()[1].example), Redactor({}, rules(), "two").redact(rules()[1].example));
}

TEST(Redactor, hides_the_longer_of_two_values_with_a_common_prefix) {
    const auto redactor = knowing({{"SHORT_KEY", "Zx8Cv5Bn"}, {"LONG_KEY", "Zx8Cv5Bn2Mq1"}});
    EXPECT_THAT(redactor->redact("Zx8Cv5Bn2Mq1"), StartsWith("[REDACTED:LONG_KEY:"));
}

TEST(Redactor, hides_in_texts_and_keys_of_json) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    json::value found = json::parse(R"({"a": ["Zx8Cv5Bn2Mq1"], "Zx8Cv5Bn2Mq1": 1})");
    redactor->redact(found);
    EXPECT_THAT(json::serialize(found), Not(HasSubstr("Zx8Cv5Bn2Mq1")));
}

TEST(Redactor, leaves_a_hash_in_a_record_though_part_of_it_is_a_value) {
    const auto redactor = knowing({{"SHOP_KEY", "fb92427ae41e"}});
    const json::object record{{"blob", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}};
    json::object same = record;
    redactor->redact(same);
    EXPECT_EQ(same, record);
}

TEST(Redactor, hides_a_value_that_is_a_hash) {
    const std::string hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    json::object record{{"key", hash}};
    knowing({{"SHOP_KEY", hash}})->redact(record);
    EXPECT_THAT(json::serialize(record), Not(HasSubstr(hash)));
}

TEST(Redactor, hides_in_every_part_of_an_error) {
    const Error error = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}})
                            ->redact(Error{"AF-X-1", "m Zx8Cv5Bn2Mq1", "w Zx8Cv5Bn2Mq1", "r Zx8Cv5Bn2Mq1", ErrorKind::io});
    EXPECT_THAT(error.message + error.where + error.remedy, Not(HasSubstr("Zx8Cv5Bn2Mq1")));
}

TEST(Redactor, hides_a_prefix_of_a_value_at_a_truncated_end) {
    const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7";
    const auto redactor = knowing({{"SHOP_KEY", secret}});
    for (std::size_t size = 6; size <= secret.size(); ++size) {
        EXPECT_THAT(redactor->redact_cut("output: " + secret.substr(0, size)), Not(HasSubstr(secret.substr(0, 6)))) << size;
    }
}

TEST(Redactor, hides_parts_of_a_value_on_both_sides_of_an_omission) {
    const std::string secret = "Zx8Cv5Bn2Mq1We4Rt7";
    const auto redactor = knowing({{"SHOP_KEY", secret}});
    const std::string shown =
        redactor->redact_cut("a " + secret.substr(0, 9) + "\n[… 12 bytes left out …]\n" + secret.substr(9) + " z");
    EXPECT_THAT(shown, testing::AllOf(Not(HasSubstr(secret.substr(0, 6))), Not(HasSubstr(secret.substr(12))),
                                      HasSubstr("\n[… 12 bytes left out …]\n")));
}

TEST(Redactor, knows_whether_there_is_anything_to_hide) {
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    EXPECT_TRUE(redactor->finds(json::parse(R"({"a": [1, {"b": "xZx8Cv5Bn2Mq1"}]})")));
    EXPECT_FALSE(redactor->finds(json::parse(R"({"a": [1, {"b": "x"}]})")));
}

TEST(Redactor, passes_events_on_without_secrets) {
    struct Kept final : EventSink {
        void event(const Event& event) override {
            text = std::get<event::Logged>(event).message + json::serialize(std::get<event::Logged>(event).fields.value());
        }
        std::string text;
    } kept;
    const auto redactor = knowing({{"SHOP_KEY", "Zx8Cv5Bn2Mq1"}});
    RedactingSink(*redactor, kept).event(event::Logged{2, "it is Zx8Cv5Bn2Mq1", {}, json::object{{"also", "Zx8Cv5Bn2Mq1"}}});
    EXPECT_THAT(kept.text, testing::AllOf(HasSubstr("it is "), Not(HasSubstr("Zx8Cv5Bn2Mq1"))));
}

TEST(Redactor, hides_nothing_if_empty) { EXPECT_EQ(Redactor().redacted(rules()[1].example), std::nullopt); }

// ------------------------------------------------------------------------------------------ canaries --

/// Any form of a value or shape of a key, in any context and at any place, is removed, and is restored byte for byte.
TEST(RedactorProperty, hidden_values_are_restored_exactly) {
    const auto redactor = knowing({{"SHOP_KEY", std::string(value)}, {"OTHER_TOKEN", "Zx8Cv5Bn2Mq1We4Rt7Yu0Io3Pa"}});
    std::vector<std::string> canaries;
    for (const SecretForm& form : forms_of(value)) { canaries.push_back(form.text); }
    for (const SecretForm& form : forms_of("Zx8Cv5Bn2Mq1We4Rt7Yu0Io3Pa")) { canaries.push_back(form.text); }
    for (const SecretRule& rule : rules()) { canaries.push_back(rule.example); }
    std::uint64_t state = 88172645463325252ULL;
    const auto below = [&state](std::size_t limit) {
        state ^= state << 13U;
        state ^= state >> 7U;
        state ^= state << 17U;
        return static_cast<std::size_t>(state % limit);
    };
    for (unsigned round = 0; round < 300; ++round) {
        std::string text;
        for (std::size_t piece = below(6); piece < 6; ++piece) {
            for (std::size_t i = below(40); i < 40; ++i) { text += "abz09_-+/=\n \t\"'\\{}[]:,.é%"[below(26)]; }
            text += "\n" + canaries[below(canaries.size())] + "\n";
        }
        std::vector<Hidden> hidden;
        const auto shown = redactor->redacted(text, &hidden);
        ASSERT_TRUE(shown.has_value());
        const auto back = restore_secrets(*shown, text, hidden, {}, "f");
        ASSERT_TRUE(back.ok()) << back.error().to_string();
        ASSERT_EQ(*back, text);
    }
}

TEST(RedactorProperty, survives_any_bytes) {
    const auto redactor = knowing({{"SHOP_KEY", std::string(value)}});
    std::uint64_t state = 1;
    for (unsigned round = 0; round < 300; ++round) {
        std::string text;
        for (unsigned i = 0; i < 200; ++i) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            text += static_cast<char>(state >> 56U);
        }
        for (std::size_t size = 0; size < 6; ++size) {
            static_cast<void>(redactor->redacted(std::string_view(text).substr(0, size)));
        }
        const std::string once = redactor->redact(text);
        ASSERT_EQ(redactor->redact(once), once);
    }
}

// ------------------------------------------------------------------------------------------- restore --

class Restore : public testing::Test {
protected:
    const std::string secret_ = "Zx8Cv5Bn2Mq1";
    std::unique_ptr<Redactor> redactor_ = knowing({{"SHOP_KEY", secret_}});
    const std::string placeholder_ = redactor_->redact(secret_);
    const std::vector<Hidden> hidden_{{placeholder_, secret_}};
};

TEST_F(Restore, restores_a_secret_of_the_file) {
    EXPECT_EQ(restore_secrets("a " + placeholder_ + " c", "a " + secret_ + " b", hidden_, {}, "f").value(),
              "a " + secret_ + " c");
}

TEST_F(Restore, restores_a_secret_from_elsewhere_in_the_workspace) {
    const FindHidden elsewhere = [this](std::string_view asked) {
        return asked == placeholder_ ? std::optional(secret_) : std::nullopt;
    };
    EXPECT_EQ(restore_secrets(placeholder_, "", {}, elsewhere, "f").value(), secret_);
}

TEST_F(Restore, refuses_a_secret_that_is_not_in_the_workspace) {
    const auto made = restore_secrets(
        placeholder_, "", {}, [](std::string_view) { return std::nullopt; }, "f");
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-SEC-003");
}

TEST_F(Restore, keeps_a_lookalike_placeholder_that_is_in_the_file) {
    const std::string text = "docs say [REDACTED:x:01234567] here";
    EXPECT_EQ(restore_secrets(text + "!", text, {}, {}, "f").value(), text + "!");
}

TEST_F(Restore, refuses_a_truncated_placeholder_in_a_file_with_secrets) {
    const auto made = restore_secrets("k = [REDACTED:SHOP_KEY]", "k = " + secret_, hidden_, {}, "f");
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-SEC-004");
}

TEST_F(Restore, allows_redacted_in_a_new_file) {
    EXPECT_EQ(restore_secrets("return '[REDACTED:email]'", "", {}, {}, "f").value(), "return '[REDACTED:email]'");
}

TEST_F(Restore, refuses_a_file_with_an_ambiguous_placeholder) {
    const auto made = restore_secrets(placeholder_, secret_ + placeholder_, hidden_, {}, "f");
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "AF-SEC-005");
}

// --------------------------------------------------------------------------------------------- rules --

std::string rule_error(const std::string& text) {
    const TemporaryDirectory folder("rules");
    EXPECT_TRUE(write_file_atomic(folder.path() / "rules.yaml", text, Durability::cached).ok());
    const auto read = load_secret_rules((folder.path() / "rules.yaml").string());
    return read.ok() ? "" : read.error().code + " " + read.error().message + " " + read.error().where;
}

TEST(SecretRules, an_unknown_field_is_named_with_its_line) {
    EXPECT_THAT(rule_error("rules:\n  - name: a\n    colour: red\n"),
                testing::AllOf(StartsWith("AF-SEC-001"), HasSubstr("`colour`"), HasSubstr("rules.yaml:3:")));
}

TEST(SecretRules, a_pattern_that_re2_rejects_is_refused) {
    SecretRule rule;
    rule.name = "a";
    rule.pattern = "a(?=b)";
    const auto checked = check_secret_rules({rule});
    ASSERT_FALSE(checked.ok());
    EXPECT_THAT(checked.error().message, HasSubstr("rule `a` is not an RE2 expression"));
}

TEST(SecretRules, shipped_rules_are_valid) { EXPECT_TRUE(check_secret_rules(rules()).ok()); }

TEST(SecretRules, a_duplicate_name_is_refused) {
    EXPECT_THAT(
        rule_error(
            "rules:\n  - {name: a, keywords: [abc], pattern: abc, example: [x]}\n  - {name: a, keywords: [abc], pattern: abc, example: [x]}\n"),
        HasSubstr("twice"));
}

TEST(SecretRules, a_keyword_of_two_bytes_is_refused) {
    EXPECT_THAT(rule_error("rules:\n  - {name: a, keywords: [ab], pattern: abc, example: [x]}\n"), HasSubstr("three bytes"));
}

TEST(EqualsButForSecrets, accepts_any_text_only_in_place_of_a_placeholder) {
    const std::string redacted = "key [REDACTED:KEY:0123abcd], then [REDACTED:KEY:0123abcd].";
    EXPECT_TRUE(equals_but_for_secrets(redacted, "key one, then two."));
    EXPECT_TRUE(equals_but_for_secrets(redacted, redacted));
    EXPECT_FALSE(equals_but_for_secrets(redacted, "the key one, then two."));
    EXPECT_FALSE(equals_but_for_secrets(redacted, "key one, and two."));
    EXPECT_FALSE(equals_but_for_secrets(redacted, "key one, then two"));
    EXPECT_TRUE(equals_but_for_secrets("plain", "plain"));
    EXPECT_FALSE(equals_but_for_secrets("plain", "plainer"));
}

}  // namespace
}  // namespace agentforge::kernel
