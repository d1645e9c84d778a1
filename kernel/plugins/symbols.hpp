// SPDX-License-Identifier: Apache-2.0
// Reads a shared library's exports and imports from the file, without loading it.
#pragma once

#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct DynamicSymbol {
    std::string name;     ///< Mangled, as in the file.
    std::string version;  ///< Symbol version. Empty if there is none.
    bool defined = false;
    bool weak = false;
    bool function = false;  ///< STT_FUNC or STT_GNU_IFUNC.
    bool data = false;      ///< STT_OBJECT, STT_COMMON or STT_TLS.
};

struct DynamicLibrary {
    /// The dynamic symbol table: symbols that the library exports, and symbols that it imports.
    std::vector<DynamicSymbol> symbols;
    std::vector<std::string> needed;  ///< DT_NEEDED, in order.
    std::vector<std::string> search;  ///< DT_RUNPATH or DT_RPATH, with `$ORIGIN` replaced.
};

/// Trusts nothing in the file: checks every offset against its size. Call `check_elf` first. Errors: AF-PLUG-011 if the symbol
/// table cannot be read.
[[nodiscard]] Result<DynamicLibrary> read_symbols(const std::string& path);

/// Returns a symbol's name as its author wrote it: demangled if it is a C++ name.
[[nodiscard]] std::string readable_symbol(const std::string& name);

}  // namespace agentforge::kernel
