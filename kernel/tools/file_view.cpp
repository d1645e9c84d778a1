// SPDX-License-Identifier: Apache-2.0
#include "tools/file_view.hpp"

#include <algorithm>

#include "tools/text_edit.hpp"

namespace agentforge::kernel {

Result<FileView> view_of_lines(const std::string& path, const std::string& text, const ReadOptions& options) {
    FileView view;
    view.path = path;
    view.total_lines = count_lines(text);
    view.first_line = std::max<std::uint64_t>(options.first_line, 1);
    const auto last = options.last_line == 0 ? view.total_lines : std::min(options.last_line, view.total_lines);
    if ((options.last_line != 0 && options.last_line < view.first_line) ||
        (view.first_line > view.total_lines && view.first_line > 1)) {
        return Error{"AF-TOOL-045",
                     "'" + path + "' has " + std::to_string(view.total_lines) + " lines; lines " +
                         std::to_string(view.first_line) + " to " +
                         (options.last_line == 0 ? std::string("the end") : std::to_string(options.last_line)) +
                         " are not a valid range.",
                     path, "Give first_line and last_line within the file, first_line not after last_line.", ErrorKind::invalid};
    }
    std::size_t begin = 0;
    for (std::uint64_t line = 1; line < view.first_line; ++line) { begin = text.find('\n', begin) + 1; }
    std::size_t end = begin;
    view.last_line = view.first_line - 1;
    while (view.last_line < last) {
        auto next = text.find('\n', end);
        next = next == std::string::npos ? text.size() : next + 1;
        if (next - begin > options.max_bytes) {
            view.truncated = true;
            if (end == begin) {  // Not even one line fits: returns its beginning.
                end = begin + options.max_bytes;
                while (end > begin && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) { --end; }
                ++view.last_line;
            }
            break;
        }
        end = next;
        ++view.last_line;
    }
    view.content = text.substr(begin, end - begin);
    view.truncated = view.truncated || view.first_line > 1 || view.last_line < view.total_lines;
    return view;
}

}  // namespace agentforge::kernel
