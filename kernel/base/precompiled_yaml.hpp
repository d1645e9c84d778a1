// SPDX-License-Identifier: Apache-2.0
// Documents that were read when the program was built. `parse_yaml` need not read such a text again: yaml-cpp takes some 1,600
// instructions a byte, and a command that only lists the agents reads 70 kB. The files decide: a text that differs by one byte is
// read anew, and so is any under other limits than the usual ones.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/yaml.hpp"

namespace agentforge::kernel {

struct PrecompiledYaml {
    std::string_view text;    ///< The file's bytes.
    std::string_view value;   ///< What it says, as one line of JSON.
    std::string_view places;  ///< As places_of gives them.
};

/// Line and column of each value and of its key, parents first, as LEB128 numbers; four times 0 where only what is around it has
/// a place.
[[nodiscard]] std::string places_of(const YamlDocument& document);

/// What parse_yaml may take from now on. The span and all it names outlive every call of parse_yaml. Before there are threads.
void use_precompiled_yaml(std::span<const PrecompiledYaml> documents) noexcept;

/// The document of this very text, if it is one of those.
[[nodiscard]] std::optional<YamlDocument> find_precompiled_yaml(std::string_view text, std::string_view source);

}  // namespace agentforge::kernel
