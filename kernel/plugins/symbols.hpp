// SPDX-License-Identifier: Apache-2.0
// What a shared library exports and needs, read from the file without loading it.
#pragma once

#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct DynamicSymbol {
    std::string name;     ///< As in the file, mangled.
    std::string version;  ///< Symbol version, empty where there is none.
    bool defined = false;
    bool weak = false;
    bool function = false;  ///< STT_FUNC or STT_GNU_IFUNC.
    bool data = false;      ///< STT_OBJECT, STT_COMMON or STT_TLS.
};

struct DynamicLibrary {
    std::vector<DynamicSymbol>
        symbols;  ///< Of the dynamic symbol table: what other objects may see, and what is looked for in them.
    std::vector<std::string> needed;  ///< DT_NEEDED, in order.
    std::vector<std::string> search;  ///< DT_RUNPATH or DT_RPATH, `$ORIGIN` replaced.
};

/// Trusts nothing in the file: every offset is held against its size. Call `check_elf` first.
/// Errors: AF-PLUG-011 where the symbol table cannot be read.
[[nodiscard]] Result<DynamicLibrary> read_symbols(const std::string& path);

/// A name as its author wrote it: demangled where it is a C++ name.
[[nodiscard]] std::string readable_symbol(const std::string& name);

}  // namespace agentforge::kernel
