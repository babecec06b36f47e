#include "proxy/server/page/worker_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "proxy/server/page/page_sections.h"

namespace sluice::server {
namespace {

std::string errorRow(const exchange::RecentFailure& failure) {
  RowWriter row;
  row.time("time", failure.time).text("requestId", failure.requestId).text("fault", faultName(failure.origin));
  row.text("type", base::errorTypeName(failure.type)).count("status", failure.status).text("message", failure.message);
  row.text("method", failure.method).text("authority", failure.authority).text("gateway", failure.gateway);
  return row.text("route", failure.route).text("backend", failure.backend).text("client", failure.client).take();
}

std::string deniedRow(const exchange::DeniedCaller& caller) {
  RowWriter row;
  row.text("client", caller.client).text("assurance", base::assuranceName(caller.assurance)).text("by", caller.by);
  row.text("type", base::errorTypeName(caller.type)).text("authority", caller.authority);
  return row.count("count", caller.count).time("last", caller.last).take();
}

}  // namespace

std::string_view faultName(base::ErrorOrigin origin) {
  switch (origin) {
    case base::ErrorOrigin::kDownstream:
      return "client";
    case base::ErrorOrigin::kUpstream:
      return "Backend";
    case base::ErrorOrigin::kProcessor:
      return "processor";
    case base::ErrorOrigin::kConfig:
      return "configuration";
    case base::ErrorOrigin::kInternal:
      break;
  }
  return "gateway";
}

PageRows exchangeRows(const WorkerLists& lists, std::size_t most) {
  const JoinedExchanges joined = joinLists(lists, most);
  PageRows result{{}, joined.total};
  for (const exchange::ListedExchange* each : joined.oldest) result.rows.push_back(each->json);
  return result;
}

PageRows errorRows(const WorkerLists& lists) {
  std::vector<const exchange::RecentFailure*> failures;
  for (const auto& list : lists) {
    if (!list) continue;
    for (const exchange::RecentFailure& each : list->failures.recent) failures.push_back(&each);
  }
  std::stable_sort(failures.begin(), failures.end(), [](const auto* a, const auto* b) { return a->time > b->time; });
  PageRows result{{}, failures.size()};
  for (const exchange::RecentFailure* each : failures) {
    if (result.rows.size() == kMostRows) break;
    result.rows.push_back(errorRow(*each));
  }
  return result;
}

PageRows deniedRows(const WorkerLists& lists) {
  // The requests of one caller reach several workers.
  std::map<std::tuple<std::string, std::string, base::ErrorType, base::Assurance>, exchange::DeniedCaller> callers;
  for (const auto& list : lists) {
    if (!list) continue;
    for (const exchange::DeniedCaller& each : list->failures.denied) {
      exchange::DeniedCaller& all = callers[{each.client, each.by, each.type, each.assurance}];
      const std::uint64_t count = all.count + each.count;
      if (each.last >= all.last) all = each;
      all.count = count;
    }
  }
  std::vector<const exchange::DeniedCaller*> newest;
  for (const auto& [key, caller] : callers) newest.push_back(&caller);
  std::stable_sort(newest.begin(), newest.end(), [](const auto* a, const auto* b) { return a->last > b->last; });
  PageRows result{{}, newest.size()};
  for (const exchange::DeniedCaller* each : newest) {
    if (result.rows.size() == kMostRows) break;
    result.rows.push_back(deniedRow(*each));
  }
  return result;
}

// A worker that is silent has told its counts before: they must not seem to be gone, so nothing is taken then.
void FaultCounts::take(const WorkerLists& lists, const TrafficWindow& window) {
  const bool complete = std::all_of(lists.begin(), lists.end(), [](const auto& list) { return list.has_value(); });
  for (std::size_t origin = 0; origin < counts_.size(); ++origin) {
    for (std::size_t type = 0; type < counts_[origin].size(); ++type) {
      Windowed<std::uint64_t>& sum = counts_[origin][type];
      if (window.moves()) sum.move();
      if (complete) {
        std::uint64_t now = 0;
        for (const auto& list : lists) now += list->failures.counts[origin][type];
        // The workers were made anew: theirs begin at zero.
        if (now < sum.now) sum = {};
        sum.now = now;
      }
      if (window.settles()) sum.settle();
    }
  }
}

PageRows FaultCounts::rows(const TrafficWindow& window) const {
  struct FaultLine {
    double rate;
    std::uint64_t total;
    std::string json;
  };
  std::vector<FaultLine> lines;
  for (std::size_t origin = 0; origin < counts_.size(); ++origin) {
    for (std::size_t type = 0; type < counts_[origin].size(); ++type) {
      const Windowed<std::uint64_t>& sum = counts_[origin][type];
      if (sum.now == 0) continue;
      const std::optional<double> rate = window.rateOf(sum);
      RowWriter row;
      row.text("fault", faultName(static_cast<base::ErrorOrigin>(origin)));
      row.text("type", base::errorTypeName(static_cast<base::ErrorType>(type))).decimal("rate", rate);
      lines.push_back({rate.value_or(0), sum.now, row.count("total", sum.now).take()});
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const FaultLine& a, const FaultLine& b) {
    return std::tie(b.rate, b.total) < std::tie(a.rate, a.total);
  });
  PageRows result{{}, lines.size()};
  for (FaultLine& each : lines) result.rows.push_back(std::move(each.json));
  return result;
}

}  // namespace sluice::server
