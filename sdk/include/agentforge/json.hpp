// SPDX-License-Identifier: Apache-2.0
// The one data type that crosses the plugin boundary: Boost.JSON.
//
// A json::value carries its memory resource. Values that cross the boundary use the default one:
// do not hand over a value built on a monotonic_resource or a static_resource.
// Money and ids are integers or strings, never doubles (a double need not survive the journal).
#pragma once

#include <boost/json.hpp>

namespace agentforge {
namespace json = boost::json;
}
