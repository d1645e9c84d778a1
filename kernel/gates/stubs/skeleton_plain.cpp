// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/skeleton_plain.hpp"

#include "gates/stubs/plain/go_code.hpp"
#include "gates/stubs/plain/plain_kind.hpp"
#include "gates/stubs/plain/plain_writer.hpp"

namespace agentforge::kernel {

std::string without_unused_code(std::string_view kind, const std::string& text) {
    return kind == "go" ? without_unused_imports(text) : text;
}

bool is_plain_skeleton(std::string_view kind) { return find_plain(kind) != nullptr; }

Skeletons write_plain_skeletons(std::string_view kind, const std::vector<SkeletonInterface>& interfaces,
                                const std::map<std::string, std::string>& contents, const std::vector<std::string>& existing,
                                const std::string& marker) {
    const auto* found = find_plain(kind);
    if (found == nullptr) { return {{}, {"unknown kind of skeleton `" + std::string(kind) + "`"}}; }
    PlainWriter writer(*found, contents, existing, marker);
    writer.register_types(interfaces);
    for (const auto& interface : interfaces) { writer.declare(interface); }
    return writer.take();
}

}  // namespace agentforge::kernel
