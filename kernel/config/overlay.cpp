// SPDX-License-Identifier: Apache-2.0
#include "config/overlay.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::string_view shipped_prefix = "agentforge:";
constexpr std::string_view stages_pointer = "/pipeline/stages/";

const json::object* pipeline_in(const YamlDocument& document) {
    const auto* top = document.value.if_object();
    const auto* pipeline = top == nullptr ? nullptr : top->if_contains("pipeline");
    return pipeline == nullptr ? nullptr : pipeline->if_object();
}

/// Applies the changes of one file in order.
class Overlay {
public:
    Overlay(const YamlDocument& own, const YamlDocument& base) : own_(own) {
        const json::object* pipeline = pipeline_in(base);
        for (const json::value& stage : list_of(*pipeline, "stages")) {
            stages_.push_back(stage);
            places_.push_back({&base, std::string(stages_pointer) + std::to_string(places_.size()), "", "", {}});
        }
    }

    Result<void> change(const json::value& value, const std::string& at) {
        const auto* object = value.if_object();
        if (object == nullptr) {
            return wrong(at, "a change is a map", "Write `insert: {…}` with `after: STAGE`, `replace: {…}` or `remove: STAGE`");
        }
        for (const auto& [key, unused] : *object) {
            static const std::vector<std::string> known{"insert", "replace", "remove", "after", "before"};
            const std::string name(key);
            if (std::ranges::find(known, name) == known.end()) {
                return wrong(at + "/" + name + "#", "`" + ellipsis(name, 60) + "` is not a change",
                             "A change says insert, replace or remove");
            }
        }
        const auto kinds = object->contains("insert") + object->contains("replace") + object->contains("remove");
        if (kinds != 1) { return wrong(at, "a change must say one of insert, replace and remove", "Write one change an entry"); }
        if (object->contains("insert")) { return insert(*object, at); }
        if (object->contains("after") || object->contains("before")) {
            return wrong(at, "only a stage that is inserted has a place to go to", "Take `after` or `before` out");
        }
        return object->contains("replace") ? replace(object->at("replace"), at + "/replace") : remove(*object, at + "/remove");
    }

    json::array take_stages() { return std::move(stages_); }
    std::vector<StagePlace> take_places() { return std::move(places_); }
    std::vector<std::pair<json::value, std::string>> take_removed() { return std::move(removed_); }

private:
    Result<void> insert(const json::object& change, const std::string& at) {
        AF_TRY(const std::string name, name_of_stage(change.at("insert"), at + "/insert"));
        if (index_of(name)) {
            return wrong(at + "/insert/name", "the pipeline already has a stage `" + name + "`",
                         "Give it another name, or replace the existing one");
        }
        const bool after = change.contains("after");
        if (after == change.contains("before")) {
            return wrong(at, after ? "`after` and `before` are both given" : "it does not say where the stage goes",
                         "Write either `after: STAGE` or `before: STAGE`");
        }
        AF_TRY(const std::size_t index,
               stage_named(text_of(change, after ? "after" : "before"), at + (after ? "/after" : "/before")));
        const auto place = static_cast<std::ptrdiff_t>(index + (after ? 1 : 0));
        stages_.insert(stages_.begin() + place, change.at("insert"));
        places_.insert(places_.begin() + place, StagePlace{&own_, at + "/insert", "inserted", "", {}});
        return {};
    }

    Result<void> replace(const json::value& stage, const std::string& at) {
        AF_TRY(const std::string name, name_of_stage(stage, at));
        AF_TRY(const std::size_t index, stage_named(name, at + "/name"));
        const StagePlace& before = places_[index];
        json::object rest = stages_[index].get_object();
        for (const auto& [key, value] : before.rest) {
            if (!rest.contains(key)) { rest[key] = value; }
        }
        StagePlace place{&own_, at, "replaced", before.document->where(before.pointer), std::move(rest)};
        stages_[index] = stage;
        places_[index] = std::move(place);
        return {};
    }

    Result<void> remove(const json::object& change, const std::string& at) {
        AF_TRY(const std::size_t index, stage_named(text_of(change, "remove"), at));
        removed_.emplace_back(stages_[index], at);
        stages_.erase(stages_.begin() + static_cast<std::ptrdiff_t>(index));
        places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(index));
        return {};
    }

    Result<std::string> name_of_stage(const json::value& stage, const std::string& at) const {
        const auto* object = stage.if_object();
        std::string name = object == nullptr ? std::string() : text_of(*object, "name");
        if (name.empty()) { return wrong(at, "the stage has no `name`", "Name it"); }
        return name;
    }

    std::optional<std::size_t> index_of(const std::string& name) const {
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            if (stages_[i].is_object() && text_of(stages_[i].get_object(), "name") == name) { return i; }
        }
        return std::nullopt;
    }

    Result<std::size_t> stage_named(const std::string& name, const std::string& at) const {
        if (const auto index = index_of(name)) { return *index; }
        std::vector<std::string> names;
        for (const json::value& stage : stages_) {
            if (stage.is_object()) { names.push_back(text_of(stage.get_object(), "name")); }
        }
        const std::string near = nearest(name, names);
        return wrong(at, "the pipeline has no stage `" + ellipsis(name, 60) + "` here",
                     near.empty() ? "Name one of its stages" : "Did you mean `" + near + "`?");
    }

    [[nodiscard]] Error wrong(const std::string& pointer, std::string message, std::string remedy) const {
        return Error{"AF-PIPE-017", std::move(message), own_.where(pointer), std::move(remedy), ErrorKind::invalid};
    }

    const YamlDocument& own_;
    json::array stages_;
    std::vector<StagePlace> places_;
    std::vector<std::pair<json::value, std::string>> removed_;
};

ResolvedTemplate whole_template(const YamlDocument& document) {
    ResolvedTemplate resolved{document.value, document.source, &document, nullptr, {}, {}};
    if (const json::object* pipeline = pipeline_in(document)) {
        for (std::size_t i = 0; i < list_of(*pipeline, "stages").size(); ++i) {
            resolved.stages.push_back({&document, std::string(stages_pointer) + std::to_string(i), "", "", {}});
        }
    }
    return resolved;
}

}  // namespace

std::string ResolvedTemplate::where(std::string_view pointer) const {
    if (pointer.starts_with(stages_pointer)) {
        std::size_t end = stages_pointer.size();
        std::size_t index = 0;
        while (end < pointer.size() && pointer[end] >= '0' && pointer[end] <= '9' && index < stages.size()) {
            index = index * 10 + static_cast<std::size_t>(pointer[end++] - '0');
        }
        if (index < stages.size()) {
            return stages[index].document->where(stages[index].pointer + std::string(pointer.substr(end)));
        }
    }
    if (base == nullptr) { return own->where(pointer); }
    constexpr std::string_view root = "/pipeline/";
    const std::string_view key = pointer.starts_with(root)
                                     ? pointer.substr(root.size(), pointer.substr(root.size()).find_first_of("/#"))
                                     : std::string_view();
    const json::object* pipeline = pipeline_in(*own);
    return !key.empty() && pipeline != nullptr && !pipeline->contains(key) ? base->where(pointer) : own->where(pointer);
}

Result<ResolvedTemplate> resolve_template(const YamlDocument& document, const std::map<std::string, YamlDocument>& shipped) {
    const json::object* own = pipeline_in(document);
    if (own == nullptr || (!own->contains("extends") && !own->contains("changes"))) { return whole_template(document); }
    const auto wrong = [&](std::string_view pointer, std::string message, std::string remedy) {
        return Error{"AF-PIPE-017", std::move(message), document.where(pointer), std::move(remedy), ErrorKind::invalid};
    };
    const std::string extends = text_of(*own, "extends");
    const std::string name = extends.starts_with(shipped_prefix) ? extends.substr(shipped_prefix.size()) : std::string();
    const auto base = shipped.find(name);
    if (base == shipped.end() || pipeline_in(base->second) == nullptr) {
        std::vector<std::string> known;
        for (const auto& [stem, unused] : shipped) { known.push_back(std::string(shipped_prefix) + stem); }
        const bool lacks_prefix = shipped.contains(extends);
        const std::string near = lacks_prefix ? std::string(shipped_prefix) + extends : nearest(extends, known);
        return wrong(own->contains("extends") ? "/pipeline/extends" : "/pipeline/changes#",
                     lacks_prefix ? "`extends: " + extends + "` does not name a shipped pipeline as `" +
                                        std::string(shipped_prefix) + "NAME`"
                                  : "unknown shipped pipeline `" + ellipsis(extends, 80) + "`",
                     near.empty() ? "Write extends: agentforge:NAME; `agentforge pipelines list` shows the names"
                                  : "Did you mean `" + near + "`?");
    }
    if (own->contains("stages")) {
        return wrong("/pipeline/stages#", "a template that changes another says `changes`, not `stages`",
                     "Take `extends` out, or write the stages as changes");
    }
    const json::value* changes = own->if_contains("changes");
    if (changes == nullptr || !changes->is_array()) {
        return wrong("/pipeline", "`changes` is missing or not a list",
                     "Write `changes:` and below it a list of the differences");
    }
    Overlay overlay(document, base->second);
    for (std::size_t i = 0; i < changes->get_array().size(); ++i) {
        AF_CHECK(overlay.change(changes->get_array()[i], "/pipeline/changes/" + std::to_string(i)));
    }
    json::object whole = *pipeline_in(base->second);
    for (const auto& [key, value] : *own) {
        if (key != "extends" && key != "changes") { whole[key] = value; }
    }
    whole["stages"] = overlay.take_stages();
    return ResolvedTemplate{json::object{{"pipeline", std::move(whole)}},
                            document.source,
                            &document,
                            &base->second,
                            overlay.take_places(),
                            overlay.take_removed()};
}

}  // namespace agentforge::kernel
