// The live page: the state of the process as server-sent events at /page/data, and single sections of it by a search.
//
// A state is made about once a second for all who look, and none while nobody does: then nothing is kept either. If it
// takes long, as it does with thousands of routes, the next one comes later, so that an open page costs at most 0.3 %
// of a core. It belongs to the main thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/reloader.h"
#include "proxy/control/report/seen_endpoints.h"
#include "proxy/control/state/ledger.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"
#include "proxy/observe/events.h"
#include "proxy/observe/metrics.h"
#include "proxy/server/admin/admin_page.h"
#include "proxy/server/admin/exchanges_page.h"
#include "proxy/server/admin/live_feed.h"
#include "proxy/server/page/configuration_rows.h"
#include "proxy/server/page/traffic_rows.h"
#include "proxy/server/page/traffic_window.h"
#include "proxy/server/page/worker_rows.h"

namespace sluice::server {

/// The sources of the state. All of them outlive the page.
struct LivePageParts {
  net::Worker& main;
  const observe::MetricsRegistry& metrics;
  observe::MetricShard& mainMetrics;
  ExchangesPage& exchanges;
  const observe::EventRing& events;
  const control::Reloader& reloader;
  const control::SeenEndpoints& seen;
  std::string_view zone;
  control::CountedObjects counted = control::CountedObjects::kAll;
  /// The revisions, with the problems of this process.
  std::function<control::Revisions()> revisions;
  std::function<std::shared_ptr<const control::RevisionLedger>()> ledger;
  /// The limits with their use, those of Backends only if they are near their bound.
  std::function<std::vector<PageLimit>()> limits;
  std::function<bool()> draining;
};

class LivePage final : private net::Timer {
 public:
  static constexpr base::Duration kPace = std::chrono::seconds(1);
  /// The longest time between two states, however long they take.
  static constexpr base::Duration kSlowestPace = std::chrono::seconds(10);
  /// The time to the next state is at least so many times that which the last one took.
  static constexpr int kRest = 333;

  explicit LivePage(LivePageParts parts) : parts_(std::move(parts)) {}

  /// Answers with the events, as long as the client reads.
  void look(AdminAnswer answer);
  /// Returns the rows of one section that a search finds; the query is "section=routes&search=TEXT".
  AdminDocument rows(std::string_view query) const;
  /// Ends all streams. Called inside a Turn, before the last beat.
  void close();

 private:
  /// The rows that depend only on the configuration and its state.
  struct KnownRows {
    std::string version;
    std::vector<Trouble> troubles;
    PageRows listeners;
    std::vector<RouteName> routes;
  };

  void onTimer() override { begin(); }
  void begin();
  void make(const WorkerLists& lists);
  void rest();
  std::string state(const WorkerLists& lists);
  void refresh(const control::CompiledConfiguration& known, const control::Revisions& revisions);
  void compare(const std::shared_ptr<const control::CompiledConfiguration>& served);
  control::ListedEndpoints endpoints() const;
  control::Moment moment() const;

  const LivePageParts parts_;
  LiveFeed feed_;
  bool working_ = false;  // from the first reader to the first time without one
  base::Duration pace_ = kPace;
  TrafficWindow window_;
  FaultCounts faults_;
  std::optional<KnownRows> known_;
  /// The configuration that was served in the last state, to tell what the next one changes.
  std::shared_ptr<const control::CompiledConfiguration> compared_;
  PageRows changes_;
};

}  // namespace sluice::server
