#include "proxy/kubernetes/objects/collection_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice::kubernetes {
namespace {

/// Returns the names in `these` that are not among `others`, separated by commas.
std::string namesOnlyIn(const std::set<std::string>& these, const std::set<std::string>& others) {
  std::string names;
  for (const std::string& name : these) {
    if (!others.contains(name)) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace

std::string collectionName(const FollowedCollection& collection) {
  const config::ObjectKind& kind = collection.kind();
  const FollowedCollection::Scope& scope = collection.scope();
  if (!scope.name.empty()) return std::string(kind.kind) + " " + scope.nameSpace + "/" + scope.name;
  return std::string(kind.kind) + (kind.group.empty() ? "" : "." + std::string(kind.group));
}

void CollectionLog::look(const FollowedCollection& collection) {
  using State = FollowedCollection::State;
  if (collection.state() == State::kAbsent) now_.absent.insert(collectionName(collection));
  if (collection.state() == State::kForbidden) {
    now_.forbidden.insert(collectionName(collection));
    if (now_.reason.empty()) now_.reason = collection.trouble();
  } else if (now_.trouble.empty()) {
    now_.trouble = collection.trouble();
  }
}

void CollectionLog::tell(const std::string& url, bool listed) {
  if (listed) {
    tellAbsent();
  } else {
    now_.absent = told_.absent;
  }
  tellForbidden();
  tellTrouble(url);
  told_ = std::exchange(now_, {});
}

void CollectionLog::tellAbsent() {
  const std::string gone = namesOnlyIn(now_.absent, told_.absent);
  const std::string come = namesOnlyIn(told_.absent, now_.absent);
  if (!gone.empty()) {
    log_.info("the API server does not have these kinds; they are read as soon as they are installed",
              {{"kinds", gone}});
  }
  if (!come.empty()) log_.info("these kinds are installed now, and read", {{"kinds", come}});
}

void CollectionLog::tellForbidden() {
  const std::string lost = namesOnlyIn(now_.forbidden, told_.forbidden);
  const std::string won = namesOnlyIn(told_.forbidden, now_.forbidden);
  if (!lost.empty()) {
    log_.warn("the API server forbids reading these objects; they are tried again",
              {{"objects", lost}, {"reason", now_.reason}});
  }
  if (!won.empty()) log_.info("the API server allows reading these objects again", {{"objects", won}});
}

void CollectionLog::tellTrouble(const std::string& url) {
  if (now_.trouble.empty() == told_.trouble.empty()) return;
  if (now_.trouble.empty()) {
    log_.info("the API server answers again", {{"url", url}});
  } else {
    log_.warn("the API server fails; its last objects stay in use", {{"url", url}, {"reason", now_.trouble}});
  }
}

}  // namespace sluice::kubernetes
