#include "proxy/server/page/page_sections.h"

#include <array>

namespace sluice::server {
namespace {

constexpr auto kHead = std::to_array<PageColumn>({
    {"state", "state"},
    {"since", "since"},
    {"desired", "desired"},
    {"served", "served"},
    {"zone", "zone"},
    {"rate", "requests/s"},
    {"errors", "errors/s"},
    {"p50Ms", "p50 ms"},
    {"p99Ms", "p99 ms"},
    {"inFlight", "in flight"},
    {"connections", "connections"},
    {"version", "version"},
    {"time", "time"},
});
constexpr auto kWrongColumns = std::to_array<PageColumn>({
    {"severity", "severity"},
    {"object", "object"},
    {"field", "field"},
    {"place", "place or condition"},
    {"reason", "reason"},
    {"message", "message"},
    {"since", "since"},
});
constexpr auto kListenersColumns = std::to_array<PageColumn>({
    {"gateway", "Gateway"},
    {"listener", "listener"},
    {"address", "address"},
    {"protocol", "protocol"},
    {"hostname", "hostname"},
    {"state", "state"},
    {"desired", "desired"},
    {"served", "served"},
    {"since", "since"},
    {"routes", "routes"},
});
constexpr auto kBackendsColumns = std::to_array<PageColumn>({
    {"backend", "Backend"},
    {"state", "state"},
    {"endpoints", "endpoints"},
    {"healthy", "healthy"},
    {"lastError", "last error"},
    {"lastFailure", "last failure"},
    {"lastFailedAt", "failed at"},
    {"rate", "requests/s"},
    {"errors", "errors/s"},
    {"p50Ms", "p50 ms"},
    {"p99Ms", "p99 ms"},
});
constexpr auto kEndpointsColumns = std::to_array<PageColumn>({
    {"object", "Backend"},
    {"endpoint", "endpoint"},
    {"state", "state"},
    {"since", "since"},
    {"by", "by"},
    {"failures", "failures"},
    {"lastError", "last error"},
    {"lastFailure", "last failure"},
    {"zone", "zone"},
    {"weight", "weight"},
});
constexpr auto kRoutesColumns = std::to_array<PageColumn>({
    {"route", "route"},
    {"kind", "kind"},
    {"rate", "requests/s"},
    {"errors", "errors/s"},
    {"serverErrors", "5xx/s"},
    {"p50Ms", "p50 ms"},
    {"p99Ms", "p99 ms"},
});
constexpr auto kFaultsColumns = std::to_array<PageColumn>({
    {"fault", "whose fault"},
    {"type", "error type"},
    {"rate", "errors/s"},
    {"total", "since start"},
});
constexpr auto kExchangesColumns = std::to_array<PageColumn>({
    {"ageSeconds", "age s"},
    {"method", "method"},
    {"authority", "authority"},
    {"path", "path"},
    {"route", "route"},
    {"backend", "Backend"},
    {"waitingFor", "waits for"},
    {"waitingAt", "waits at"},
    {"step", "step"},
    {"clientAddress", "client"},
    {"serviceAccount", "service account"},
    {"principal", "principal"},
});
constexpr auto kErrorsColumns = std::to_array<PageColumn>({
    {"time", "time"},
    {"requestId", "request id"},
    {"fault", "whose fault"},
    {"type", "error type"},
    {"status", "status"},
    {"message", "message"},
    {"authority", "authority"},
    {"gateway", "Gateway"},
    {"route", "route"},
    {"backend", "Backend"},
    {"client", "client"},
});
constexpr auto kDeniedColumns = std::to_array<PageColumn>({
    {"client", "client"},
    {"assurance", "assurance"},
    {"by", "denied by"},
    {"type", "error type"},
    {"authority", "authority"},
    {"count", "times"},
    {"last", "last"},
});
constexpr auto kCertificatesColumns = std::to_array<PageColumn>({
    {"object", "object"},
    {"use", "use"},
    {"peer", "TLS peer"},
    {"source", "source"},
    {"ends", "ends"},
    {"days", "days left"},
});
constexpr auto kLimitsColumns = std::to_array<PageColumn>({
    {"limit", "limit"},
    {"object", "object"},
    {"used", "used"},
    {"most", "bound"},
    {"percent", "percent"},
    {"hits", "hits/s"},
    {"total", "hits since start"},
});
constexpr auto kEventsColumns = std::to_array<PageColumn>({
    {"time", "time"},
    {"type", "type"},
    {"reason", "reason"},
    {"object", "object"},
    {"message", "message"},
    {"count", "times"},
});
constexpr auto kRevisionsColumns = std::to_array<PageColumn>({
    {"revision", "revision"},
    {"served", "served as"},
    {"time", "time"},
    {"tainted", "tainted"},
    {"reason", "reason"},
});
constexpr auto kChangesColumns = std::to_array<PageColumn>({
    {"change", "change"},
    {"what", "what"},
    {"name", "name"},
    {"detail", "effect"},
});
constexpr auto kPageSections = std::to_array<PageSection>({
    {"wrong", "What is wrong", "Nothing is wrong.", kWrongColumns},
    {"listeners", "Gateways and listeners", "No Gateway is configured.", kListenersColumns},
    {"backends", "Backends", "No Backend is in use.", kBackendsColumns},
    {"endpoints", "Endpoints", "No Backend is in use.", kEndpointsColumns},
    {"routes", "Routes", "No route is configured.", kRoutesColumns},
    {"faults", "Errors by whose fault", "No request has failed.", kFaultsColumns},
    {"exchanges", "Requests in flight", "No request is in flight.", kExchangesColumns},
    {"errors", "Recent errors", "No request has failed.", kErrorsColumns},
    {"denied", "Identities that were denied", "Nobody was denied.", kDeniedColumns},
    {"certificates", "TLS and certificates", "No certificate is in use.", kCertificatesColumns},
    {"limits", "Budgets and limits near their bound", "No limit is near its bound.", kLimitsColumns},
    {"events", "Events", "There was no event.", kEventsColumns},
    {"revisions", "Revisions", "No revision was served or refused.", kRevisionsColumns},
    {"changes", "What the last revision has changed", "No revision has come since somebody looks.", kChangesColumns},
});

void writeColumns(base::JsonWriter& json, std::span<const PageColumn> columns) {
  json.beginList();
  for (const PageColumn& each : columns) {
    json.beginObject().member("member", each.member).member("title", each.title).endObject();
  }
  json.endList();
}

}  // namespace

std::span<const PageColumn> pageHead() { return kHead; }

std::span<const PageSection> pageSections() { return kPageSections; }

void writeWords(base::JsonWriter& json) {
  json.key("head");
  writeColumns(json, kHead);
  json.key("words").beginList();
  for (const PageSection& each : kPageSections) {
    json.beginObject().member("section", each.name).member("title", each.title).member("none", each.none);
    json.key("columns");
    writeColumns(json, each.columns);
    json.endObject();
  }
  json.endList();
}

}  // namespace sluice::server
