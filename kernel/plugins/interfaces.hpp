// SPDX-License-Identifier: Apache-2.0
// The interface versions that this host accepts, and how an object of each becomes the kernel's type.
//
// A published interface never changes, because the virtual table of a plugin built against it is in the plugin's file. An
// extension is another interface with the next number (`ToolV2`), and another line in the host's table. There are two directions:
//  * while the kernel works with `Tool`, an adapter presents a ToolV2 as a Tool;
//  * once the kernel works with ToolV2, an adapter presents an old Tool as a ToolV2, with defaults for what is new.
// Either way old binaries keep loading. tests/unit/plugins/interfaces_test.cpp is the worked example, in both directions, with
// two built plugins. docs/adr/0011-interfaces-are-versioned-one-by-one.md says how an author and the SDK write the next version.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <agentforge/plugin.hpp>

namespace agentforge::kernel {

/// Takes ownership of a plugin's object as its factory made it (a pointer to the interface of that version).
template <class Kernel>
using InterfaceAdapter = std::function<std::shared_ptr<Kernel>(std::shared_ptr<void> object)>;

/// The versions of one interface. `Kernel` is the class that the kernel works with.
template <class Kernel>
class InterfaceVersions {
public:
    /// For an object that is already a `Kernel`.
    static std::shared_ptr<Kernel> as_it_is(std::shared_ptr<void> object) {
        auto* const pointer = static_cast<Kernel*>(object.get());
        return {std::move(object), pointer};
    }

    void add(std::uint32_t version, InterfaceAdapter<Kernel> adapter) { adapters_.insert_or_assign(version, std::move(adapter)); }
    [[nodiscard]] bool has(std::uint32_t version) const { return adapters_.contains(version); }
    [[nodiscard]] std::shared_ptr<Kernel> adapt(std::uint32_t version, std::shared_ptr<void> object) const {
        return adapters_.at(version)(std::move(object));
    }
    /// Returns, for instance, `1`, `1 and 2` or `1, 2 and 3`.
    [[nodiscard]] std::string words() const {
        std::string text;
        std::size_t left = adapters_.size();
        for (const auto& [version, adapter] : adapters_) {
            text += std::to_string(version);
            if (--left > 0) { text += left == 1 ? " and " : ", "; }
        }
        return text;
    }
    [[nodiscard]] std::uint32_t newest() const { return adapters_.empty() ? 0 : adapters_.rbegin()->first; }

private:
    std::map<std::uint32_t, InterfaceAdapter<Kernel>> adapters_;
};

/// A backend of version 1, which receives no cache marks.
class UnmarkedBackend final : public LLMBackendV2 {
public:
    explicit UnmarkedBackend(std::shared_ptr<LLMBackend> backend) : backend_(std::move(backend)) {}
    [[nodiscard]] BackendInfo info() const override { return backend_->info(); }
    [[nodiscard]] Result<Completion> complete_marked(const CompletionRequest& request, const CacheMarks&, StreamSink* sink,
                                                     CallContext& context) override {
        return backend_->complete(request, sink, context);
    }
    [[nodiscard]] Result<std::string> check(CallContext& context) override { return backend_->check(context); }

private:
    std::shared_ptr<LLMBackend> backend_;
};

/// Every interface with its versions. The default is what this host accepts.
struct Interfaces {
    InterfaceVersions<Stage> stage;
    InterfaceVersions<Tool> tool;
    InterfaceVersions<LLMBackendV2> llm;
    InterfaceVersions<EscalationHandler> escalation;

    Interfaces() {
        stage.add(stage_interface_version, InterfaceVersions<Stage>::as_it_is);
        tool.add(tool_interface_version, InterfaceVersions<Tool>::as_it_is);
        llm.add(llm_interface_version, [](std::shared_ptr<void> object) -> std::shared_ptr<LLMBackendV2> {
            return std::make_shared<UnmarkedBackend>(InterfaceVersions<LLMBackend>::as_it_is(std::move(object)));
        });
        llm.add(llm_v2_interface_version, InterfaceVersions<LLMBackendV2>::as_it_is);
        escalation.add(escalation_interface_version, InterfaceVersions<EscalationHandler>::as_it_is);
    }

    struct Support {
        bool has = false;
        std::string versions;
        std::uint32_t newest = 0;
    };
    /// Tells whether a version of a kind's interface can be used, and which versions can.
    [[nodiscard]] Support support(PluginKind kind, std::uint32_t version) const {
        const auto of = [version](const auto& versions) {
            return Support{versions.has(version), versions.words(), versions.newest()};
        };
        switch (kind) {
            case PluginKind::stage:
                return of(stage);
            case PluginKind::tool:
                return of(tool);
            case PluginKind::llm:
                return of(llm);
            case PluginKind::escalation:
                return of(escalation);
        }
        return {};
    }
};

}  // namespace agentforge::kernel
