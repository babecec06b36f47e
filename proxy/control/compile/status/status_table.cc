#include "proxy/control/compile/status/status_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "proxy/control/compile/status/backend_status.h"
#include "proxy/control/compile/status/gateway_status.h"
#include "proxy/control/compile/status/processor_status.h"
#include "proxy/control/compile/status/route_status.h"

namespace sluice::control {
namespace {

constexpr StatusEntry kStatusTable[] = {
    {&typeid(config::GatewayClass), gatewayClassStatuses},
    {&typeid(config::Gateway), gatewayStatuses},
    {&typeid(config::HttpRoute), httpRouteStatuses},
    {&typeid(config::GrpcRoute), grpcRouteStatuses},
    {&typeid(config::PayloadProcessor), payloadProcessorStatuses},
    {&typeid(config::PayloadProcessingPipeline), pipelineStatuses},
    {&typeid(config::Backend), backendStatuses},
};

/// Statuses are large: what is sorted are places, and each status moves once. Those of routes come in order if the
/// routes have no times of creation: files say none.
void moveInOrder(Statuses& from, Statuses& to) {
  std::vector<config::ObjectStatus*> places;
  places.reserve(from.size());
  for (config::ObjectStatus& each : from) places.push_back(&each);
  const auto before = [](const config::ObjectStatus* a, const config::ObjectStatus* b) {
    const auto key = [](const config::ObjectStatus& status) {
      return std::tie(status.group, status.kind, status.nameSpace, status.name);
    };
    return key(*a) < key(*b);
  };
  if (!std::is_sorted(places.begin(), places.end(), before)) std::sort(places.begin(), places.end(), before);
  to.reserve(to.size() + from.size());
  for (config::ObjectStatus* place : places) to.push_back(std::move(*place));
}

}  // namespace

std::span<const StatusEntry> statusTable() { return kStatusTable; }

Statuses writeStatuses(const StatusSources& sources) {
  Statuses all;
  for (const StatusEntry& entry : kStatusTable) {
    Statuses own;
    entry.write(sources, own);
    moveInOrder(own, all);
  }
  return all;
}

}  // namespace sluice::control
