#include "proxy/compile/status/status_table.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "config/model/name_tuple_hash.h"
#include "config/read/object_kinds.h"
#include "proxy/compile/status/backend_status.h"
#include "proxy/compile/status/gateway_status.h"
#include "proxy/compile/status/processor_status.h"
#include "proxy/compile/status/route_status.h"

namespace sluice::compile {
namespace {

constexpr StatusEntry kStatusTable[] = {
    {&typeid(config::GatewayClass), gatewayClassStatuses},
    {&typeid(config::Gateway), gatewayStatuses},
    {&typeid(config::HttpRoute), httpRouteStatuses},
    {&typeid(config::GrpcRoute), grpcRouteStatuses},
    {&typeid(config::PayloadProcessingPipeline), pipelineStatuses},
    {&typeid(config::Backend), backendStatuses},
};
constexpr std::size_t kPlaceOfPolicies = 4;  // index of the first line after those of routes

/// Statuses are large, so pointers to them are sorted and each status moves once.
using Places = std::vector<config::ObjectStatus*>;

/// Returns the index of the writer of the object's type.
std::size_t writerOf(const config::ObjectStatus& status, const std::vector<StatusEntry>& writers) {
  const std::type_info& type = *config::findObjectKind(status.group, status.kind)->type;
  const auto writer =
      std::find_if(writers.begin(), writers.end(), [&](const StatusEntry& each) { return *each.type == type; });
  assert(writer != writers.end());
  return static_cast<std::size_t>(writer - writers.begin());
}

/// Sorts unless the order is right already. Statuses of routes without a creation time, as in files, are in order.
void sortPlaces(Places& places) {
  const auto before = [](const config::ObjectStatus* a, const config::ObjectStatus* b) {
    // These texts are mostly the same ones, because they are those of the table of kinds.
    if (a->group.data() != b->group.data() || a->kind.data() != b->kind.data()) {
      const auto kinds = std::tie(a->group, a->kind) <=> std::tie(b->group, b->kind);
      if (kinds != 0) return kinds < 0;
    }
    const int nameSpaces = a->nameSpace.compare(b->nameSpace);
    return nameSpaces != 0 ? nameSpaces < 0 : a->name < b->name;
  };
  if (!std::is_sorted(places.begin(), places.end(), before)) std::sort(places.begin(), places.end(), before);
}

/// The objects that are served only as refusals, although they may be readable enough to have a plan.
class RefusedNames {
 public:
  explicit RefusedNames(const config::Model& model) {
    for (const config::Rejected& each : model.rejected) {
      names_.emplace(each.group, each.kind, each.nameSpace, each.name);
    }
  }
  bool contain(const config::ObjectStatus& status) const {
    return names_.contains({status.group, status.kind, status.nameSpace, status.name});
  }

 private:
  std::unordered_set<config::ObjectNameView, config::NameTupleHash> names_;
};

}  // namespace

std::span<const StatusEntry> statusTable() { return kStatusTable; }

config::StatusList writeStatuses(const StatusSources& sources, std::span<const StatusEntry> ofPolicies,
                                 Statuses attached) {
  std::vector<StatusEntry> writers(std::begin(kStatusTable), std::end(kStatusTable));
  writers.insert(writers.begin() + kPlaceOfPolicies, ofPolicies.begin(), ofPolicies.end());
  std::vector<Statuses> written(writers.size());
  std::vector<Places> places(writers.size());
  for (config::ObjectStatus& each : attached) places[writerOf(each, writers)].push_back(&each);
  std::size_t count = 0;
  for (std::size_t i = 0; i < writers.size(); ++i) {
    writers[i].write(sources, written[i]);
    for (config::ObjectStatus& each : written[i]) places[i].push_back(&each);
    sortPlaces(places[i]);
    count += places[i].size();
  }
  const RefusedNames refused(sources.model);
  config::StatusList all;
  all.reserve(count);
  for (const Places& each : places) {
    for (config::ObjectStatus* place : each) {
      if (refused.contain(*place)) place->servedRevision.clear();
      all.push_back(std::move(*place));
    }
  }
  return all;
}

}  // namespace sluice::compile
