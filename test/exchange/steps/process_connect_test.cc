// Steps of the phase connect see where an attempt may go, and nothing that they have not left is dialled or taken from
// the pool.
#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

using processing::Destination;
using processing::Resumer;

/// Makes a step that leaves the addresses for which `wanted` is true.
Work keeps(std::function<bool(const Destination::ResolvedAddress&)> wanted) {
  return [=](Call& call) {
    call.destination->narrow(call.arena, wanted);
    return Verdict::goOn();
  };
}
Work keepsOnly(const std::string& ip) {
  return keeps([=](const Destination::ResolvedAddress& address) { return address.ip == ip; });
}
Work keepsNone() {
  return keeps([](const Destination::ResolvedAddress&) { return false; });
}

/// Renders the destination that a step has seen.
std::string textOf(const Destination& destination) {
  std::string text = std::string(destination.host()) + ":" + std::to_string(destination.port()) + " " +
                     std::string(destination.serverName()) + " ";
  for (const auto& address : destination.addresses()) {
    text += "[" + std::string(address.ip) + "]:" + std::to_string(address.port);
  }
  return text;
}

class ProcessConnect : public ProcessorSteps {
 protected:
  Step connecting(Work work, std::int32_t priority = 0, Scope scope = Scope::kRoute) {
    return step("at-connect", Phase::kConnect, std::move(work), priority, scope);
  }
  Work watches() {
    return [this](Call& call) {
      seen_.push_back(textOf(*call.destination));
      return Verdict::goOn();
    };
  }
  /// Makes a step that waits once, and is resumed by resumer_.
  Work waits(Work before = goesOn(), Work behind = goesOn()) {
    return [this, before, behind](Call& call) {
      bool& asked = call.state<bool>();
      if (std::exchange(asked, true)) return behind(call);
      before(call);
      resumer_ = call.suspend();
      return Verdict::wait();
    };
  }
  void resume() {
    {
      const net::Worker::Turn turn(rig_->worker);
      std::exchange(resumer_, {}).resume();
    }
    EXPECT_TRUE(rig_->settle());
  }
  void drop() {
    {
      const net::Worker::Turn turn(rig_->worker);
      const Resumer gone = std::exchange(resumer_, {});
    }
    EXPECT_TRUE(rig_->settle());
  }
  void know(const std::vector<std::string>& ips) { rig_->resolver.know(Rig::kHost, ips); }
  bool counted(const std::string& reason, const std::string& outcome) {
    return rig_->metricsText().find(
               "sluice_processor_failures_total{type=\"acme.test/Script:v1\",phase=\"connect\","
               "reason=\"" +
               reason + "\",outcome=\"" + outcome + "\",namespace=\"\",serviceAccount=\"\"} 1") != std::string::npos;
  }

  std::vector<std::string> seen_;
  Resumer resumer_;
};

INSTANTIATE_TEST_SUITE_P(Versions, ProcessConnect,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessConnect, SeesNamePortAndTheAddressesThatMayBeDialled) {
  Rig& rig = with({connecting(watches())});
  know({"192.0.2.1", "127.0.0.1", "2001:db8::7"});
  get();
  EXPECT_EQ(seen_, std::vector<std::string>{"backend.test:8080  [192.0.2.1]:8080[2001:db8::7]:8080"});
  EXPECT_EQ(rig.dialled(), 1U);
  EXPECT_NE(rig.metricsText().find("sluice_address_denied_total{class=\"loopback\"} 1"), std::string::npos);
}

TEST_P(ProcessConnect, SeesTheServerNameOfTls) {
  options_.tls = true;
  with({connecting(watches())});
  get();
  EXPECT_EQ(seen_, std::vector<std::string>{"backend.test:8080 backend.test [192.0.2.1]:8080"});
}

TEST_P(ProcessConnect, SeesTheClient) {
  class Asks final : public processing::Processor {
   public:
    explicit Asks(std::string& caller) : caller_(caller) {}
    Verdict process(Call&, const processing::Peer& peer) const override {
      caller_ = peer.address;
      return Verdict::goOn();
    }

   private:
    std::string& caller_;
  };
  std::string caller;
  Step asks = connecting(goesOn());
  asks.processor = std::make_shared<const Asks>(caller);
  with({asks});
  get();
  EXPECT_EQ(caller, "198.51.100.7");
}

TEST_P(ProcessConnect, MayEditTheRequest) {
  with({connecting(setsRequest("x-connect", "1"))});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  EXPECT_EQ(fieldOf(seen(backend), "x-connect"), "1");
  respond(backend, 200, "hello");
  EXPECT_EQ(status(index), 200);
}

TEST_P(ProcessConnect, IsBetweenTheBackendsOwnStepsAndBackendRequest) {
  Rig& rig = with({step("request", Phase::kRequestHeaders, goesOn()), step("connect", Phase::kConnect, goesOn(), 2),
                   step("backend-request", Phase::kBackendRequest, goesOn())},
                  {step("own", Phase::kRequestHeaders, goesOn(), 0, Scope::kBackend),
                   step("own-connect", Phase::kConnect, goesOn(), 1, Scope::kBackend)});
  const std::size_t index = get();
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"request", "own", "own-connect", "connect"}));
  respond(accept(0), 200, "hello");
  EXPECT_EQ(rig.steps.back(), "backend-request");
  EXPECT_EQ(client_->answer(index).body, "hello");
  expectTold(200, 1);
}

TEST_P(ProcessConnect, BackendRequestSeesTheAddressOfTheConnection) {
  for (const bool narrows : {false, true}) {
    SetUp();
    seen_.clear();
    std::vector<Step> steps = {step("last", Phase::kBackendRequest, watches())};
    if (narrows) steps.push_back(connecting(keepsOnly("192.0.2.2")));
    with(steps);
    know({"192.0.2.1", "192.0.2.2"});
    const std::size_t index = get();
    respond(accept(0), 200, "hello");
    EXPECT_EQ(status(index), 200);
    const std::string taken = narrows ? "[192.0.2.2]:8080" : "[192.0.2.1]:8080";
    EXPECT_EQ(seen_, std::vector<std::string>{"backend.test:8080  " + taken});
  }
}

TEST_P(ProcessConnect, NoOtherPhaseSeesADestination) {
  bool other = false;
  const auto looks = [&other](Call& call) {
    other = other || call.destination != nullptr;
    return Verdict::goOn();
  };
  with({step("a", Phase::kRequestHeaders, looks), step("b", Phase::kBackendResponse, looks),
        step("c", Phase::kResponseHeaders, looks), connecting(goesOn())});
  get();
  respond(accept(0), 200, "hello");
  EXPECT_FALSE(other);
}

TEST_P(ProcessConnect, DialsOnlyAddressesThatAreLeft) {
  Rig& rig = with({connecting(keepsOnly("192.0.2.2"))});
  know({"192.0.2.1", "192.0.2.2", "192.0.2.3"});
  const std::size_t index = get();
  ASSERT_EQ(rig.dialled(), 1U);
  EXPECT_EQ(rig.wire(0).address().toString(), "192.0.2.2:8080");
  respond(accept(0), 200, "hello");
  EXPECT_EQ(status(index), 200);
  expectTold(200, 1);
}

TEST_P(ProcessConnect, EachStepSeesTheAddressesThatEarlierStepsLeft) {
  Rig& rig = with({connecting(keepsOnly("192.0.2.2"), 1), connecting(watches(), 2)});
  know({"192.0.2.1", "192.0.2.2"});
  get();
  EXPECT_EQ(seen_, std::vector<std::string>{"backend.test:8080  [192.0.2.2]:8080"});
  EXPECT_EQ(rig.dialled(), 1U);
}

TEST_P(ProcessConnect, AnAddressThatDoesNotTakeConnectionsLeavesTheOthersThatAreLeft) {
  Rig& rig = with({connecting(keeps([](const auto& address) { return address.ip != "192.0.2.2"; }))});
  know({"192.0.2.1", "192.0.2.2", "192.0.2.3"});
  const std::size_t index = get();
  rig.wire(0).refuse();
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(rig.dialled(), 2U);
  EXPECT_EQ(rig.wire(0).address().ip(), "192.0.2.1");
  EXPECT_EQ(rig.wire(1).address().ip(), "192.0.2.3");
  respond(accept(1), 200, "hello");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(rig.steps.size(), 1U) << "once for the attempt";
}

TEST_P(ProcessConnect, TheRequestIsDeniedIfNoAddressIsLeft) {
  Rig& rig = with({connecting(keepsNone())});
  const std::size_t index = get();
  EXPECT_EQ(rig.dialled(), 0U);
  EXPECT_EQ(status(index), 403);
  EXPECT_NE(client_->answer(index).body.find("http_request_denied"), std::string::npos);
  expectTold(403, 0);
}

TEST_P(ProcessConnect, AReplyOfAStepGoesToTheClientAndNothingIsDialled) {
  Rig& rig = with({}, {connecting(replies(429), 0, Scope::kBackend)});
  const std::size_t index = get();
  EXPECT_EQ(rig.dialled(), 0U);
  EXPECT_EQ(status(index), 429);
  EXPECT_EQ(fieldOf(answered(index), "retry-after"), "7");
  expectTold(429, 0);
}

TEST_P(ProcessConnect, APooledConnectionCountsAsConnecting) {
  bool denies = false;
  Rig& rig = with({connecting([&](Call& call) { return denies ? replies(403)(call) : Verdict::goOn(); })});
  get();
  BackendPeer& backend = accept(0);
  respond(backend, 200, "first");
  const std::size_t second = get();
  ASSERT_EQ(backend.requests(), 2U);
  respond(backend, 200, "second");
  EXPECT_EQ(status(second), 200);
  EXPECT_EQ(rig.dialled(), 1U) << "and it is used again";
  denies = true;
  const std::size_t third = get();
  EXPECT_EQ(status(third), 403);
  EXPECT_EQ(backend.requests(), 2U);
  EXPECT_EQ(rig.steps.size(), 3U);
}

TEST_P(ProcessConnect, APooledConnectionToAnAddressThatIsNotLeftIsNotTaken) {
  std::string only = "192.0.2.1";
  Rig& rig = with({connecting([&](Call& call) { return keepsOnly(only)(call); })});
  know({"192.0.2.1", "192.0.2.2"});
  get();
  BackendPeer& first = accept(0);
  respond(first, 200, "first");
  only = "192.0.2.2";
  get();
  ASSERT_EQ(rig.dialled(), 2U);
  EXPECT_EQ(rig.wire(1).address().ip(), "192.0.2.2");
  respond(accept(1), 200, "second");
  EXPECT_EQ(first.requests(), 1U);
  only = "192.0.2.1";
  get();
  EXPECT_EQ(rig.dialled(), 2U);
  EXPECT_EQ(first.requests(), 2U);
}

TEST_P(ProcessConnect, TheAddressThatStepsSawIsDialledAlthoughTheNameHasChanged) {
  Rig& rig = with({connecting(waits())});
  get();
  know({"192.0.2.66"});
  resume();
  ASSERT_EQ(rig.dialled(), 1U);
  EXPECT_EQ(rig.wire(0).address().ip(), "192.0.2.1");
}

TEST_P(ProcessConnect, AnAddressThatIsForbiddenMeanwhileIsNotDialled) {
  Rig& rig = with({connecting(waits())});
  const std::size_t index = get();
  rig.adopt("2", "backend", {"198.51.100.0/24"});
  resume();
  EXPECT_EQ(rig.dialled(), 0U);
  EXPECT_EQ(status(index), 403);
}

TEST_P(ProcessConnect, IsNotReachedWhereEveryAddressIsProhibited) {
  Rig& rig = with({connecting(watches())});
  know({"127.0.0.1", "169.254.169.254"});
  const std::size_t index = get();
  EXPECT_EQ(status(index), 403);
  EXPECT_TRUE(seen_.empty());
  EXPECT_EQ(rig.dialled(), 0U);
  ASSERT_EQ(rig.told.size(), 1U);
  EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kDestinationIpProhibited);
}

TEST_P(ProcessConnect, WaitsForTheNameToBeResolved) {
  Rig& rig = with({connecting(watches())});
  rig.resolver.forget(Rig::kHost);
  const std::size_t index = get();
  EXPECT_EQ(rig.resolver.questions, 1);
  EXPECT_TRUE(seen_.empty());
  know({"192.0.2.5"});
  rig.resolver.answer();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(seen_.size(), 1U);
  ASSERT_EQ(rig.dialled(), 1U);
  EXPECT_EQ(rig.wire(0).address().ip(), "192.0.2.5");
  respond(accept(0), 200, "hello");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(rig.resolver.questions, 1);
}

TEST_P(ProcessConnect, ANameThatCannotBeResolvedIsAnswered) {
  with({connecting(watches())});
  rig_->resolver.know(Rig::kHost, base::Error::upstream(base::ErrorType::kDnsError, "no such name"));
  const std::size_t index = get();
  passBackoff();
  EXPECT_EQ(status(index), 503);
  EXPECT_TRUE(seen_.empty());
}

TEST_P(ProcessConnect, AClientThatLeavesWhileTheNameIsAskedForLeavesNothing) {
  Rig& rig = with({connecting(watches())});
  rig.resolver.forget(Rig::kHost);
  get();
  rig.clients.back()->wire().reset();
  ASSERT_TRUE(rig.settle());
  know({"192.0.2.5"});
  rig.resolver.answer();
  EXPECT_TRUE(seen_.empty());
  EXPECT_EQ(rig.dialled(), 0U);
  EXPECT_EQ(rig.exchanges.size(), 0U);
}

TEST_P(ProcessConnect, AStepThatWaitsHoldsTheConnectionBackUntilItIsAnswered) {
  Rig& rig = with({connecting(waits(goesOn(), keepsOnly("192.0.2.2")))});
  know({"192.0.2.1", "192.0.2.2"});
  const std::size_t index = get();
  EXPECT_EQ(rig.dialled(), 0U);
  resume();
  ASSERT_EQ(rig.dialled(), 1U);
  EXPECT_EQ(rig.wire(0).address().ip(), "192.0.2.2");
  respond(accept(0), 200, "hello");
  EXPECT_EQ(status(index), 200);
  expectTold(200, 1);
}

TEST_P(ProcessConnect, AStepThatWaitsAndDeniesIsObeyed) {
  Rig& rig = with({connecting(waits(goesOn(), replies(403)))});
  const std::size_t index = get();
  resume();
  EXPECT_EQ(status(index), 403);
  EXPECT_EQ(rig.dialled(), 0U);
  expectTold(403, 0);
}

TEST_P(ProcessConnect, AStepThatWaitsTooLongFailsByItsDeadline) {
  for (const bool failsOpen : {false, true}) {
    Step slow = connecting(waits(keepsNone()));
    slow.timeout = std::chrono::seconds(3);
    Rig& rig = with({failsOpen ? open(slow) : slow});
    const std::size_t index = get();
    rig.advanceShortOf(std::chrono::seconds(3));
    EXPECT_EQ(rig.dialled(), 0U);
    EXPECT_TRUE(rig.told.empty());
    rig.advancePast();
    EXPECT_TRUE(counted("timeout", failsOpen ? "open" : "closed"));
    if (failsOpen) {
      respond(accept(0), 200, "hello");
    } else {
      EXPECT_EQ(rig.dialled(), 0U);
    }
    EXPECT_EQ(status(index), failsOpen ? 200 : 504);
    drop();  // this comes late and has no effect
    EXPECT_EQ(rig.told.size(), 1U);
    SetUp();
  }
}

TEST_P(ProcessConnect, AStepThatWillNeverBeAnsweredFails) {
  for (const bool failsOpen : {false, true}) {
    const Step dropped = connecting(waits());
    Rig& rig = with({failsOpen ? open(dropped) : dropped});
    const std::size_t index = get();
    drop();
    EXPECT_TRUE(counted("dropped", failsOpen ? "open" : "closed"));
    if (failsOpen) respond(accept(0), 200, "hello");
    EXPECT_EQ(status(index), failsOpen ? 200 : 500);
    EXPECT_EQ(rig.dialled(), failsOpen ? 1U : 0U);
    SetUp();
  }
}

TEST_P(ProcessConnect, AClientThatLeavesWhileAStepWaitsLeavesNothing) {
  Rig& rig = with({connecting(waits())});
  get();
  rig.clients.back()->wire().reset();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(rig.exchanges.size(), 0U);
  resume();
  EXPECT_EQ(rig.dialled(), 0U);
}

TEST_P(ProcessConnect, AStepThatFailsClosedRefusesTheRequest) {
  Rig& rig = with({connecting(fails())});
  const std::size_t index = get();
  EXPECT_EQ(status(index), 500);
  EXPECT_EQ(rig.dialled(), 0U);
  EXPECT_TRUE(counted("error", "closed"));
  ASSERT_EQ(rig.told.size(), 1U);
  EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kProcessorFailed);
}

TEST_P(ProcessConnect, AddressesThatAStepTookAwayAreBackIfItFailsOpen) {
  Rig& rig = with({open(connecting([](Call& call) {
                     keepsNone()(call);
                     return fails()(call);
                   })),
                   connecting(watches(), 1)});
  get();
  EXPECT_EQ(seen_, std::vector<std::string>{"backend.test:8080  [192.0.2.1]:8080"});
  BackendPeer& backend = accept(0);
  EXPECT_EQ(fieldOf(seen(backend), "x-half"), "");
  EXPECT_TRUE(counted("error", "open"));
  EXPECT_EQ(rig.dialled(), 1U);
}

TEST_P(ProcessConnect, RunsAgainForARetryWithTheAddressesOfThatTime) {
  Rig& rig = with({connecting(watches())});
  const std::size_t index = get();
  respond(accept(0), 503, "not now");
  know({"192.0.2.9"});
  passBackoff();
  EXPECT_EQ(seen_,
            (std::vector<std::string>{"backend.test:8080  [192.0.2.1]:8080", "backend.test:8080  [192.0.2.9]:8080"}));
  ASSERT_EQ(rig.dialled(), 2U);
  EXPECT_EQ(rig.wire(1).address().ip(), "192.0.2.9");
  respond(accept(1), 200, "hello");
  EXPECT_EQ(status(index), 200);
  expectTold(200, 2);
}

TEST_P(ProcessConnect, ARetryGoesToAnotherAddressThatIsLeft) {
  Rig& rig = with({connecting(keeps([](const auto& address) { return address.ip != "192.0.2.2"; }))});
  know({"192.0.2.1", "192.0.2.2", "192.0.2.3"});
  get();
  respond(accept(0), 503, "not now");
  passBackoff();
  ASSERT_EQ(rig.dialled(), 2U);
  EXPECT_EQ(rig.wire(1).address().ip(), "192.0.2.3");
}

TEST_P(ProcessConnect, StepsOfABackendThatWasNotChosenDoNotRun) {
  Rig& rig = with({}, {connecting(replies(403), 0, Scope::kBackend)}, [](routing::Rule& rule) {
    auto other = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
    other->name = "demo/other";
    other->chain = nullptr;
    rule.backends[0].weight = 0;
    rule.backends.emplace_back().backend = std::move(other);
  });
  const std::size_t index = get();
  respond(accept(0), 200, "hello");
  EXPECT_EQ(status(index), 200);
  EXPECT_TRUE(rig.steps.empty());
}

TEST_P(ProcessConnect, RunsOnceThoughABackendRequestStepHasTheConnectionTakenAgain) {
  Rig& rig = with({connecting(keepsOnly("192.0.2.2")), step("slow", Phase::kBackendRequest, waits())});
  know({"192.0.2.1", "192.0.2.2"});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.requests(), 0U);
  know({"192.0.2.66"});
  resume();
  ASSERT_EQ(backend.requests(), 1U);
  EXPECT_EQ(rig.dialled(), 1U);
  respond(backend, 200, "hello");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"at-connect", "slow"}));
}

TEST_P(ProcessConnect, ABodyGoesThroughStreamedStepsAroundIt) {
  const processing::BodyInterest pieces{processing::BodyMode::kStreamed, 0, true, false};
  const auto brackets = [](Call& call) {
    const std::string text = call.body->bytes().text();
    if (!text.empty()) call.body->replacement().append("<" + text + ">");
    return Verdict::goOn();
  };
  with({connecting(waits())}, {step("stream", Phase::kRequestBody, brackets, pieces, 0, Scope::kBackend)});
  const std::size_t index = post();
  send(index, "hello");
  resume();
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "<hello>");
  respond(backend, 200, "ok");
  EXPECT_EQ(status(index), 200);
}

}  // namespace
}  // namespace sluice::exchange
