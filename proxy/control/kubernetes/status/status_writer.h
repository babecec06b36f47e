// Writes what became of each object into its status at the API server.
//
// It has the statuses that are wanted, of the configuration that was compiled last, and compares them with those that
// the API server has (status_patch.h). An object is looked at again when either of them changes, so that nothing is
// written twice and nothing is asked for at rest. A write that meets a newer version (409) is made again when that
// version has come. Only who leads writes. Lives on the main thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "config/status/status_list.h"
#include "proxy/control/kubernetes/client/api_exchange.h"
#include "proxy/control/kubernetes/objects/cluster_objects.h"
#include "proxy/net/timers.h"

namespace sluice::control {

class StatusWriter final : private net::Timer {
 public:
  /// Writes that are under way at one time.
  static constexpr std::size_t kMostWrites = 16;
  /// Writes of one object for one wanted status, if somebody else, or its CRD, keeps changing what was written.
  static constexpr int kMostRepeats = 8;

  /// Both outlive it.
  StatusWriter(ApiClient& client, const ClusterObjects& objects) : client_(client), objects_(objects) {}

  /// Takes the statuses of a newer configuration; inside a Turn.
  void want(const config::StatusList& statuses);
  /// Called inside a Turn when these objects have come, or are other versions.
  void onObjects(const ClusterObjects::Touched& touched);
  /// Begins to write, or ends it.
  void lead(bool leads);

 private:
  using StatusKey = std::tuple<std::string_view, std::string_view, std::string, std::string>;
  struct StatusWrite {
    std::string resourceVersion;            // of the object that the write is about
    std::unique_ptr<ApiExchange> exchange;  // null: done, until the API server shows what came of it
  };

  void mark(const StatusKey& key);
  void onTimer() override;
  void later();
  void work();
  void look(const StatusKey& key);
  void write(const StatusKey& key, const ClusterObjects::NewestObject& object, std::string patch);
  void written(const StatusKey& key, const base::Result<ApiAnswer>& answer);
  void tell(const StatusKey& key, const std::string& reason);
  void pause(const base::Result<ApiAnswer>& answer);

  ApiClient& client_;
  const ClusterObjects& objects_;
  config::StatusList wanted_;
  std::map<StatusKey, const config::ObjectStatus*> byKey_;  // into wanted_
  std::deque<StatusKey> due_;                               // objects to be looked at
  std::set<StatusKey> marked_;                              // those in due_
  std::map<StatusKey, StatusWrite> writes_;
  std::set<std::string> told_;        // reasons that were logged
  std::map<StatusKey, int> repeats_;  // successful writes of the status that is wanted now
  std::size_t open_ = 0;              // writes with an exchange
  unsigned failures_ = 0;             // in a row
  bool leads_ = false;
  bool posted_ = false;
};

}  // namespace sluice::control
