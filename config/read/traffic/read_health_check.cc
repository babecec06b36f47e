#include <algorithm>
#include <chrono>

#include "config/read/object_readers.h"
#include "config/read/traffic/traffic_readers.h"
#include "proxy/base/base64.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::int64_t kMostInARow = 1000;
constexpr std::int64_t kWholePercent = 100;
constexpr std::int64_t kMostMinimumRequests = 1000000;
constexpr std::int64_t kLowestStatus = 100;
constexpr std::int64_t kHighestStatus = 599;
constexpr base::Duration kShortestInterval = std::chrono::milliseconds(100);

bool isCheckedPath(std::string_view text) {
  const auto fits = [](char c) { return c > ' ' && c < '\x7F' && c != '#'; };
  return text.starts_with('/') && std::all_of(text.begin(), text.end(), fits);
}

constexpr TextRule kCheckedPath{isCheckedPath, "a path that begins with \"/\", without spaces and fragments", 1024};
constexpr TextRule kPayload{isAnyText, "a text of up to 4096 bytes", 4096};
constexpr std::string_view kCheckMethods[] = {"GET", "HEAD", "OPTIONS"};
constexpr TextRule kGrpcService{isAnyText, "the name of a gRPC service", 253};

/// Reads a duration that must not be zero.
void readTime(FieldReader& reader, std::string_view key, base::Duration& time) {
  const auto given = reader.duration(key);
  if (!given) return;
  time = *given;
  if (time == base::Duration::zero()) reader.error(key, "must not be zero");
}

PassiveHealthSettings readPassive(FieldReader reader) {
  PassiveHealthSettings passive;
  readNumber(reader, "consecutive5XxErrors", 0, kMostInARow, passive.consecutive5XxErrors);
  readNumber(reader, "consecutiveGatewayErrors", 0, kMostInARow, passive.consecutiveGatewayErrors);
  if (reader.has("failurePercentage")) {
    FieldReader percentage = reader.map("failurePercentage");
    percentage.require("threshold");
    readNumber(percentage, "threshold", 1, kWholePercent, passive.failurePercentage);
    readNumber(percentage, "minimumRequests", 1, kMostMinimumRequests, passive.minimumRequests);
    percentage.finish();
  }
  readTime(reader, "interval", passive.interval);
  readNumber(reader, "maxEjectionPercent", 0, kWholePercent, passive.maxEjectionPercent);
  readTime(reader, "baseEjectionTime", passive.baseEjectionTime);
  readTime(reader, "maxEjectionTime", passive.maxEjectionTime);
  if (passive.maxEjectionTime < passive.baseEjectionTime) {
    if (reader.has("maxEjectionTime")) reader.error("maxEjectionTime", "must not be less than baseEjectionTime");
    passive.maxEjectionTime = passive.baseEjectionTime;
  }
  reader.finish();
  return passive;
}

/// Reads bytes that are written as text, or in base64.
std::string readPayload(FieldReader reader) {
  enum class PayloadType : std::uint8_t { kText, kBinary };
  static constexpr Choice<PayloadType> kTypes[] = {{"Text", PayloadType::kText}, {"Binary", PayloadType::kBinary}};
  reader.require("type");
  const bool isText = reader.choice("type", kTypes, PayloadType::kText) == PayloadType::kText;
  if (reader.has("text") != isText) reader.error("text", "goes with type Text, and with no other");
  if (reader.has("binary") == isText) reader.error("binary", "goes with type Binary, and with no other");
  std::string payload = isText ? reader.text("text", kPayload) : reader.text("binary", kPayload);
  if (!isText && !payload.empty()) {
    const std::optional<std::string> bytes = base::decodeBase64(payload);
    if (!bytes || bytes->empty()) reader.error("binary", "must be base64");
    payload = bytes.value_or("");
  }
  reader.finish();
  return payload;
}

void readTcpCheck(FieldReader reader, ActiveHealthSettings& active) {
  if (reader.has("send")) active.send = readPayload(reader.map("send"));
  if (reader.has("receive")) active.expected = readPayload(reader.map("receive"));
  reader.finish();
}

void readMethod(FieldReader& reader, ActiveHealthSettings& active, std::vector<UnsupportedField>& unsupported) {
  const std::string method = reader.text("method", rule::kAnyText);
  if (method.empty()) return;
  active.method = method;
  if (std::find(std::begin(kCheckMethods), std::end(kCheckMethods), method) != std::end(kCheckMethods)) return;
  reader.unsupported("method", "only GET, HEAD and OPTIONS are supported", true, unsupported);
}

void readHttpCheck(FieldReader reader, ActiveHealthSettings& active, const OtherCheckFields& others,
                   std::vector<UnsupportedField>& unsupported) {
  readMethod(reader, active, unsupported);
  if (reader.has("expectedResponse")) active.expected = readPayload(reader.map("expectedResponse"));
  if (active.method == "HEAD" && !active.expected.empty()) {
    reader.error("expectedResponse", "must not be given with method HEAD, whose answers have no body");
  }
  active.hostname = reader.text("hostname", rule::kPreciseHostname);
  reader.require("path");
  active.path = readCheckedPath(reader);
  const std::vector<Item> statuses = reader.list("expectedStatuses", kHighestStatus - kLowestStatus + 1);
  if (reader.has("expectedStatuses")) active.expectedStatuses.clear();
  if (reader.has("expectedStatuses") && statuses.empty()) {
    reader.error("expectedStatuses", "must have at least one item");
  }
  for (const Item& item : statuses) {
    const auto status = readInteger(*item.value, item.path, kLowestStatus, kHighestStatus, reader.context());
    if (status) active.expectedStatuses.push_back(static_cast<std::uint16_t>(*status));
  }
  for (const std::string_view each : others.withoutEffectOfHttp) {
    reader.unsupported(each, "every status counts towards unhealthyThreshold", false, unsupported);
  }
  reader.finish();
}

/// Reads how the TLS of checks differs from that of the Backend.
void readCheckTls(FieldReader reader, ActiveHealthSettings& active) {
  static constexpr Choice<bool> kModes[] = {{"None", true}, {"Simple", false}};
  active.plain = reader.choice("mode", kModes, false);
  active.serverName = base::toLower(reader.text("sni", rule::kDomainName));
  active.insecureSkipVerify = reader.boolean("insecureSkipVerify", false);
  for (const std::string_view each : {"sni", "insecureSkipVerify"}) {
    if (active.plain && reader.has(each)) reader.error(each, "must not be given with mode None");
  }
  if (active.type == ActiveHealthSettings::Type::kTcp) {
    reader.context().error(reader.position(), reader.path(), "is not for the type TCP, whose checks have no TLS");
  }
  reader.finish();
}

}  // namespace

void readThreshold(FieldReader& reader, std::string_view key, std::uint32_t& threshold) {
  readNumber(reader, key, 1, kMostInARow, threshold);
}

std::string readCheckedPath(FieldReader& http) { return http.text("path", kCheckedPath); }

ActiveHealthSettings readActiveCheck(FieldReader reader, const OtherCheckFields& others,
                                     std::vector<UnsupportedField>& unsupported) {
  using Type = ActiveHealthSettings::Type;
  static constexpr Choice<Type> kTypes[] = {{"HTTP", Type::kHttp}, {"GRPC", Type::kGrpc}, {"TCP", Type::kTcp}};
  ActiveHealthSettings active;
  reader.require("type");
  active.type = reader.choice("type", kTypes, Type::kTcp);
  readTime(reader, "timeout", active.timeout);
  const auto interval = [&reader](std::string_view key, base::Duration& time) {
    readTime(reader, key, time);
    if (reader.has(key) && time < kShortestInterval) reader.error(key, "must not be less than 100ms");
  };
  interval("interval", active.interval);
  if (others.isOwn) {
    interval("unhealthyInterval", active.unhealthyInterval);
    active.port = reader.port("port");
    if (reader.has("tls")) readCheckTls(reader.map("tls"), active);
  }
  if (const auto jitter = reader.duration("initialJitter")) active.initialJitter = *jitter;
  readThreshold(reader, "unhealthyThreshold", active.unhealthyThreshold);
  readThreshold(reader, "healthyThreshold", active.healthyThreshold);
  if (active.type != Type::kHttp && reader.has("http")) reader.error("http", "is for the type HTTP alone");
  if (active.type != Type::kGrpc && reader.has("grpc")) reader.error("grpc", "is for the type GRPC alone");
  if (active.type != Type::kTcp && reader.has("tcp")) reader.error("tcp", "is for the type TCP alone");
  if (active.type == Type::kTcp && reader.has("tcp")) readTcpCheck(reader.map("tcp"), active);
  if (active.type == Type::kHttp) {
    reader.require("http");
    readHttpCheck(reader.map("http"), active, others, unsupported);
  } else if (active.type == Type::kGrpc && reader.has("grpc")) {
    FieldReader grpc = reader.map("grpc");
    active.hostname = grpc.text("hostname", rule::kPreciseHostname);
    active.service = grpc.text("service", kGrpcService);
    grpc.finish();
  }
  reader.finish();
  return active;
}

namespace {

void readHealthCheck(FieldReader reader, BackendTraffic& traffic, std::vector<UnsupportedField>& unsupported) {
  if (reader.has("passive")) traffic.passiveHealth = readPassive(reader.map("passive"));
  if (reader.has("active")) traffic.activeHealth = readActiveCheck(reader.map("active"), {.isOwn = true}, unsupported);
  if (!reader.has("passive") && !reader.has("active")) {
    reader.context().error(reader.position(), reader.path(), "must have active or passive");
  }
  reader.finish();
}

}  // namespace

void readBackendTraffic(FieldReader& spec, BackendTraffic& traffic, std::vector<UnsupportedField>& unsupported) {
  if (spec.has("healthCheck")) readHealthCheck(spec.map("healthCheck"), traffic, unsupported);
  if (spec.has("timeout")) traffic.timeouts = readTrafficTimeouts(spec.map("timeout"), unsupported);
  if (spec.has("tcpKeepalive")) traffic.keepalive = readTcpKeepalive(spec.map("tcpKeepalive"));
  if (spec.has("dns")) traffic.dns = readTrafficDns(spec.map("dns"), unsupported);
  if (spec.has("circuitBreaker")) traffic.circuitBreaker = readCircuitBreaker(spec.map("circuitBreaker"));
}

}  // namespace sluice::config
