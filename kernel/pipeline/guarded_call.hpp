// SPDX-License-Identifier: Apache-2.0
// Guards a call into a plugin that may hang. The call runs on its own thread (plugins/call_watch.hpp); an abandoned call can no
// longer affect the run. The caller decides when to abandon it, and which error it becomes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <agentforge/host.hpp>

#include "plugins/call_watch.hpp"

namespace agentforge::kernel {

/// Makes all calls at once and returns their results, empty for abandoned calls. `give_up` gets the results so far, and returns
/// true to abandon the rest. Each call must own everything it uses.
template <class T>
[[nodiscard]] std::vector<std::optional<T>> call_guarded(
    std::vector<std::function<T()>> calls, const std::function<bool(const std::vector<const T*>& results)>& give_up) {
    const auto results = std::make_shared<std::vector<std::optional<T>>>(calls.size());
    std::vector<BoundedWork> works;
    for (std::function<T()>& call : calls) {
        works.push_back({[results, index = works.size(), call = std::move(call)] { (*results)[index].emplace(call()); }});
    }
    const std::vector<bool> returned = run_bounded(std::move(works), [&](const std::vector<bool>& so_far) {
        std::vector<const T*> there;
        for (std::size_t index = 0; index < so_far.size(); ++index) {
            there.push_back(so_far[index] ? &*(*results)[index] : nullptr);
        }
        return give_up(there);
    });
    std::vector<std::optional<T>> taken(returned.size());
    for (std::size_t index = 0; index < returned.size(); ++index) {
        if (returned[index]) { taken[index] = std::move((*results)[index]); }
    }
    return taken;
}

/// The same for one call. `watch` sees which plugin it is in.
template <class T>
[[nodiscard]] std::optional<T> call_guarded(std::function<T()> call, const std::shared_ptr<CallWatch>& watch,
                                            const std::function<bool()>& give_up) {
    const auto result = std::make_shared<std::optional<T>>();
    const bool returned = run_bounded([result, call = std::move(call)] { result->emplace(call()); }, watch, give_up);
    return returned ? std::move(*result) : std::nullopt;
}

}  // namespace agentforge::kernel
