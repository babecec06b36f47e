// A fixture of exchanges with a step that waits, of any phase and with any interest in bodies, and is answered by the
// test.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {

using http::Method;
using processing::BodyInterest;
using processing::BodyMode;
using processing::Resumer;

/// The phase in which a step runs, and its interest in the body there.
struct Spot {
  Phase phase;
  BodyMode mode;
};

/// Every place that a step may have. All tests of waits and of failures go through these.
inline const std::vector<Spot> kSpots = {{Phase::kRequestHeaders, BodyMode::kNone},
                                         {Phase::kRequestBody, BodyMode::kNone},
                                         {Phase::kRequestBody, BodyMode::kStreamed},
                                         {Phase::kRequestBody, BodyMode::kBuffered},
                                         {Phase::kConnect, BodyMode::kNone},
                                         {Phase::kBackendRequest, BodyMode::kNone},
                                         {Phase::kBackendRequest, BodyMode::kStreamed},
                                         {Phase::kBackendRequest, BodyMode::kBuffered},
                                         {Phase::kBackendResponse, BodyMode::kNone},
                                         {Phase::kBackendResponse, BodyMode::kStreamed},
                                         {Phase::kBackendResponse, BodyMode::kBuffered},
                                         {Phase::kResponseHeaders, BodyMode::kNone},
                                         {Phase::kResponseBody, BodyMode::kNone},
                                         {Phase::kResponseBody, BodyMode::kStreamed},
                                         {Phase::kResponseBody, BodyMode::kBuffered}};

inline std::string nameOf(const Spot& spot) {
  constexpr const char* kModes[] = {"none", "streamed", "buffered"};
  return std::string(processing::phaseName(spot.phase)) + ", " + kModes[static_cast<std::size_t>(spot.mode)];
}

inline Step stepAt(const Spot& spot, Work work, std::int32_t priority = 0, Scope scope = Scope::kRoute) {
  return step("step", spot.phase, std::move(work), BodyInterest{spot.mode, 0, false, false}, priority, scope);
}

class ProcessWait : public ProcessorSteps {
 protected:
  ~ProcessWait() override { forget(); }

  /// Makes a rig of its own for each spot.
  template <typename Test>
  void atEach(Test&& test) {
    for (const Spot& spot : kSpots) {
      SCOPED_TRACE(nameOf(spot));
      forget();
      SetUp();
      test(spot);
    }
  }
  /// The suspended steps are destroyed first, because they notify the rig.
  void forget() {
    const std::vector<Resumer> old = std::exchange(waiting_, {});
    asked_ = 0;
  }

  /// Makes a step that waits the first time that it runs for a request that asks for a wait, and decides `then` after
  /// that. Both are counted.
  Work waits(Work then = goesOn()) {
    return [this, then = std::move(then)](Call& call) {
      if (call.request.headers.find("x-wait") == nullptr) return Verdict::goOn();
      struct WaitingStepState {
        int times = 0;
      };
      const int before = call.state<WaitingStepState>().times++;
      if (before > 1) return Verdict::goOn();  // more of a streamed body
      ++asked_;
      if (before == 1) return then(call);
      waiting_.push_back(call.suspend());
      return Verdict::wait();
    };
  }
  /// Makes a step that waits whenever bytes, or the end, have come that it did not wait for yet; never at the head.
  Work waitsForBytes() {
    return [this](Call& call) {
      struct ByteWaiterState {
        bool waited = false;
      };
      bool& waited = call.state<ByteWaiterState>().waited;
      if (call.body->bytes().empty() && !call.body->last()) return Verdict::goOn();
      if (std::exchange(waited, !waited)) return Verdict::goOn();
      waiting_.push_back(call.suspend());
      return Verdict::wait();
    };
  }

  std::size_t askFor(test::ClientPeer& client, const std::string& body = "hello", bool waits = true, bool ends = true) {
    test::HeadSpec spec{.method = Method::kPut, .target = "/ok", .body = Body::kUntilEnd};
    if (waits) spec.fields.emplace_back("x-wait", "1");
    const std::size_t index = client.ask(spec);
    if (!body.empty()) client.body(index, body);
    if (ends) client.finish(index);
    EXPECT_TRUE(rig_->settle());
    return index;
  }
  /// Opens the connections that were dialled, and answers every request that has come whole.
  void serve() {
    for (bool moved = true; std::exchange(moved, false);) {
      while (rig_->backends.size() < rig_->dialled()) moved = accept(rig_->backends.size()).requests() < 1000;
      for (const auto& backend : rig_->backends) {
        for (std::size_t i = 0; i < backend->requests(); ++i) {
          auto& request = backend->request(i);
          if (!request.ended || request.reset || request.response.end() != http::PipeEnd::kOpen) continue;
          backend->respond(i, 200, "done");
          moved = true;
        }
      }
      EXPECT_TRUE(rig_->settle());
    }
  }
  void resume() {
    {
      const net::Worker::Turn turn(rig_->worker);
      for (Resumer& each : std::exchange(waiting_, {})) each.resume();
    }
    EXPECT_TRUE(rig_->settle());
  }
  void drop() {
    {
      const net::Worker::Turn turn(rig_->worker);
      waiting_.clear();
    }
    EXPECT_TRUE(rig_->settle());
  }
  std::string arrived(std::size_t number = 0) {
    for (const auto& backend : rig_->backends) {
      if (number < backend->requests()) return backend->request(number).body;
      number -= backend->requests();
    }
    return "none";
  }
  std::uint16_t statusOf(test::ClientPeer& client, std::size_t index) {
    return client.answer(index).answered ? client.answer(index).message.head.status : std::uint16_t{0};
  }
  void expectFailure(const Spot& spot, const std::string& reason, const std::string& outcome, int times = 1) {
    const std::string series = "sluice_processor_failures_total{type=\"acme.test/Script:v1\",phase=\"" +
                               std::string(processing::phaseName(spot.phase)) + "\",reason=\"" + reason +
                               "\",outcome=\"" + outcome + "\",namespace=\"\",serviceAccount=\"\"} ";
    const std::string page = rig_->metricsText();
    const std::size_t at = page.find(series);
    ASSERT_NE(at, std::string::npos) << series;
    EXPECT_EQ(std::stoi(page.substr(at + series.size())), times);
  }
  /// Checks that every request has come to an end, and has left nothing.
  void expectOver(std::size_t exchanges) {
    ASSERT_TRUE(rig_->settle());
    EXPECT_TRUE(rig_->quiet());
    EXPECT_EQ(rig_->told.size(), exchanges);
    EXPECT_FALSE(rig_->toldTwice);
    EXPECT_EQ(rig_->exchanges.size(), 0U);
    EXPECT_EQ(rig_->budget().requests.count(), 0U);
    EXPECT_EQ(rig_->exchanges.bufferRoom().used(), 0U);
    rig_->close();
    EXPECT_EQ(rig_->budget().connections.count(), 0U);
    EXPECT_EQ(rig_->worker.chunks().inUse(), 0U);
  }

  std::vector<Resumer> waiting_;
  int asked_ = 0;
};

}  // namespace sluice::exchange
