// Tests Expect: 100-continue on the wire, between clients and origins of both versions: the origin decides whether a
// body is sent, or the gateway if the origin is silent or a step needs the body before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kUpload = R"({"model":"m"})";

/// Uploads one body, and is in no hurry to send it.
class WaitingUploader {
 public:
  WaitingUploader(const GatewayProcess& gateway, bool http2) {
    if (http2) {
      h2_.emplace(gateway.port());
      H2Lines lines = h2::post("/up");
      lines.emplace_back("expect", "100-continue");
      lines.emplace_back("content-type", "application/json");
      lines.emplace_back("content-length", std::to_string(kUpload.size()));
      h2_->send(h2::headers(1, lines, false));
    } else {
      h1_ = BlockingSocket::connect(gateway.port());
      h1_.send(
          "POST /up HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: " +
          std::to_string(kUpload.size()) + "\r\n\r\n");
    }
  }

  /// Returns the status of the next head, whether or not it is final.
  std::string nextStatus() {
    if (!h2_) {
      head_ = h1_.readUntil("\r\n\r\n");
      return head_.size() > 12 ? head_.substr(9, 3) : head_;
    }
    ++wanted_;
    h2_->readUntil([this] { return statuses().size() >= wanted_; });
    return statuses().size() >= wanted_ ? statuses()[wanted_ - 1] : "";
  }
  void sendBody() {
    if (h2_) {
      h2_->send(h2::data(1, kUpload, true));
    } else {
      h1_.send(kUpload);
    }
  }
  /// Returns true if the connection takes another request, as far as the client was told.
  bool goesOn() const { return h2_ ? !h2_->closed() : head_.find("connection: close\r\n") == std::string::npos; }

 private:
  std::vector<std::string> statuses() const {
    std::vector<std::string> all;
    for (const H2Frame& frame : h2_->seen().frames()) {
      if (frame.type == H2Type::kHeaders && frame.stream == 1) all.push_back(frame.value(":status"));
    }
    return all;
  }

  BlockingSocket h1_;
  std::optional<H2Client> h2_;
  std::string head_;
  std::size_t wanted_ = 0;
};

/// One request as an origin of either version gets it.
class TakenUpload {
 public:
  TakenUpload(BlockingSocket& socket, RawOrigin& self, bool http2) : self_(self) {
    if (http2) {
      h2_.emplace(std::move(socket));
    } else {
      h1_ = &socket;
    }
  }

  /// Waits for the next request; returns false if the peer ended.
  bool begins() {
    if (!h2_) return !(head_ = self_.readHead(*h1_)).empty();
    stream_ = stream_ == 0 ? 1 : stream_ + 2;
    return h2_->readFrame(H2Type::kHeaders, stream_);
  }
  bool expects() const {
    if (!h2_) return head_.find("\r\nexpect: 100-continue\r\n") != std::string::npos;
    return h2_->seen().find(H2Type::kHeaders, stream_)->value("expect") == "100-continue";
  }
  void proceed() {
    if (h2_) {
      h2_->send(h2::headers(stream_, {{":status", "100"}}, false));
    } else {
      h1_->send("HTTP/1.1 100 Continue\r\n\r\n");
    }
  }
  std::string body() {
    if (!h2_) return readRequestBody(*h1_, head_);
    h2_->readStream(stream_);
    return h2_->seen().body(stream_);
  }
  void answer(const std::string& status, const std::string& text) {
    if (h2_) {
      h2_->send(h2::headers(stream_, {{":status", status}}, text.empty()) +
                (text.empty() ? "" : h2::data(stream_, text, true)));
    } else {
      h1_->send("HTTP/1.1 " + status + " So\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
    }
  }

 private:
  RawOrigin& self_;
  BlockingSocket* h1_ = nullptr;
  std::optional<H2Client> h2_;
  std::string head_;
  std::uint32_t stream_ = 0;
};

/// The version of the client, then that of the origin: true is HTTP/2.
class WireExpectations : public testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  using Conduct = std::function<void(TakenUpload&)>;

  bool clientOfHttp2() const { return std::get<0>(GetParam()); }
  bool originOfHttp2() const { return std::get<1>(GetParam()); }
  /// Starts an origin that does this with each request.
  void originDoes(Conduct conduct) {
    conduct_ = std::move(conduct);
    origin_.emplace([this](BlockingSocket& socket, RawOrigin& self) {
      TakenUpload upload(socket, self, originOfHttp2());
      while (upload.begins()) {
        note(upload.expects() ? "expects" : "does not");
        conduct_(upload);
      }
    });
  }
  void note(const std::string& what) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(what);
  }
  std::vector<std::string> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  /// Returns a configuration whose one rule has these members, as lines.
  GatewaySpec specOf(const std::string& rule = {}, const std::string& settings = "timeouts: {expectContinue: 1h}\n") {
    const std::string port = std::to_string(origin_->port());
    GatewaySpec spec = towards(*origin_, settings);
    spec.routes =
        "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackend\nmetadata: {namespace: test, name: spoken}\n"
        "spec:\n  type: ExternalHostname\n  externalHostname: {hostname: origin.test}\n  port: {port: " +
        port + "}\n  protocol: " + (originOfHttp2() ? "H2C" : "HTTP11") + "\n---\n" +
        routeOfRules("    - backendRefs: [{group: gateway.networking.x-k8s.io, kind: XBackend, name: spoken, port: " +
                     port + "}]\n" + rule);
    return spec;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> seen_;
  Conduct conduct_;
  std::optional<RawOrigin> origin_;
};

INSTANTIATE_TEST_SUITE_P(Pairs, WireExpectations, testing::Combine(testing::Bool(), testing::Bool()),
                         [](const auto& given) {
                           return std::string(std::get<0>(given.param) ? "H2" : "H1") + "To" +
                                  (std::get<1>(given.param) ? "H2" : "H1");
                         });

TEST_P(WireExpectations, AreMetByTheOrigin) {
  originDoes([this](TakenUpload& upload) {
    upload.proceed();
    note(upload.body());
    upload.answer("200", "thanks");
  });
  const GatewayProcess gateway(specOf());
  WaitingUploader client(gateway, clientOfHttp2());
  EXPECT_EQ(client.nextStatus(), "100");
  client.sendBody();
  EXPECT_EQ(client.nextStatus(), "200");
  EXPECT_TRUE(client.goesOn());
  EXPECT_THAT(seen(), ElementsAre("expects", kUpload));
  EXPECT_EQ(gateway.limitHits("expectContinue"), 0);
}

TEST_P(WireExpectations, AreRefusedByTheOrigin) {
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"417", ""}, {"403", ""}, {"403", "no"}, {"302", ""}};
  std::size_t next = 0;
  originDoes([&](TakenUpload& upload) {
    const auto& [status, text] = refusals.at(next++);
    upload.answer(status, text);
  });
  const GatewayProcess gateway(specOf());
  for (const auto& [status, text] : refusals) {
    WaitingUploader client(gateway, clientOfHttp2());
    EXPECT_EQ(client.nextStatus(), status) << "and no 100 before it";
    EXPECT_EQ(client.goesOn(), clientOfHttp2());
    client.sendBody();
  }
  EXPECT_THAT(seen(), ElementsAre("expects", "expects", "expects", "expects"));
  EXPECT_EQ(origin_->connections(), originOfHttp2() ? 1 : 4) << "no connection of HTTP/1.1 is used again";
}

TEST_P(WireExpectations, AreMetByTheGatewayIfTheOriginIsSilent) {
  originDoes([this](TakenUpload& upload) {
    note(upload.body());
    upload.answer("200", "thanks");
  });
  const GatewayProcess gateway(specOf({}, "timeouts: {expectContinue: 50ms}\n"));
  WaitingUploader client(gateway, clientOfHttp2());
  EXPECT_EQ(client.nextStatus(), "100");
  client.sendBody();
  EXPECT_EQ(client.nextStatus(), "200");
  EXPECT_THAT(seen(), ElementsAre("expects", kUpload));
  EXPECT_TRUE(gateway.limitWasHit("expectContinue"));
}

TEST_P(WireExpectations, GoToEveryAttemptUntilTheyAreMet) {
  int attempts = 0;
  originDoes([&](TakenUpload& upload) {
    ++attempts;
    if (attempts == 2) upload.proceed();
    if (attempts > 1) note(upload.body());
    upload.answer(attempts < 3 ? "503" : "200", "so");
  });
  const GatewayProcess gateway(specOf("      retry: {codes: [503], attempts: 2, backoff: 1ms}\n"));
  WaitingUploader client(gateway, clientOfHttp2());
  EXPECT_EQ(client.nextStatus(), "100");
  client.sendBody();
  EXPECT_EQ(client.nextStatus(), "200");
  EXPECT_THAT(seen(), ElementsAre("expects", "expects", kUpload, "does not", kUpload));
}

TEST_P(WireExpectations, AreMetByTheGatewayIfAStepNeedsTheBody) {
  originDoes([this](TakenUpload& upload) {
    note(upload.body());
    upload.answer("200", "thanks");
  });
  const GatewayProcess gateway(specOf(
      "      filters: [" + inlined("{name: model, type: 'sluice.dev/BodyRouter:v1', phase: request-body}") + "]\n"));
  WaitingUploader client(gateway, clientOfHttp2());
  EXPECT_EQ(client.nextStatus(), "100");
  EXPECT_THAT(seen(), ElementsAre());
  client.sendBody();
  EXPECT_EQ(client.nextStatus(), "200");
  EXPECT_THAT(seen(), ElementsAre("does not", kUpload));
}

TEST_P(WireExpectations, AreNotThoseOfMirrors) {
  originDoes([this](TakenUpload& upload) {
    upload.proceed();
    note(upload.body());
    upload.answer("200", "thanks");
  });
  const RecordingOrigin copy([](std::size_t) { return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"; });
  GatewaySpec spec =
      specOf("      filters: [{type: RequestMirror, requestMirror: {backendRef: " + backendRef("copy") + "}}]\n");
  spec.backends.push_back({.name = "copy", .hostname = "copy.test", .port = copy.port()});
  const GatewayProcess gateway(spec);
  WaitingUploader client(gateway, clientOfHttp2());
  EXPECT_EQ(client.nextStatus(), "100");
  client.sendBody();
  EXPECT_EQ(client.nextStatus(), "200");
  ASSERT_TRUE(copy.hears(1));
  EXPECT_EQ(copy.bodies()[0], kUpload);
  EXPECT_THAT(copy.heads()[0], Not(HasSubstr("expect:")));
}

}  // namespace
}  // namespace sluice::test
