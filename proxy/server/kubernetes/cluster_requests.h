// What a command asks of an API server, one request after the other, before it ends.
//
// It blocks, with a loop of its own, for kPatience at most.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/kubernetes/client/api_exchange.h"
#include "proxy/net/timers.h"
#include "proxy/server/kubernetes/cluster_client.h"

namespace sluice::server {

class ClusterRequests final : private net::Timer {
 public:
  static constexpr base::Duration kPatience = std::chrono::seconds(10);

  /// Without a `kubeconfig`, the server is the one of the Pod's service account.
  explicit ClusterRequests(const std::string& kubeconfig);
  ~ClusterRequests() { cancel(); }
  ClusterRequests(const ClusterRequests&) = delete;
  ClusterRequests& operator=(const ClusterRequests&) = delete;

  /// Calls `begin`, and returns when end() was called. The error says what is wrong with the kubeconfig, or names the
  /// server and says that it cannot be reached or took too long, or what end() was given.
  base::Status run(const std::function<void()>& begin);
  /// Sends a request, and calls `then` with the answer. Without an answer, the errand ends. With `take`, the answer is
  /// a list of whatever length (ApiExchange).
  using Then = std::function<void(kubernetes::ApiAnswer&& answer)>;
  void ask(kubernetes::ApiRequest request, Then then, kubernetes::ApiExchange::TakeItem take = {});
  /// Ends the errand; `error` goes on after the name of the server ("refuses ..."), and is empty if all is well.
  void end(std::string error = {});

  /// Returns the URL of the server.
  std::string server() const { return client_.api().url(); }
  /// Returns the namespace of the kubeconfig.
  const std::string& nameSpace() const { return client_.api().access().nameSpace; }

 private:
  void onTimer() override;

  const base::SystemClock clock_;
  observe::Log log_;
  observe::MetricsRegistry metrics_;
  net::Worker main_;
  observe::MetricShard shard_;
  ClusterClient client_;
  std::unique_ptr<kubernetes::ApiExchange> exchange_;
  std::string error_;
};

}  // namespace sluice::server
