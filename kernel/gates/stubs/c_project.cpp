// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/c_project.hpp"

#include <algorithm>

#include "gates/stubs/c_headers.hpp"
#include "gates/stubs/c_signature.hpp"
#include "gates/stubs/c_text.hpp"

namespace agentforge::kernel {
namespace {

/// Returns the path by which a file includes a header: the part after its `include/` folder, its name if it is beside the file,
/// else its whole path.
std::string include_path(const std::string& header, const std::string& from) {
    const auto folder = header.rfind("include/");
    if (folder != std::string::npos && (folder == 0 || header[folder - 1] == '/')) { return header.substr(folder + 8); }
    const auto slash = header.rfind('/');
    const bool beside = slash != std::string::npos && from.rfind('/') == slash && from.starts_with(header.substr(0, slash + 1));
    return beside ? header.substr(slash + 1) : header;
}

/// True if the text includes a file of that name.
bool includes_name(const std::string& text, const std::string& path) {
    const auto name = path.substr(path.rfind('/') + 1);
    return text.find("\"" + name + "\"") != std::string::npos || text.find("/" + name + "\"") != std::string::npos;
}

bool is_included_by_c(const std::string& header, const std::map<std::string, std::string>& contents) {
    return std::any_of(contents.begin(), contents.end(),
                       [&](const auto& file) { return file.first.ends_with(".c") && includes_name(file.second, header); });
}

}  // namespace

bool is_c_file(const std::string& path, const std::map<std::string, std::string>& contents,
               const std::vector<std::string>& existing) {
    if (path.ends_with(".c")) { return true; }
    if (!path.ends_with(".h")) { return false; }
    const bool has_cpp = std::any_of(existing.begin(), existing.end(), [](const auto& each) {
        return c_text::ends_with_any(each, {".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"});
    });
    if (!has_cpp) { return true; }
    const auto text = contents.find(path);
    const bool for_both = text != contents.end() && text->second.find("__cplusplus") != std::string::npos &&
                          text->second.find("extern \"C\"") != std::string::npos;
    return for_both || is_included_by_c(path, contents);
}

CProject::CProject(const std::map<std::string, std::string>& contents, const std::vector<std::string>& existing)
    : contents_(contents), existing_(existing) {}

CFile& CProject::file(const std::string& path) {
    const auto known = files_.find(path);
    if (known != files_.end()) { return known->second; }
    const auto content = contents_.find(path);
    order_.push_back(path);
    return files_
        .emplace(path, CFile(path, content == contents_.end() ? "" : content->second, is_c_file(path, contents_, existing_)))
        .first->second;
}

bool CProject::exists(const std::string& path) const {
    return std::find(existing_.begin(), existing_.end(), path) != existing_.end();
}

std::vector<CFile*> CProject::files_with(const std::vector<std::string>& words) {
    std::vector<CFile*> result;
    for (const auto& [path, text] : contents_) {
        const auto known = files_.find(path);
        const std::string& now = known != files_.end() ? known->second.text() : text;
        const bool has_all =
            std::all_of(words.begin(), words.end(), [&](const auto& each) { return now.find(each) != std::string::npos; });
        if (has_all && (c_text::is_header(path) || c_text::is_source(path))) { result.push_back(&file(path)); }
    }
    for (auto& [path, each] : files_) {
        const bool has_all = std::all_of(words.begin(), words.end(),
                                         [&](const auto& word) { return each.text().find(word) != std::string::npos; });
        if (!contents_.contains(path) && has_all) { result.push_back(&each); }
    }
    return result;
}

CFile* CProject::header_of_class(const std::vector<std::string>& parts) {
    CFile* only = nullptr;
    for (auto* each : files_with({parts.back()})) {
        if (!c_text::is_header(each->path()) || each->class_named(parts) == nullptr) { continue; }
        if (only != nullptr) { return nullptr; }
        only = each;
    }
    return only;
}

void CProject::note_specified(const std::vector<SkeletonInterface>& interfaces) {
    for (const auto& each : interfaces) {
        const auto last = each.name.substr(each.name.find_last_of(".:") + 1);
        if (c_text::is_header(each.file) && !c_type_keyword(each.signature).empty()) { specified_types_[last].insert(each.file); }
    }
}

void CProject::include_for(CFile& target, const std::string& types) {
    for (const auto& header : standard_c_headers(types, target.is_c())) { target.include(header); }
    include_project_headers(target, types);
}

void CProject::include_project_headers(CFile& target, const std::string& text) {
    const auto code = c_text::code_only(text);
    std::set<std::string> words;
    for (std::size_t at = 0; at < code.size();) {
        auto end = at;
        while (end < code.size() && c_text::is_word(code[end])) { ++end; }
        const bool in_std = at >= 5 && code.compare(at - 5, 5, "std::") == 0;
        if (end > at && !in_std && !(code[at] >= '0' && code[at] <= '9')) { words.insert(code.substr(at, end - at)); }
        at = std::max(end, at + 1);
    }
    for (const auto& word : words) {
        if (c_text::is_type_word(word) || target.defines_type(word)) { continue; }
        std::set<std::string> found;
        for (auto* each : files_with({word})) {
            if (each != &target && c_text::is_header(each->path()) && each->defines_type(word)) { found.insert(each->path()); }
        }
        // The specification may declare the type in a header that does not exist yet.
        const auto specified = specified_types_.find(word);
        if (specified != specified_types_.end()) { found.insert(specified->second.begin(), specified->second.end()); }
        if (found.size() != 1 || *found.begin() == target.path()) { continue; }
        const auto other = files_.find(*found.begin());
        const bool returns =
            other != files_.end() && (other->second.includes("\"" + include_path(target.path(), other->first) + "\"") ||
                                      includes_name(other->second.text(), target.path()));
        if (!returns && !includes_name(target.text(), *found.begin())) {
            target.include("\"" + include_path(*found.begin(), target.path()) + "\"");
        }
    }
}

std::vector<std::pair<std::string, std::string>> CProject::written() {
    std::vector<std::pair<std::string, std::string>> result;
    for (const auto& path : order_) {
        auto& file = files_.at(path);
        if (!file.changed()) { continue; }
        file.finish();
        result.emplace_back(path, file.content());
    }
    return result;
}

}  // namespace agentforge::kernel
