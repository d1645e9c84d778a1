// SPDX-License-Identifier: Apache-2.0
#include "contracts/contract.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "contracts/conditions.hpp"
#include "contracts/schema_compiler.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view envelope_keys[] = {"_artifact_meta", "_metadata"};

std::vector<std::string> pointer_parts(std::string_view pointer) {
    std::vector<std::string> parts;
    for (const char c : pointer) {
        if (c == '/') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    for (auto& part : parts) {  // RFC 6901: ~1 first, then ~0.
        for (const auto& [escaped, plain] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}}) {
            for (std::size_t at = part.find(escaped); at != std::string::npos; at = part.find(escaped, at + 1)) {
                part.replace(at, 2, plain);
            }
        }
    }
    return parts;
}

std::string text_at_top(const YamlDocument& document, std::string_view key) {
    const auto* top = document.value.if_object();
    const auto* value = top == nullptr ? nullptr : top->if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string extended_name(const YamlDocument& document) { return text_at_top(document, "extends"); }
std::string contract_name_in(const YamlDocument& document) { return text_at_top(document, "contract"); }

/// Removes the value at a pointer. Does nothing if it does not exist.
void erase_at(json::object& object, std::string_view pointer) {
    const auto parts = pointer_parts(pointer);
    auto* place = &object;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        auto* inner = place->if_contains(parts[i]);
        if (inner == nullptr || !inner->is_object()) { return; }
        place = &inner->get_object();
    }
    place->erase(parts.back());
}

void set_at(json::object& object, std::string_view pointer, const json::value& value) {
    const auto parts = pointer_parts(pointer);
    auto* place = &object;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        auto& inner = (*place)[parts[i]];
        if (!inner.is_object()) { inner = json::object(); }
        place = &inner.get_object();
    }
    (*place)[parts.back()] = value;
}

}  // namespace

namespace {

/// A check that is compiled on first use: most commands load every contract and use one or none.
class LaterCheck {
public:
    void check(const json::object& schema, const json::object& value, ViolationList& violations) const {
        std::call_once(once_, [&] { check_.emplace(SchemaCheck::make(schema)); });
        if (check_->ok()) {
            check_->value().check(value, violations);
        } else {
            violations.add({}, "schema", "the artifact could not be checked: " + check_->error().message);
        }
    }

private:
    mutable std::once_flag once_;
    mutable std::optional<Result<SchemaCheck>> check_;
};

}  // namespace

struct Contract::Data {
    Data(CompiledContract the_compiled, std::vector<Condition> the_conditions, std::vector<std::string> the_words,
         std::string the_source, std::string the_base)
        : compiled(std::move(the_compiled)),
          conditions(std::move(the_conditions)),
          provided_as(std::move(the_words)),
          source(std::move(the_source)),
          extends(std::move(the_base)) {
        for (const auto* rule : compiled.rules) { rule_texts.emplace_back(rule->text); }
    }

    CompiledContract compiled;
    std::vector<Condition> conditions;
    std::vector<std::string> provided_as;
    std::string source;
    std::string extends;
    std::vector<std::string> rule_texts;
    LaterCheck full;
    LaterCheck model;
};

std::vector<std::string> ContractVerdict::messages() const {
    std::vector<std::string> texts;
    for (const auto& violation : violations) { texts.push_back(violation.message); }
    return texts;
}

const std::string& Contract::name() const noexcept { return data_->compiled.name; }
const std::string& Contract::version() const noexcept { return data_->compiled.version; }
const std::string& Contract::description() const noexcept { return data_->compiled.description; }
const std::string& Contract::source() const noexcept { return data_->source; }
const std::string& Contract::extends() const noexcept { return data_->extends; }
const json::object& Contract::schema() const noexcept { return data_->compiled.schema; }
const json::object& Contract::model_schema() const noexcept { return data_->compiled.model_schema; }
const std::map<std::string, std::string, std::less<>>& Contract::measured() const noexcept { return data_->compiled.measured; }
const std::vector<std::string>& Contract::rules() const noexcept { return data_->rule_texts; }

ContractVerdict Contract::validate(const json::object& artifact, const RuleContext& context) const {
    ViolationList violations;
    if (!within_limits(artifact, {}, violations)) { return std::move(violations).verdict(); }
    data_->full.check(data_->compiled.schema, artifact, violations);
    for (const auto* rule : data_->compiled.rules) { rule->check(*rule, artifact, context, violations); }
    return std::move(violations).verdict();
}

ContractVerdict Contract::validate_answer(const json::object& answer, const RuleContext& context) const {
    ViolationList violations;
    if (!within_limits(answer, {}, violations)) { return std::move(violations).verdict(); }
    json::object asked(answer);
    for (const auto& pointer : data_->compiled.not_asked) { erase_at(asked, pointer); }
    for (const auto key : envelope_keys) { asked.erase(key); }
    data_->model.check(data_->compiled.model_schema, asked, violations);
    for (const auto* rule : data_->compiled.rules) {
        if (!rule->needs_measured) { rule->check(*rule, asked, context, violations); }
    }
    return std::move(violations).verdict();
}

std::vector<std::string> Contract::conditions_of(const json::object& artifact, const RuleContext& context) const {
    std::vector<std::string> words;
    for (const Condition& condition : data_->conditions) {
        if (holds(condition, artifact, context)) { words.push_back(condition.word); }
    }
    return words;
}

std::vector<std::string> Contract::condition_words() const {
    std::vector<std::string> words;
    for (const Condition& condition : data_->conditions) { words.push_back(condition.word); }
    return words;
}

const std::vector<std::string>& Contract::provided_as() const noexcept { return data_->provided_as; }

void Contract::fill_measured(json::object& artifact, const json::object& facts) const {
    // First removes everything from places that the model was not asked about, including siblings of the facts.
    for (const auto& pointer : data_->compiled.not_asked) { erase_at(artifact, pointer); }
    for (const auto& [pointer, fact] : data_->compiled.measured) {
        if (const auto* value = facts.if_contains(fact)) { set_at(artifact, pointer, *value); }
    }
}

Result<Contract> compile_contract(const YamlDocument& document) {
    AF_TRY(CompiledContract compiled, compile_schema(document));
    AF_TRY(auto conditions, read_conditions(document));
    AF_TRY(auto provided_as, read_provided_as(document));
    return Contract(std::make_shared<const Contract::Data>(std::move(compiled), std::move(conditions), std::move(provided_as),
                                                           document.source, extended_name(document)));
}

namespace {

/// Compiles a contract that extends `base`: the base's fields and rules, then its own. Its own field replaces one of the base.
Result<Contract> compile_extending(YamlDocument document, const YamlDocument& base) {
    json::object& top = document.value.get_object();
    const json::object& below = base.value.get_object();
    const auto merged = [&](std::string_view key) {
        json::object both = below.contains(key) ? below.at(key).as_object() : json::object();
        if (const auto* own = top.if_contains(key); own != nullptr && own->is_object()) {
            for (const auto& [name, value] : own->get_object()) { both.insert_or_assign(name, value); }
        }
        return both;
    };
    if (const auto* own = top.if_contains("schema"); own == nullptr || own->is_object()) { top["schema"] = merged("schema"); }
    if (below.contains("conditions") && !top.contains("conditions")) { top["conditions"] = below.at("conditions"); }
    if (below.contains("validation") && (!top.contains("validation") || top.at("validation").is_array())) {
        json::array rules = below.at("validation").as_array();
        if (const auto* own = top.if_contains("validation")) {
            rules.insert(rules.end(), own->get_array().begin(), own->get_array().end());
        }
        top["validation"] = std::move(rules);
    }
    return compile_contract(document);
}

/// A project's contract that does not list `provided_as` keeps that of the shipped contract it replaces.
void keep_provided_as(YamlDocument& document, const YamlDocument& replaced) {
    const json::value* words = replaced.value.as_object().if_contains("provided_as");
    if (words != nullptr && !document.value.as_object().contains("provided_as")) {
        document.value.as_object()["provided_as"] = *words;
    }
}

}  // namespace

void ContractSet::add(Contract contract) {
    for (std::string& word : contract.condition_words()) { skip_words_.insert(std::move(word)); }
    skip_words_.insert(contract.provided_as().begin(), contract.provided_as().end());
    contracts_.insert_or_assign(contract.name(), std::move(contract));
}

const std::set<std::string, std::less<>>& ContractSet::skip_words() const noexcept { return skip_words_; }

Result<ContractSet> ContractSet::load(const std::vector<std::string>& directories) {
    ContractSet set;
    std::map<std::string, YamlDocument> extending;
    std::map<std::string, YamlDocument> plain;
    for (const auto& directory : directories) {
        AF_TRY(const auto files, yaml_files_of(directory));
        std::map<std::string, std::string> here;
        for (const auto& file : files) {
            AF_TRY(YamlDocument document, load_yaml(file));
            const bool extends = !extended_name(document).empty();
            std::string name = extends ? contract_name_in(document) : std::string();
            if (!extends) {
                if (const auto replaced = plain.find(contract_name_in(document)); replaced != plain.end()) {
                    keep_provided_as(document, replaced->second);
                }
                AF_TRY(Contract contract, compile_contract(document));
                name = contract.name();
                set.add(std::move(contract));
            }
            if (const auto [other, added] = here.emplace(name, file); !added) {
                return Error{"AF-CONT-010", "two files of one folder define the contract " + name, document.where("/contract"),
                             "Rename one of them; the other is " + other->second + ".", ErrorKind::conflict};
            }
            // Later folders win, whichever of the two kinds they contain.
            (extends ? plain : extending).erase(name);
            (extends ? extending : plain).insert_or_assign(name, std::move(document));
        }
    }
    for (auto& [name, document] : extending) {
        const auto base = plain.find(extended_name(document));
        if (base == plain.end()) {
            const auto near = nearest(extended_name(document), set.names());
            return Error{"AF-CONT-014",
                         "the contract extends `" + ellipsis(extended_name(document), 80) +
                             "`, which does not exist or itself extends another",
                         document.where("/extends"),
                         near.empty() ? "Name a contract that extends none." : "Did you mean `" + near + "`?",
                         ErrorKind::invalid};
        }
        AF_TRY(Contract contract, compile_extending(std::move(document), base->second));
        set.add(std::move(contract));
    }
    return set;
}

Result<Contract> ContractSet::get(std::string_view name) const {
    if (const auto found = contracts_.find(name); found != contracts_.end()) { return found->second; }
    const auto near = nearest(name, names());
    std::string known;
    for (const std::string& each : names()) { known += (known.empty() ? "" : ", ") + each; }
    return Error{"AF-CONT-002", "there is no contract " + ellipsis(name, 80), "",
                 near.empty() ? "The contracts are " + known + "." : "Did you mean " + near + "?", ErrorKind::not_found};
}

std::vector<std::string> ContractSet::names() const {
    std::vector<std::string> names;
    for (const auto& [name, contract] : contracts_) { names.push_back(name); }
    return names;
}

Result<std::vector<std::string>> yaml_files_of(const std::string& directory) {
    std::vector<std::string> files;
    if (directory.empty()) { return files; }
    std::error_code error;
    std::filesystem::directory_iterator entries(directory, error);
    if (error == std::errc::no_such_file_or_directory) { return files; }
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        const auto& path = entries->path();
        if (path.filename().string().starts_with('.')) { continue; }
        if (path.extension() == ".yml") {
            return Error{"AF-CONF-030", "files that end in .yml are not read", path.string(), "Rename it to end in .yaml.",
                         ErrorKind::invalid};
        }
        if (path.extension() == ".yaml") {
            files.push_back(path.string());
            continue;
        }
        // Notes and backups of editors are not definitions. Any other file was meant as one.
        static constexpr std::array<std::string_view, 6> others{".md", ".txt", ".orig", ".bak", ".swp", ".rej"};
        const std::string name = path.filename().string();
        const std::string extension = path.extension().string();
        if (name.ends_with('~') || name == "README" || std::ranges::find(others, extension) != others.end()) { continue; }
        return Error{"AF-CONF-080",
                     entries->is_directory(error) ? "folders among the definitions are not read"
                                                  : "files that do not end in .yaml are not read",
                     path.string(), "Name it NAME.yaml in the same folder, or move it away.", ErrorKind::invalid};
    }
    if (error) {
        return Error{"AF-CONF-031", "cannot list the folder: " + error.message(), directory, "Check its permissions.",
                     ErrorKind::io};
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace agentforge::kernel
