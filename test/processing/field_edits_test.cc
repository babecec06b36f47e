#include "proxy/processing/field_edits.h"

#include <gtest/gtest.h>

namespace sluice::processing {
namespace {

TEST(EditableField, IsWrittenInLowerCaseAndIsNoneOfTheGateway) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  for (const std::string_view name : {"x-a", "X-Edited", "!#$%&'*+-.^_`|~", "hosts", "Authorization"}) {
    const auto made = editableField(name);
    ASSERT_TRUE(made) << name;
    EXPECT_EQ(editableField(name, arena), *made);
  }
  EXPECT_EQ(editableField("X-Edited", arena), "x-edited");
  for (const std::string_view name :
       {"", "a b", "a:", "\xc3\xa4", "Host", "via", "Sluice-Via", "TE", "Connection", "proxy-x", "content-length",
        "Transfer-Encoding", "keep-alive", "trailer", "upgrade"}) {
    EXPECT_FALSE(editableField(name)) << name;
    EXPECT_EQ(editableField(name, arena), "") << name;
  }
}

}  // namespace
}  // namespace sluice::processing
