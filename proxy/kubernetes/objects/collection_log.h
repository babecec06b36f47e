// Says in the log what keeps the collections of a cluster from being followed: each thing once when it begins, and once
// when it is over.
//
// Lives on the main thread.
#pragma once

#include <set>
#include <string>

#include "proxy/kubernetes/objects/followed_collection.h"
#include "proxy/observe/log.h"

namespace sluice::kubernetes {

class CollectionLog {
 public:
  /// `log` outlives it.
  explicit CollectionLog(observe::Log& log) : log_(log) {}

  /// Takes the state of one collection. After all of them tell() is due.
  void look(const FollowedCollection& collection);
  /// Says what is different from the last time. `url` is the API server's. Kinds that the server does not have are said
  /// as soon as all of them are known, which is what `listed` says.
  void tell(const std::string& url, bool listed);

 private:
  void tellAbsent();
  void tellForbidden();
  void tellTrouble(const std::string& url);

  struct Findings {
    std::set<std::string> absent;
    std::set<std::string> forbidden;
    std::string reason;   // why the first of these is forbidden
    std::string trouble;  // of the first collection that has any
  };

  observe::Log& log_;
  Findings now_;
  Findings told_;
};

/// Returns what of a kind a collection follows, for people: "HTTPRoute.gateway.networking.k8s.io" or
/// "Secret demo/token".
std::string collectionName(const FollowedCollection& collection);

}  // namespace sluice::kubernetes
