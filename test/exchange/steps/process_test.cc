// Tests when the steps of a rule's and its Backends' payload processors run, what they may change, and how an exchange
// ends that one of them refuses.
#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

INSTANTIATE_TEST_SUITE_P(Versions, ProcessorSteps,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessorSteps, RunInTheOrderOfPhasesAndThenOfPriorities) {
  Rig& rig =
      with({step("r-headers", Phase::kResponseHeaders, goesOn(), 5), step("late", Phase::kRequestHeaders, goesOn(), 9),
            step("early", Phase::kRequestHeaders, goesOn(), 1), step("r-request", Phase::kBackendRequest, goesOn(), 2)},
           {step("b-headers", Phase::kResponseHeaders, goesOn(), 4, Scope::kBackend),
            step("b-request", Phase::kBackendRequest, goesOn(), 1, Scope::kBackend),
            step("b-response", Phase::kBackendResponse, goesOn(), 0, Scope::kBackend),
            step("own", Phase::kRequestHeaders, goesOn(), 0, Scope::kBackend)});
  const std::size_t index = get();
  respond(accept(0), 200, "hello");
  EXPECT_EQ(client_->answer(index).body, "hello");
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"early", "late", "own", "b-request", "r-request", "b-response",
                                                 "b-headers", "r-headers"}));
  expectTold(200, 1);
}

TEST_P(ProcessorSteps, EditTheRequestAndTheResponse) {
  with({step("all", Phase::kRequestHeaders, setsRequest("x-all", "1"))},
       {step("own", Phase::kRequestHeaders, setsRequest("x-own", "2"), 0, Scope::kBackend),
        step("back", Phase::kBackendResponse, setsResponse("x-back", "3"), 0, Scope::kBackend),
        step("kept", Phase::kResponseHeaders, setsResponse("x-kept", "4"), 0, Scope::kBackend)});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  EXPECT_EQ(fieldOf(seen(backend), "x-all"), "1");
  EXPECT_EQ(fieldOf(seen(backend), "x-own"), "2");
  respond(backend, 200, "hello");
  EXPECT_EQ(fieldOf(answered(index), "x-back"), "3");
  EXPECT_EQ(fieldOf(answered(index), "x-kept"), "4");
}

TEST_P(ProcessorSteps, AFieldMeantForOneBackendNeverReachesAnother) {
  with({step("all", Phase::kRequestHeaders, setsRequest("x-all", "1"))},
       {step("secret", Phase::kRequestHeaders, setsRequest("authorization", "of the first"), 0, Scope::kBackend),
        step("more", Phase::kBackendRequest, setsRequest("x-more", "of the first"), 0, Scope::kBackend)},
       [](routing::Rule& rule) {
         auto other = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
         other->name = "demo/other";
         other->chain = nullptr;
         rule.backends[0].weight = 1'000'000;  // tried first
         rule.backends.emplace_back().backend = std::move(other);
       });
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  EXPECT_EQ(fieldOf(seen(backend), "authorization"), "of the first");
  respond(backend, 503, "not now");
  passBackoff();
  ASSERT_EQ(backend.requests(), 2U);
  EXPECT_EQ(fieldOf(seen(backend), "authorization"), "");
  EXPECT_EQ(fieldOf(seen(backend), "x-more"), "");
  EXPECT_EQ(fieldOf(seen(backend), "x-all"), "1");
  respond(backend, 200, "hello");
  EXPECT_EQ(status(index), 200);
}

TEST_P(ProcessorSteps, DoNotPutSecretsIntoCopiesOfTheRequest) {
  const auto injects = [](Call& call) {
    call.edit.add({"authorization", "of the gateway", http::FieldId::kAuthorization, http::Care::kSecret});
    return Verdict::goOn();
  };
  Rig& rig = with({step("secret", Phase::kRequestHeaders, injects)}, {}, [](routing::Rule& rule) {
    auto other = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
    other->name = "demo/mirror";
    rule.mirrors.push_back({std::move(other), 1, 1});
  });
  get();
  int meant = 0;
  int copies = 0;
  for (std::size_t wire = 0; wire < rig.dialled(); ++wire) {
    BackendPeer& backend = accept(wire);
    for (std::size_t i = 0; i < backend.requests(); ++i) {
      const bool has = backend.request(i).message.head.headers.find("authorization") != nullptr;
      (has ? meant : copies) += 1;
    }
  }
  EXPECT_EQ(meant, 1);
  EXPECT_EQ(copies, 1);
}

TEST_P(ProcessorSteps, MayReplySoThatNoBackendSeesTheRequest) {
  for (const Scope scope : {Scope::kRoute, Scope::kBackend}) {
    const Step limits = step("limits", Phase::kRequestHeaders, replies(429), 0, scope);
    Rig& rig = scope == Scope::kRoute ? with({limits}) : with({}, {limits});
    const std::size_t index = get();
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(rig.dialled(), 0U);
    EXPECT_EQ(status(index), 429);
    EXPECT_EQ(fieldOf(answered(index), "retry-after"), "7");
    EXPECT_NE(client_->answer(index).body.find("slow down"), std::string::npos);
    SetUp();
  }
}

TEST_P(ProcessorSteps, MayRefuseAResponseOfWhichNoBytePasses) {
  for (const Phase phase : {Phase::kBackendResponse, Phase::kResponseHeaders}) {
    Rig& rig = with({step("guard", phase, replies(502))});
    const std::size_t index = get();
    BackendPeer& backend = accept(0);
    backend.head(0, {.body = Body::kUntilEnd, .status = 200});
    backend.body(0, "secret");
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(status(index), 502);
    EXPECT_EQ(client_->answer(index).body.find("secret"), std::string::npos);
    EXPECT_TRUE(backend.request(0).reset);
    EXPECT_EQ(rig.steps, std::vector<std::string>{"guard"});
    SetUp();
  }
}

TEST_P(ProcessorSteps, RefuseTheRequestIfTheyFailUnlessTheyFailOpen) {
  for (const Phase phase :
       {Phase::kRequestHeaders, Phase::kBackendRequest, Phase::kBackendResponse, Phase::kResponseHeaders}) {
    Rig& rig = with({step("broken", phase, fails())});
    const std::size_t index = get();
    if (phase != Phase::kRequestHeaders) {
      BackendPeer& backend = accept(0);
      if (backend.requests() > 0) respond(backend, 200, "hello");
    }
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(status(index), 500) << processing::phaseName(phase);
    EXPECT_EQ(fieldOf(answered(index), "x-half"), "");
    ASSERT_EQ(rig.told.size(), 1U);
    EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kProcessorFailed);
    const std::string labels =
        "{type=\"acme.test/Script:v1\",phase=\"" + std::string(processing::phaseName(phase)) + "\"";
    EXPECT_NE(rig.metricsText().find("sluice_processor_failures_total" + labels +
                                     ",reason=\"error\",outcome=\"closed\",namespace=\"\",serviceAccount=\"\"} 1"),
              std::string::npos);
    SetUp();
  }
}

TEST_P(ProcessorSteps, LeaveNoTraceIfTheyFailOpen) {
  Rig& rig = with({open(step("first", Phase::kRequestHeaders, fails())),
                   open(step("second", Phase::kResponseHeaders, fails())),
                   step("third", Phase::kRequestHeaders, setsRequest("x-third", "1"), 1)});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  EXPECT_EQ(fieldOf(seen(backend), "x-half"), "");
  EXPECT_EQ(fieldOf(seen(backend), "x-third"), "1");
  respond(backend, 200, "hello");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(fieldOf(answered(index), "x-half"), "");
  EXPECT_EQ(client_->answer(index).body, "hello");
  EXPECT_NE(rig.metricsText().find(
                "phase=\"request-headers\",reason=\"error\",outcome=\"open\",namespace=\"\",serviceAccount=\"\"} 1"),
            std::string::npos);
}

TEST_P(ProcessorSteps, SeeALocalReplyInResponseHeadersOnly) {
  Rig& rig = with({step("kept", Phase::kResponseHeaders, setsResponse("x-kept", "1")),
                   step("back", Phase::kBackendResponse, goesOn())});
  const std::size_t index = ask({.target = "/broken"});
  EXPECT_EQ(status(index), 500);
  EXPECT_EQ(fieldOf(answered(index), "x-kept"), "1");
  EXPECT_EQ(rig.steps, std::vector<std::string>{"kept"});
}

TEST_P(ProcessorSteps, MayBringARetryAbout) {
  Rig& rig = with({step("judge", Phase::kBackendResponse,
                        [](Call& call) {
                          if (call.response->headers.find("x-tired") != nullptr) call.response->status = 503;
                          return Verdict::goOn();
                        }),
                   step("kept", Phase::kResponseHeaders, goesOn())});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  backend.head(0, {.fields = {{"x-tired", "1"}}, .body = Body::kNone, .status = 200});
  ASSERT_TRUE(rig.settle());
  passBackoff();
  ASSERT_EQ(backend.requests(), 2U);
  respond(backend, 200, "hello");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"judge", "judge", "kept"})) << "once, on the response that is kept";
}

}  // namespace
}  // namespace sluice::exchange
