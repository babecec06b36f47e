#include <algorithm>
#include <string>

#include "config/convert/model_writers.h"
#include "proxy/base/base64.h"

namespace sluice::config {
namespace {

using CheckType = ActiveHealthSettings::Type;

constexpr Choice<CheckType> kCheckWords[] = {
    {"HTTP", CheckType::kHttp}, {"GRPC", CheckType::kGrpc}, {"TCP", CheckType::kTcp}};
constexpr Choice<base::CheckLog> kLogWords[] = {{"All", base::CheckLog::kAll}, {"Off", base::CheckLog::kOff}};
constexpr std::string_view kWrittenMethods[] = {"GET", "HEAD", "OPTIONS"};

void writeFailurePercentage(const PassiveHealthSettings& passive, FieldWriter& to) {
  if (passive.failurePercentage == 0) return;
  to.number("threshold", passive.failurePercentage);
  to.number("minimumRequests", std::max(passive.minimumRequests, 1U));  // 0 has the same effect
}

void writePassive(const PassiveHealthSettings& passive, FieldWriter& to) {
  to.number("consecutive5XxErrors", passive.consecutive5XxErrors);
  to.number("consecutiveGatewayErrors", passive.consecutiveGatewayErrors);
  to.map("failurePercentage", passive, writeFailurePercentage);
  to.time("interval", passive.interval);
  to.number("maxEjectionPercent", passive.maxEjectionPercent);
  to.time("baseEjectionTime", passive.baseEjectionTime);
  to.time("maxEjectionTime", passive.maxEjectionTime);
}

/// Writes bytes as text if people can read them, and in base64 otherwise.
void writePayload(const std::string& bytes, FieldWriter& to) {
  if (bytes.empty()) return;
  const bool isText = std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= ' ' && c <= '~'; });
  to.text("type", isText ? "Text" : "Binary");
  to.text(isText ? "text" : "binary", isText ? bytes : base::encodeBase64(bytes));
}

void writeCheckTls(const ActiveHealthSettings& active, FieldWriter& to) {
  if (active.plain) to.text("mode", "None");
  to.text("sni", active.serverName);
  to.flag("insecureSkipVerify", ifSet(active.insecureSkipVerify));
}

void writeCheckHeader(const HeaderValue& header, FieldWriter& to) {
  to.text("name", header.name);
  to.anyText("value", header.value);
}

void writeHttpCheck(const ActiveHealthSettings& active, FieldWriter& to) {
  const bool isSupported =
      std::find(std::begin(kWrittenMethods), std::end(kWrittenMethods), active.method) != std::end(kWrittenMethods);
  to.text("hostname", active.hostname);
  to.text("path", active.path);
  to.text("method", isSupported ? active.method : std::string());
  to.numbers("expectedStatuses", active.expectedStatuses);
  to.map("expectedResponse", active.expected, writePayload);
  to.list("headers", active.headers, writeCheckHeader);
}

void writeGrpcCheck(const ActiveHealthSettings& active, FieldWriter& to) {
  to.text("hostname", active.hostname);
  to.text("service", active.service);
}

void writeTcpCheck(const ActiveHealthSettings& active, FieldWriter& to) {
  to.map("send", active.send, writePayload);
  to.map("receive", active.expected, writePayload);
}

void writeActiveCheck(const ActiveHealthSettings& active, FieldWriter& to) {
  to.word("type", active.type, kCheckWords);
  to.time("timeout", active.timeout);
  to.time("interval", active.interval);
  to.time("unhealthyInterval", ifSet(active.unhealthyInterval));
  to.time("initialJitter", ifSet(active.initialJitter));
  to.number("unhealthyThreshold", active.unhealthyThreshold);
  to.number("healthyThreshold", active.healthyThreshold);
  to.number("port", ifSet(active.port));
  to.word("log", active.log, kLogWords);
  to.map("tls", active, writeCheckTls);
  if (active.type == CheckType::kHttp) to.map("http", active, writeHttpCheck);
  if (active.type == CheckType::kGrpc) to.map("grpc", active, writeGrpcCheck);
  if (active.type == CheckType::kTcp) to.map("tcp", active, writeTcpCheck);
}

}  // namespace

void writeHealthCheck(const BackendTraffic& traffic, FieldWriter& to) {
  to.map("passive", traffic.passiveHealth, writePassive);
  if (!traffic.activeHealth) return;
  if (traffic.activeHealth->size() == 1) {
    to.map("active", traffic.activeHealth->front(), writeActiveCheck);
  } else {
    to.list("active", *traffic.activeHealth, writeActiveCheck);
  }
}

}  // namespace sluice::config
