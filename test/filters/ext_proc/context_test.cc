// Tests the context of an external processor: it is written once, with the names of each exchange behind it, and has a
// bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "filters/ext_proc/ext_proc.h"
#include "filters/ext_proc/external_processor.pb.h"
#include "filters/ext_proc/payload_processor.pb.h"
#include "filters/ext_proc/protocol.h"
#include "proxy/content/json.h"
#include "test/filters/filter_rig.h"

namespace sluice::filters::ext_proc {
namespace {

using testing::HasSubstr;

/// Returns the first message of a stream to a server that has this context, which is JSON.
template <typename Message>
Message firstOf(const Protocol& protocol, const std::string& context, const processing::Place& place) {
  const http::RequestHead head;
  const ProcessingModes modes;
  const std::string written = protocol.writeContext(*content::parseJson(context));
  const Introduction introduction{modes, written, place};
  Statement statement{Part::kRequestHeaders};
  statement.request = &head;
  statement.introduction = &introduction;
  Message message;
  EXPECT_TRUE(message.ParseFromString(protocol.write(statement)));
  return message;
}

sluice::ext_proc::Struct ownOf(const std::string& context, const processing::Place& place) {
  const auto message = firstOf<sluice::ext_proc::ProcessingRequest>(externalProcessor(), context, place);
  EXPECT_TRUE(message.has_request_headers());
  sluice::ext_proc::Struct own;
  EXPECT_TRUE(own.ParseFromString(message.metadata_context().filter_metadata().at("sluice.dev")));
  return own;
}

TEST(Context, IsSentBesideTheNamesOfTheExchange) {
  const auto own = ownOf(R"({"tier": "gold", "deep": {"list": [1, true, null]}})", {"demo/egress", "demo/route", {}});
  ASSERT_EQ(own.fields_size(), 4);
  EXPECT_EQ(own.fields().at("tier").string_value(), "gold");
  EXPECT_EQ(own.fields().at("deep").struct_value().fields().at("list").list_value().values_size(), 3);
  EXPECT_EQ(own.fields().at("gateway").string_value(), "demo/egress");
  EXPECT_EQ(own.fields().at("route").string_value(), "demo/route");
}

TEST(Context, IsOverriddenByTheNamesThatAreKnown) {
  const auto own = ownOf(R"({"route": "own", "backend": "own"})", {"demo/egress", "demo/route", {}});
  EXPECT_EQ(own.fields().at("route").string_value(), "demo/route");
  EXPECT_EQ(own.fields().at("backend").string_value(), "own");
}

TEST(Context, OfAPayloadProcessorHasScalarsAlone) {
  const auto message = firstOf<sluice::payload_processing::PayloadPhase>(
      payloadProcessor(), R"({"tier": "gold", "deep": {"a": 1}, "route": "own"})", {"demo/egress", "demo/route", {}});
  EXPECT_TRUE(message.has_request_headers());
  ASSERT_EQ(message.context_size(), 3);
  EXPECT_EQ(message.context().at("tier"), "gold");
  EXPECT_EQ(message.context().at("gateway"), "demo/egress");
  EXPECT_EQ(message.context().at("route"), "demo/route");
}

TEST(Context, IsRefusedBeyondItsBound) {
  const std::string server = "backendRefs: [{name: guard}]";
  const std::string context = ", context: {names: " + std::string(100, 'x') + "}";
  for (const char* protocol : {"ExternalProcessor", "PayloadProcessor"}) {
    test::FilterRig rig(extProc());
    rig.answer(200, {}, "");
    const std::string config = "{" + server + ", protocol: " + protocol + context + "}";
    ASSERT_EQ(rig.make(config), "") << "the bound is 16 KiB";
    std::uint64_t size = 100;
    for (rig.mostContext = size; !rig.make(config).empty(); rig.mostContext = ++size) {
      ASSERT_LT(size, 130u);
      EXPECT_THAT(rig.make(config), HasSubstr("InvalidConfig: context: takes 1"));
      EXPECT_THAT(rig.make(config),
                  HasSubstr(" and " + std::to_string(size) + " are allowed (limits.processorContext)"));
    }
    EXPECT_GT(size, 105u);
    EXPECT_EQ(rig.make("{" + server + "}"), "") << "there is none";
  }
}

}  // namespace
}  // namespace sluice::filters::ext_proc
