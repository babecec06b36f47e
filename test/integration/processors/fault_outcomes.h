// The peers around a gateway whose processors fail on command, and the checks of the outcome that an oracle predicts:
// an exchange that is refused or cut is seen to be so on both sides, and one that goes on is byte-exact.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/faults/whole_peers.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {

/// The expected outcome of an exchange.
struct FaultOutcome {
  enum class Kind : std::uint8_t {
    kWhole,    // as if there were no processor
    kRefused,  // the client gets an answer of the gateway
    kCut,      // the client has the head of the Backend's answer, and sees that the body is broken off
    kRefusedOrCut
  };
  Kind kind = Kind::kWhole;
  bool fails = false;          // a step has failed
  int status = 200;            // of the gateway's answer, if it refuses
  int otherStatus = 0;         // one that it may have as well; 0 if it may not
  bool mayReachOrigin = true;  // the head of the request may, when the request does not go on
};

class OutcomeChecks : public testing::Test {
 protected:
  /// Ends everything, and checks the results that are known only then.
  void finish() {
    EXPECT_TRUE(eventually([&] { return gateway_->metric("http_server_active_requests{") == 0; }));
    EXPECT_EQ(failuresCounted("open"), failedOpen_);
    EXPECT_EQ(failuresCounted("closed"), failedClosed_);
    clients_ = {};
    gateway_.reset();
    origin_.stop();
    for (const Refused& each : refused_) {
      const auto heard = origin_.heard(each.number);
      if (!heard) continue;
      EXPECT_TRUE(each.mayReachOrigin) << each.name;
      EXPECT_FALSE(heard->isWhole) << each.name;
    }
  }

  WholeClient& client(bool isHttp2) {
    auto& it = clients_[isHttp2 ? 1 : 0];
    if (it == nullptr) it = std::make_unique<WholeClient>(gateway_->port(), isHttp2);
    return *it;
  }

  /// Returns the next request, with a body of that size in one of the two ways. Without one, only `hasBody` makes an
  /// empty body of it.
  PeerRequest requestFor(const std::string& path, bool ofRequest, bool hasBody, std::size_t size) {
    PeerRequest request;
    request.number = ++number_;
    request.path = path;
    // An empty body is one only if its length is not stated.
    const PeerFraming ofEmpty = hasBody ? PeerFraming::kChunked : PeerFraming::kNone;
    const PeerFraming ofOther = number_ % 4 < 2 ? PeerFraming::kLength : PeerFraming::kChunked;
    const PeerFraming framing = size == 0 ? ofEmpty : ofOther;
    if (ofRequest) {
      request.framing = framing;
      request.body = patternOf(size);
      request.answerSize = 4;
    } else {
      request.answerFraming = framing;
      request.answerSize = size;
    }
    return request;
  }

  /// Checks an exchange that does not go on.
  void checkRefused(const std::string& name, bool ofRequest, const FaultOutcome& expected, const PeerRequest& request,
                    const PeerMessage& answer) {
    ++failedClosed_;
    if (ofRequest) refused_.push_back({request.number, expected.mayReachOrigin, name});
    const bool isCut = expected.kind == FaultOutcome::Kind::kCut ||
                       (expected.kind == FaultOutcome::Kind::kRefusedOrCut && answer.status == 200);
    const bool isOther = !isCut && answer.status == expected.otherStatus;
    EXPECT_EQ(answer.status, isCut ? 200 : isOther ? expected.otherStatus : expected.status);
    EXPECT_EQ(answer.isWhole, !isCut);
    if (isCut) {
      EXPECT_LE(answer.body.size(), request.answerSize);
    } else {
      EXPECT_NE(answer.body.find("\"code\""), std::string::npos) << answer.body;
    }
  }
  /// Checks that the origin has got the one body, and the client the other one.
  void checkBodies(const PeerRequest& request, const PeerMessage& answer, const std::string& sent,
                   const std::string& said) {
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.isWhole);
    EXPECT_TRUE(answer.body == said) << answer.body.size() << " bytes came";
    const auto heard = origin_.heard(request.number);
    ASSERT_TRUE(heard);
    EXPECT_TRUE(heard->isWhole);
    EXPECT_TRUE(heard->body == sent) << heard->body.size() << " bytes came to the origin";
  }

  /// Returns how many steps have failed with that outcome and, if it is given, for that reason.
  int failuresCounted(const std::string& outcome, const std::string& reason = {}) const {
    double sum = 0;
    std::istringstream page(gateway_->metrics());
    for (std::string line; std::getline(page, line);) {
      const bool counts = line.starts_with("sluice_processor_failures_total{") &&
                          line.find("outcome=\"" + outcome + "\"") != std::string::npos &&
                          line.find("reason=\"" + reason) != std::string::npos;
      if (counts) sum += std::stod(line.substr(line.rfind(' ')));
    }
    return static_cast<int>(sum);
  }

  /// Returns routes with these rules, which are given as lines.
  static std::string routesOf(const std::vector<std::string>& rules) {
    constexpr std::size_t kMostRules = 16;  // of one route
    std::string all;
    for (std::size_t at = 0; at < rules.size(); at += kMostRules) {
      std::string ofRoute;
      for (std::size_t i = at; i < std::min(rules.size(), at + kMostRules); ++i) ofRoute += rules[i];
      all += std::string(at == 0 ? "" : "---\n") + routeOfRules(ofRoute, "r" + std::to_string(at));
    }
    return all;
  }

  struct Refused {
    int number;
    bool mayReachOrigin;
    std::string name;
  };

  WholeOrigin origin_;
  std::unique_ptr<GatewayProcess> gateway_;
  std::array<std::unique_ptr<WholeClient>, 2> clients_;
  std::vector<Refused> refused_;
  int number_ = 0;
  int failedOpen_ = 0;
  int failedClosed_ = 0;
};

}  // namespace sluice::test
