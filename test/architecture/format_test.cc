// Every file is formatted, so that no change carries line breaks that belong to another.
#include <gtest/gtest.h>

#include <string>

#include "test/architecture/command.h"

namespace sluice::test {
namespace {

TEST(Format, ClangFormatChangesNoFile) {
  ASSERT_NE(outputOf("clang-format --version"), "") << "test/support/install.sh test";
  EXPECT_EQ(outputOf("find proxy config filters test perf -name node_modules -prune -o '(' -name '*.h' -o -name '*.cc' "
                     "')' -print0 | xargs -0 -P 2 clang-format --dry-run 2>&1 | grep 'warning: code should be' | "
                     "cut -d: -f1 | sort -u"),
            "");
}

}  // namespace
}  // namespace sluice::test
