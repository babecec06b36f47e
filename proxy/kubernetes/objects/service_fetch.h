// Reads one Service and its EndpointSlices, which were ignored when they came because no object named the Service.
//
// Versions that the server has shown since the fetch began are newer and stay. Lives on the main thread.
#pragma once

#include <functional>
#include <set>

#include "proxy/kubernetes/objects/followed_collection.h"

namespace sluice::kubernetes {

class ServiceFetch final : private ListWatchUser {
 public:
  /// References outlive it. `done` is called inside a Turn; it only records.
  ServiceFetch(ApiClient& client, ApiObjectKey name, FollowedCollection& services, FollowedCollection& slices,
               std::function<void()> done);
  ~ServiceFetch();
  ServiceFetch(const ServiceFetch&) = delete;
  ServiceFetch& operator=(const ServiceFetch&) = delete;

  void start();
  const ApiObjectKey& name() const { return name_; }
  bool done() const { return open_.empty(); }

 private:
  void onListing(ListWatch&) override {}
  void onListed(ListWatch& from) override { end(from); }
  void onObject(ListWatch& from, content::Value&& object) override;
  void onDeleted(ListWatch&, const content::Value&) override {}
  void onTrouble(ListWatch& from, ListTrouble trouble, const std::string&) override;
  void onRecovered(ListWatch&) override {}
  void end(const ListWatch& from);

  const ApiObjectKey name_;
  FollowedCollection& services_;
  FollowedCollection& slices_;
  const std::function<void()> done_;
  ListWatch service_;
  ListWatch endpoints_;
  std::set<const ListWatch*> open_{&service_, &endpoints_};
};

}  // namespace sluice::kubernetes
