// Filters and steps are not shown trailers and 1xx heads. Fields that they have set are not repeated there, fields that
// they have removed are not left there, and a 1xx head does not overtake a step that must see the response first.
#include <gtest/gtest.h>

#include <string>

#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

using test::FieldList;

/// A step of response-headers that removes x-inner.
class RemovesInner final : public processing::PreAuthProcessor {
 public:
  Verdict process(Call& call) const override {
    call.response->headers.removeTwins("x-inner");
    return Verdict::goOn();
  }
  void withhold(http::Headers& fields) const override { fields.removeTwins("x-inner"); }
};

Step removing(bool failOpen) {
  Step made = step("inner", Phase::kResponseHeaders, goesOn());
  made.processor = std::make_shared<const RemovesInner>();
  made.failOpen = failOpen;
  return made;
}

class Unseen : public ProcessorSteps {
 protected:
  Rig& withFilters(const std::function<void(routing::Rule&)>& filters, std::vector<Step> steps = {}) {
    return with(std::move(steps), {}, filters);
  }
  std::size_t postWith(const FieldList& fields) {
    const std::size_t index =
        client_->ask({.method = http::Method::kPost, .target = "/ok", .fields = fields, .body = http::Body::kUntilEnd});
    EXPECT_TRUE(rig_->settle());
    return index;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, Unseen,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(Unseen, ClientsTrailersLackFieldsOfFiltersAndTheirTwins) {
  Rig& rig = withFilters([](routing::Rule& rule) {
    rule.requestHeaders.emplace().set = {{"x-tenant", "ours"}};
    rule.backends[0].requestHeaders.emplace().remove = {"x-debug-level"};
  });
  const std::size_t index =
      postWith({{"x_tenant", "theirs"}, {"x-tenant", "theirs"}, {"x_debug-level", "9"}, {"x-other", "kept"}});
  BackendPeer& backend = accept(0);
  client_->finish(index, {{"x-tenant", "theirs"}, {"x_tenant", "theirs"}, {"x-debug_level", "9"}, {"x-sum", "1"}});
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(fieldOf(seen(backend), "x-tenant"), "ours");
  EXPECT_EQ(fieldOf(seen(backend), "x-other"), "kept");
  for (const char* gone : {"x_tenant", "x_debug-level"}) EXPECT_EQ(seen(backend).find(gone), nullptr) << gone;
  EXPECT_EQ(backend.request(0).trailers, (FieldList{{"x-sum", "1"}}));
}

TEST_P(Unseen, TrailersLackForwardedFieldsAndTheirTwins) {
  Rig& rig = make();
  const std::size_t index = postWith({{"x_forwarded_for", "127.0.0.1"}, {"x_real-ip", "127.0.0.1"}});
  BackendPeer& backend = accept(0);
  client_->finish(
      index, {{"x-forwarded-port", "1"}, {"x_forwarded_for", "127.0.0.1"}, {"x-real-ip", "127.0.0.1"}, {"x-sum", "1"}});
  ASSERT_TRUE(rig.settle());
  for (const char* gone : {"x_forwarded_for", "x_real-ip"}) EXPECT_EQ(seen(backend).find(gone), nullptr) << gone;
  EXPECT_EQ(backend.request(0).trailers, (FieldList{{"x-sum", "1"}}));
}

TEST_P(Unseen, A103PassesTheFiltersOfTheRule) {
  Rig& rig = withFilters([](routing::Rule& rule) {
    rule.responseHeaders.emplace().remove = {"x-inner"};
    rule.backends[0].responseHeaders.emplace().set = {{"x-served-by", "gateway"}};
  });
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  backend.interim(0, 103,
                  {{"link", "</a.css>"}, {"x-inner", "10.0.0.1"}, {"x_inner", "10.0.0.1"}, {"x-served-by", "b7"}});
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(client_->answer(index).interims.size(), 1U);
  EXPECT_EQ(client_->answer(index).interimFields[0], (FieldList{{"link", "</a.css>"}, {"x-served-by", "gateway"}}));
}

TEST_P(Unseen, AStepThatFailsOpenRemovesItsFieldsFrom103sAndTrailersToo) {
  Rig& rig = with({removing(true)});
  const std::size_t index = ask({.target = "/ok", .fields = {{"te", "trailers"}}});
  BackendPeer& backend = accept(0);
  backend.interim(0, 103, {{"link", "</a.css>"}, {"x-inner", "10.0.0.1"}});
  backend.head(0, {.fields = {{"x-inner", "10.0.0.1"}}, .body = Body::kUntilEnd});
  backend.finish(0, {{"x-inner", "10.0.0.1"}, {"x-sum", "1"}});
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(client_->answer(index).interims.size(), 1U);
  EXPECT_EQ(client_->answer(index).interimFields[0], (FieldList{{"link", "</a.css>"}}));
  EXPECT_EQ(answered(index).find("x-inner"), nullptr);
  EXPECT_EQ(client_->answer(index).trailers, (FieldList{{"x-sum", "1"}}));
}

TEST_P(Unseen, AContinueLosesItsFieldsToAStepThatFailsClosedAndPassesTheFiltersElse) {
  for (const bool failsClosed : {true, false}) {
    Rig& rig = with({removing(!failsClosed)});
    const std::size_t index = client_->ask(
        {.method = http::Method::kPost, .target = "/ok", .body = http::Body::kUntilEnd, .expectContinue = true});
    ASSERT_TRUE(rig.settle());
    accept(0).interim(0, 100, {{"x-inner", "10.0.0.1"}, {"x-other", "kept"}});
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(client_->answer(index).interims, std::vector<std::uint16_t>{100});
    EXPECT_EQ(client_->answer(index).interimFields[0], failsClosed ? FieldList{} : (FieldList{{"x-other", "kept"}}));
  }
}

TEST_P(Unseen, A103DoesNotOvertakeAStepThatFailsClosed) {
  Rig& rig = with({removing(false)});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  backend.interim(0, 103, {{"link", "</a.css>"}});
  ASSERT_TRUE(rig.settle());
  respond(backend, 200, "ok");
  EXPECT_TRUE(client_->answer(index).interims.empty());
  EXPECT_EQ(status(index), 200);
}

TEST_P(Unseen, BackendsTrailersDoNotBypassTheFiltersOfARule) {
  Rig& rig = withFilters([](routing::Rule& rule) {
    rule.responseHeaders.emplace().remove = {"x-inner"};
    rule.backends[0].responseHeaders.emplace().set = {{"x-served-by", "gateway"}};
  });
  const std::size_t index = ask({.target = "/ok", .fields = {{"te", "trailers"}}});
  BackendPeer& backend = accept(0);
  backend.head(0, {.body = Body::kUntilEnd});
  backend.finish(0, {{"x-inner", "10.0.0.1"}, {"x-served-by", "b7"}, {"x-sum", "1"}});
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client_->answer(index).trailers, (FieldList{{"x-sum", "1"}}));
}

}  // namespace
}  // namespace sluice::exchange
