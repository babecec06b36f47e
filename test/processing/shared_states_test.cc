#include "proxy/processing/shared_states.h"

#include <gtest/gtest.h>

namespace sluice::processing {
namespace {

TEST(SharedStates, ShareOneStatePerOwnerForAsLongAsItIsHeld) {
  SharedStates states;
  const auto make = [](int value) { return [value] { return std::make_shared<const int>(value); }; };
  auto first = states.get<int>("Backend demo/api: limits", make(1));
  EXPECT_EQ(states.get<int>("Backend demo/api: limits", make(2)), first);
  EXPECT_EQ(*states.get<int>("Backend demo/other: limits", make(3)), 3);
  first.reset();
  EXPECT_EQ(*states.get<int>("Backend demo/api: limits", make(4)), 4) << "nobody held it";
}

TEST(SharedStates, KeepStatesOfDifferentTypesApart) {
  SharedStates states;
  const auto one = states.get<int>("a", [] { return std::make_shared<const int>(1); });
  const auto other = states.get<double>("a", [] { return std::make_shared<const double>(2.0); });
  EXPECT_EQ(*one, 1);
  EXPECT_EQ(*other, 2.0);
}

}  // namespace
}  // namespace sluice::processing
