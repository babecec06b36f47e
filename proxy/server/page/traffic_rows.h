// The rows of the live page about routes, Backends, endpoints and limits: their traffic and their health.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/report/endpoint_list.h"
#include "proxy/routing/snapshot.h"
#include "proxy/server/page/configuration_rows.h"
#include "proxy/server/page/row_writer.h"
#include "proxy/server/page/traffic_window.h"
#include "proxy/server/serving/shared_budgets.h"

namespace sluice::server {

/// How much of a limit is used.
struct PageLimit {
  std::string limit;   // its key in the settings, a rule or a policy
  std::string object;  // the Backend whose limit it is; empty for one of the process
  std::uint64_t used = 0;
  std::uint64_t most = 0;
};

/// The functions below return those rows whose names contain `search`; all of them if it is empty.

/// Routes with errors come first, then those with the most requests.
PageRows routeRows(const std::vector<RouteName>& routes, const TrafficWindow& window, std::string_view search);
/// Backends that do not serve come first, then those with the most attempts.
PageRows backendRows(const std::vector<control::EndpointRow>& endpoints, const TrafficWindow& window,
                     std::string_view search);
/// Endpoints that do not serve come first.
PageRows endpointRows(const control::ListedEndpoints& endpoints, std::string_view search);

/// Returns the endpoints that do not serve.
std::vector<Trouble> endpointTroubles(const std::vector<control::EndpointRow>& endpoints);

/// Returns the limits of which most is used and those that were hit lately, the fullest first; those of the process
/// always.
PageRows limitRows(std::vector<PageLimit> limits, const TrafficWindow& window);
/// Returns the limits that are nearly used up, or that refuse requests now.
std::vector<Trouble> limitTroubles(const std::vector<PageLimit>& limits, const TrafficWindow& window);
/// A limit of which that part is used is near its bound.
inline constexpr std::uint64_t kNearBoundPercent = 80;

/// Returns the limits of the process, which has that many clients, and those of Backends that are near their bound.
std::vector<PageLimit> pageLimits(SharedBudgets& budgets, std::size_t clients, const routing::Snapshot& snapshot);

}  // namespace sluice::server
