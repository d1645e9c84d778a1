// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/declarable_interfaces.hpp"

#include "base/json_fields.hpp"

namespace agentforge::kernel {

std::vector<SkeletonInterface> declarable_interfaces(const json::object& specification) {
    std::vector<SkeletonInterface> result;
    const auto* interfaces = specification.if_contains("interfaces");
    if (interfaces == nullptr || !interfaces->is_array()) { return result; }
    for (const auto& item : interfaces->get_array()) {
        const auto* interface = item.if_object();
        if (interface == nullptr) { continue; }
        SkeletonInterface each{text_of(*interface, "name"), text_of(*interface, "file"), text_of(*interface, "signature")};
        const auto type = text_of(*interface, "type");
        if (!each.name.empty() && !each.file.empty() && !each.signature.empty() && (type.empty() || type == "api")) {
            result.push_back(std::move(each));
        }
    }
    return result;
}

std::map<std::string, std::set<std::string>> declared_functions(const json::object& specification) {
    std::map<std::string, std::set<std::string>> functions;
    for (const auto& each : declarable_interfaces(specification)) {
        const auto file = each.file.substr(each.file.rfind('/') == std::string::npos ? 0 : each.file.rfind('/') + 1);
        const auto name = each.name.substr(each.name.find_last_of(".:#") + 1);
        if (name != file.substr(0, file.find('.'))) { functions[each.file].insert(name); }
    }
    return functions;
}

}  // namespace agentforge::kernel
