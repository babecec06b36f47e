// The revisions from which a replica can start if the newest objects cannot be served: those that were served before.
//
// Their objects are large, so the data of one is read from the API server when it is needed. The main thread owns it,
// and the loading thread asks it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/kubernetes/client/api_client.h"
#include "proxy/kubernetes/client/api_exchange.h"
#include "proxy/kubernetes/revisions/egress_revision.h"
#include "proxy/kubernetes/revisions/revised_objects.h"
#include "proxy/net/worker.h"

namespace sluice::kubernetes {

class EarlierRevisions {
 public:
  /// Both outlive it.
  EarlierRevisions(ApiClient& client, net::Worker& main) : client_(client), main_(main) {}

  // --- main thread ---
  /// Sets the revisions, the newest first, as a watch has shown them. Inside a Turn.
  void offer(std::vector<EarlierRevision> newestFirst);
  /// Ends a fetch that waits; no further one waits.
  void close();

  // --- loading thread ---
  /// Returns how many there are. fetch() counts them as they are now, until the next call.
  std::size_t count();
  /// Reads the data of one from the API server, for which it waits until then. It is empty if the revision has none, or
  /// is not good any more. The error says why it cannot be read now.
  using Fetched = std::shared_ptr<const PinnedRevision>;
  base::Result<Fetched> fetch(std::size_t which, base::MonotonicTime until);

 private:
  using Answer = std::pair<std::uint64_t, base::Result<Fetched>>;  // with the number of its question

  void send(std::uint64_t question, const EarlierRevision& asked);
  void answer(std::uint64_t question, base::Result<Fetched> fetched);

  ApiClient& client_;
  net::Worker& main_;
  std::unique_ptr<ApiExchange> exchange_;  // main thread

  // The loading thread alone uses these.
  std::vector<EarlierRevision> counted_;
  std::uint64_t question_ = 0;

  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<EarlierRevision> offered_;  // under the mutex, like all that follows
  std::optional<Answer> answer_;
  bool closed_ = false;
};

}  // namespace sluice::kubernetes
