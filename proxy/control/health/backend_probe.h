// One probe of a Backend: an HTTP request, a call of grpc.health.v1, or a TCP connection.
//
// Owned by the health checker; destroying it ends the probe. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/base/byte_queue.h"
#include "proxy/control/health/check_dials.h"
#include "proxy/http/message.h"
#include "proxy/net/transport.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/async_request.h"
#include "proxy/upstream/dial/dialer.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::control {

class ProbeUser {
 public:
  /// Called when drive() must be called. The callback only records that.
  virtual void onProbeDue() = 0;

 protected:
  ~ProbeUser() = default;
};

/// All references outlive the probe, and so do the settings.
struct ProbeParts {
  upstream::Upstreams& upstreams;
  upstream::Dialer& dialer;
  ProbeUser& user;
  CheckDials& dials;
};

class BackendProbe final : private upstream::AsyncRequestOwner, private net::TransportSink {
 public:
  /// The longest answer of a Backend; a longer one is a failure.
  static constexpr std::size_t kMostBody = std::size_t{64} * 1024;

  BackendProbe(const ProbeParts& parts, std::shared_ptr<const routing::BackendPlan> backend,
               const routing::HealthCheckSettings& settings);
  ~BackendProbe() override;
  BackendProbe(const BackendProbe&) = delete;
  BackendProbe& operator=(const BackendProbe&) = delete;

  /// Continues the probe, in a beat.
  void drive();
  /// Returns null as long as the probe runs, "" if the Backend serves, or else the fault, without secrets.
  const std::optional<std::string>& fault() const { return fault_; }
  /// Returns true if the fault is a limit of the gateway's own, which does not depend on the Backend.
  bool failedByOwnLimit() const { return ownLimit_; }

 private:
  bool findAddresses();
  void ask();
  void end(std::string fault);
  std::string faultOfHttp() const;
  std::string faultOfGrpc(const std::optional<http::Trailers>& trailers) const;

  // upstream::AsyncRequestOwner
  void onAddresses() override { parts_.user.onProbeDue(); }
  void onResponse(http::ResponseMessage&& message) override { response_ = std::move(message); }
  void onResponseBody(std::string_view bytes) override;
  void onRequestTaken() override {}
  void onResponseEnd(std::optional<http::Trailers> trailers) override;
  // Used by both kinds of probes.
  void onFailed(const base::Error& error) override;
  // net::TransportSink, of kTcp
  void onOpen() override;
  void onBytes(std::string_view bytes) override;
  void onEnd(bool) override { end("the connection ended before the expected answer"); }
  void onWritable() override {}

  const ProbeParts parts_;
  const std::shared_ptr<const routing::BackendPlan> backend_;
  const routing::HealthCheckSettings& settings_;
  http::RequestMessage message_;
  std::optional<http::ResponseMessage> response_;
  base::ByteQueue body_;      // of kGrpc
  std::string text_;          // of kHttp and kTcp, if an answer is expected
  std::size_t received_ = 0;  // bytes of the body
  std::optional<std::string> fault_;
  bool ownLimit_ = false;
  net::Addresses addresses_;  // of kTcp, which tries one after the other, and if policies judge them
  std::size_t tried_ = 0;
  std::optional<std::string> refusal_;  // of the address that was tried last
  std::unique_ptr<net::Transport> transport_;
  upstream::AsyncRequest request_;
};

}  // namespace sluice::control
