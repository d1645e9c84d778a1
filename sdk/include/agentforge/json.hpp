// SPDX-License-Identifier: Apache-2.0
// Boost.JSON, the one data type that crosses the plugin boundary.
//
// A json::value carries its memory resource. Values that cross the boundary must use the default one, not a monotonic_resource or
// a static_resource. Money and ids are integers or strings, never doubles, which may lose precision in the journal.
#pragma once

#include <boost/json.hpp>

namespace agentforge {
namespace json = boost::json;
}
