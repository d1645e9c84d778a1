// SPDX-License-Identifier: Apache-2.0
// precompile OUT FILE…: writes the source of `precompiled_definitions`, which contains the parsed value of each YAML file. Part
// of the build, not of the program.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/precompiled_yaml.hpp"
#include "base/text.hpp"

namespace {

/// Returns the bytes as C++ literals, one source line for each line.
std::string literal(std::string_view bytes) {
    std::string out = "\"";
    std::size_t in_line = 0;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte >= 0x20 && byte < 0x7F) {
            out += c;
        } else {
            char octal[8];
            std::snprintf(octal, sizeof octal, "\\%03o", byte);
            out += octal;
        }
        if (c == '\n' || ++in_line == 1000) {
            out += "\"\n    \"";
            in_line = 0;
        }
    }
    return out + "\"";
}

std::string view(std::string_view bytes) {
    return "std::string_view(" + literal(bytes) + ", " + std::to_string(bytes.size()) + ")";
}

}  // namespace

int main(int argc, char** argv) {
    using namespace agentforge::kernel;
    if (argc < 2) {
        std::cerr << "usage: precompile OUT FILE…\n";
        return 2;
    }
    std::string out =
        "// Made by the build from the files in config/.\n"
        "#include \"config/precompiled_definitions.hpp\"\n\n"
        "namespace agentforge::kernel {\n\n"
        "std::span<const PrecompiledYaml> precompiled_definitions() noexcept {\n"
        "    static constexpr PrecompiledYaml documents[] = {\n";
    for (int i = 2; i < argc; ++i) {
        const auto text = read_file(argv[i], 1UL << 20U);
        const auto document = text.ok() ? parse_yaml(*text, argv[i]) : agentforge::Result<YamlDocument>(text.error());
        if (!document.ok()) {
            std::cerr << document.error().to_string() << '\n';
            return 1;
        }
        out += "    {" + view(*text) + ",\n    " + view(to_json_line(document->value)) + ",\n    " + view(places_of(*document)) +
               "},\n";
    }
    out += "    };\n    return documents;\n}\n\n}  // namespace agentforge::kernel\n";
    std::ofstream file(argv[1], std::ios::binary | std::ios::trunc);
    file << out;
    file.close();
    if (!file) {
        std::cerr << "precompile: " << argv[1] << " could not be written\n";
        return 1;
    }
    return 0;
}
