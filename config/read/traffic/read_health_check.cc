#include <algorithm>
#include <cstddef>

#include "config/read/object_readers.h"
#include "config/read/traffic/traffic_readers.h"
#include "proxy/base/base64.h"
#include "proxy/base/terms/reserved_fields.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr NumberRange kErrorsInARow{0, 1000};
constexpr std::int64_t kWholePercent = 100;
constexpr std::int64_t kMostMinimumRequests = 1000000;
constexpr std::int64_t kLowestStatus = 100;
constexpr std::int64_t kHighestStatus = 599;

bool isCheckedPath(std::string_view text) {
  const auto fits = [](char c) { return c > ' ' && c < '\x7F' && c != '#'; };
  return text.starts_with('/') && std::all_of(text.begin(), text.end(), fits);
}

constexpr TextRule kCheckedPath{isCheckedPath, "a path that begins with \"/\", without spaces and fragments", 1024};
// A check must not carry much of what its author chose to a third party.
constexpr std::size_t kMostCheckPayload = 256;
constexpr std::size_t kMostEncodedPayload = (kMostCheckPayload + 2) / 3 * 4;
constexpr TextRule kPayload{isAnyText, "a text of up to 256 bytes", kMostCheckPayload};
constexpr TextRule kEncodedPayload{isAnyText, "up to 256 bytes in base64", kMostEncodedPayload};
constexpr std::string_view kCheckMethods[] = {"GET", "HEAD", "OPTIONS"};
constexpr TextRule kGrpcService{isAnyText, "the name of a gRPC service", 253};
constexpr Choice<base::CheckLog> kCheckLogs[] = {
    {"Transitions", base::CheckLog::kTransitions}, {"All", base::CheckLog::kAll}, {"Off", base::CheckLog::kOff}};

void readFailurePercentage(FieldReader& reader, PassiveHealthSettings& passive) {
  reader.read(required("threshold"), passive.failurePercentage, {1, kWholePercent});
  reader.read("minimumRequests", passive.minimumRequests, {1, kMostMinimumRequests});
}

void readPassive(FieldReader& reader, PassiveHealthSettings& passive) {
  reader.read("consecutive5XxErrors", passive.consecutive5XxErrors, kErrorsInARow);
  reader.read("consecutiveGatewayErrors", passive.consecutiveGatewayErrors, kErrorsInARow);
  reader.read("failurePercentage", passive, readFailurePercentage);
  reader.read("interval", passive.interval, kNotZero);
  reader.read("maxEjectionPercent", passive.maxEjectionPercent, {0, kWholePercent});
  reader.read("baseEjectionTime", passive.baseEjectionTime, kNotZero);
  reader.read("maxEjectionTime", passive.maxEjectionTime, kNotZero);
  if (passive.maxEjectionTime < passive.baseEjectionTime) {
    if (reader.has("maxEjectionTime")) reader.error("maxEjectionTime", "must not be less than baseEjectionTime");
    passive.maxEjectionTime = passive.baseEjectionTime;
  }
}

/// Reads bytes that are written as text or in base64.
void readPayload(FieldReader& reader, std::string& payload) {
  static constexpr Choice<bool> kTypes[] = {{"Text", true}, {"Binary", false}};
  bool isText = true;
  reader.read(required("type"), isText, kTypes);
  if (reader.has("text") != isText) reader.error("text", "goes with type Text, and with no other");
  if (reader.has("binary") == isText) reader.error("binary", "goes with type Binary, and with no other");
  reader.read(isText ? "text" : "binary", payload, isText ? kPayload : kEncodedPayload);
  if (isText || payload.empty()) return;
  const std::optional<std::string> bytes = base::decodeBase64(payload);
  if (!bytes || bytes->empty()) reader.error("binary", "must be base64");
  if (bytes && bytes->size() > kMostCheckPayload) reader.error("binary", "is longer than 256 bytes");
  payload = bytes.value_or("");
}

void readTcpCheck(FieldReader& reader, ActiveHealthSettings& active) {
  reader.read("send", active.send, readPayload);
  reader.read("receive", active.expected, readPayload);
}

void readMethod(FieldReader& reader, ActiveHealthSettings& active) {
  const std::string method = reader.text("method", rule::kAnyText);
  if (method.empty()) return;
  active.method = method;
  if (std::find(std::begin(kCheckMethods), std::end(kCheckMethods), method) != std::end(kCheckMethods)) return;
  reader.unsupported("method", "only GET, HEAD and OPTIONS are supported");
}

void readHttpCheck(FieldReader reader, const OtherCheckFields& others, ActiveHealthSettings& active) {
  readMethod(reader, active);
  reader.read("expectedResponse", active.expected, readPayload);
  if (active.method == "HEAD" && !active.expected.empty()) {
    reader.error("expectedResponse", "must not be given with method HEAD, whose answers have no body");
  }
  reader.read("hostname", active.hostname, rule::kPreciseHostname);
  reader.require("path");
  readCheckedPath(reader, active.path);
  if (reader.has("expectedStatuses")) active.expectedStatuses.clear();
  for (const Item& item : reader.listOfSome("expectedStatuses", kHighestStatus - kLowestStatus + 1)) {
    const auto status = readInteger(*item.value, item.path, {kLowestStatus, kHighestStatus}, reader.context());
    if (status) active.expectedStatuses.push_back(static_cast<std::uint16_t>(*status));
  }
  if (others.isOwn) reader.read("headers", active.headers, kMostCheckHeaders, readCheckHeader);
  for (const std::string_view each : others.withoutEffectOfHttp) {
    reader.unsupported(each, "every status counts towards unhealthyThreshold", false);
  }
  reader.finish();
}

void readGrpcCheck(FieldReader& reader, ActiveHealthSettings& active) {
  reader.read("hostname", active.hostname, rule::kPreciseHostname);
  reader.read("service", active.service, kGrpcService);
}

/// Reads the differences between the TLS of checks and that of the Backend.
void readCheckTls(FieldReader& reader, ActiveHealthSettings& active) {
  static constexpr Choice<bool> kModes[] = {{"None", true}, {"Simple", false}};
  reader.read("mode", active.plain, kModes);
  active.serverName = base::toLower(reader.text("sni", rule::kDomainName));
  reader.read("insecureSkipVerify", active.insecureSkipVerify);
  for (const std::string_view each : {"sni", "insecureSkipVerify"}) {
    if (active.plain && reader.has(each)) reader.error(each, "must not be given with mode None");
  }
  if (active.type == ActiveHealthSettings::Type::kTcp) {
    reader.error("is not for the type TCP, whose checks have no TLS");
  }
}

/// Reads the field that belongs to the type of the check.
void readCheckOfType(FieldReader& reader, const OtherCheckFields& others, ActiveHealthSettings& active) {
  using Type = ActiveHealthSettings::Type;
  if (active.type != Type::kHttp && reader.has("http")) reader.error("http", "is for the type HTTP alone");
  if (active.type != Type::kGrpc && reader.has("grpc")) reader.error("grpc", "is for the type GRPC alone");
  if (active.type != Type::kTcp && reader.has("tcp")) reader.error("tcp", "is for the type TCP alone");
  if (active.type == Type::kTcp) reader.read("tcp", active, readTcpCheck);
  if (active.type == Type::kGrpc) reader.read("grpc", active, readGrpcCheck);
  if (active.type != Type::kHttp) return;
  reader.require("http");
  readHttpCheck(reader.map("http"), others, active);
}

void readOwnCheck(FieldReader& reader, ActiveHealthSettings& active) {
  readActiveCheck(reader, {.isOwn = true}, active);
}

/// Reads one check, or a list of checks.
void readActiveChecks(FieldReader& reader, std::optional<ActiveChecks>& checks) {
  const Value* const active = reader.find("active");
  if (active == nullptr) return;
  ActiveChecks& all = checks.emplace();
  if (!active->isList()) {
    reader.read("active", all.emplace_back(), readOwnCheck);
    return;
  }
  for (const Item& item : reader.listOfSome("active", kMostActiveChecks)) {
    reader.map(item).readInto(all.emplace_back(), readOwnCheck);
  }
}

void readHealthCheck(FieldReader& reader, BackendTraffic& traffic) {
  reader.read("passive", traffic.passiveHealth, readPassive);
  readActiveChecks(reader, traffic.activeHealth);
  if (!reader.has("passive") && !reader.has("active")) reader.error("must have active or passive");
}

}  // namespace

void readCheckedPath(FieldReader& http, std::string& path) { http.read("path", path, kCheckedPath); }

void readCheckInterval(FieldReader& reader, std::string_view key, base::Duration& interval) {
  reader.read(key, interval, kNotZero);
  if (!reader.has(key) || interval >= kShortestCheckInterval || interval <= base::Duration::zero()) return;
  interval = kShortestCheckInterval;
  reader.unsupported(key, "is shorter than 1s, which applies instead", false);
}

void readCheckHeader(FieldReader& reader, HeaderValue& header) {
  header.name = base::toLower(reader.requiredText("name", rule::kHeaderName));
  if (header.name == "host") reader.error("name", "must not be Host: hostname is the Host of a check");
  if (base::isReservedField(header.name)) {
    reader.error("name", "must not be " + base::quote(header.name) + ", which belongs to the gateway");
  }
  // rule::kHeaderValue would quote the value.
  header.value = reader.requiredText("value", rule::kAnyText);
  if (header.value.empty() || isHeaderValue(header.value)) return;
  reader.error("value", "must be a header value: visible ASCII, with single spaces or tabs inside");
}

void readActiveCheck(FieldReader& reader, const OtherCheckFields& others, ActiveHealthSettings& active) {
  using Type = ActiveHealthSettings::Type;
  static constexpr Choice<Type> kTypes[] = {{"HTTP", Type::kHttp}, {"GRPC", Type::kGrpc}, {"TCP", Type::kTcp}};
  reader.read(required("type"), active.type, kTypes);
  reader.read("timeout", active.timeout, kNotZero);
  readCheckInterval(reader, "interval", active.interval);
  if (others.isOwn) {
    readCheckInterval(reader, "unhealthyInterval", active.unhealthyInterval);
    reader.read("port", active.port, kPorts);
    reader.read("tls", active, readCheckTls);
    reader.read("log", active.log, kCheckLogs);
  }
  reader.read("initialJitter", active.initialJitter);
  reader.read("unhealthyThreshold", active.unhealthyThreshold, kResultsInARow);
  reader.read("healthyThreshold", active.healthyThreshold, kResultsInARow);
  readCheckOfType(reader, others, active);
}

void readBackendTraffic(FieldReader& spec, BackendTraffic& traffic) {
  spec.read("healthCheck", traffic, readHealthCheck);
  spec.read("timeout", traffic.timeouts, readTrafficTimeouts);
  spec.read("tcpKeepalive", traffic.keepalive, readTcpKeepalive);
  spec.read("dns", traffic.dns, readTrafficDns);
  spec.read("circuitBreaker", traffic.circuitBreaker, readOwnCircuitBreaker);
  spec.read("loadBalancing", traffic.loadBalancing, readLoadBalancing);
  static constexpr Choice<bool> kSendsVia[] = {{"On", true}, {"Off", false}};
  spec.read("via", traffic.sendsVia, kSendsVia);
}

}  // namespace sluice::config
