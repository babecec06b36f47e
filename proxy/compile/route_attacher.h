// RouteAttacher attaches routes to listeners, without the parts that cannot be served there, and keeps the statuses of
// the routes.
//
// It lives as long as one compilation.
#pragma once

#include <memory>
#include <utility>

#include "proxy/compile/gateways/attach.h"
#include "proxy/compile/ground/closing_policies.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/processors/asked_servers.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

class RouteAttacher {
 public:
  /// `sealerFault` is the reason why sessions are not possible; null if they are. All arguments must outlive the
  /// attacher.
  RouteAttacher(const AttachTools& tools, const ClosingPolicies& policies, const Fault* sealerFault,
                const AskedServers& servers)
      : tools_(tools), policies_(policies), sealerFault_(sealerFault), servers_(servers) {}

  /// Called for each route in the order in which they are attached (attach.h).
  void attach(const std::shared_ptr<const RoutePlan>& plan);
  /// Returns the statuses of the routes that have parents of this controller.
  Statuses takeStatuses() { return std::move(statuses_); }

 private:
  void attachOpen(const std::shared_ptr<const RoutePlan>& plan);
  void attachWhole(const std::shared_ptr<const RoutePlan>& plan);

  const AttachTools tools_;
  const ClosingPolicies& policies_;
  const Fault* const sealerFault_;
  const AskedServers& servers_;
  Statuses statuses_;
};

}  // namespace sluice::compile
