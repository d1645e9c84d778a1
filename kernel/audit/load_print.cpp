// SPDX-License-Identifier: Apache-2.0
// `print` for the program: loads libagentforge-print.so and forwards the call.
#include <dlfcn.h>

#include <filesystem>

#include "audit/document.hpp"

namespace agentforge::kernel {

namespace {

constexpr const char* library_name = "libagentforge-print.so";

Error pdf_unavailable(const std::string& why) {
    return {"AF-AUDT-005", "Cannot create a PDF: " + why, library_name,
            "Install Pango (Debian: libpangocairo-1.0-0) and all of AgentForge, or use --format html.", ErrorKind::unavailable};
}

/// Returns the path of the library beside the program's other libraries.
std::string path_of_library() {
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    const auto beside = program.parent_path().parent_path() / AGENTFORGE_LIBRARY_FOLDER / library_name;
    if (!none && std::filesystem::exists(beside, none)) { return beside.string(); }
    const auto built = program.parent_path().parent_path() / "lib" / library_name;
    return std::filesystem::exists(built, none) ? built.string() : std::string(library_name);
}

}  // namespace

Result<PrintedDocument> print(const Document& document) {
    void* const library = ::dlopen(path_of_library().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) { return pdf_unavailable(::dlerror()); }
    const auto entry = reinterpret_cast<decltype(&agentforge_print)>(::dlsym(library, "agentforge_print"));
    if (entry == nullptr) { return pdf_unavailable("it has no entry `agentforge_print`"); }
    const PrintLibrary* const printer = entry();
    if (printer->version != std::string_view(AGENTFORGE_VERSION) || printer->document_size != sizeof(Document) ||
        printer->section_size != sizeof(DocumentSection)) {
        return pdf_unavailable("it is from another build, version " + std::string(printer->version));
    }
    return printer->print(document);
}

}  // namespace agentforge::kernel
