// SPDX-License-Identifier: Apache-2.0
// A document of headings, paragraphs and tables, written as Markdown, HTML or JSON, or printed.
#pragma once

#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct DocumentColumn {
    std::string key;  ///< The key in JSON.
    std::string title;
    double width = 1;  ///< Relative to the other columns, in print.
};

struct DocumentSection {
    std::string key;  ///< The key in JSON.
    std::string title;
    std::string text;                            ///< Text before the table. May be empty.
    std::vector<DocumentColumn> columns;         ///< None: there is no table.
    std::vector<std::vector<json::value>> rows;  ///< Texts, numbers and booleans, one for each column.
    std::string if_empty;                        ///< Shown instead of a table without rows.
};

struct Document {
    std::string title;
    std::vector<DocumentSection> sections;
};

/// Returns a cell as people read it.
[[nodiscard]] std::string cell_text(const json::value& cell);
/// Writes GitHub's Markdown. No text of a task becomes markup.
[[nodiscard]] std::string to_markdown(const Document& document);
/// Writes one page that needs no other file and runs nothing.
[[nodiscard]] std::string to_html(const Document& document);
/// Writes each section under its key: an array of objects by the columns' keys, or its text.
[[nodiscard]] json::object to_json(const Document& document);

struct PrintedDocument {
    std::string pdf;
    std::size_t pages = 0;
    /// Number of letters that no font of this machine has. They are printed as boxes with their code.
    std::size_t missing_glyphs = 0;
};
/// Prints A4 pages with the fonts of this machine, in any script. Loads libagentforge-print.so. Errors: `unavailable` AF-AUDT-005
/// that library, or one it needs, is missing; AF-AUDT-006 printing failed.
[[nodiscard]] Result<PrintedDocument> print(const Document& document);

/// The interface of libagentforge-print.so. Private to kernel/audit.
struct PrintLibrary {
    const char* version;
    std::size_t document_size;
    std::size_t section_size;
    Result<PrintedDocument> (*print)(const Document& document);
};

}  // namespace agentforge::kernel

extern "C" const agentforge::kernel::PrintLibrary* agentforge_print();
