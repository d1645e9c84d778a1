// SPDX-License-Identifier: Apache-2.0
// A model client without secrets.
#pragma once

#include <memory>

#include "backends/model_client.hpp"
#include "secrets/redactor.hpp"

namespace agentforge::kernel {

/// Wraps a client so that no secret goes to the model, and none in its answer or error comes back. Put one inside a recorder, so
/// that the recording has no secrets, and one outside, so that its hashes are those of what is sent. `redactor` must outlive it.
[[nodiscard]] std::unique_ptr<ModelClient> make_redacting_client(std::unique_ptr<ModelClient> inner, const Redactor& redactor);

}  // namespace agentforge::kernel
