// The client of a Kubernetes API server: requests over upstream::AsyncRequest, on the main thread's loop.
//
// HTTP/2 or 1.1, as the server's ALPN chooses, over as few connections as the server's limit on streams allows. The
// credentials are read again every minute, because tokens, certificates and authorities rotate, and at once after a 401
// or a failed handshake. If the server is silent on a call for too long, later calls do not use its connection.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/http/h2/h2_memory.h"
#include "proxy/kubernetes/access/api_access.h"
#include "proxy/kubernetes/client/turn_end.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"
#include "proxy/upstream/async_request.h"
#include "proxy/upstream/dial/dialer.h"
#include "proxy/upstream/dial/failed_addresses.h"
#include "proxy/upstream/places/circuit_breaker.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::kubernetes {

struct ApiRequest {
  http::Method method = http::Method::kGet;
  std::string path;  // with the query: "/api/v1/namespaces?limit=100"
  std::string body = {};
  std::string contentType = {};
  std::string accept = "application/json";
  /// The longest time without a byte from the server.
  base::Duration idle = std::chrono::seconds(30);
  bool listed = false;  // the answer is a list of any length, whose items are taken one by one
};

/// Each function may destroy its call, and make others.
class ApiCallUser {
 public:
  /// `retryAfter` is the pause that the server asked for, or zero.
  virtual void onApiResponse(int status, base::Duration retryAfter) = 0;
  virtual void onApiBody(std::string_view bytes) = 0;
  /// The whole answer has arrived. No call follows.
  virtual void onApiEnd() = 0;
  /// The call has failed. No call follows.
  virtual void onApiFailed(const base::Error& error) = 0;

 protected:
  ~ApiCallUser() = default;
};

class ApiClient;

/// One request under way; destroying it cancels it. Owned by its user.
class ApiCall final : private upstream::AsyncRequestOwner {
 public:
  /// Both outlive it.
  ApiCall(ApiClient& client, const ApiRequest& request, ApiCallUser& user);
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;
  ~ApiCall();

 private:
  friend class ApiClient;
  void start(const ApiRequest& request);
  void deliver();
  void mark();

  void onAddresses() override {}
  void onResponse(http::ResponseMessage&& message) override;
  void onResponseBody(std::string_view bytes) override;
  void onRequestTaken() override {}
  void onResponseEnd(std::optional<http::Trailers> trailers) override;
  void onFailed(const base::Error& error) override;

  ApiClient& client_;
  ApiCallUser& user_;
  const std::shared_ptr<const routing::BackendPlan> plan_;
  http::RequestMessage message_;
  std::optional<http::ResponseMessage> response_;  // until it is delivered
  std::string received_;                           // not delivered yet
  bool ended_ = false;
  std::optional<base::Error> error_;
  bool due_ = false;
  upstream::AsyncRequest request_;
};

/// All references outlive the client.
struct ApiClientParts {
  net::Worker& worker;
  net::Resolver& resolver;
  upstream::Dialer& dialer;
  observe::MetricShard& metrics;
  observe::Log& log;
  /// Reads the address of the server and the credentials, each time that they are needed again.
  std::function<base::Result<ApiAccess>()> readAccess;
  std::uint64_t randomSeed = 1;  // of delays
};

class ApiClient final : public net::Beats, private net::Timer {
 public:
  explicit ApiClient(const ApiClientParts& parts);
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;
  ~ApiClient() override;

  /// Reads the access for the first time. Without it, no call may be made.
  base::Status open();
  const ApiAccess& access() const { return *access_; }
  /// Returns "https://127.0.0.1:6443", for messages.
  std::string url() const;
  /// Returns a number that is uniform over 64 bits, for delays that must differ from those of other clients.
  std::uint64_t random() { return random_.next(); }
  net::Worker& worker() { return parts_.worker; }
  observe::Log& log() { return parts_.log; }
  observe::MetricShard& metrics() { return parts_.metrics; }
  TurnEnds& turnEnds() { return ends_; }

  // net::Beats
  void drive() override;
  void flush() override { upstreams_.flush(); }
  void reap() override;
  bool quiet() const override { return due_.empty() && ends_.empty() && upstreams_.quiet(); }
  /// Drops all connections.
  void shutdown();

 private:
  friend class ApiCall;
  void onTimer() override;
  /// Reads the access again, unless that was done within the last second.
  void refresh();
  void adopt(ApiAccess&& access);
  void makePlan();
  void forget(ApiCall* call);

  const ApiClientParts parts_;
  base::Random random_;
  std::optional<ApiAccess> access_;
  std::shared_ptr<const routing::BackendPlan> plan_;
  std::string lastFault_;  // the last fault of reading the access again
  base::MonotonicTime refreshed_{};
  bool doubtsAccess_ = false;  // the server has refused the credentials, or its certificate was refused
  bool doubtsConnections_ = false;
  unsigned generation_ = 0;  // of connections
  http::H2Memory h2Memory_;
  upstream::CircuitBreakers breakers_;
  upstream::FailedAddresses failedAddresses_;
  upstream::Upstreams upstreams_;
  std::vector<ApiCall*> due_;
  TurnEnds ends_;
};

}  // namespace sluice::kubernetes
