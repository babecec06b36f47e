#include "proxy/server/commands/revisions_command.h"

#include <gtest/gtest.h>

namespace sluice::server {
namespace {

TEST(RevisionsCommand, PrintsWhatWasServedAndWhatIsTainted) {
  EXPECT_EQ(revisionsText(R"([{"revision":"bad","time":"t2","tainted":true,"reason":"not YAML"},
                              {"revision":"one","served":"eno","time":"t1","tainted":false}])"),
            "REVISION   SERVED   TIME   TAINTED\n"
            "bad        -        t2     not YAML\n"
            "one        eno      t1     no\n");
}

}  // namespace
}  // namespace sluice::server
