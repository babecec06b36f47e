#include "proxy/kubernetes/objects/service_fetch.h"

#include <utility>

#include "proxy/kubernetes/client/api_path.h"
#include "proxy/processing/query_edit.h"

namespace sluice::kubernetes {
namespace {

ApiCollection oneOf(const FollowedCollection& of, const ApiObjectKey& name, std::string selector) {
  return {.path = collectionPath(of.kind(), of.version(), name.first), .selector = std::move(selector), .once = true};
}

std::string byName(const ApiObjectKey& name) {
  return "fieldSelector=" + processing::encodeQuery("metadata.name=" + name.second);
}

std::string byService(const ApiObjectKey& name) {
  return "labelSelector=" +
         processing::encodeQuery(std::string(config::EndpointSlice::kServiceLabel) + "=" + name.second);
}

}  // namespace

ServiceFetch::ServiceFetch(ApiClient& client, ApiObjectKey name, FollowedCollection& services,
                           FollowedCollection& slices, std::function<void()> done)
    : name_(std::move(name)),
      services_(services),
      slices_(slices),
      done_(std::move(done)),
      service_(client, *this, oneOf(services, name_, byName(name_))),
      endpoints_(client, *this, oneOf(slices, name_, byService(name_))) {
  services_.beginFetch();
  slices_.beginFetch();
}

ServiceFetch::~ServiceFetch() {
  services_.endFetch();
  slices_.endFetch();
}

void ServiceFetch::start() {
  service_.list();
  endpoints_.list();
}

void ServiceFetch::onObject(ListWatch& from, content::Value&& object) {
  (&from == &service_ ? services_ : slices_).put(std::move(object));
}

void ServiceFetch::onTrouble(ListWatch& from, ListTrouble trouble, const std::string&) {
  if (trouble != ListTrouble::kUnavailable) end(from);  // if it is unavailable, it is tried again
}

void ServiceFetch::end(const ListWatch& from) {
  if (open_.erase(&from) > 0 && open_.empty()) done_();
}

}  // namespace sluice::kubernetes
