// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/kept_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace agentforge::kernel {

std::vector<bool> kept_lines(const std::vector<std::string>& old, const std::vector<std::string>& now,
                             std::vector<bool>& kept_now) {
    constexpr std::size_t largest = 16UL << 20U;
    std::vector<bool> kept(old.size());
    kept_now.assign(now.size(), false);
    std::size_t begin = 0;
    while (begin < old.size() && begin < now.size() && old[begin] == now[begin]) {
        kept[begin] = kept_now[begin] = true, ++begin;
    }
    std::size_t end_old = old.size();
    std::size_t end_now = now.size();
    while (end_old > begin && end_now > begin && old[end_old - 1] == now[end_now - 1]) {
        kept[--end_old] = kept_now[--end_now] = true;
    }
    const auto rows = end_old - begin;
    const auto columns = end_now - begin;
    if (rows == 0 || columns == 0 || rows > largest / columns) { return kept; }
    std::vector<std::uint32_t> length((rows + 1) * (columns + 1));
    const auto at = [&](std::size_t row, std::size_t column) -> std::uint32_t& { return length[row * (columns + 1) + column]; };
    for (auto row = rows; row-- > 0;) {
        for (auto column = columns; column-- > 0;) {
            at(row, column) = old[begin + row] == now[begin + column] ? at(row + 1, column + 1) + 1
                                                                      : std::max(at(row + 1, column), at(row, column + 1));
        }
    }
    for (std::size_t row = 0, column = 0; row < rows && column < columns;) {
        if (old[begin + row] == now[begin + column]) {
            kept[begin + row++] = kept_now[begin + column++] = true;
        } else if (at(row + 1, column) >= at(row, column + 1)) {
            ++row;
        } else {
            ++column;
        }
    }
    return kept;
}

}  // namespace agentforge::kernel
