#include <stdexcept>

#include <gtest/gtest.h>

#include "rational/rational.hpp"

using rational::Rational;

TEST(Arithmetic, a_fraction_is_kept_in_lowest_terms) {
    EXPECT_EQ(Rational(2, 4), Rational(1, 2));
    EXPECT_EQ(Rational(1, -2), Rational(-1, 2));
}

TEST(Arithmetic, a_zero_denominator_is_refused) { EXPECT_THROW(Rational(1, 0), std::domain_error); }

TEST(Arithmetic, fractions_are_added_and_multiplied) {
    EXPECT_EQ(Rational(1, 2) + Rational(1, 3), Rational(5, 6));
    EXPECT_EQ(Rational(2, 3) * Rational(3, 4), Rational(1, 2));
}

TEST(Text, a_fraction_is_written_with_a_slash) {
    EXPECT_EQ(to_string(Rational(3, 4)), "3/4");
    EXPECT_EQ(to_string(Rational(4, 2)), "2");
}
