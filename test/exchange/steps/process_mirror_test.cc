// Copies of requests that go through steps are whole, and framed as the body that they carry.
#include <algorithm>

#include "test/exchange/steps/wait_fixture.h"

namespace sluice::exchange {
namespace {

class ProcessMirror : public ProcessWait {
 protected:
  /// Sets steps of the rule and of its Backend; copies are wanted by the rule, or by its weighted backend.
  void withCopies(std::vector<Step> ofRule, std::vector<Step> ofBackend, bool byBackend) {
    with(std::move(ofRule), std::move(ofBackend), [byBackend](routing::Rule& rule) {
      auto other = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
      other->name = "demo/mirror";
      other->chain = nullptr;
      (byBackend ? rule.backends[0].mirrors : rule.mirrors).push_back({std::move(other), 1, 1});
    });
  }
  std::size_t send5(std::string_view first, std::string_view rest) {
    const std::size_t index = client_->ask({.method = Method::kPut,
                                            .target = "/ok",
                                            .fields = {{"x-wait", "1"}, {"content-digest", "sha-256=:x:"}},
                                            .body = Body::kLength,
                                            .length = 5});
    client_->body(index, first);
    EXPECT_TRUE(rig_->settle());
    accept();
    client_->body(index, rest);
    client_->finish(index);
    EXPECT_TRUE(rig_->settle());
    serve();
    return index;
  }
  void accept() {
    while (rig_->backends.size() < rig_->dialled()) ProcessWait::accept(rig_->backends.size());
  }
  /// Returns the bodies of the request and of its copy, in order of size.
  std::vector<std::string> bodies() {
    std::vector<std::string> all;
    for (const auto& backend : rig_->backends) {
      for (std::size_t i = 0; i < backend->requests(); ++i) {
        const auto& request = backend->request(i);
        EXPECT_TRUE(request.ended);
        EXPECT_FALSE(request.reset);
        all.push_back(request.body);
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, ProcessMirror,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

Work adds() {
  return [](Call& call) {
    if (call.body->last()) call.body->change().append("+");
    return Verdict::goOn();
  };
}

TEST_P(ProcessMirror, ACopyIsFramedAsTheBodyThatTheStepsOfTheRuleLeft) {
  for (const BodyMode mode : {BodyMode::kStreamed, BodyMode::kBuffered}) {
    withCopies({step("adds", Phase::kRequestBody, adds(), BodyInterest{mode, 0, true, false})}, {}, false);
    const std::size_t index = send5("hel", "lo");
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(bodies(), (std::vector<std::string>{"hello+", "hello+"}));
    for (const auto& backend : rig_->backends) {
      for (std::size_t i = 0; i < backend->requests(); ++i) {
        EXPECT_EQ(backend->request(i).message.head.headers.find("content-digest"), nullptr);
      }
    }
    expectOver(1);
    SetUp();
  }
}

TEST_P(ProcessMirror, AWholeCopyThatItsBackendDoesNotTakeGivesWayToRequests) {
  options_.bounds.exchangeBuffer = 50'000;
  options_.bounds.processorBufferTotal = 160 * 1024;
  options_.timeouts.connect = std::chrono::hours(1);
  with({step("adds", Phase::kRequestBody, adds(), kEditsWhole)}, {}, [](routing::Rule& rule) {
    auto other = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
    other->identity = other->hostname = "mirror.test";
    rule.mirrors.push_back({std::move(other), 1, 1});
  });
  rig_->resolver.know("mirror.test", {"192.0.2.9"});
  const auto post = [&] {
    const std::size_t index = client_->ask({.method = http::Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
    client_->body(index, std::string(70'000, 'x'));
    client_->finish(index);
    EXPECT_TRUE(rig_->settle());
    return index;
  };
  const std::size_t first = post();
  ASSERT_EQ(rig_->dialled(), 2U);
  const std::size_t mirrored = rig_->wire(0).address().ip() == "192.0.2.9" ? 0 : 1;
  respond(ProcessWait::accept(1 - mirrored), 200, "done");
  EXPECT_EQ(statusOf(*client_, first), 200);
  EXPECT_GT(rig_->exchanges.bufferRoom().used(), 70'000U) << "the copy waits for its Backend";
  EXPECT_EQ(rig_->exchanges.mirrors().size(), 1U);
  rig_->advance(processing::BufferRoom::kStuck);
  post();
  EXPECT_EQ(rig_->exchanges.mirrors().size(), 1U) << "the new copy alone";
  EXPECT_EQ(std::count(rig_->limits.begin(), rig_->limits.end(), "processorBufferTotal"), 1);
}

TEST_P(ProcessMirror, ACopyHasAllOfTheBodyAlsoWhereStepsOfTheBackendTakeIt) {
  for (const bool byBackend : {false, true}) {
    for (const Phase phase : {Phase::kRequestBody, Phase::kBackendRequest}) {
      for (const BodyMode mode : {BodyMode::kStreamed, BodyMode::kBuffered}) {
        SCOPED_TRACE(nameOf({phase, mode}) + (byBackend ? ", of the backend" : ", of the rule"));
        withCopies({}, {step("adds", phase, adds(), BodyInterest{mode, 0, true, false}, 0, Scope::kBackend)},
                   byBackend);
        const std::size_t index = send5("hel", "lo");
        EXPECT_EQ(statusOf(*client_, index), 200);
        EXPECT_EQ(bodies(), (std::vector<std::string>{"hello", "hello+"}));
        expectOver(1);
        SetUp();
      }
    }
  }
}

}  // namespace
}  // namespace sluice::exchange
