// The objects of one kind that an API server has, as far as its owner wants them, kept current by a ListWatch.
//
// A kind whose CRD is not installed has no objects. Lives on the main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/kubernetes/client/list_watch.h"
#include "proxy/kubernetes/objects/api_object.h"

namespace sluice::kubernetes {

class FollowedCollection;

/// Each function only records.
class CollectionOwner {
 public:
  /// Returns true if the object is to be kept.
  virtual bool wants(const config::ObjectKind& kind, const content::Value& object) const = 0;
  /// Returns true if the server has said that it has the kind: then objects that were there are not gone because it
  /// does not find them at the moment, as while it starts.
  virtual bool isInstalled(const config::ObjectKind& kind) const = 0;
  /// Called when objects have come, changed or gone, or when state() or trouble() is another one.
  virtual void onCollection(FollowedCollection& collection) = 0;

 protected:
  ~CollectionOwner() = default;
};

class FollowedCollection final : private ListWatchUser {
 public:
  enum class State {
    kUnknown,    // never listed
    kFollowed,   // listed; while the server is away these are the objects that it had last
    kAbsent,     // the server has no such resource
    kForbidden,  // the server does not let us list it
  };
  /// Says which objects of the kind are followed: all of them, or one by its name.
  struct Scope {
    std::string nameSpace = {};
    std::string name = {};
    bool withStatus = false;
  };
  using ApiObjects = std::map<ApiObjectKey, ApiObject>;

  /// References outlive it.
  FollowedCollection(ApiClient& client, CollectionOwner& owner, const config::ObjectKind& kind, Scope scope);

  /// Begins; to be called once.
  void start();
  /// Tries the next version of the kind if the server lacks one; to be called after each onCollection(), outside of it.
  void settle();
  /// Tries again what the server did not find the last time; to be called now and then.
  void retry();
  /// Lists again, because more is wanted than before. Until then it is not complete.
  void listAgain();
  /// Forgets what `wanted` does not want any more.
  void prune(const std::function<bool(const ApiObjectKey& key, const ApiObject& object)>& wanted);

  const config::ObjectKind& kind() const { return kind_; }
  const Scope& scope() const { return scope_; }
  State state() const { return state_; }
  /// Returns true if everything that is wanted is known, or cannot be.
  bool complete() const { return state_ != State::kUnknown && !listing_; }
  /// Returns what the server said last if it does not answer as it should; empty otherwise.
  const std::string& trouble() const { return trouble_; }
  /// Returns true if the server does not find the kind, which it has nonetheless. retry() is due.
  bool doubtsAbsence() const { return doubtsAbsence_; }
  std::string_view version() const { return kind_.versions[version_]; }
  const ApiObjects& objects() const { return objects_; }
  const ApiObject* find(const ApiObjectKey& key) const;
  /// Returns the resourceVersion up to which the server's changes are in objects(); 0 if that is not known.
  std::uint64_t seen() const;
  /// Returns true, once, if the objects have changed in more than their status, or whether they may be read.
  bool takeChanged() { return std::exchange(changed_, false); }

  /// Returns the objects that have come, changed or gone since the last call, if their statuses are kept.
  std::vector<ApiObjectKey> takeTouched() { return std::exchange(touched_, {}); }

  /// Between these two, what the server shows is noted, so that put() can tell what is older.
  void beginFetch() { ++fetches_; }
  void endFetch();
  /// Puts an object that was fetched, unless the server has shown it since beginFetch().
  void put(content::Value&& object);

 private:
  void onListing(ListWatch& from) override;
  void onListed(ListWatch& from) override;
  void onObject(ListWatch& from, content::Value&& object) override;
  void onDeleted(ListWatch& from, const content::Value& object) override;
  void onTrouble(ListWatch& from, ListTrouble trouble, const std::string& message) override;
  void onRecovered(ListWatch& from) override;
  void follow();
  /// Notes the object's name in `listed`, unless that is null, if it is kept.
  void take(content::Value&& object, std::set<ApiObjectKey>* listed);
  void remove(const ApiObjectKey& key);
  void tell() { owner_.onCollection(*this); }

  ApiClient& client_;
  CollectionOwner& owner_;
  const config::ObjectKind& kind_;
  const Scope scope_;
  std::size_t version_ = 0;  // index in kind_.versions
  std::unique_ptr<ListWatch> follow_;
  State state_ = State::kUnknown;
  bool listing_ = false;  // what is wanted may not have been shown yet
  bool lacksVersion_ = false;
  bool doubtsAbsence_ = false;
  bool changed_ = false;
  std::vector<ApiObjectKey> touched_;
  std::string trouble_;
  ApiObjects objects_;
  std::optional<std::set<ApiObjectKey>> listed_;  // and kept, in this listing
  std::size_t fetches_ = 0;
  std::set<ApiObjectKey> shown_;  // since the first open beginFetch()
};

}  // namespace sluice::kubernetes
