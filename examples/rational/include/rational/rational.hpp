#pragma once

#include <cstdint>
#include <string>

namespace rational {

/// A fraction in lowest terms; the denominator is above zero.
class Rational {
public:
    /// Throws std::domain_error where the denominator is zero.
    explicit Rational(std::int64_t numerator, std::int64_t denominator = 1);

    std::int64_t numerator() const noexcept { return numerator_; }
    std::int64_t denominator() const noexcept { return denominator_; }

private:
    std::int64_t numerator_;
    std::int64_t denominator_;
};

bool operator==(const Rational& left, const Rational& right) noexcept;
Rational operator+(const Rational& left, const Rational& right);
Rational operator*(const Rational& left, const Rational& right);

/// `3/4`, or `3` where the denominator is one.
std::string to_string(const Rational& value);

}  // namespace rational
