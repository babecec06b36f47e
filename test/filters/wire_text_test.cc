#include "filters/wire_text.h"

#include <gtest/gtest.h>

namespace sluice::filters {
namespace {

TEST(WireText, KeepsUtf8AndReplacesWhatIsNone) {
  EXPECT_EQ(readableText("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(readableText("caf\xe9"), "caf!");
  EXPECT_EQ(readableText("\xc3\xa9\xff"), "!!!");
  EXPECT_EQ(readableText(""), "");
  EXPECT_FALSE(isUtf8("\xed\xa0\x80")) << "half of a surrogate pair";
}

}  // namespace
}  // namespace sluice::filters
