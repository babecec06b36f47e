#include "proxy/server/page/configuration_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "config/status/object_fault.h"
#include "proxy/control/report/configuration_diff.h"
#include "proxy/control/report/faulty_objects.h"
#include "proxy/server/page/page_sections.h"

namespace sluice::server {
namespace {

using control::CompiledConfiguration;

std::string titleOfFaulty(const control::FaultyObject& faulty) {
  std::string title(faulty.kind);
  if (!title.empty()) title += " ";
  if (!faulty.nameSpace.empty()) title.append(faulty.nameSpace).append("/");
  return title.append(faulty.name);
}

/// Returns when each of these objects got the first of its faults, by their titles.
std::map<std::string, base::WallTime> faultTimes(const CompiledConfiguration& known) {
  std::map<std::string, base::WallTime> times;
  for (const config::ObjectStatus& object : known.compiled.statuses) {
    std::optional<base::WallTime> first;
    config::forEachCondition(object, [&first](const config::Condition& each) {
      if (!config::isFault(each) || !each.lastTransitionTime) return;
      first = std::min(first.value_or(*each.lastTransitionTime), *each.lastTransitionTime);
    });
    if (first) times.emplace(config::objectName(object), *first);
  }
  return times;
}

std::string placeOf(const config::Problem& problem) {
  std::string place(problem.position.fileName());
  if (!place.empty() && problem.position.line > 0) place += ":" + std::to_string(problem.position.line);
  return place;
}

Trouble refusalTrouble(const control::Revisions& revisions) {
  Trouble trouble;
  trouble.place = control::configStateName(revisions.state());
  trouble.reason = trouble.place;
  trouble.message = "revision " + revisions.desired + " cannot be served: " + config::firstError(*revisions.problems);
  trouble.since = revisions.since;
  return trouble;
}

std::string_view useName(control::NamedCertificate::Use use) {
  switch (use) {
    case control::NamedCertificate::Use::kListener:
      return "listener";
    case control::NamedCertificate::Use::kClient:
      return "client certificate";
    case control::NamedCertificate::Use::kAuthorities:
      break;
  }
  return "authorities";
}

/// Returns the end of a chain, which is that of the first of its certificates to end, or of a bundle of authorities,
/// any of which will do.
base::WallTime certificateEnd(const control::NamedCertificate& certificate) {
  const auto earlier = [](const pki::Validity& a, const pki::Validity& b) { return a.until < b.until; };
  const auto& times = certificate.times;
  const bool any = certificate.use == control::NamedCertificate::Use::kAuthorities;
  return (any ? *std::max_element(times.begin(), times.end(), earlier)
              : *std::min_element(times.begin(), times.end(), earlier))
      .until;
}

/// A certificate that the configuration names, or the one that the server of a Backend has shown last.
struct UsedCertificate {
  base::WallTime end = base::WallTime::max();  // max() if it is not known
  const control::NamedCertificate* named = nullptr;
  const routing::BackendPlan* peer = nullptr;
};

std::vector<UsedCertificate> usedCertificates(const CompiledConfiguration& known) {
  std::vector<UsedCertificate> used;
  for (const control::NamedCertificate& each : known.certificates) {
    if (!each.times.empty()) used.push_back({certificateEnd(each), &each});
  }
  if (known.compiled.snapshot == nullptr) return used;
  for (const auto& backend : known.compiled.snapshot->backends) {
    if (!backend->tls) continue;
    const base::WallTime end = backend->reach != nullptr ? backend->reach->certificateEnds() : base::WallTime{};
    used.push_back({end != base::WallTime{} ? end : base::WallTime::max(), nullptr, backend.get()});
  }
  return used;
}

std::string certificateRow(const UsedCertificate& used, base::WallTime now) {
  RowWriter row;
  if (used.named != nullptr) {
    row.text("object", used.named->object).text("use", useName(used.named->use)).text("peer", "");
    row.text("source", used.named->source);
  } else {
    const routing::UpstreamTls& tls = *used.peer->tls;
    row.text("object", routing::titleOf(*used.peer))
        .text("use", tls.insecureSkipVerify ? "peer, not verified" : "peer");
    row.text("peer", tls.serverName.empty() ? used.peer->hostname : tls.serverName).text("source", "");
  }
  if (used.end == base::WallTime::max()) return row.text("ends", "").decimal("days", std::nullopt).take();
  const auto days = std::chrono::floor<std::chrono::days>(used.end) - std::chrono::floor<std::chrono::days>(now);
  return row.time("ends", used.end).decimal("days", static_cast<double>(days.count())).take();
}

const config::Condition* firstTrouble(const std::vector<config::Condition>& conditions) {
  const auto isTrouble = [](const config::Condition& each) {
    return config::isTrouble(each.type, config::conditionStatusName(each.status));
  };
  const auto found = std::find_if(conditions.begin(), conditions.end(), isTrouble);
  return found != conditions.end() ? &*found : nullptr;
}

/// Writes the rows of the listeners of Gateways.
class ListenerTable {
 public:
  explicit ListenerTable(const CompiledConfiguration& known) {
    for (const config::Gateway& gateway : known.model.all<config::Gateway>()) {
      for (const config::Listener& each : gateway.listeners) {
        listeners_[{gateway.meta.title(), each.name}] = &each;
      }
    }
  }

  std::string row(const config::ObjectStatus& gateway, const config::ListenerStatus& status) const {
    const auto found = listeners_.find({config::objectName(gateway), status.name});
    const config::Listener* listener = found != listeners_.end() ? found->second : nullptr;
    const config::Condition* trouble = firstTrouble(status.conditions);
    RowWriter row;
    row.text("gateway", gateway.nameSpace + "/" + gateway.name).text("listener", status.name);
    row.text("address", listener != nullptr ? addressOf(gateway, *listener) : std::string());
    row.text("protocol", listener != nullptr ? listener->protocolName : std::string());
    row.text("hostname", listener != nullptr ? listener->hostname : std::string());
    row.text("state", trouble != nullptr ? std::string_view(trouble->reason) : config::condition_type::kProgrammed);
    row.text("desired", gateway.revision).text("served", gateway.servedRevision);
    row.time("since", gateway.servedSince.value_or(base::WallTime{}));
    return row.count("routes", static_cast<std::uint64_t>(std::max(status.attachedRoutes, 0))).take();
  }

 private:
  static std::string addressOf(const config::ObjectStatus& gateway, const config::Listener& listener) {
    std::string addresses;
    for (const config::AddressStatus& each : gateway.addresses) {
      const bool isIpv6 = each.value.find(':') != std::string::npos;
      addresses += (addresses.empty() ? "" : " ") + (isIpv6 ? "[" + each.value + "]" : each.value) + ":" +
                   std::to_string(listener.port);
    }
    return addresses.empty() ? "*:" + std::to_string(listener.port) : addresses;
  }

  std::map<std::pair<std::string, std::string>, const config::Listener*> listeners_;
};

}  // namespace

std::string troubleRow(const Trouble& trouble) {
  RowWriter row;
  row.text("severity", trouble.isError ? "error" : "warning").text("object", trouble.object);
  row.text("field", trouble.field).text("place", trouble.place).text("reason", trouble.reason);
  return row.text("message", trouble.message).time("since", trouble.since).take();
}

std::vector<Trouble> configurationTroubles(const CompiledConfiguration& known, const control::Revisions& revisions,
                                           control::CountedObjects counted) {
  const control::ObjectCounting counting(known.compiled, counted);
  const bool refused = revisions.state() != control::ConfigState::kInSync;
  std::map<std::string, control::FaultyObject> faulty;
  for (const auto& each : control::faultyObjects(known, control::problemsNow(known, revisions), counting)) {
    faulty.try_emplace(titleOfFaulty(each), each);
  }
  const std::map<std::string, base::WallTime> times = faultTimes(known);
  const auto sinceOf = [&](const std::string& title) {
    const auto found = times.find(title);
    if (found != times.end()) return found->second;
    return refused ? revisions.since : base::WallTime{};
  };
  std::vector<Trouble> troubles;
  std::set<std::string> told;
  for (const config::Problem& problem : *revisions.problems) {
    if (!counting.has(problem)) continue;
    const auto fault = faulty.find(problem.object);
    const bool isFaulty = fault != faulty.end();
    std::string place = placeOf(problem);
    if (place.empty() && isFaulty) place = fault->second.condition;
    troubles.push_back({problem.severity == config::Severity::kError, problem.object, problem.field, std::move(place),
                        isFaulty ? std::string(fault->second.reason) : std::string(), problem.message,
                        sinceOf(problem.object)});
    told.insert(problem.object);
  }
  for (const auto& [title, each] : faulty) {
    if (told.contains(title)) continue;
    troubles.push_back({true, title, std::string(each.field), std::string(each.condition), std::string(each.reason),
                        std::string(each.message), sinceOf(title)});
  }
  std::stable_partition(troubles.begin(), troubles.end(), [](const Trouble& each) { return each.isError; });
  if (refused) troubles.insert(troubles.begin(), refusalTrouble(revisions));
  return troubles;
}

PageRows listenerRows(const CompiledConfiguration& known, control::CountedObjects counted) {
  const control::ObjectCounting counting(known.compiled, counted);
  const ListenerTable table(known);
  PageRows result;
  for (const config::ObjectStatus& object : known.compiled.statuses) {
    if (!counting.has(object)) continue;
    for (const config::ListenerStatus& each : object.listeners) {
      ++result.total;
      if (result.rows.size() < kMostRows) result.rows.push_back(table.row(object, each));
    }
  }
  return result;
}

std::vector<RouteName> routeNames(const CompiledConfiguration& known, control::CountedObjects counted) {
  const control::ObjectCounting counting(known.compiled, counted);
  std::vector<RouteName> names;
  for (const config::ObjectStatus& object : known.compiled.statuses) {
    if (!object.kind.ends_with("Route") || !counting.has(object)) continue;
    names.push_back({object.nameSpace + "/" + object.name, std::string(object.kind)});
  }
  std::sort(names.begin(), names.end(),
            [](const RouteName& a, const RouteName& b) { return std::tie(a.name, a.kind) < std::tie(b.name, b.kind); });
  return names;
}

PageRows certificateRows(const CompiledConfiguration& known, base::WallTime now) {
  std::vector<UsedCertificate> used = usedCertificates(known);
  const auto kept = static_cast<std::ptrdiff_t>(std::min(used.size(), kMostRows));
  std::partial_sort(used.begin(), used.begin() + kept, used.end(),
                    [](const UsedCertificate& a, const UsedCertificate& b) { return a.end < b.end; });
  PageRows result{{}, used.size()};
  for (auto each = used.begin(); each != used.begin() + kept; ++each) result.rows.push_back(certificateRow(*each, now));
  return result;
}

PageRows changeRows(const std::vector<control::ConfigurationChange>& changes) {
  PageRows result;
  result.total = changes.size();
  const std::size_t kept = std::min(changes.size(), kMostRows);
  const std::vector<control::ConfigurationChange> first(changes.begin(),
                                                        changes.begin() + static_cast<std::ptrdiff_t>(kept));
  for (const content::Value& each : control::changesOutput(first).value.items) {
    result.rows.push_back(content::outputJson(each));
  }
  return result;
}

}  // namespace sluice::server
