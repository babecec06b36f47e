// Logs why collections of a cluster cannot be followed: each fault once when it begins, and once when it is over.
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

  /// Takes the state of one collection. Call tell() after all of them.
  void look(const FollowedCollection& collection);
  /// Logs what has changed since the last call. `url` is that of the API server. Kinds that the server lacks are logged
  /// only if `listed` is true, after the server was asked for all kinds, so that one line names all of them.
  void tell(const std::string& url, bool listed);

 private:
  void tellAbsent();
  void tellForbidden();
  void tellTrouble(const std::string& url);

  struct Findings {
    std::set<std::string> absent;
    std::set<std::string> forbidden;
    std::string reason;   // why the first forbidden collection is forbidden
    std::string trouble;  // of the first collection that has any
  };

  observe::Log& log_;
  Findings now_;
  Findings told_;
};

/// Returns the name of a collection for people: "HTTPRoute.gateway.networking.k8s.io" or "Secret demo/token".
std::string collectionName(const FollowedCollection& collection);

}  // namespace sluice::kubernetes
