// Steps fail in every way, at every point and with every interest in the body, against an oracle: a failure is reported
// and counted once, and an exchange that goes on is byte-exact.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "test/exchange/steps/wait_fixture.h"

namespace sluice::exchange {
namespace {

enum class Fault { kError, kTimeout, kOverLimit, kDropped, kLate };
/// The point of a streamed body at which a step fails. Steps of other bodies run once.
enum class Point { kHead, kFirst, kMiddle, kEnd };

struct StepFailure {
  Spot spot;
  Fault fault;
  bool open;
  std::size_t size;
  Point point;
  bool changes;  // the step edits its input before it fails and when it does
};

constexpr std::array kFaultNames = {"error", "timeout", "over limit", "dropped", "late"};
constexpr std::array kPointNames = {"head", "first piece", "middle", "end"};

std::string caseName(const StepFailure& each) {
  return nameOf(each.spot) + ", " + kFaultNames[static_cast<std::size_t>(each.fault)] + " at the " +
         kPointNames[static_cast<std::size_t>(each.point)] + (each.open ? ", open, " : ", closed, ") +
         std::to_string(each.size) + " bytes" + (each.changes ? ", changed" : "");
}

bool ofResponse(const StepFailure& each) { return each.spot.phase >= Phase::kBackendResponse; }

// --- the oracle: the result that the contract alone calls for ---------------------------------------------------

struct Expected {
  bool whole = false;        // everything goes on as if the step did not exist
  bool cut = false;          // the client has got the head of the response, and then its connection breaks
  std::uint16_t status = 0;  // the status that the client sees
  base::ErrorType error{};   // unless whole
  std::string reason;
  bool unreplayable = false;
  bool halfHead = false;  // the head that went on has the step's edits, because the step had answered to the head
};

Expected oracle(const StepFailure& each) {
  Expected expected;
  const bool isStreamed = each.spot.mode == BodyMode::kStreamed;
  const bool begun = isStreamed && each.point != Point::kHead;
  const bool changedBefore =
      each.changes && isStreamed &&
      ((each.point == Point::kEnd && each.size > 0) || (each.point == Point::kMiddle && each.size > 1));
  expected.unreplayable = each.open && changedBefore;
  expected.whole = each.open && !expected.unreplayable;
  expected.halfHead = begun;
  switch (each.fault) {
    case Fault::kError:
      expected.reason = "error";
      break;
    case Fault::kDropped:
      expected.reason = "dropped";
      break;
    case Fault::kTimeout:
    case Fault::kLate:
      expected.reason = "timeout";
      break;
    case Fault::kOverLimit:
      expected.reason = "over_limit";
      break;
  }
  if (expected.whole) {
    expected.status = 200;
    return expected;
  }
  const bool isLate = expected.reason == "timeout";
  expected.status = isLate ? 504 : 500;
  expected.error = isLate ? base::ErrorType::kProcessorTimeout : base::ErrorType::kProcessorFailed;
  if (each.fault == Fault::kOverLimit) {
    expected.status = ofResponse(each) ? 502 : 413;
    expected.error = ofResponse(each) ? base::ErrorType::kHttpProtocolError : base::ErrorType::kHttpRequestError;
  }
  expected.cut = ofResponse(each) && begun;
  if (expected.cut) expected.status = 200;
  return expected;
}

// --- the cases -------------------------------------------------------------------------------------------------

constexpr std::size_t kMedium = std::size_t{64} * 1024;
constexpr std::size_t kLarge = std::size_t{2} * 1024 * 1024;  // more than any window

/// Returns the points that bodies of that size have.
std::vector<Point> pointsOf(const Spot& spot, std::size_t size) {
  if (spot.mode != BodyMode::kStreamed) return {Point::kHead};
  if (size == 0) return {Point::kHead, Point::kEnd};
  if (size == 1) return {Point::kHead, Point::kFirst, Point::kEnd};
  return {Point::kHead, Point::kFirst, Point::kMiddle, Point::kEnd};
}

/// Returns all cases, except that large bodies have two for each spot and each point, by turns that begin at `turn`.
std::vector<StepFailure> cases(std::size_t turn) {
  std::vector<StepFailure> all;
  for (const Spot& spot : kSpots) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kMedium, kLarge}) {
      for (const Point point : pointsOf(spot, size)) {
        std::vector<StepFailure> ofPoint;
        for (const Fault fault : {Fault::kError, Fault::kTimeout, Fault::kOverLimit, Fault::kDropped, Fault::kLate}) {
          if (fault == Fault::kOverLimit && (spot.mode != BodyMode::kBuffered || size == 0)) continue;
          for (const bool isOpen : {true, false}) {
            ofPoint.push_back({spot, fault, isOpen, size, point, false});
            if (spot.mode != BodyMode::kNone && fault != Fault::kOverLimit) {
              ofPoint.push_back({spot, fault, isOpen, size, point, true});
            }
          }
        }
        if (size < kLarge) {
          all.insert(all.end(), ofPoint.begin(), ofPoint.end());
        } else {
          for (int i = 0; i < 2; ++i) all.push_back(ofPoint[turn++ * 5 % ofPoint.size()]);
        }
      }
    }
  }
  return all;
}

const std::string& bodyOf(std::size_t size) {
  static std::map<std::size_t, std::string> bodies;
  std::string& body = bodies[size];
  for (std::size_t i = body.size(); i < size; ++i) body += static_cast<char>('a' + (i * 7 + i / 1021) % 23);
  return body;
}

class ProcessMatrix : public ProcessWait {
 protected:
  /// Makes a step that edits, if the case wants that, and fails at the point that the case names.
  Work failing(const StepFailure& each) {
    return [this, each](Call& call) {
      struct FailingStepState {
        int asked = 0;
        std::size_t seen = 0;
        bool waited = false;
      };
      FailingStepState& memory = call.state<FailingStepState>();
      if (memory.waited) return Verdict::goOn();  // a step that has failed is not run again
      if (memory.asked++ == 0) doHalf(call);
      if (call.body != nullptr) memory.seen += call.body->bytes().size();
      if (each.changes && call.body != nullptr && !call.body->bytes().empty()) {
        call.body->change().consume(1);
        call.body->change().append("?");
      }
      if (!isDue(each, call, memory.asked, memory.seen)) return Verdict::goOn();
      if (each.fault == Fault::kError) return Verdict::fail("it broke");
      memory.waited = true;
      waiting_.push_back(call.suspend());
      return Verdict::wait();
    };
  }
  static bool isDue(const StepFailure& each, const Call& call, int asked, std::size_t seen) {
    if (each.spot.mode != BodyMode::kStreamed) return true;
    switch (each.point) {
      case Point::kHead:
        return asked == 1;
      case Point::kFirst:
        return seen > 0;
      case Point::kMiddle:
        return seen > each.size / 2;
      case Point::kEnd:
        return call.body->last();
    }
    return false;
  }

  void makeRig(const StepFailure& each) {
    forget();
    SetUp();
    options_.bounds.processorBuffer = 2 * kLarge;
    if (each.fault == Fault::kOverLimit) options_.bounds.processorBuffer = each.size - 1;
    Step made = stepAt(each.spot, failing(each));
    made.body.edits = each.changes;
    made.failOpen = each.open;
    with({made}, {}, [](routing::Rule& rule) { rule.retry.reset(); });
  }
  /// Moves everything, and answers a step that waits as the case wants.
  void move(const StepFailure& each) {
    ASSERT_TRUE(rig_->settle());
    while (rig_->backends.size() < rig_->dialled()) accept(rig_->backends.size());
    while (!waiting_.empty()) {
      if (each.fault == Fault::kDropped) {
        drop();
      } else {
        rig_->advance(options_.timeouts.processor);
        rig_->advancePast();
        if (each.fault == Fault::kLate) {
          resume();
        } else {
          std::move(waiting_.begin(), waiting_.end(), std::back_inserter(late_));
          waiting_.clear();
        }
      }
      while (rig_->backends.size() < rig_->dialled()) accept(rig_->backends.size());
    }
  }
  void exchange(const StepFailure& each) {
    const std::string& body = bodyOf(each.size);
    const auto pieces = std::array{std::string_view(body).substr(0, (each.size + 1) / 2),
                                   std::string_view(body).substr((each.size + 1) / 2)};
    index_ = client_->ask(ofResponse(each)
                              ? test::HeadSpec{.target = "/ok"}
                              : test::HeadSpec{.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
    move(each);
    if (!ofResponse(each)) {
      for (const std::string_view piece : pieces) {
        if (!piece.empty()) client_->body(index_, piece);
        move(each);
      }
      client_->finish(index_);
      move(each);
      if (served() != nullptr && served()->ended && !served()->reset) backend().respond(0, 200, "done");
      return move(each);
    }
    ASSERT_NE(served(), nullptr);
    backend().head(0, {.body = Body::kUntilEnd, .status = 200});
    move(each);
    for (const std::string_view piece : pieces) {
      if (!piece.empty()) backend().body(0, piece);
      move(each);
    }
    backend().finish(0);
    move(each);
  }
  BackendPeer& backend() { return *rig_->backends.at(0); }
  /// Returns null if no Backend has seen the request.
  test::RecordingServerSink::RecordedRequest* served() {
    return rig_->backends.empty() || backend().requests() == 0 ? nullptr : &backend().request(0);
  }

  void check(const StepFailure& each) {
    const Expected expected = oracle(each);
    const auto& answer = client_->answer(index_);
    EXPECT_EQ(statusOf(*client_, index_), expected.status);
    EXPECT_EQ(answer.ended, !expected.cut);
    EXPECT_EQ(answer.reset, expected.cut);
    ASSERT_EQ(rig_->told.size(), 1U);
    EXPECT_EQ(rig_->told[0].error.has_value(), !expected.whole);
    if (rig_->told[0].error) {
      EXPECT_EQ(rig_->told[0].error->type, expected.error);
    }
    expectFailure(each.spot, expected.reason, expected.whole ? "open" : "closed");
    EXPECT_EQ(count("sluice_processor_failures_total{"), 1U);
    EXPECT_EQ(count("sluice_processor_unreplayable_total{"), expected.unreplayable ? 1U : 0U);
    EXPECT_EQ(rig_->steps.size(), 1U);
    if (expected.whole) {
      checkWhole(each, expected);
    } else {
      checkCut(each);
    }
  }
  void checkWhole(const StepFailure& each, const Expected& expected) {
    ASSERT_NE(served(), nullptr);
    const auto& answer = client_->answer(index_);
    const std::string& got = ofResponse(each) ? answer.body : served()->body;
    EXPECT_TRUE(got == bodyOf(each.size)) << got.size() << " bytes came";
    EXPECT_TRUE(served()->ended);
    if (!ofResponse(each)) {
      EXPECT_EQ(answer.body, "done");
    }
    const http::Headers& headers = ofResponse(each) ? answer.message.head.headers : served()->message.head.headers;
    EXPECT_EQ(fieldOf(headers, "x-half"), expected.halfHead ? "done" : "");
  }
  /// Checks that no message that is not whole is taken for whole.
  void checkCut(const StepFailure& each) {
    if (ofResponse(each)) {
      if (client_->answer(index_).message.head.status != 200) {
        EXPECT_EQ(fieldOf(answered(index_), "x-half"), "");
        EXPECT_NE(client_->answer(index_).body.find("\"code\""), std::string::npos);
      }
    } else if (served() != nullptr) {
      EXPECT_FALSE(served()->ended);
    }
  }
  std::size_t count(std::string_view series) const {
    const std::string page = rig_->metricsText();
    std::size_t found = 0;
    for (std::size_t at = page.find(series); at != std::string::npos; at = page.find(series, at + 1)) ++found;
    return found;
  }

  std::vector<Resumer> late_;  // resumed only after the exchange is gone
  std::size_t index_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Versions, ProcessMatrix,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessMatrix, AFailureIsCountedOnceAndTheExchangeThatGoesOnIsByteExact) {
  const std::size_t versions =
      (std::get<0>(GetParam()) == Version::kHttp2 ? 2 : 0) + (backendVersion() == Version::kHttp2);
  for (const StepFailure& each : cases(versions)) {
    SCOPED_TRACE(caseName(each));
    late_.clear();
    makeRig(each);
    exchange(each);
    check(each);
    late_.clear();
    forget();
    expectOver(1);
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace sluice::exchange
