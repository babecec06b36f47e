// The objects of one kind that its owner wants, kept up to date with the API server by a ListWatch.
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
  /// Returns true if the object must be kept.
  virtual bool wants(const config::ObjectKind& kind, const content::Value& object) const = 0;
  /// Returns true if the server is known to have the kind. Objects that were seen before are then not taken for gone if
  /// the server does not find the kind at the moment, as while it starts.
  virtual bool isInstalled(const config::ObjectKind& kind) const = 0;
  /// Called when objects have come, changed or gone, or when state() or trouble() has changed.
  virtual void onCollection(FollowedCollection& collection) = 0;

 protected:
  ~CollectionOwner() = default;
};

class FollowedCollection final : private ListWatchUser {
 public:
  enum class State {
    kUnknown,    // never listed
    kFollowed,   // listed; while the server is unreachable, these are the last known objects
    kAbsent,     // the server has no such resource
    kForbidden,  // the server does not permit to list it
  };
  /// The objects of the kind that are followed: all of them, or one by its name.
  struct Scope {
    std::string nameSpace = {};
    std::string name = {};
    bool withStatus = false;
  };
  using ApiObjects = std::map<ApiObjectKey, ApiObject>;

  /// References outlive it.
  FollowedCollection(ApiClient& client, CollectionOwner& owner, const config::ObjectKind& kind, Scope scope);

  /// Begins to follow the collection; to be called once.
  void start();
  /// Tries the next version of the kind if the server lacks one; to be called after each onCollection(), outside of it.
  void settle();
  /// Tries a kind again that the server did not find the last time; to be called from time to time.
  void retry();
  /// Lists again, because more objects are wanted than before. Until the end of the list, it is not complete.
  void listAgain();
  /// Forgets the objects for which `wanted` returns false.
  void prune(const std::function<bool(const ApiObjectKey& key, const ApiObject& object)>& wanted);

  const config::ObjectKind& kind() const { return kind_; }
  const Scope& scope() const { return scope_; }
  State state() const { return state_; }
  /// Returns true if all wanted objects are known, or cannot be known.
  bool complete() const { return state_ != State::kUnknown && !listing_; }
  /// Returns the last error of the server; empty if there is none.
  const std::string& trouble() const { return trouble_; }
  /// Returns true if the server does not find the kind although it has it, so that retry() should be called.
  bool doubtsAbsence() const { return doubtsAbsence_; }
  std::string_view version() const { return kind_.versions[version_]; }
  const ApiObjects& objects() const { return objects_; }
  const ApiObject* find(const ApiObjectKey& key) const;
  /// Returns the resourceVersion up to which the server's changes are in objects(); 0 if that is not known.
  std::uint64_t seen() const;
  /// Returns true, once, if the objects have changed in more than their status, or if the permission to read them has
  /// changed.
  bool takeChanged() { return std::exchange(changed_, false); }

  /// Returns the objects that have come, changed or gone since the last call, if their statuses are kept.
  std::vector<ApiObjectKey> takeTouched() { return std::exchange(touched_, {}); }

  /// Between these two calls, the names of objects that the server shows are noted, so that put() can recognise an
  /// older version.
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
  bool listing_ = false;  // not all wanted objects have been shown yet
  bool lacksVersion_ = false;
  bool doubtsAbsence_ = false;
  bool changed_ = false;
  std::vector<ApiObjectKey> touched_;
  std::string trouble_;
  ApiObjects objects_;
  std::optional<std::set<ApiObjectKey>> listed_;  // the objects that were shown and kept in this listing
  std::size_t fetches_ = 0;
  std::set<ApiObjectKey> shown_;  // since the first open beginFetch()
};

}  // namespace sluice::kubernetes
