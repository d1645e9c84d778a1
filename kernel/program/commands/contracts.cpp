// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "contracts/form.hpp"
#include "program/command_line.hpp"
#include "program/commands/definitions.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

json::object contract_summary(const Definitions& all, const Contract& contract) {
    return {{"name", contract.name()},
            {"version", contract.version()},
            {"description", contract.description()},
            {"source", contract.source()},
            {"of_project", all.of_project(contract.source())}};
}

int list_contracts(Program& program, const Definitions& all) {
    json::array list;
    for (const std::string& name : all.contracts.names()) {
        const auto contract = all.contracts.get(name);
        if (!contract.ok()) { return program.fail(contract.error()); }
        list.push_back(contract_summary(all, *contract));
        if (!program.json_output) {
            program.out << fitted_line(program,
                                       fmt::format("{:<22} {:<5} {}", name, contract->version(),
                                                   printable(first_line(contract->description()), 100)),
                                       all.of_project(contract->source()) ? "  [project]" : "")
                        << "\n";
        }
    }
    if (program.json_output) { program.print_json({{"contracts", std::move(list)}}); }
    return 0;
}

/// The value of `type`, which is a word or a list. `any` if it is missing.
std::string type_in_words(const json::value* type) {
    if (type == nullptr) { return "any"; }
    return type->is_string() ? std::string(type->get_string()) : json::serialize(*type);
}

/// Prints one line for each property, indented below its parent.
void print_properties(std::ostream& out, const json::object& schema, const std::string& indent) {
    const json::value* items = schema.if_contains("items");
    if (items != nullptr && items->is_object()) { print_properties(out, items->get_object(), indent); }
    const json::value* properties = schema.if_contains("properties");
    if (properties == nullptr || !properties->is_object()) { return; }
    std::vector<std::string> required;
    if (const json::value* list = schema.if_contains("required"); list != nullptr && list->is_array()) {
        for (const json::value& each : list->get_array()) {
            if (each.is_string()) { required.emplace_back(each.get_string()); }
        }
    }
    for (const auto& [name, inner] : properties->get_object()) {
        if (!inner.is_object()) { continue; }
        const json::object& property = inner.get_object();
        const json::value* type = property.if_contains("type");
        const json::value* about = property.if_contains("description");
        const bool needed = std::find(required.begin(), required.end(), std::string(name)) != required.end();
        const std::string kind = type_in_words(type);
        out << fmt::format("{}{:<{}} {:<8} {}{}\n", indent, std::string(name), 34 - std::min<std::size_t>(indent.size(), 20),
                           kind, needed ? "required  " : "          ",
                           about != nullptr && about->is_string() ? printable(std::string_view(about->get_string()), 120) : "");
        print_properties(out, property, indent + "  ");
    }
}

int show_contract(Program& program, const Definitions& all, const std::string& name) {
    const auto contract = all.contracts.get(name);
    if (!contract.ok()) { return program.fail(contract.error()); }
    json::object measured;
    for (const auto& [pointer, fact] : contract->measured()) { measured[pointer] = fact; }
    if (program.json_output) {
        json::object object = contract_summary(all, *contract);
        json::array rules;
        for (const std::string& rule : contract->rules()) { rules.emplace_back(rule); }
        object["schema"] = contract->schema();
        object["measured"] = std::move(measured);
        object["rules"] = std::move(rules);
        program.print_json(object);
        return 0;
    }
    program.out << name << " " << contract->version() << "\n  " << printable_lines(contract->description()) << "\n  from "
                << contract->source() << "\n\n";
    print_properties(program.out, contract->schema(), "  ");
    if (!measured.empty()) { program.out << "\n  filled in by the kernel from its measurements:\n"; }
    for (const auto& [pointer, fact] : measured) {
        program.out << "    " << std::string(pointer) << " = " << std::string(fact.as_string()) << "\n";
    }
    if (!contract->rules().empty()) { program.out << "\n  rules:\n"; }
    for (const std::string& rule : contract->rules()) { program.out << "    " << printable(rule, 300) << "\n"; }
    return 0;
}

std::vector<Error> problems_of_contract(const Definitions&, const std::string& file) {
    if (file.empty()) { return {}; }  // The definitions in force were compiled when they were loaded.
    const auto document = load_yaml(file);
    if (!document.ok()) { return {document.error()}; }
    const auto contract = compile_contract(*document);
    if (!contract.ok()) { return {contract.error()}; }
    return {};
}

}  // namespace

void add_contracts(CLI::App& app, Program& program) {
    const Command group = add_definition_commands(
        app, program, "contracts", "contract", "CONTRACT", "Show what the artifact of each stage must look like", "specification",
        {[&program](const Definitions& all) { return list_contracts(program, all); },
         [&program](const Definitions& all, const std::string& name) { return show_contract(program, all, name); },
         problems_of_contract});
    auto name = std::make_shared<std::string>();
    const Command form =
        add_subcommand(*group, "template", "Print a form with the required and optional fields of the contract's artifact");
    add_option(*form, "name", *name, "The contract's name")->type_name("CONTRACT")->required();
    add_flag(*form, "--json", program.json_output, "Print JSON");
    form->footer("Example:  agentforge contracts template specification > spec.yaml");
    form->callback([&program, name] {
        program.command = [&program, name] {
            const auto definitions = load_definitions(program, "contracts");
            if (!definitions.ok()) { return program.fail(definitions.error()); }
            const auto contract = definitions->contracts.get(*name);
            if (!contract.ok()) { return program.fail(contract.error()); }
            if (program.json_output) {
                program.print_json({{"name", *name}, {"form", contract_form(*contract)}});
            } else {
                program.out << contract_form(*contract);
            }
            return 0;
        };
    });
}

}  // namespace agentforge::kernel
