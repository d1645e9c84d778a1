// SPDX-License-Identifier: Apache-2.0
#include "handler.hpp"

#include <agentforge/plugin.hpp>

AGENTFORGE_PLUGIN("org.agentforge.escalation.webhook", "1.0.0", "Apache-2.0",
                  agentforge::provides_escalation<agentforge::escalation_webhook::WebhookHandler>("webhook"))
