// SPDX-License-Identifier: Apache-2.0
#include "base/html.hpp"

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view page_head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>)";

constexpr std::string_view page_style = R"(</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; }
table { border-collapse: collapse; width: 100%; margin-bottom: 2em; }
th, td { border: 1px solid #bbb; padding: .3em .6em; text-align: left; vertical-align: top; overflow-wrap: anywhere; white-space: pre-wrap; }
th { background: #f0f0f0; }
td:first-child { min-width: 8em; }
p { white-space: pre-wrap; }
</style>
</head>
<body>
)";

}  // namespace

std::string html_text(std::string_view text) {
    std::string out;
    for (const char letter : shown_text(text, false)) {
        switch (letter) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += letter;
        }
    }
    return out;
}

std::string html_page(std::string_view title, std::string_view body) {
    std::string page(page_head);
    page += html_text(title);
    page += page_style;
    page += body;
    return page + "</body>\n</html>\n";
}

}  // namespace agentforge::kernel
