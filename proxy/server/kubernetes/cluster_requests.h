// Sends the requests of one command to an API server, one after the other.
//
// It blocks, with a loop of its own, for kPatience at most, after a credential plugin that may take longer.
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

  /// Without a `kubeconfig`, the server is found as accessOfPerson() says.
  explicit ClusterRequests(const std::string& kubeconfig);
  ~ClusterRequests() { cancel(); }
  ClusterRequests(const ClusterRequests&) = delete;
  ClusterRequests& operator=(const ClusterRequests&) = delete;

  /// Calls `begin`, and returns when end() was called. The error describes the fault of the kubeconfig, or names the
  /// server with the reason: it cannot be reached, it took too long, or the text given to end().
  base::Status run(const std::function<void()>& begin);
  /// Sends a request, and calls `then` with the answer. Without an answer, the run ends. With `take`, the answer is
  /// a list of any length (ApiExchange).
  using Then = std::function<void(kubernetes::ApiAnswer&& answer)>;
  void ask(kubernetes::ApiRequest request, Then then, kubernetes::ApiExchange::TakeItem take = {});
  /// Ends run(); `error` continues the name of the server ("refuses ..."), and is empty if there was none.
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
