// SPDX-License-Identifier: Apache-2.0
// Documents as PDF with Pango and Cairo. Pango finds fonts for each script, and shapes and orders the letters; Cairo embeds the
// fonts.
#include <cairo-pdf.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "audit/document.hpp"

namespace agentforge::kernel {

namespace {

// A4, in points.
constexpr double page_width = 595.276;
constexpr double page_height = 841.890;
constexpr double margin = 48;
constexpr double footer = 24;
constexpr double text_width = page_width - 2 * margin;
constexpr double bottom = page_height - margin - footer;
constexpr double padding = 3;
constexpr std::size_t longest_cell = 8000;  ///< In bytes. The other formats have the whole text.

template <auto Release>
struct Releaser {
    template <class T>
    void operator()(T* handle) const noexcept {
        Release(handle);
    }
};
using Surface = std::unique_ptr<cairo_surface_t, Releaser<cairo_surface_destroy>>;
using Cairo = std::unique_ptr<cairo_t, Releaser<cairo_destroy>>;
using Layout = std::unique_ptr<PangoLayout, Releaser<g_object_unref>>;
using Font = std::unique_ptr<PangoFontDescription, Releaser<pango_font_description_free>>;

cairo_status_t take_bytes(void* into, const unsigned char* bytes, unsigned int count) {
    static_cast<std::string*>(into)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
}

class Printer {
public:
    explicit Printer(PrintedDocument& printed)
        : printed_(printed),
          surface_(cairo_pdf_surface_create_for_stream(take_bytes, &printed.pdf, page_width, page_height)),
          cairo_(cairo_create(surface_.get())) {
        cairo_pdf_surface_restrict_to_version(surface_.get(), CAIRO_PDF_VERSION_1_5);
    }

    void print(const Document& document) {
        cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_TITLE, document.title.c_str());
        cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_CREATOR, "AgentForge " AGENTFORGE_VERSION);
        begin_page();
        paragraph(document.title, "Sans Bold 16", 10);
        for (const DocumentSection& section : document.sections) {
            y_ += 8;
            ensure_space(60);  // Keeps a title with the text that follows.
            paragraph(section.title, "Sans Bold 11", 4);
            if (!section.text.empty()) { paragraph(section.text, "Sans 9", 6); }
            if (section.columns.empty()) { continue; }
            if (section.rows.empty()) {
                paragraph(section.if_empty, "Sans 9", 6);
            } else {
                table(section);
            }
        }
        end_page();
        cairo_surface_finish(surface_.get());
    }

    [[nodiscard]] cairo_status_t status() const {
        const cairo_status_t drawn = cairo_status(cairo_.get());
        return drawn == CAIRO_STATUS_SUCCESS ? cairo_surface_status(surface_.get()) : drawn;
    }

private:
    Layout layout(const std::string& text, const char* font, double width) {
        Layout made(pango_cairo_create_layout(cairo_.get()));
        const Font description(pango_font_description_from_string(font));
        pango_layout_set_font_description(made.get(), description.get());
        pango_layout_set_width(made.get(), static_cast<int>(width * PANGO_SCALE));
        pango_layout_set_wrap(made.get(), PANGO_WRAP_WORD_CHAR);
        std::string shown = text.substr(0, longest_cell);
        while (shown.size() < text.size() && !shown.empty() &&
               (static_cast<unsigned char>(text[shown.size()]) & 0xC0U) == 0x80U) {
            shown.pop_back();
        }
        if (shown.size() < text.size()) { shown += "…"; }
        pango_layout_set_text(made.get(), shown.data(), static_cast<int>(shown.size()));
        const int missing = pango_layout_get_unknown_glyphs_count(made.get());
        if (missing == 0) { return made; }
        printed_.missing_glyphs += static_cast<std::size_t>(missing);
        const std::string named = with_missing_named(made.get(), shown);
        pango_layout_set_text(made.get(), named.data(), static_cast<int>(named.size()));
        return made;
    }

    /// Pango draws a box for a character that no font has, and the PDF then has no text for it. Returns the text with `[U+1F389]`
    /// in place of each such character.
    static std::string with_missing_named(PangoLayout* made, const std::string& text) {
        std::set<std::size_t> missing;  // Where such a character begins.
        for (int number = 0; number < pango_layout_get_line_count(made); ++number) {
            for (const GSList* run = pango_layout_get_line_readonly(made, number)->runs; run != nullptr; run = run->next) {
                const auto* const piece = static_cast<const PangoGlyphItem*>(run->data);
                for (int at = 0; at < piece->glyphs->num_glyphs; ++at) {
                    if ((piece->glyphs->glyphs[at].glyph & PANGO_GLYPH_UNKNOWN_FLAG) == 0) { continue; }
                    missing.insert(static_cast<std::size_t>(piece->item->offset + piece->glyphs->log_clusters[at]));
                }
            }
        }
        std::string named;
        std::size_t done = 0;
        for (const std::size_t at : missing) {
            const char* const character = text.data() + at;
            named.append(text, done, at - done);
            std::array<char, 16> code{};
            g_snprintf(code.data(), code.size(), "[U+%04X]", g_utf8_get_char(character));
            named += code.data();
            done = at + static_cast<std::size_t>(g_utf8_next_char(character) - character);
        }
        return named + text.substr(done);
    }

    static double height_of(PangoLayoutLine* line) {
        PangoRectangle logical;
        pango_layout_line_get_extents(line, nullptr, &logical);
        return static_cast<double>(logical.height) / PANGO_SCALE;
    }

    /// Draws lines from `at` on, down to the end of the page. Returns where it stopped.
    double lines(PangoLayout* text, int& at, double x, double y) {
        for (; at < pango_layout_get_line_count(text); ++at) {
            PangoLayoutLine* const line = pango_layout_get_line_readonly(text, at);
            PangoRectangle logical;
            pango_layout_line_get_extents(line, nullptr, &logical);
            const double height = static_cast<double>(logical.height) / PANGO_SCALE;
            if (y + height > bottom) { break; }
            // A line of a right-to-left script begins at the right edge.
            const double free = static_cast<double>(pango_layout_get_width(text) - logical.width) / PANGO_SCALE;
            const bool from_right = line->resolved_dir == PANGO_DIRECTION_RTL;
            cairo_move_to(cairo_.get(), x + (from_right ? std::max(0.0, free) : 0),
                          y - static_cast<double>(logical.y) / PANGO_SCALE);
            pango_cairo_show_layout_line(cairo_.get(), line);
            y += height;
        }
        return y;
    }

    void begin_page() {
        ++printed_.pages;
        y_ = margin;
        cairo_set_source_rgb(cairo_.get(), 0, 0, 0);
    }

    void end_page() {
        const Layout number = layout(std::to_string(printed_.pages), "Sans 8", text_width);
        pango_layout_set_alignment(number.get(), PANGO_ALIGN_CENTER);
        cairo_move_to(cairo_.get(), margin, page_height - margin);
        pango_cairo_show_layout(cairo_.get(), number.get());
        cairo_show_page(cairo_.get());
    }

    void new_page() {
        end_page();
        begin_page();
    }

    void ensure_space(double height) {
        if (y_ + height > bottom) { new_page(); }
    }

    void paragraph(const std::string& text, const char* font, double after) {
        const Layout made = layout(text, font, text_width);
        for (int at = 0; at < pango_layout_get_line_count(made.get());) {
            y_ = lines(made.get(), at, margin, y_);
            if (at < pango_layout_get_line_count(made.get())) { new_page(); }
        }
        y_ += after;
    }

    void table(const DocumentSection& section) {
        double sum = 0;
        for (const DocumentColumn& column : section.columns) { sum += column.width; }
        std::vector<double> widths;
        std::vector<std::string> titles;
        for (const DocumentColumn& column : section.columns) {
            widths.push_back(text_width * column.width / sum);
            titles.push_back(column.title);
        }
        row(titles, widths, "Sans Bold 8", {});
        for (const auto& cells : section.rows) {
            std::vector<std::string> texts;
            for (const json::value& cell : cells) { texts.push_back(cell_text(cell)); }
            row(texts, widths, "Sans 8", titles);
        }
        rule();
    }

    void rule() {
        cairo_set_line_width(cairo_.get(), 0.4);
        cairo_move_to(cairo_.get(), margin, y_);
        cairo_line_to(cairo_.get(), margin + text_width, y_);
        cairo_stroke(cairo_.get());
    }

    /// A row that does not fit continues on the next page, below the titles.
    void row(const std::vector<std::string>& cells, const std::vector<double>& widths, const char* font,
             const std::vector<std::string>& titles) {
        std::vector<Layout> texts;
        std::vector<int> at(cells.size(), 0);
        double height = 0;
        for (std::size_t column = 0; column < cells.size(); ++column) {
            texts.push_back(layout(cells[column], font, widths[column] - 2 * padding));
            if (pango_layout_get_line_count(texts.back().get()) > 0) {
                height = std::max(height, height_of(pango_layout_get_line_readonly(texts.back().get(), 0)));
            }
        }
        const auto on_new_page = [&] {
            new_page();
            if (!titles.empty()) { row(titles, widths, "Sans Bold 8", {}); }
        };
        if (y_ + height + 2 * padding > bottom) { on_new_page(); }
        for (bool more = true; more;) {
            rule();
            double x = margin;
            double end = y_;
            more = false;
            for (std::size_t column = 0; column < cells.size(); ++column) {
                end = std::max(end, lines(texts[column].get(), at[column], x + padding, y_ + padding));
                more = more || at[column] < pango_layout_get_line_count(texts[column].get());
                x += widths[column];
            }
            y_ = end + padding;
            if (more) { on_new_page(); }
        }
    }

    PrintedDocument& printed_;
    Surface surface_;
    Cairo cairo_;
    double y_ = margin;
};

Result<PrintedDocument> print_document(const Document& document) {
    PrintedDocument printed;
    Printer printer(printed);
    printer.print(document);
    if (printer.status() != CAIRO_STATUS_SUCCESS) {
        return Error{"AF-AUDT-006", std::string("cannot create the PDF: ") + cairo_status_to_string(printer.status()), "",
                     "use --format html", ErrorKind::internal};
    }
    return printed;
}

const PrintLibrary library{AGENTFORGE_VERSION, sizeof(Document), sizeof(DocumentSection), print_document};

}  // namespace

}  // namespace agentforge::kernel

extern "C" [[gnu::visibility("default")]] const agentforge::kernel::PrintLibrary* agentforge_print() {
    return &agentforge::kernel::library;
}
