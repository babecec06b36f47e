#include "filters/direct_response.h"

#include <gtest/gtest.h>

#include "test/filters/filter_rig.h"

namespace sluice::filters {
namespace {

using processing::Phase;
using processing::Verdict;
using test::FilterRig;

TEST(DirectResponse, AnswersWithItsStatusAndItsSentence) {
  FilterRig rig(directResponse());
  rig.request({});
  ASSERT_EQ(rig.make("{status: 451, detail: 'not in this country'}"), "");
  const Verdict verdict = rig.run(Phase::kRequestHeaders);
  ASSERT_EQ(verdict.kind(), Verdict::Kind::kReply);
  EXPECT_EQ(verdict.reply().error.status, 451);
  EXPECT_EQ(verdict.reply().error.detail, "not in this country");
  EXPECT_EQ(base::errorTypeName(verdict.reply().error.type), "http_request_denied");
  EXPECT_EQ(base::errorOriginName(verdict.reply().error.origin), "processor");
  EXPECT_TRUE(verdict.reply().fields.empty());
}

TEST(DirectResponse, RefusesAStatusThatIsNoPlainInteger) {
  FilterRig rig(directResponse());
  EXPECT_EQ(rig.make("{status: 4.03e2, detail: no}"), "InvalidConfig: status: is not written as a whole number");
}

}  // namespace
}  // namespace sluice::filters
