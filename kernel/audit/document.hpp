// SPDX-License-Identifier: Apache-2.0
// A document to be read: headings, paragraphs and tables, written as Markdown, HTML or JSON, or printed.
#pragma once

#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct DocumentColumn {
    std::string key;  ///< In JSON.
    std::string title;
    double width = 1;  ///< Beside the other columns, where it is printed.
};

struct DocumentSection {
    std::string key;  ///< In JSON.
    std::string title;
    std::string text;                            ///< Before the table; may be empty.
    std::vector<DocumentColumn> columns;         ///< None: there is no table.
    std::vector<std::vector<json::value>> rows;  ///< Texts, numbers, booleans; as many as there are columns.
    std::string none;                            ///< Said in place of a table without rows.
};

struct Document {
    std::string title;
    std::vector<DocumentSection> sections;
};

/// A cell as people read it.
[[nodiscard]] std::string cell_text(const json::value& cell);
/// GitHub's Markdown; no text of a task becomes markup.
[[nodiscard]] std::string to_markdown(const Document& document);
/// One page that needs no other file and runs nothing.
[[nodiscard]] std::string to_html(const Document& document);
/// Each section under its key: an array of objects by the columns' keys, or its text.
[[nodiscard]] json::object to_json(const Document& document);

struct PrintedDocument {
    std::string pdf;
    std::size_t pages = 0;
    std::size_t unknown_letters = 0;  ///< That no font of this machine has: they are boxes with their number.
};
/// A4 pages, with the fonts of this machine, text in any script. Loads libagentforge-print.so. Errors: `unavailable` AF-AUDT-005
/// that library, or what it needs, is not there; AF-AUDT-006 it could not print.
[[nodiscard]] Result<PrintedDocument> print(const Document& document);

/// What the library gives; private to kernel/audit.
struct PrintLibrary {
    const char* version;
    std::size_t document_size;
    std::size_t section_size;
    Result<PrintedDocument> (*print)(const Document& document);
};

}  // namespace agentforge::kernel

extern "C" const agentforge::kernel::PrintLibrary* agentforge_print();
