#include "proxy/server/page/live_page.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "proxy/base/json_writer.h"
#include "proxy/base/timestamp.h"
#include "proxy/content/schema/uri_reference.h"
#include "proxy/control/report/configuration_diff.h"
#include "proxy/server/page/page_sections.h"

namespace sluice::server {
namespace {

constexpr const char* kPlainText = "text/plain; charset=utf-8";
// The rows of these sections are long.
constexpr std::size_t kMostEvents = 50;
constexpr std::size_t kMostExchanges = 50;
constexpr std::size_t kMostSearch = 256;

/// Returns the time that this thread has worked, which other processes of the machine do not lengthen.
base::Duration workedTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string listText(const PageRows& rows) {
  base::JsonWriter json;
  json.beginList();
  for (const std::string& each : rows.rows) json.json(each);
  return json.endList().take();
}

void writeSection(base::JsonWriter& json, std::string_view name, std::string_view rows, std::size_t total) {
  json.key(name).beginObject().key("rows").json(rows).member("total", static_cast<std::int64_t>(total)).endObject();
}

void writeSection(base::JsonWriter& json, std::string_view name, const PageRows& rows) {
  writeSection(json, name, listText(rows), rows.total);
}

void writeDecimal(base::JsonWriter& json, std::string_view member, std::optional<double> value) {
  json.key(member).json(value ? decimalText(*value) : "null");
}

/// An event has one line.
std::string withoutLineEnd(std::string document) {
  if (document.ends_with('\n')) document.pop_back();
  return document;
}

PageRows troubleRows(const std::vector<const std::vector<Trouble>*>& lists) {
  PageRows rows;
  for (const bool errors : {true, false}) {
    for (const std::vector<Trouble>* list : lists) {
      for (const Trouble& each : *list) {
        if (each.isError != errors) continue;
        ++rows.total;
        if (rows.rows.size() < kMostRows) rows.rows.push_back(troubleRow(each));
      }
    }
  }
  return rows;
}

void writeRevisions(base::JsonWriter& json, const control::Revisions& revisions, bool isKnown) {
  base::Timestamp stamp;
  json.member("state", isKnown ? control::configStateName(revisions.state()) : "Loading");
  const bool hasTime = isKnown && revisions.since != base::WallTime{};
  json.member("since", hasTime ? stamp.text(revisions.since) : std::string_view());
  json.member("desired", revisions.desired).member("published", revisions.published).member("served", revisions.served);
}

void writeFlow(base::JsonWriter& json, const RequestFlow& flow) {
  writeDecimal(json, "rate", flow.rate);
  writeDecimal(json, "errors", flow.errors);
  writeDecimal(json, "p50Ms", flow.p50Ms);
  writeDecimal(json, "p99Ms", flow.p99Ms);
}

}  // namespace

void LivePage::look(AdminAnswer answer) {
  std::shared_ptr<const LivePlace> place = feed_.join(answer.waker());
  if (place == nullptr) {
    parts_.mainMetrics.at<observe::Metric::kLimitHits>("adminConnections").add();
    return answer.give({503, kPlainText, "as many clients look at the page as may\n"});
  }
  answer.give({200, "text/event-stream", AdminBody(std::move(place))});
  if (!std::exchange(working_, true)) begin();
}

void LivePage::begin() {
  if (feed_.readers() == 0) return rest();
  parts_.exchanges.gather(kMostExchanges, [this](const WorkerLists& lists) { make(lists); });
}

void LivePage::make(const WorkerLists& lists) {
  if (feed_.readers() == 0) return rest();  // also when the workers end
  const base::Duration began = workedTime();
  feed_.publish("data: " + state(lists) + "\n\n");
  pace_ = std::clamp<base::Duration>((workedTime() - began) * kRest, kPace, kSlowestPace);
  parts_.main.timers().set(*this, parts_.main.now() + pace_);
}

/// Called when nobody looks any more.
void LivePage::rest() {
  working_ = false;
  pace_ = kPace;
  feed_.forget();
  window_.clear();
  faults_ = {};
  known_.reset();
  compared_ = nullptr;
  changes_ = {};
}

void LivePage::close() {
  cancel();
  feed_.close();
}

control::Moment LivePage::moment() const { return {parts_.main.now(), parts_.main.clock().wallNow()}; }

control::ListedEndpoints LivePage::endpoints() const {
  const auto& known = parts_.reloader.known();
  return known != nullptr ? control::listEndpoints(*known, parts_.seen, moment()) : control::ListedEndpoints();
}

void LivePage::refresh(const control::CompiledConfiguration& known, const control::Revisions& revisions) {
  const std::string version = parts_.reloader.version() + "," + std::to_string(revisions.problems->size());
  if (known_ && known_->version == version) return;
  known_ = KnownRows{version, configurationTroubles(known, revisions, parts_.counted),
                     listenerRows(known, parts_.counted), routeNames(known, parts_.counted)};
}

/// Tells what has changed if another configuration is served than in the last state.
void LivePage::compare(const std::shared_ptr<const control::CompiledConfiguration>& served) {
  if (served == compared_ || served == nullptr) return;
  if (compared_ != nullptr && compared_->digest != served->digest) {
    changes_ = changeRows(control::changesOf(*compared_, *served));
  }
  compared_ = served;
}

std::string LivePage::state(const WorkerLists& lists) {
  const auto& known = parts_.reloader.known();
  const control::Revisions revisions = parts_.revisions();
  window_.read(parts_.metrics, parts_.main.now());
  faults_.take(lists, window_);
  if (known != nullptr) refresh(*known, revisions);
  compare(parts_.reloader.configuration());
  static const KnownRows kNothing;
  const KnownRows& rows = known_ ? *known_ : kNothing;
  const control::ListedEndpoints endpoints = this->endpoints();
  const std::vector<PageLimit> limits = parts_.limits();
  const std::vector<Trouble> ofEndpoints = endpointTroubles(endpoints.rows);
  const std::vector<Trouble> ofLimits = limitTroubles(limits, window_);
  const PageRows inFlight = exchangeRows(lists, kMostExchanges);

  base::JsonWriter json;
  json.beginObject().member("time", base::Timestamp().text(moment().wall)).member("version", SLUICE_VERSION);
  writeRevisions(json, revisions, known != nullptr);
  json.member("zone", parts_.zone).key("draining").json(parts_.draining() ? "true" : "false");
  writeFlow(json, window_.all());
  json.member("inFlight", static_cast<std::int64_t>(inFlight.total)).member("connections", window_.connections());
  writeDecimal(json, "intervalSeconds", std::chrono::duration<double>(pace_).count());
  writeWords(json);
  json.key("sections").beginObject();
  writeSection(json, "wrong", troubleRows({&rows.troubles, &ofEndpoints, &ofLimits}));
  writeSection(json, "listeners", rows.listeners);
  writeSection(json, "backends", backendRows(endpoints.rows, window_, {}));
  writeSection(json, "endpoints", endpointRows(endpoints, {}));
  writeSection(json, "routes", routeRows(rows.routes, window_, {}));
  writeSection(json, "faults", faults_.rows(window_));
  writeSection(json, "exchanges", inFlight);
  writeSection(json, "errors", errorRows(lists));
  writeSection(json, "denied", deniedRows(lists));
  writeSection(json, "certificates", known != nullptr ? certificateRows(*known, moment().wall) : PageRows());
  writeSection(json, "limits", limitRows(limits, window_));
  writeSection(json, "events", withoutLineEnd(parts_.events.document(kMostEvents)), parts_.events.size());
  const auto ledger = parts_.ledger();
  writeSection(json, "revisions", withoutLineEnd(control::ledgerDocument(*ledger)), ledger->revisions().size());
  writeSection(json, "changes", changes_);
  return json.endObject().endObject().take();
}

AdminDocument LivePage::rows(std::string_view query) const {
  std::string section;
  std::string search;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals);
    std::string encoded(pair.substr(std::min(equals + 1, pair.size())));
    std::replace(encoded.begin(), encoded.end(), '+', ' ');
    const auto value = content::percentDecoded(encoded);
    if (!value || value->size() > kMostSearch) return {400, kPlainText, "the query cannot be read\n"};
    if (name == "section") section = *value;
    if (name == "search") search = *value;
  }
  PageRows found;
  if (section == "routes") {
    const auto& known = parts_.reloader.known();
    std::vector<RouteName> names;
    if (!known_ && known != nullptr) names = routeNames(*known, parts_.counted);
    found = routeRows(known_ ? known_->routes : names, window_, search);
  } else if (section == "backends") {
    found = backendRows(endpoints().rows, window_, search);
  } else if (section == "endpoints") {
    found = endpointRows(endpoints(), search);
  } else {
    return {400, kPlainText, "section is routes, backends or endpoints\n"};
  }
  base::JsonWriter json;
  json.beginObject().key("rows").json(listText(found)).member("total", static_cast<std::int64_t>(found.total));
  return {200, "application/json", json.endObject().take() + "\n"};
}

}  // namespace sluice::server
