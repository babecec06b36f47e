#include "proxy/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice::base {
namespace {

Result<std::unique_ptr<int>> half(int number) {
  if (number % 2 != 0) return Error::config("odd");
  return std::make_unique<int>(number / 2);
}

TEST(Result, HoldsAValue) {
  Result<std::string> result(std::string("text"));
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, "text");
  EXPECT_EQ(result->size(), 4u);
  result->append("s");
  EXPECT_EQ(result.value(), "texts");
}

TEST(Result, HoldsAnError) {
  const Result<std::string> result(Error::upstream(ErrorType::kDnsError, "no such name"));
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error().type, ErrorType::kDnsError);
  EXPECT_EQ(result.error().detail, "no such name");
}

TEST(Result, CarriesValuesThatOnlyMove) {
  const std::unique_ptr<int> moved = half(8).value();
  EXPECT_EQ(*moved, 4);
  const Error error = half(3).error();
  EXPECT_EQ(error.detail, "odd");
}

TEST(Result, ReportsSuccessAndFailureWithoutAValue) {
  const Status good = Done{};
  const Status bad = Error::internal("broken");
  EXPECT_TRUE(good.ok());
  EXPECT_FALSE(bad.ok());
}

}  // namespace
}  // namespace sluice::base
