// SPDX-License-Identifier: Apache-2.0
// What only Java needs: methods in types.
#include "gates/stubs/plain/plain_writer.hpp"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "gates/language/source_text.hpp"
#include "gates/stubs/plain/java_code.hpp"
#include "gates/stubs/plain/plain_text.hpp"

namespace agentforge::kernel {

void PlainWriter::write_java_method(const SkeletonInterface& interface, std::string& text, const std::string& name,
                                    std::string signature) {
    const auto code = read_code(text, bracket_rules()).code;
    const auto types = java_types(code);
    const auto dot = interface.name.find_last_of(".#");
    const auto owner = dot == std::string::npos ? std::string() : last_part(std::string_view(interface.name).substr(0, dot));
    const auto named = [&](const std::string& wanted) {
        return std::find_if(types.begin(), types.end(), [&](const TypeRange& each) { return each.name == wanted; });
    };
    auto type = owner.empty() ? types.end() : named(owner);
    if (type == types.end()) { type = named(stem_of(interface.file)); }
    if (type == types.end()) { return write(text, "    " + function_text(signature, name, "    ") + "\n"); }
    const bool has_body = type->kind == "interface" ? RE2::PartialMatch(signature, R"(\b(?:static|default|private)\b)")
                                                    : !RE2::PartialMatch(signature, R"(\babstract\b)");
    const std::string indent = type->name == stem_of(interface.file) ? "    " : "        ";
    auto place = type->close;
    while (place > type->open + 1 && (text[place - 1] == ' ' || text[place - 1] == '\t')) { --place; }
    if (type->kind == "enum" && end_of_constants(code, *type) == std::string::npos) {
        auto end = place;
        while (end > type->open + 1 && (text[end - 1] == ' ' || text[end - 1] == '\n')) { --end; }
        text.insert(end, ";");
        ++place;
    }
    const bool fresh = text[place - 1] == '\n';
    const bool empty = place >= 2 && fresh && text[place - 2] == '{';
    text.insert(place, std::string(fresh ? "" : "\n") + (empty ? "" : "\n") + indent +
                           (has_body ? function_text(signature, name, indent) : signature + ";") + "\n");
}

bool PlainWriter::is_interface(const std::string& path) {
    const auto types = java_types(read_code(content(path), bracket_rules()).code);
    return std::any_of(types.begin(), types.end(),
                       [&](const TypeRange& each) { return each.kind == "interface" && each.name == stem_of(path); });
}

}  // namespace agentforge::kernel
