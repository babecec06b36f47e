#include "proxy/compile/ground/object_status.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::compile {
namespace {

std::string messageOf(const std::string& text) {
  return Conditions(std::optional<std::int64_t>()).good("Accepted", "Accepted", text).take().front().message;
}

TEST(Conditions, MessagesAreNoLongerThanTheApiAccepts) {
  const std::string most(32768, 'a');
  EXPECT_EQ(messageOf(most), most);
  EXPECT_EQ(messageOf(most + "b"), std::string(32765, 'a') + "...");
}

TEST(Conditions, MessagesAreNotCutInsideACharacter) {
  std::string text(32764, 'a');
  for (int i = 0; i < 10; ++i) text += "\xC3\xA4";
  EXPECT_EQ(messageOf(text), std::string(32764, 'a') + "...");
}

}  // namespace
}  // namespace sluice::compile
