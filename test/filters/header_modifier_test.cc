#include "filters/header_modifier.h"

#include <gtest/gtest.h>

#include "test/filters/filter_rig.h"

namespace sluice::filters {
namespace {

using test::FilterRig;

TEST(HeaderModifier, SetsAddsAndRemovesFieldsOfRequests) {
  FilterRig rig(headerModifier());
  rig.request({{"x-a", "1"}, {"x-b", "1"}, {"x-c", "1"}});
  ASSERT_EQ(rig.make("{set: [{name: X-A, value: '2'}], add: [{name: X-B, value: '2'}], remove: [X-C]}"), "");
  EXPECT_EQ(rig.run(processing::Phase::kRequestHeaders).kind(), processing::Verdict::Kind::kContinue);
  EXPECT_EQ(rig.requestFields(), "x-b=1;x-a=2;x-b=2;");
}

TEST(HeaderModifier, RemovesTwinsOfFieldsThatItSetsOrRemoves) {
  FilterRig rig(headerModifier());
  rig.request({{"x_a-b", "1"}, {"x-a-b", "1"}, {"x_c", "1"}, {"x-d", "1"}});
  ASSERT_EQ(rig.make("{set: [{name: X-A-B, value: '2'}], remove: [X-C]}"), "");
  rig.run(processing::Phase::kRequestHeaders);
  EXPECT_EQ(rig.requestFields(), "x-d=1;x-a-b=2;");
}

TEST(HeaderModifier, ChangesTheResponseInItsPhases) {
  FilterRig rig(headerModifier());
  rig.request({{"x-a", "1"}});
  rig.response(200, {{"server", "origin"}});
  ASSERT_EQ(rig.make("{set: [{name: x-a, value: '2'}], remove: [server]}"), "");
  rig.run(processing::Phase::kResponseHeaders);
  EXPECT_EQ(rig.requestFields(), "x-a=1;");
  EXPECT_EQ(rig.responseFields(), "x-a=2;");
}

TEST(HeaderModifier, RefusesFieldsOfTheGatewayAndInvalidFields) {
  FilterRig rig(headerModifier());
  EXPECT_EQ(rig.make("{set: [{name: Connection, value: close}]}"),
            "InvalidConfig: set[0].name: connection belongs to the gateway and cannot be changed");
  EXPECT_EQ(rig.make("{remove: [x-a, Host]}"),
            "InvalidConfig: remove[1]: host belongs to the gateway and cannot be changed");
  EXPECT_EQ(rig.make("{add: [{name: 'x y', value: a}]}"),
            "InvalidConfig: add[0].name: is not the name of a header field");
  EXPECT_EQ(rig.make("{add: [{name: x, value: \"a\\r\\nb: c\"}]}"),
            "InvalidConfig: add[0].value: is not the value of a header field");
}

}  // namespace
}  // namespace sluice::filters
