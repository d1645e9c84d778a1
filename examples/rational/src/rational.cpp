#include "rational/rational.hpp"

#include <numeric>
#include <stdexcept>

namespace rational {

Rational::Rational(std::int64_t numerator, std::int64_t denominator) : numerator_(numerator), denominator_(denominator) {
    if (denominator == 0) { throw std::domain_error("a fraction cannot have the denominator zero"); }
    if (denominator_ < 0) {
        numerator_ = -numerator_;
        denominator_ = -denominator_;
    }
    const auto common = std::gcd(numerator_, denominator_);
    numerator_ /= common;
    denominator_ /= common;
}

bool operator==(const Rational& left, const Rational& right) noexcept {
    return left.numerator() == right.numerator() && left.denominator() == right.denominator();
}

Rational operator+(const Rational& left, const Rational& right) {
    return Rational(left.numerator() * right.denominator() + right.numerator() * left.denominator(),
                    left.denominator() * right.denominator());
}

Rational operator*(const Rational& left, const Rational& right) {
    return Rational(left.numerator() * right.numerator(), left.denominator() * right.denominator());
}

std::string to_string(const Rational& value) {
    const auto whole = std::to_string(value.numerator());
    return value.denominator() == 1 ? whole : whole + "/" + std::to_string(value.denominator());
}

}  // namespace rational
