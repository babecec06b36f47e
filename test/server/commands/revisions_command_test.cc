#include "proxy/server/commands/revisions_command.h"

#include <gtest/gtest.h>

#include "proxy/server/commands/admin_client.h"

namespace sluice::server {
namespace {

TEST(RevisionsCommand, PrintsWhatWasServedAndWhatIsTainted) {
  const auto page = readAdminPage(R"([{"revision":"bad","time":"t2","tainted":true,"reason":"not YAML"},
                              {"revision":"one","served":"eno","time":"t1","tainted":false}])");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(revisionsOutput(*page).text,
            "REVISION   SERVED   TIME   TAINTED\n"
            "bad        -        t2     not YAML\n"
            "one        eno      t1     no\n");
}

}  // namespace
}  // namespace sluice::server
