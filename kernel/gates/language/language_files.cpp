// SPDX-License-Identifier: Apache-2.0
#include "gates/language/language_files.hpp"

#include <filesystem>
#include <set>
#include <system_error>

#include "base/text.hpp"

namespace agentforge::kernel {

Result<const std::map<std::string, Language, std::less<>>*> LanguageFiles::all() {
    if (read_) { return &languages_; }
    for (const auto& directory : directories_) {
        std::set<std::string> names;
        std::error_code failure;
        for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
            if (entry.path().extension() == ".yaml") { names.insert(entry.path().stem().string()); }
        }
        if (failure && (failure != std::errc::no_such_file_or_directory || &directory == &directories_.front())) {
            return Error{"AF-GATE-010", "The folder of language files cannot be read: " + failure.message() + ".", directory,
                         "Check the installation with `agentforge doctor`.", ErrorKind::io};
        }
        for (const auto& name : names) {
            AF_TRY(auto language, load_language(directory, name));
            languages_.insert_or_assign(name, std::move(language));
            found_in_[name] = directory;
        }
    }
    read_ = true;
    return &languages_;
}

Result<const Language*> LanguageFiles::get(std::string_view name) {
    AF_TRY(const auto* languages, all());
    if (const auto found = languages->find(name); found != languages->end()) { return &found->second; }
    std::string known;
    std::vector<std::string> names;
    for (const auto& [each, language] : *languages) {
        known += (known.empty() ? "" : ", ") + each;
        names.push_back(each);
    }
    const auto near = nearest(name, names);
    return Error{"AF-GATE-002",
                 "There is no language `" + std::string(name) + "`" + (near.empty() ? "" : "; did you mean `" + near + "`") + ".",
                 "", "Known languages: " + known + ". `agentforge help docs/gates.md` says how to add one.",
                 ErrorKind::unavailable};
}

}  // namespace agentforge::kernel
