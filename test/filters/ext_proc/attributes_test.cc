// Tests the attributes about the client that a server of an external processor gets.
#include "filters/ext_proc/attributes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "proxy/content/json.h"
#include "test/filters/filter_rig.h"

namespace sluice::filters::ext_proc {
namespace {

/// Keeps the values of its attributes, each followed by a semicolon.
class AttributeShowing final : public processing::Processor {
 public:
  AttributeShowing(Attributes attributes, std::string& shown) : attributes_(std::move(attributes)), shown_(shown) {}
  processing::Verdict process(processing::Call& call, const processing::Peer& peer) const override {
    shown_.clear();
    const auto values = attributes_.valuesIn(call, peer);
    if (!values) return processing::Verdict::overWork();
    for (const content::Member& each : values->members) {
      shown_ += each.key + "=" + each.value.text + ";";
    }
    return processing::Verdict::goOn();
  }

 private:
  const Attributes attributes_;
  std::string& shown_;
};

/// Returns a type whose uses show their attributes.
processing::BuiltinType showing(std::string& shown) {
  return {.phases = {processing::Phase::kRequestHeaders}, .make = [&shown](const processing::Use& use) {
            auto attributes = Attributes::read(use.config.find("list"), MessageSide::kRequest, use.work);
            EXPECT_TRUE(attributes);
            return processing::Made{std::make_shared<const AttributeShowing>(std::move(attributes).value(), shown)};
          }};
}

TEST(Attributes, FailClosedIfARequestTakesTooMuchWork) {
  std::string shown;
  test::FilterRig rig(showing(shown));
  rig.request({}, "/" + std::string(1000, 'a'));
  const std::string list = "{list: ['size(request.path.replace(\"a\", \"b\"))', request.path]}";
  rig.work.steps = 10'000;
  ASSERT_EQ(rig.make(list), "");
  EXPECT_EQ(rig.run(processing::Phase::kRequestHeaders).kind(), processing::Verdict::Kind::kContinue);
  rig.work.steps = 5'000;
  ASSERT_EQ(rig.make(list), "");
  EXPECT_EQ(rig.run(processing::Phase::kRequestHeaders).cause(), processing::Cause::kOverWork);
}

TEST(Attributes, TellAboutTheClientWhatIsAskedFor) {
  std::string shown;
  test::FilterRig rig(showing(shown));
  rig.request({});
  const auto shownOf = [&](const std::string& list) {
    EXPECT_EQ(rig.make("{list: [" + list + "]}"), "");
    rig.run(processing::Phase::kRequestHeaders);
    return shown;
  };
  EXPECT_EQ(shownOf("request.path"), "request.path=/;") << "nothing that is not asked for";
  const std::string all = "source.address, source.namespace, source.serviceAccount, source.principal, source.assurance";
  EXPECT_EQ(shownOf(all),
            "source.address=192.0.2.1;source.namespace=apps;source.serviceAccount=worker;"
            "source.principal=spiffe://a.test/ns/apps/sa/worker;source.assurance=Certificate;");
  rig.peer = {"192.0.2.1", {}, {}};
  EXPECT_EQ(shownOf(all),
            "source.address=192.0.2.1;source.namespace=;source.serviceAccount=;source.principal=;"
            "source.assurance=None;");
  rig.peer = {};
  EXPECT_EQ(shownOf(all),
            "source.address=;source.namespace=;source.serviceAccount=;source.principal=;source.assurance=;");
}

}  // namespace
}  // namespace sluice::filters::ext_proc
