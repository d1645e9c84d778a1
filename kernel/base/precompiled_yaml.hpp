// SPDX-License-Identifier: Apache-2.0
// Documents parsed at build time, which `parse_yaml` need not parse again. yaml-cpp takes some 1,600 instructions a byte, and a
// command that only lists the agents reads 70 kB. A text that differs by one byte is parsed. So is any
// text if the limits are not the defaults.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/yaml.hpp"

namespace agentforge::kernel {

struct PrecompiledYaml {
    std::string_view text;    ///< Bytes of the file.
    std::string_view value;   ///< Its value, as one line of JSON.
    std::string_view places;  ///< In the form of places_of.
};

/// Returns line and column of each value and of its key, parents first, as LEB128 numbers. Four zeros if only the surrounding
/// value has a place.
[[nodiscard]] std::string places_of(const YamlDocument& document);

/// Sets the documents that parse_yaml may use. The span and everything it refers to must outlive every call of parse_yaml. Call
/// it before there are threads.
void use_precompiled_yaml(std::span<const PrecompiledYaml> documents) noexcept;

/// Returns the precompiled document of exactly this text, if there is one.
[[nodiscard]] std::optional<YamlDocument> find_precompiled_yaml(std::string_view text, std::string_view source);

}  // namespace agentforge::kernel
