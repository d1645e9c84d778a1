// SPDX-License-Identifier: Apache-2.0
#include "audit/document.hpp"

#include "base/html.hpp"

namespace agentforge::kernel {

namespace {

/// Escapes every character that Markdown may read as markup, and joins lines to one.
std::string markdown_text(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '\n') {
            out += "<br>";
        } else if (letter == '&') {
            out += "&amp;";
        } else if (letter == '<') {
            out += "&lt;";
        } else if (static_cast<unsigned char>(letter) < 0x20) {
            out += ' ';
        } else {
            if (std::string_view("\\`*_{}[]()#+-.!|>~:@").find(letter) != std::string_view::npos) { out += '\\'; }
            out += letter;
        }
    }
    return out;
}

}  // namespace

std::string cell_text(const json::value& cell) {
    if (cell.is_string()) { return std::string(cell.get_string()); }
    if (cell.is_bool()) { return cell.get_bool() ? "yes" : "no"; }
    return cell.is_null() ? std::string() : json::serialize(cell);
}

std::string to_markdown(const Document& document) {
    std::string page = "# " + markdown_text(document.title) + "\n";
    for (const DocumentSection& section : document.sections) {
        page += "\n## " + markdown_text(section.title) + "\n";
        if (!section.text.empty()) { page += "\n" + markdown_text(section.text) + "\n"; }
        if (section.columns.empty()) { continue; }
        if (section.rows.empty()) {
            page += "\n" + markdown_text(section.if_empty) + "\n";
            continue;
        }
        page += "\n|";
        for (const DocumentColumn& column : section.columns) { page += " " + markdown_text(column.title) + " |"; }
        page += "\n|";
        for (std::size_t at = 0; at < section.columns.size(); ++at) { page += "---|"; }
        for (const auto& row : section.rows) {
            page += "\n|";
            for (const json::value& cell : row) { page += " " + markdown_text(cell_text(cell)) + " |"; }
        }
        page += "\n";
    }
    return page;
}

std::string to_html(const Document& document) {
    std::string page = "<h1>" + html_text(document.title) + "</h1>\n";
    for (const DocumentSection& section : document.sections) {
        page += "<h2>" + html_text(section.title) + "</h2>\n";
        if (!section.text.empty()) { page += "<p>" + html_text(section.text) + "</p>\n"; }
        if (section.columns.empty()) { continue; }
        if (section.rows.empty()) {
            page += "<p>" + html_text(section.if_empty) + "</p>\n";
            continue;
        }
        page += "<table>\n<tr>";
        for (const DocumentColumn& column : section.columns) { page += "<th>" + html_text(column.title) + "</th>"; }
        page += "</tr>\n";
        for (const auto& row : section.rows) {
            page += "<tr>";
            for (const json::value& cell : row) { page += "<td>" + html_text(cell_text(cell)) + "</td>"; }
            page += "</tr>\n";
        }
        page += "</table>\n";
    }
    return html_page(document.title, page);
}

json::object to_json(const Document& document) {
    json::object whole{{"title", document.title}};
    for (const DocumentSection& section : document.sections) {
        if (section.columns.empty()) {
            whole[section.key] = section.text;
            continue;
        }
        json::array rows;
        for (const auto& row : section.rows) {
            json::object object;
            for (std::size_t at = 0; at < section.columns.size(); ++at) { object[section.columns[at].key] = row[at]; }
            rows.push_back(std::move(object));
        }
        whole[section.key] = std::move(rows);
    }
    return whole;
}

}  // namespace agentforge::kernel
