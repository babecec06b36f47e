#include "proxy/server/page/traffic_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/server/page/page_sections.h"

namespace sluice::server {
namespace {

using control::EndpointRow;
using control::EndpointState;

/// The limits that refuse requests which would be served if there were more room, besides those with a known use.
constexpr auto kRefusing = std::to_array<std::string_view>(
    {"backendConnections", "backendPending", "backendRequests", "connections", "dynamicClusters", "maxConnections",
     "maxConnectionsPerEndpoint", "maxParallelRequests", "maxParallelRequestsPerEndpoint", "maxPendingRequests",
     "maxPendingRequestsPerEndpoint", "processorBuffer", "retryBudget"});

bool contains(std::string_view name, std::string_view search) {
  return search.empty() || base::toLower(name).find(base::toLower(search)) != std::string::npos;
}

/// Puts the kMostRows rows with the greatest order first.
template <typename Row>
void sortRows(std::vector<Row>& rows) {
  const std::size_t kept = std::min(rows.size(), kMostRows);
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end(),
                    [](const Row& a, const Row& b) { return b.order() < a.order(); });
}

struct RouteLine {
  const RouteName* name;
  RequestFlow flow;

  std::tuple<double, double> order() const { return {flow.errors.value_or(0), flow.rate.value_or(0)}; }
};

/// The endpoints of one Backend.
struct BackendLine {
  std::string name;  // its title
  EndpointState state = EndpointState::kHealthy;
  std::uint64_t endpoints = 0;
  std::uint64_t healthy = 0;
  const EndpointRow* failing = nullptr;  // the one that has failed last
  RequestFlow flow = {};

  std::tuple<EndpointState, double> order() const { return {state, flow.rate.value_or(0)}; }
};

EndpointState stateOf(const EndpointRow& row) {
  return row.state.value_or(row.reachable ? EndpointState::kHealthy : EndpointState::kUnhealthy);
}

std::string_view stateName(EndpointState state) {
  return control::kEndpointStateNames[static_cast<std::size_t>(state)];
}

bool serves(EndpointState state) { return state == EndpointState::kHealthy || state == EndpointState::kSlowStart; }

void addEndpoint(BackendLine& line, const EndpointRow& row) {
  const EndpointState state = stateOf(row);
  line.state = std::max(line.state, state);
  if (row.state) {
    ++line.endpoints;
    line.healthy += serves(state) ? 1 : 0;
  }
  const bool fails = row.failures.count > 0;
  if (fails && (line.failing == nullptr || row.failures.last > line.failing->failures.last)) line.failing = &row;
}

std::string backendRow(const BackendLine& line) {
  RowWriter row;
  row.text("backend", line.name).text("state", stateName(line.state)).count("endpoints", line.endpoints);
  row.count("healthy", line.healthy);
  static const routing::ReachFailures kNone;
  const routing::ReachFailures& failures = line.failing != nullptr ? line.failing->failures : kNone;
  row.text("lastError", failures.count > 0 ? base::errorTypeName(failures.type) : std::string_view());
  row.text("lastFailure", failures.text).time("lastFailedAt", failures.last);
  row.decimal("rate", line.flow.rate).decimal("errors", line.flow.errors);
  return row.decimal("p50Ms", line.flow.p50Ms).decimal("p99Ms", line.flow.p99Ms).take();
}

std::uint64_t percentOf(const PageLimit& limit) { return limit.most == 0 ? 0 : limit.used * 100 / limit.most; }

std::string limitRow(const PageLimit& limit, const TrafficWindow& window) {
  RowWriter row;
  row.text("limit", limit.limit).text("object", limit.object);
  if (limit.most > 0) {
    row.count("used", limit.used).count("most", limit.most).count("percent", percentOf(limit));
  }
  row.decimal("hits", window.hits(limit.limit));
  return row.count("total", window.hitsSinceStart(limit.limit)).take();
}

}  // namespace

PageRows routeRows(const std::vector<RouteName>& routes, const TrafficWindow& window, std::string_view search) {
  std::vector<RouteLine> lines;
  for (const RouteName& each : routes) {
    if (contains(each.name, search)) lines.push_back({&each, window.route(each.name)});
  }
  sortRows(lines);
  PageRows result{{}, lines.size()};
  for (const RouteLine& each : lines) {
    if (result.rows.size() == kMostRows) break;
    RowWriter row;
    row.text("route", each.name->name).text("kind", each.name->kind).decimal("rate", each.flow.rate);
    row.decimal("errors", each.flow.errors).decimal("serverErrors", each.flow.serverErrors);
    result.rows.push_back(row.decimal("p50Ms", each.flow.p50Ms).decimal("p99Ms", each.flow.p99Ms).take());
  }
  return result;
}

PageRows backendRows(const std::vector<EndpointRow>& endpoints, const TrafficWindow& window, std::string_view search) {
  std::map<std::string_view, BackendLine> byObject;
  for (const EndpointRow& each : endpoints) {
    BackendLine& line = byObject[each.object];
    if (line.name.empty()) line.name = routing::titleOf(std::string_view(each.object));
    addEndpoint(line, each);
  }
  std::vector<BackendLine> lines;
  for (auto& [object, line] : byObject) {
    if (!contains(line.name, search)) continue;
    line.flow = window.backend(line.name.substr(line.name.find(' ') + 1));
    lines.push_back(std::move(line));
  }
  sortRows(lines);
  PageRows result{{}, lines.size()};
  for (const BackendLine& each : lines) {
    if (result.rows.size() == kMostRows) break;
    result.rows.push_back(backendRow(each));
  }
  return result;
}

PageRows endpointRows(const control::ListedEndpoints& endpoints, std::string_view search) {
  std::vector<const EndpointRow*> found;
  for (const EndpointRow& each : endpoints.rows) {
    if (contains(each.object, search) || contains(each.endpoint, search)) found.push_back(&each);
  }
  std::stable_partition(found.begin(), found.end(), [](const EndpointRow* each) { return !serves(stateOf(*each)); });
  PageRows result{{}, found.size() + (search.empty() ? endpoints.countLeftOut : 0)};
  for (const EndpointRow* each : found) {
    if (result.rows.size() == kMostRows) break;
    result.rows.push_back(each->json);
  }
  return result;
}

std::vector<Trouble> endpointTroubles(const std::vector<EndpointRow>& endpoints) {
  std::vector<Trouble> troubles;
  for (const EndpointRow& each : endpoints) {
    if (serves(stateOf(each))) continue;
    Trouble trouble;
    trouble.object = routing::titleOf(std::string_view(each.object));
    trouble.field = each.endpoint;
    trouble.place = stateName(stateOf(each));
    if (each.failures.count > 0) {
      trouble.reason = base::errorTypeName(each.failures.type);
      trouble.message = each.failures.text;
    } else {
      trouble.message = each.by.empty() ? "its health checks fail" : "ejected by " + each.by;
    }
    trouble.since = each.since;
    troubles.push_back(std::move(trouble));
  }
  return troubles;
}

PageRows limitRows(std::vector<PageLimit> limits, const TrafficWindow& window) {
  std::stable_sort(limits.begin(), limits.end(),
                   [](const PageLimit& a, const PageLimit& b) { return percentOf(a) > percentOf(b); });
  for (const auto& [limit, sum] : window.limits()) {
    const auto isIt = [&name = limit](const PageLimit& each) { return each.limit == name; };
    const bool isListed = std::any_of(limits.begin(), limits.end(), isIt);
    if (!isListed && window.rateOf(sum).value_or(0) > 0) limits.push_back({limit, {}, 0, 0});
  }
  PageRows result{{}, limits.size()};
  for (const PageLimit& each : limits) {
    if (result.rows.size() == kMostRows) break;
    result.rows.push_back(limitRow(each, window));
  }
  return result;
}

std::vector<Trouble> limitTroubles(const std::vector<PageLimit>& limits, const TrafficWindow& window) {
  std::vector<Trouble> troubles;
  const auto add = [&troubles](std::string limit, std::string object, std::string_view reason, std::string message) {
    troubles.push_back({false, std::move(object), std::move(limit), "", std::string(reason), std::move(message), {}});
  };
  for (const PageLimit& each : limits) {
    if (percentOf(each) < kNearBoundPercent) continue;
    add(each.limit, each.object, "LimitNearBound",
        std::to_string(each.used) + " of " + std::to_string(each.most) + " are used");
  }
  for (const auto& [limit, sum] : window.limits()) {
    const double rate = window.rateOf(sum).value_or(0);
    if (rate > 0 && std::find(kRefusing.begin(), kRefusing.end(), limit) != kRefusing.end()) {
      add(limit, {}, "LimitReached", "it refuses " + decimalText(rate) + " requests or connections a second");
    }
  }
  return troubles;
}

std::vector<PageLimit> pageLimits(SharedBudgets& budgets, std::size_t clients, const routing::Snapshot& snapshot) {
  const base::LimitSettings& settings = snapshot.settings.limits;
  std::vector<PageLimit> limits{{"connections", {}, clients, settings.connections}};
  for (const SharedBudgets::LimitUse& use : budgets.uses(settings)) {
    limits.push_back({std::string(use.limit), {}, use.used, use.most});
  }
  for (const upstream::BreakerUse& use : budgets.upstream.usesFrom(kNearBoundPercent)) {
    if (limits.size() == kMostRows) break;
    const auto isIt = [&use](const auto& backend) { return backend->boundedAs() == use.identity; };
    const auto found = std::find_if(snapshot.backends.begin(), snapshot.backends.end(), isIt);
    std::string object = found != snapshot.backends.end() ? routing::titleOf(**found) : std::string();
    limits.push_back({std::string(use.limit), std::move(object), use.used, use.most});
  }
  return limits;
}

}  // namespace sluice::server
