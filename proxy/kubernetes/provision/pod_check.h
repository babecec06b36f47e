// Looks at the Pods of Deployments that are not complete, from time to time, to find out why they do not start. Only
// Pods show that an image cannot be pulled; their Deployment says no more than that they are late, after ten minutes.
//
// It asks for the Pods of one Deployment after the other, with pauses that grow, so that an image that is missing for
// all Gateways costs the API server little. It reads so many Pods of each at most that nobody can fill the memory by
// Pods with the labels of a Gateway's. Lives on the main thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "proxy/kubernetes/writer/object_writer.h"

namespace sluice::kubernetes {

class PodCheckUser {
 public:
  /// Called inside a Turn when faultOf() may return something else; it only records.
  virtual void onPodsChecked() = 0;

 protected:
  ~PodCheckUser() = default;
};

class PodCheck final : private ObjectWriterUser {
 public:
  using DeploymentName = std::pair<std::string, std::string>;  // its namespace and name
  static constexpr base::Duration kFirstLookAfter = std::chrono::seconds(1);
  /// The pause after the first look. Each one is twice as long as the one before, up to the longest.
  static constexpr base::Duration kLookAgainAfter = std::chrono::seconds(5);
  static constexpr base::Duration kLongestPause = std::chrono::minutes(1);
  static constexpr int kPodsOfPage = 250;
  static constexpr int kMostPages = 8;
  static constexpr std::size_t kMostReasons = 4;

  /// Both outlive it.
  PodCheck(ApiClient& client, PodCheckUser& user);

  /// Looks at the Pods of a Deployment until forget() is called, soon again if the Deployment has changed; inside a
  /// Turn.
  void watch(const DeploymentName& deployment);
  void forget(const DeploymentName& deployment);
  /// Forgets all Deployments.
  void clear();
  /// Returns why Pods of the Deployment do not start; empty if none is known to fail.
  std::string faultOf(const DeploymentName& deployment) const;

 private:
  struct CheckedPods {
    std::set<std::string> reasons = {};      // of the last look that is complete
    std::set<std::string> found = {};        // of the look that is under way
    std::string page = {};                   // the token of a page that is not the first one
    int pages = 0;                           // the pages of this look that were read
    base::Duration pause = kLookAgainAfter;  // until the next look
  };

  static WriteKey keyOf(const DeploymentName& deployment);
  std::optional<ApiRequest> requestFor(const WriteKey& key) override;
  void onItem(const content::Value& pod) override;
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) override;
  void endLook(CheckedPods& pods);

  ApiClient& client_;
  PodCheckUser& user_;
  std::map<DeploymentName, CheckedPods> checked_;
  DeploymentName asked_;  // the Deployment whose Pods are being listed
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes
