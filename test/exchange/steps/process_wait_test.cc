// Tests that a step which waits delays its own exchange only, and no longer than the step may take, whatever happens
// meanwhile.
#include <chrono>

#include "test/exchange/steps/wait_fixture.h"

namespace sluice::exchange {
namespace {

using std::chrono::milliseconds;

INSTANTIATE_TEST_SUITE_P(Versions, ProcessWait,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessWait, AnExchangeWaitsWithItsStepAndOthersGoOn) {
  atEach([&](const Spot& spot) {
    Rig& rig = with({stepAt(spot, waits())});
    const std::size_t index = askFor(*client_);
    serve();
    EXPECT_EQ(waiting_.size(), 1U);
    EXPECT_EQ(statusOf(*client_, index), 0);
    test::ClientPeer& other = rig.connect(std::get<0>(GetParam()));
    const std::size_t passing = askFor(other, "other", false);
    serve();
    EXPECT_EQ(statusOf(other, passing), 200);
    EXPECT_EQ(statusOf(*client_, index), 0);
    resume();
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(client_->answer(index).body, "done");
    EXPECT_EQ(rig.told.size(), 2U);
    expectOver(2);
  });
}

TEST_P(ProcessWait, AStepIsAskedAgainWithItsMemoryAndTheSameBytes) {
  atEach([&](const Spot& spot) {
    std::vector<std::string> seen;
    const bool ofResponse = spot.phase >= Phase::kBackendResponse;
    with({stepAt(spot, [&, inner = waits()](Call& call) {
      if (call.body != nullptr) seen.push_back(call.body->bytes().text() + (call.body->last() ? "." : ""));
      return inner(call);
    })});
    const std::size_t index = askFor(*client_);
    serve();
    const std::vector<std::string> before = seen;
    resume();
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    const std::string text = ofResponse ? "done." : "hello.";
    if (spot.mode == BodyMode::kBuffered) {
      EXPECT_EQ(seen, (std::vector<std::string>{text, text}));
    }
    if (spot.mode == BodyMode::kStreamed) {
      EXPECT_EQ(before, std::vector<std::string>{""});
      ASSERT_GE(seen.size(), 3U);
      std::string all;
      for (const std::string& each : seen) all += each;
      EXPECT_EQ(seen[1], "");
      EXPECT_EQ(all, text);
    }
    EXPECT_EQ(asked_, 2);
    EXPECT_EQ(arrived(), "hello");
    expectOver(1);
  });
}

TEST_P(ProcessWait, AResumerThatIsDroppedFailsTheStep) {
  for (const bool isOpen : {false, true}) {
    atEach([&](const Spot& spot) {
      Step made = stepAt(spot, waits());
      made.failOpen = isOpen;
      Rig& rig = with({made});
      const std::size_t index = askFor(*client_);
      serve();
      drop();
      serve();
      EXPECT_EQ(statusOf(*client_, index), isOpen ? 200 : 500);
      if (isOpen) {
        EXPECT_EQ(arrived(), "hello");
        EXPECT_EQ(client_->answer(index).body, "done");
      }
      EXPECT_EQ(asked_, 1);
      expectFailure(spot, "dropped", isOpen ? "open" : "closed");
      ASSERT_EQ(rig.told.size(), 1U);
      if (!isOpen) {
        EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kProcessorFailed);
      }
      expectOver(1);
    });
  }
}

TEST_P(ProcessWait, AStepHasItsTimeAndNoMore) {
  for (const bool isOpen : {false, true}) {
    for (const milliseconds own : {milliseconds(0), milliseconds(3000)}) {
      atEach([&](const Spot& spot) {
        Step made = stepAt(spot, waits());
        made.failOpen = isOpen;
        made.timeout = own;
        Rig& rig = with({made});
        const std::size_t index = askFor(*client_);
        serve();
        const base::Duration time = own == milliseconds(0) ? options_.timeouts.processor : own;
        rig.advanceShortOf(time);
        EXPECT_EQ(statusOf(*client_, index), 0);
        EXPECT_TRUE(rig.told.empty());
        rig.advancePast();
        serve();
        EXPECT_EQ(statusOf(*client_, index), isOpen ? 200 : 504);
        if (isOpen) {
          EXPECT_EQ(arrived(), "hello");
          EXPECT_EQ(client_->answer(index).body, "done");
        }
        expectFailure(spot, "timeout", isOpen ? "open" : "closed");
        ASSERT_EQ(rig.told.size(), 1U);
        if (!isOpen) {
          EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kProcessorTimeout);
          EXPECT_EQ(rig.told[0].error->limit, "processor");
        }
        EXPECT_EQ(std::count(rig.limits.begin(), rig.limits.end(), "processor"), 1);
        resume();  // too late
        EXPECT_EQ(asked_, 1);
        expectFailure(spot, "timeout", isOpen ? "open" : "closed");
        expectOver(1);
      });
    }
  }
}

TEST_P(ProcessWait, AnAnswerThatComesLateDoesNothingWhileTheExchangeGoesOnWithoutTheStep) {
  atEach([&](const Spot& spot) {
    Rig& rig = with({open(stepAt(spot, waits())), stepAt(spot, waits(), 1)});
    const std::size_t index = askFor(*client_);
    serve();
    rig.advance(options_.timeouts.processor);
    rig.advancePast();
    ASSERT_EQ(waiting_.size(), 2U) << "the first is skipped, the second waits";
    const Resumer second = std::move(waiting_.back());
    waiting_.pop_back();
    resume();
    EXPECT_EQ(statusOf(*client_, index), 0) << "the first one's answer is not the second's";
    EXPECT_EQ(asked_, 2);
    forget();
  });
}

TEST_P(ProcessWait, AnAnswerMayOutliveTheExchange) {
  atEach([&](const Spot& spot) {
    Rig& rig = with({stepAt(spot, waits())});
    askFor(*client_);
    serve();
    client_->wire().reset();
    ASSERT_TRUE(rig.settle());
    ASSERT_EQ(rig.told.size(), 1U);
    EXPECT_EQ(rig.exchanges.size(), 0U);
    test::ClientPeer& other = rig.connect(std::get<0>(GetParam()));
    askFor(other, "again");  // in the same place of the table
    serve();
    ASSERT_EQ(waiting_.size(), 2U);
    Resumer second = std::move(waiting_.back());
    waiting_.pop_back();
    resume();
    EXPECT_EQ(rig.told.size(), 1U);
    EXPECT_EQ(asked_, 2);
    waiting_.push_back(std::move(second));
    resume();
    serve();
    EXPECT_EQ(asked_, 3);
    expectOver(2);
  });
}

TEST_P(ProcessWait, AStepMayBeAnsweredWhileItIsAsked) {
  atEach([&](const Spot& spot) {
    int asked = 0;
    Rig& rig = with({stepAt(spot, [&asked](Call& call) {
      if (++asked > 1) return Verdict::goOn();
      call.suspend().resume();
      return Verdict::wait();
    })});
    const std::size_t index = askFor(*client_);
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(client_->answer(index).body, "done");
    EXPECT_EQ(arrived(), "hello");
    EXPECT_GE(asked, 2);
    EXPECT_EQ(rig.metricsText().find("sluice_processor_failures_total{"), std::string::npos);
    expectOver(1);
  });
}

TEST_P(ProcessWait, AStepThatAnswersItselfForEverEndsItsExchange) {
  atEach([&](const Spot& spot) {
    Rig& rig = with({stepAt(spot, [](Call& call) {
      call.suspend().resume();
      return Verdict::wait();
    })});
    const std::size_t index = askFor(*client_);
    serve();
    EXPECT_EQ(statusOf(*client_, index), 500);
    ASSERT_EQ(rig.told.size(), 1U);
    EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kProxyInternalError);
    expectOver(1);
  });
}

TEST_P(ProcessWait, AnAnswerMayBeDroppedWhileTheStepIsAsked) {
  for (const bool isOpen : {false, true}) {
    atEach([&](const Spot& spot) {
      Step made = stepAt(spot, [](Call& call) {
        call.suspend();
        return Verdict::wait();
      });
      made.failOpen = isOpen;
      with({made});
      const std::size_t index = askFor(*client_);
      serve();
      EXPECT_EQ(statusOf(*client_, index), isOpen ? 200 : 500);
      expectFailure(spot, "dropped", isOpen ? "open" : "closed");
      expectOver(1);
    });
  }
}

TEST_P(ProcessWait, AStepThatWaitsForNothingFails) {
  atEach([&](const Spot& spot) {
    with({stepAt(spot, [](Call&) { return Verdict::wait(); })});
    const std::size_t index = askFor(*client_);
    serve();
    EXPECT_EQ(statusOf(*client_, index), 500);
    expectFailure(spot, "error", "closed");
    expectOver(1);
  });
}

TEST_P(ProcessWait, AStepThatAskedForAnAnswerAndDecidedWithoutItIsNotAskedAgain) {
  atEach([&](const Spot& spot) {
    int asked = 0;
    with({stepAt(spot, [&](Call& call) {
      if (++asked == 1) waiting_.push_back(call.suspend());
      return Verdict::goOn();
    })});
    const std::size_t index = askFor(*client_);
    serve();
    const int before = asked;
    resume();
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(asked, before);
    expectOver(1);
  });
}

TEST_P(ProcessWait, AResumerThatAStepKeepsInItsMemoryGoesWithIt) {
  atEach([&](const Spot& spot) {
    Rig& rig = with({stepAt(spot, [](Call& call) {
      call.state<Resumer>() = call.suspend();
      return Verdict::wait();
    })});
    askFor(*client_);
    serve();
    client_->wire().reset();
    ASSERT_TRUE(rig.settle());
    expectOver(1);
  });
}

TEST_P(ProcessWait, AResumedStepMayAnswerOrFail) {
  atEach([&](const Spot& spot) {
    with({stepAt(spot, waits(replies(429)))});
    const std::size_t index = askFor(*client_);
    serve();
    resume();
    EXPECT_EQ(statusOf(*client_, index), 429);
    EXPECT_EQ(fieldOf(answered(index), "retry-after"), "7");
    expectOver(1);
    forget();
    SetUp();
    with({stepAt(spot, waits([](Call&) { return Verdict::fail("it broke"); }))});
    const std::size_t other = askFor(*client_);
    serve();
    resume();
    EXPECT_EQ(statusOf(*client_, other), 500);
    expectFailure(spot, "error", "closed");
    expectOver(1);
  });
}

TEST_P(ProcessWait, AClientThatLeavesMeanwhileEndsTheExchange) {
  for (const bool cancels : {false, true}) {
    if (cancels && std::get<0>(GetParam()) == Version::kHttp11) continue;  // HTTP/1.1 cannot cancel a request
    atEach([&](const Spot& spot) {
      for (const bool ends : {true, false}) {
        if (!ends && spot.mode == BodyMode::kBuffered) continue;
        const bool needsEnd = spot.phase >= Phase::kBackendResponse;
        Rig& rig = with({stepAt(spot, waits())});
        const std::size_t index = askFor(*client_, "hello", true, ends || needsEnd);
        serve();
        ASSERT_EQ(waiting_.size(), 1U);
        if (cancels) {
          client_->cancel(index);
        } else {
          client_->wire().reset();
        }
        ASSERT_TRUE(rig.settle());
        EXPECT_EQ(rig.exchanges.size(), 0U);
        resume();
        EXPECT_EQ(asked_, 1);
        expectOver(1);
        forget();
        SetUp();
      }
    });
  }
}

TEST_P(ProcessWait, TheEndOfTheProgramDoesNotWait) {
  atEach([&](const Spot& spot) {
    Rig& rig = with({stepAt(spot, waits())});
    askFor(*client_);
    serve();
    ASSERT_EQ(waiting_.size(), 1U);
    rig.close();
    EXPECT_EQ(rig.exchanges.size(), 0U);
    EXPECT_EQ(rig.worker.chunks().inUse(), 0U);
    EXPECT_EQ(rig.exchanges.bufferRoom().used(), 0U);
    EXPECT_EQ(rig.told.size(), 1U);
    resume();
    EXPECT_EQ(asked_, 1);
  });
}

TEST_P(ProcessWait, TheDeadlineOfTheRequestHoldsForItsSteps) {
  atEach([&](const Spot& spot) {
    options_.timeouts.request = milliseconds(500);
    Step made = stepAt(spot, waits());
    made.timeout = milliseconds(2000);
    Rig& rig = with({open(made)});
    const std::size_t index = askFor(*client_);
    serve();
    rig.advanceShortOf(milliseconds(500));
    EXPECT_EQ(statusOf(*client_, index), 0);
    rig.advancePast();
    EXPECT_EQ(statusOf(*client_, index), 504);
    ASSERT_EQ(rig.told.size(), 1U);
    EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kHttpResponseTimeout);
    resume();
    EXPECT_EQ(asked_, spot.phase == Phase::kResponseHeaders ? 2 : 1) << "that of the gateway's answer";
    expectOver(1);
  });
}

TEST_P(ProcessWait, TheGatewaysOwnAnswerPassesByAStepThatWaitsAndGoesThroughThoseBehindIt) {
  with({step("first", Phase::kResponseHeaders, setsResponse("x-first", "1")),
        step("waiting", Phase::kResponseHeaders, waits()), step("also", Phase::kResponseHeaders, waits()),
        step("last", Phase::kResponseHeaders, setsResponse("x-last", "1"))});
  const std::size_t index = ask({.target = "/broken", .fields = {{"x-wait", "1"}}});
  EXPECT_EQ(statusOf(*client_, index), 500);
  EXPECT_EQ(waiting_.size(), 2U);
  EXPECT_EQ(fieldOf(answered(index), "x-first"), "1");
  EXPECT_EQ(fieldOf(answered(index), "x-last"), "1");
  resume();
  EXPECT_EQ(asked_, 2) << "nobody asks them again";
  expectOver(1);
}

TEST_P(ProcessWait, ABackendThatIsLostMeanwhileEndsStepsOfItsResponse) {
  for (const Spot& spot : kSpots) {
    if (spot.phase < Phase::kBackendResponse || spot.mode == BodyMode::kBuffered) continue;
    SCOPED_TRACE(nameOf(spot));
    forget();
    SetUp();
    Rig& rig = with({stepAt(spot, waits())}, {}, [](routing::Rule& rule) { rule.retry.reset(); });
    const std::size_t index = askFor(*client_);
    BackendPeer& backend = accept(0);
    backend.head(0, {.body = Body::kUntilEnd, .status = 200});
    backend.body(0, "do");
    ASSERT_TRUE(rig.settle());
    ASSERT_EQ(waiting_.size(), 1U);
    backend.wire().reset();
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(statusOf(*client_, index), 502);
    resume();
    EXPECT_EQ(asked_, spot.phase == Phase::kResponseHeaders ? 2 : 1) << "that of the gateway's answer";
    expectOver(1);
  }
}

TEST_P(ProcessWait, AConnectionThatWasLeasedServesOthersWhileAStepOfItWaits) {
  for (const Spot& spot : kSpots) {
    if (spot.phase != Phase::kBackendRequest) continue;
    SCOPED_TRACE(nameOf(spot));
    forget();
    SetUp();
    options_.maxConnections = 1;
    Rig& rig = with({stepAt(spot, waits())});
    const std::size_t index = askFor(*client_);
    serve();
    ASSERT_EQ(waiting_.size(), 1U);
    test::ClientPeer& other = rig.connect(std::get<0>(GetParam()));
    const std::size_t passing = askFor(other, "other", false);
    serve();
    EXPECT_EQ(statusOf(other, passing), 200);
    EXPECT_EQ(rig.dialled(), 1U);
    resume();
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(rig.dialled(), 1U);
    EXPECT_EQ(arrived(1), "hello");
    ASSERT_EQ(rig.told.size(), 2U);
    EXPECT_EQ(rig.told[1].attempts, 1U) << "what it did not send was no attempt";
    expectOver(2);
  }
}

TEST_P(ProcessWait, AConnectionThatGoesWhileAStepWaitsIsReplaced) {
  for (const Spot& spot : kSpots) {
    if (spot.phase != Phase::kBackendRequest) continue;
    SCOPED_TRACE(nameOf(spot));
    forget();
    SetUp();
    Rig& rig = with({stepAt(spot, waits())});
    const std::size_t index = askFor(*client_);
    serve();
    ASSERT_EQ(waiting_.size(), 1U);
    rig.wire(0).reset();
    ASSERT_TRUE(rig.settle());
    resume();
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(rig.dialled(), 2U);
    EXPECT_EQ(arrived(0), "hello");
    EXPECT_EQ(asked_, 2);
    expectOver(1);
  }
}

TEST_P(ProcessWait, EachAttemptHasItsOwnWaitAndForgetsEarlierOnes) {
  for (const Spot& spot : kSpots) {
    if (spot.phase != Phase::kBackendRequest && spot.phase != Phase::kBackendResponse) continue;
    SCOPED_TRACE(nameOf(spot));
    forget();
    SetUp();
    Rig& rig = with({stepAt(spot, waits())});
    const std::size_t index = askFor(*client_);
    BackendPeer& backend = accept(0);
    if (spot.phase == Phase::kBackendRequest) resume();
    ASSERT_EQ(backend.requests(), 1U);
    respond(backend, 503, "not now");
    if (spot.phase == Phase::kBackendResponse) resume();
    passBackoff();
    if (spot.phase == Phase::kBackendResponse) {
      ASSERT_EQ(backend.requests(), 2U);
      respond(backend, 200, "done");
    }
    EXPECT_EQ(waiting_.size(), 1U);
    EXPECT_EQ(asked_, 3);
    resume();
    serve();
    EXPECT_EQ(asked_, 4);
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(backend.request(0).body, "hello");
    EXPECT_EQ(backend.request(1).body, "hello");
    EXPECT_EQ(rig.told.at(0).attempts, 2U);
    expectOver(1);
  }
}

}  // namespace
}  // namespace sluice::exchange
