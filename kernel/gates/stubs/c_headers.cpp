// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/c_headers.hpp"

#include <array>

#include "gates/stubs/c_text.hpp"

namespace agentforge::kernel {
namespace {

struct StandardHeader {
    std::string_view word;
    std::string_view header;
};
constexpr std::array standard_headers{StandardHeader{"std::string", "string"},
                                      StandardHeader{"std::wstring", "string"},
                                      StandardHeader{"std::u8string", "string"},
                                      StandardHeader{"std::string_view", "string_view"},
                                      StandardHeader{"std::vector", "vector"},
                                      StandardHeader{"std::map", "map"},
                                      StandardHeader{"std::multimap", "map"},
                                      StandardHeader{"std::set", "set"},
                                      StandardHeader{"std::multiset", "set"},
                                      StandardHeader{"std::unordered_map", "unordered_map"},
                                      StandardHeader{"std::unordered_set", "unordered_set"},
                                      StandardHeader{"std::deque", "deque"},
                                      StandardHeader{"std::list", "list"},
                                      StandardHeader{"std::queue", "queue"},
                                      StandardHeader{"std::priority_queue", "queue"},
                                      StandardHeader{"std::stack", "stack"},
                                      StandardHeader{"std::array", "array"},
                                      StandardHeader{"std::span", "span"},
                                      StandardHeader{"std::optional", "optional"},
                                      StandardHeader{"std::variant", "variant"},
                                      StandardHeader{"std::any", "any"},
                                      StandardHeader{"std::expected", "expected"},
                                      StandardHeader{"std::pair", "utility"},
                                      StandardHeader{"std::tuple", "tuple"},
                                      StandardHeader{"std::function", "functional"},
                                      StandardHeader{"std::unique_ptr", "memory"},
                                      StandardHeader{"std::shared_ptr", "memory"},
                                      StandardHeader{"std::weak_ptr", "memory"},
                                      StandardHeader{"std::chrono", "chrono"},
                                      StandardHeader{"std::filesystem", "filesystem"},
                                      StandardHeader{"std::initializer_list", "initializer_list"},
                                      StandardHeader{"std::ostream", "ostream"},
                                      StandardHeader{"std::istream", "istream"},
                                      StandardHeader{"std::size_t", "cstddef"},
                                      StandardHeader{"std::byte", "cstddef"},
                                      StandardHeader{"std::nullptr_t", "cstddef"},
                                      StandardHeader{"std::ptrdiff_t", "cstddef"},
                                      StandardHeader{"std::int8_t", "cstdint"},
                                      StandardHeader{"std::int16_t", "cstdint"},
                                      StandardHeader{"std::int32_t", "cstdint"},
                                      StandardHeader{"std::int64_t", "cstdint"},
                                      StandardHeader{"std::uint8_t", "cstdint"},
                                      StandardHeader{"std::uint16_t", "cstdint"},
                                      StandardHeader{"std::uint32_t", "cstdint"},
                                      StandardHeader{"std::uint64_t", "cstdint"},
                                      StandardHeader{"std::complex", "complex"},
                                      StandardHeader{"std::regex", "regex"},
                                      StandardHeader{"std::mutex", "mutex"},
                                      StandardHeader{"std::atomic", "atomic"},
                                      StandardHeader{"std::future", "future"},
                                      StandardHeader{"std::bitset", "bitset"},
                                      StandardHeader{"std::strong_ordering", "compare"},
                                      StandardHeader{"std::weak_ordering", "compare"},
                                      StandardHeader{"std::partial_ordering", "compare"},
                                      StandardHeader{"operator<=>", "compare"},
                                      StandardHeader{"std::integral", "concepts"},
                                      StandardHeader{"std::floating_point", "concepts"},
                                      StandardHeader{"std::same_as", "concepts"},
                                      StandardHeader{"std::convertible_to", "concepts"},
                                      StandardHeader{"std::derived_from", "concepts"},
                                      StandardHeader{"std::invocable", "concepts"},
                                      StandardHeader{"std::predicate", "concepts"},
                                      StandardHeader{"std::regular", "concepts"},
                                      StandardHeader{"std::totally_ordered", "concepts"},
                                      StandardHeader{"std::equality_comparable", "concepts"},
                                      StandardHeader{"std::copyable", "concepts"},
                                      StandardHeader{"std::movable", "concepts"},
                                      StandardHeader{"std::invoke_result_t", "type_traits"},
                                      StandardHeader{"std::enable_if_t", "type_traits"},
                                      StandardHeader{"std::decay_t", "type_traits"},
                                      StandardHeader{"std::remove_cvref_t", "type_traits"},
                                      StandardHeader{"std::is_same_v", "type_traits"},
                                      StandardHeader{"std::is_integral_v", "type_traits"},
                                      StandardHeader{"std::is_arithmetic_v", "type_traits"},
                                      StandardHeader{"std::is_nothrow_move_constructible_v", "type_traits"},
                                      StandardHeader{"std::underlying_type_t", "type_traits"},
                                      StandardHeader{"std::conditional_t", "type_traits"},
                                      StandardHeader{"std::true_type", "type_traits"},
                                      StandardHeader{"std::false_type", "type_traits"},
                                      StandardHeader{"std::exception", "exception"},
                                      StandardHeader{"std::exception_ptr", "exception"},
                                      StandardHeader{"std::runtime_error", "stdexcept"},
                                      StandardHeader{"std::logic_error", "stdexcept"},
                                      StandardHeader{"std::invalid_argument", "stdexcept"},
                                      StandardHeader{"std::out_of_range", "stdexcept"},
                                      StandardHeader{"std::error_code", "system_error"},
                                      StandardHeader{"std::hash", "functional"},
                                      StandardHeader{"std::less", "functional"},
                                      StandardHeader{"std::equal_to", "functional"},
                                      StandardHeader{"std::reference_wrapper", "functional"},
                                      StandardHeader{"std::numeric_limits", "limits"},
                                      StandardHeader{"std::monostate", "variant"},
                                      StandardHeader{"std::thread", "thread"},
                                      StandardHeader{"std::jthread", "thread"},
                                      StandardHeader{"std::stop_token", "stop_token"},
                                      StandardHeader{"std::condition_variable", "condition_variable"},
                                      StandardHeader{"std::shared_mutex", "shared_mutex"},
                                      StandardHeader{"std::input_iterator_tag", "iterator"},
                                      StandardHeader{"std::forward_iterator_tag", "iterator"},
                                      StandardHeader{"std::bidirectional_iterator_tag", "iterator"},
                                      StandardHeader{"std::random_access_iterator_tag", "iterator"},
                                      StandardHeader{"std::input_iterator", "iterator"},
                                      StandardHeader{"std::forward_iterator", "iterator"},
                                      StandardHeader{"std::reverse_iterator", "iterator"},
                                      StandardHeader{"std::default_sentinel_t", "iterator"},
                                      StandardHeader{"std::ranges", "ranges"},
                                      StandardHeader{"std::source_location", "source_location"},
                                      StandardHeader{"std::ostringstream", "sstream"},
                                      StandardHeader{"std::istringstream", "sstream"},
                                      StandardHeader{"std::ifstream", "fstream"},
                                      StandardHeader{"std::ofstream", "fstream"}};
constexpr std::array c_headers{
    StandardHeader{"size_t", "stddef.h"},   StandardHeader{"ptrdiff_t", "stddef.h"}, StandardHeader{"bool", "stdbool.h"},
    StandardHeader{"int8_t", "stdint.h"},   StandardHeader{"int16_t", "stdint.h"},   StandardHeader{"int32_t", "stdint.h"},
    StandardHeader{"int64_t", "stdint.h"},  StandardHeader{"uint8_t", "stdint.h"},   StandardHeader{"uint16_t", "stdint.h"},
    StandardHeader{"uint32_t", "stdint.h"}, StandardHeader{"uint64_t", "stdint.h"},  StandardHeader{"FILE", "stdio.h"},
    StandardHeader{"time_t", "time.h"},     StandardHeader{"va_list", "stdarg.h"}};

}  // namespace

std::set<std::string> standard_c_headers(std::string_view text, bool c) {
    std::set<std::string> wanted;
    const auto add = [&](const auto& headers) {
        for (const auto& each : headers) {
            if (c_text::find_word(text, each.word) != std::string_view::npos) {
                wanted.insert("<" + std::string(each.header) + ">");
            }
        }
    };
    if (c) {
        add(c_headers);
    } else {
        add(standard_headers);
    }
    return wanted;
}

}  // namespace agentforge::kernel
