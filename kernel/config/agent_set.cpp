// SPDX-License-Identifier: Apache-2.0
#include "config/agent_set.hpp"

#include <filesystem>
#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/documents.hpp"
#include "config/one_file.hpp"

namespace agentforge::kernel {

namespace {

std::vector<std::string> texts(const json::object& object, std::string_view key) {
    std::vector<std::string> out;
    const auto* found = object.if_contains(key);
    if (found == nullptr || !found->is_array()) { return out; }
    for (const auto& item : found->get_array()) {
        if (const auto* text = item.if_string()) { out.emplace_back(view(*text)); }
    }
    return out;
}

std::string text(const json::object& object, std::string_view key) {
    const auto* found = object.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(view(found->get_string())) : std::string();
}

/// Merges maps; replaces everything else.
void merge_over(json::object& base, const json::object& over) {
    for (const auto& [key, value] : over) {
        auto* inner = base.if_contains(key);
        if (inner != nullptr && inner->is_object() && value.is_object()) {
            merge_over(inner->get_object(), value.get_object());
        } else {
            base[key] = value;
        }
    }
}

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) { text.pop_back(); }
    return text;
}

/// Converts a value that its contract accepts into a definition. Throws if a project's own agent_definition contract requires
/// less than this needs.
AgentDefinition definition_of(const json::object& value, const std::string& source) {
    const auto& agent = value.at("agent").as_object();
    const auto& identity = value.at("identity").as_object();
    const auto& capabilities = value.at("capabilities").as_object();
    const auto& tools = capabilities.at("tools").as_object();
    const auto& output = capabilities.at("output").as_object();
    const auto& orchestration = value.at("orchestration").as_object();
    AgentDefinition out;
    out.role = text(agent, "role");
    out.version = text(agent, "version");
    out.display_name = text(agent, "display_name");
    out.description = trimmed(text(identity, "description"));
    out.expertise = texts(identity, "expertise");
    out.thinking_style = trimmed(text(identity, "thinking_style"));
    out.allowed_tools = texts(tools, "allowed");
    out.forbidden_tools = texts(tools, "forbidden");
    if (const auto* constraints = tools.if_contains("path_constraints")) {
        for (const auto& [tool, globs] : constraints->as_object()) {
            out.path_constraints[std::string(tool)] = std::string(view(globs.as_string()));
        }
    }
    if (const auto* by_stage = output.at("contract").if_object()) {
        for (const auto& [stage, contract] : *by_stage) {
            out.output_contracts[std::string(stage)] = std::string(view(contract.as_string()));
        }
    } else {
        out.output_contracts[""] = text(output, "contract");
    }
    if (const auto* list = output.at("must_verify").if_array()) {
        for (const auto& item : *list) {
            for (const auto& [fact, expected] : item.as_object()) { out.must_verify[fact] = expected; }
        }
    } else {
        out.must_verify = output.at("must_verify").as_object();
    }
    out.constraints = texts(value, "constraints");
    out.stage = text(orchestration, "stage");
    out.receives_from = texts(orchestration, "receives_from");
    out.hands_off_to = texts(orchestration, "hands_off_to");
    out.reviewed_by = texts(orchestration, "reviewed_by");
    out.reviews = texts(orchestration, "reviews");
    out.source = source;
    return out;
}

/// Reads definitions and follows `extends`.
class Loader {
public:
    struct Resolved {
        json::object value;
        std::vector<const YamlDocument*> documents;
    };  ///< The nearest document first.

    Result<void> read(const std::string& directory, std::map<std::string, YamlDocument>& into) {
        AF_TRY(const auto files, yaml_files_of(directory));
        for (const auto& file : files) { AF_CHECK(read_file(file, into)); }
        return {};
    }

    static Result<void> read_file(const std::string& file, std::map<std::string, YamlDocument>& into) {
        AF_TRY(YamlDocument document, load_yaml(file));
        if (!document.value.is_object()) {
            return Error{"AF-AGENT-001", "an agent definition is a map", document.where(""),
                         "See `agentforge help docs/contracts.md` for its form.", ErrorKind::invalid};
        }
        into.insert_or_assign(std::filesystem::path(file).stem().string(), std::move(document));
        return {};
    }

    Result<Resolved> resolve(const YamlDocument& document, std::vector<std::string> trail) const {
        Resolved out;
        const auto& own = document.value.get_object();
        const auto* extends = own.if_contains("extends");
        if (extends != nullptr) {
            const auto name = extends->is_string() ? view(extends->get_string()) : std::string_view();
            constexpr std::string_view scheme = "agentforge:";
            if (!name.starts_with(scheme)) {
                return Error{"AF-AGENT-003",
                             "`extends` is " + json::serialize(*extends).substr(0, 100) + "; it must name a shipped agent",
                             document.where("/extends"), "Write extends: \"agentforge:<role>\".", ErrorKind::invalid};
            }
            const std::string role(name.substr(scheme.size()));
            const auto base = product.find(role);
            if (base == product.end()) {
                const auto near = nearest(role, names_of(product));
                return Error{"AF-AGENT-004", "unknown shipped agent `" + ellipsis(role, 80) + "`", document.where("/extends"),
                             near.empty() ? "Name one of the shipped agents." : "Did you mean agentforge:" + near + "?",
                             ErrorKind::not_found};
            }
            if (std::find(trail.begin(), trail.end(), base->second.source) != trail.end()) {
                return Error{"AF-AGENT-005", "the definition extends itself through " + base->second.source,
                             document.where("/extends"), "Remove `extends` from one of them.", ErrorKind::invalid};
            }
            trail.push_back(base->second.source);
            AF_TRY(out, resolve(base->second, std::move(trail)));
        }
        json::object over(own);
        over.erase("extends");
        merge_over(out.value, over);
        out.documents.insert(out.documents.begin(), &document);
        return out;
    }

    static std::vector<std::string> names_of(const std::map<std::string, YamlDocument>& documents) {
        std::vector<std::string> names;
        for (const auto& [name, document] : documents) { names.push_back(name); }
        return names;
    }

    std::map<std::string, YamlDocument> product;
    std::map<std::string, YamlDocument> project;
};

/// Returns the place of a field, or of its key if the key is at fault: in the nearest file that has it or a value around it.
std::string where_of(const Loader::Resolved& resolved, const std::string& pointer, bool of_key = false) {
    for (std::string at = pointer;;) {
        for (const auto* document : resolved.documents) {
            if (document->places.contains(at)) { return document->where(of_key && at == pointer ? at + "#" : at); }
        }
        if (at.empty()) { return resolved.documents.front()->where(""); }
        at.resize(at.rfind('/'));
    }
}

}  // namespace

const std::string& AgentDefinition::output_contract(std::string_view stage_name) const {
    static const std::string none;
    if (const auto found = output_contracts.find(stage_name); found != output_contracts.end()) { return found->second; }
    const auto fallback = output_contracts.find("");
    return fallback == output_contracts.end() ? none : fallback->second;
}

namespace {

using Agents = std::map<std::string, AgentDefinition, std::less<>>;

/// The paths of a tool are constrained only if the role may use the tool. Checks the lines of this document.
Result<void> check_constrained_tools(const AgentDefinition& agent, const YamlDocument& document,
                                     const Loader::Resolved& resolved) {
    // An inherited rule still applies to every write of the role, whether or not its tool is allowed.
    for (const auto& [tool, globs] : agent.path_constraints) {
        if (!document.places.contains("/capabilities/tools/path_constraints/" + tool)) { continue; }
        const auto allows = [name = std::string_view(tool)](const std::string& entry) {
            return entry == name ||
                   (entry.ends_with("__*") && name.starts_with(std::string_view(entry).substr(0, entry.size() - 1)));
        };
        if (std::none_of(agent.allowed_tools.begin(), agent.allowed_tools.end(), allows)) {
            const auto near = nearest(tool, agent.allowed_tools);
            return Error{"AF-AGENT-008", "path_constraints names the tool " + ellipsis(tool, 80) + ", which the role may not use",
                         where_of(resolved, "/capabilities/tools/path_constraints/" + tool),
                         near.empty() ? "Allow the tool, or remove the line." : "Did you mean " + near + "?", ErrorKind::invalid};
        }
    }
    return {};
}

/// Reads and checks the definition in the file `stem`.yaml. Errors: AF-AGENT-001, AF-AGENT-006 to AF-AGENT-009.
Result<AgentDefinition> read_agent(const std::string& stem, const YamlDocument& document, const Loader::Resolved& resolved,
                                   const Contract& contract, const RuleContext& context) {
    const auto verdict = contract.validate(resolved.value, context);
    if (!verdict.valid()) {
        const auto& first = verdict.violations.front();
        return Error{"AF-AGENT-001",
                     "the agent definition " + stem + " violates its contract: " + first.message + others(verdict),
                     where_of(resolved, first.path, first.rule == "additionalProperties"),
                     "Fix the field; `agentforge help docs/contracts.md` describes agent_definition.", ErrorKind::invalid};
    }
    AgentDefinition agent;
    try {
        agent = definition_of(resolved.value, document.source);
    } catch (const std::exception&) {
        return Error{
            "AF-AGENT-009",
            "the agent definition " + stem + " lacks required fields, although the contract agent_definition in force accepts it",
            document.where(""), "Remove the project's own agent_definition from its contracts (" + contract.source() + ").",
            ErrorKind::invalid};
    }
    if (agent.role != stem) {
        return Error{"AF-AGENT-006", "the file " + stem + ".yaml defines the role " + agent.role,
                     where_of(resolved, "/agent/role"), "Name the file after its role: " + agent.role + ".yaml.",
                     ErrorKind::invalid};
    }
    if (!agent.stage.empty() && agent.output_contract(agent.stage).empty()) {
        return Error{"AF-AGENT-007", "the role is primary for stage " + agent.stage + " but has no output contract for it",
                     where_of(resolved, "/capabilities/output/contract"), "Add `" + agent.stage + ": <contract>` to the map.",
                     ErrorKind::invalid};
    }
    AF_CHECK(check_constrained_tools(agent, document, resolved));
    for (const auto& [tool, globs] : agent.path_constraints) {
        agent.path_constraint_places[tool] = where_of(resolved, "/capabilities/tools/path_constraints/" + tool);
    }
    return agent;
}

/// Loads the product's agents, the project's over them, and `one` (if given) over both.
Result<Agents> load_agents(const std::string& product_directory, const std::string& project_directory, const std::string& one,
                           const ContractSet& contracts) {
    Loader loader;
    AF_CHECK(loader.read(product_directory, loader.product));
    AF_CHECK(loader.read(project_directory, loader.project));
    if (!one.empty()) { AF_CHECK(loader.read_file(one, loader.project)); }
    std::map<std::string, const YamlDocument*> in_force;
    for (const auto& [role, document] : loader.product) { in_force[role] = &document; }
    for (const auto& [role, document] : loader.project) { in_force[role] = &document; }
    Agents agents;
    if (in_force.empty()) { return agents; }
    AF_TRY(const Contract contract, contracts.get("agent_definition"));
    RuleContext context;
    context.agent_exists = [&](std::string_view role) { return in_force.contains(std::string(role)); };
    context.contract_exists = [&](std::string_view name) { return contracts.get(name).ok(); };
    for (const auto& [stem, document] : in_force) {
        AF_TRY(const Loader::Resolved resolved, loader.resolve(*document, {document->source}));
        AF_TRY(AgentDefinition agent, read_agent(stem, *document, resolved, contract, context));
        agents.emplace(stem, std::move(agent));
    }
    return agents;
}

}  // namespace

Result<AgentSet> AgentSet::load(const std::string& product_directory, const std::string& project_directory,
                                const ContractSet& contracts) {
    AgentSet set;
    AF_TRY(set.agents_, load_agents(product_directory, project_directory, "", contracts));
    return set;
}

Result<AgentDefinition> check_agent_file(const std::string& product_directory, const std::string& project_directory,
                                         const std::string& file, const ContractSet& contracts) {
    AF_TRY(Agents agents, load_agents(product_directory, project_directory, file, contracts));
    return std::move(agents.at(std::filesystem::path(file).stem().string()));
}

Result<AgentDefinition> AgentSet::get(std::string_view role) const {
    if (const auto found = agents_.find(role); found != agents_.end()) { return found->second; }
    const auto near = nearest(role, roles());
    return Error{"AF-AGENT-002", "there is no agent " + ellipsis(role, 80), "",
                 near.empty() ? "The agents are in config/agents and .agentforge/agents." : "Did you mean " + near + "?",
                 ErrorKind::not_found};
}

std::vector<std::string> AgentSet::roles() const {
    std::vector<std::string> roles;
    for (const auto& [role, agent] : agents_) { roles.push_back(role); }
    return roles;
}

}  // namespace agentforge::kernel
