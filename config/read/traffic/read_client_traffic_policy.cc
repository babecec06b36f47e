// Reads Envoy Gateway's ClientTrafficPolicy. Of the parts that restrict clients or their requests, the certificates of
// clients are supported. Listeners must not be served without the others. The settings that concern how listeners work
// have no effect.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/read/object_readers.h"
#include "config/read/traffic/client_validation_reader.h"

namespace sluice::config {
namespace {

constexpr std::string_view kNoEffect =
    "policies of this kind are not supported: this one restricts no clients, and has no effect";

constexpr std::string_view kRestricts = "restricts clients";

/// Follows what an unsupported part of the policy does.
constexpr std::string_view kSoItCloses = ", which is not supported: the targets of the policy answer 500";

constexpr std::string_view kOnlyValidation =
    "has no effect: of policies of this kind, only tls.clientValidation is supported";

constexpr std::string_view kMayRestrict =
    "policies of this kind are not supported: parts of this one cannot be read, so it may restrict clients, and its "
    "targets answer 500";

/// A field of the policy that restricts clients.
struct ClientRestriction {
  std::string_view field;
  std::vector<std::string_view> unless = {};  // values with which it does not restrict clients
  std::string_view inner = {};                // the field is a map, and this member has the value
};

/// The fields that were found in a policy.
struct FoundFields {
  std::vector<Finding> restricting;  // each with what it does
  std::vector<std::string> ignored;
};

/// Returns true if the value is one of these words.
bool isOneWordOf(const Value* value, const std::vector<std::string_view>& words) {
  return value != nullptr && std::find(words.begin(), words.end(), value->text) != words.end();
}

/// Adds the fields of `reader` that restrict clients. The fields in `others` are known not to restrict them. A field in
/// neither list is added too, because it could be a misspelt restriction.
void findRestricting(FieldReader reader, const std::vector<ClientRestriction>& restrictions,
                     const std::vector<std::string_view>& others, FoundFields& found) {
  for (const auto& [field, unless, inner] : restrictions) {
    const Value* value = reader.find(field);
    if (value == nullptr) continue;
    if (!inner.empty()) value = reader.map(field).find(inner);
    if (!isOneWordOf(value, unless)) found.restricting.push_back({reader.pathOf(field), std::string(kRestricts)});
  }
  for (const std::string_view each : others) {
    if (reader.has(each)) found.ignored.push_back(reader.pathOf(each));
  }
  reader.finish();
}

/// Reads `tls`, of which the validation of clients is supported.
void readClientTls(FieldReader tls, ClientTrafficPolicy& policy, FoundFields& found) {
  if (tls.has("clientValidation")) {
    FieldReader validation = tls.map("clientValidation");
    readClientValidation(validation, policy.validation.emplace(), found.restricting);
    validation.finish();
  }
  // Clients with TLS 1.2 are accepted anyway.
  findRestricting(std::move(tls),
                  {{"ciphers"},
                   {"ecdhCurves"},
                   {"signatureAlgorithms"},
                   {"fingerprints"},
                   {"minVersion", {"Auto", "1.0", "1.1", "1.2"}}},
                  {"maxVersion", "alpnProtocols", "session"}, found);
}

/// Adds the restrictions in the parts of the spec.
void findRestrictingParts(FieldReader& spec, FoundFields& found) {
  findRestricting(spec.map("connection"), {{"connectionLimit"}},
                  {"bufferLimit", "socketBufferLimit", "maxAcceptPerSocketEvent"}, found);
  findRestricting(spec.map("path"), {{"escapedSlashesAction", {"KeepUnchanged", "UnescapeAndForward"}}},
                  {"disableMergeSlashes"}, found);
  FieldReader detection = spec.map("clientIPDetection");
  findRestricting(detection.map("customHeader"), {{"failClosed", {"false"}}}, {"name"}, found);
  findRestricting(std::move(detection), {}, {"xForwardedFor"}, found);
  // These fields remove or refuse parts of requests, and Backends may rely on that.
  findRestricting(
      spec.map("headers"),
      {{"xForwardedClientCert", {"AlwaysForwardOnly"}, "mode"},
       {"earlyRequestHeaders"},
       {"withUnderscoresAction", {"Allow"}}},
      {"enableEnvoyHeaders", "disableRateLimitHeaders", "preserveXRequestID", "requestID", "lateResponseHeaders"},
      found);
}

/// Says in the policy and in a warning what the found fields mean for it.
void noteEffect(FieldReader& root, FieldReader& spec, const FoundFields& found, ClientTrafficPolicy& policy) {
  ObjectContext& context = root.context();
  if (!found.restricting.empty()) {
    const Finding& first = found.restricting.front();
    policy.note = {first.field, first.message + std::string(kSoItCloses)};
    context.warning(spec.position(), policy.note.field, policy.note.message);
  } else if (!policy.validation) {
    policy.note = {"kind", std::string(policy.restricts ? kMayRestrict : kNoEffect)};
    context.warning(root.positionOf("kind"), policy.note.field, policy.note.message);
  } else if (!found.ignored.empty()) {
    context.warning(spec.position(), found.ignored.front(), std::string(kOnlyValidation));
  }
}

}  // namespace

void readClientTrafficPolicy(FieldReader& root, ClientTrafficPolicy& policy) {
  root.require("spec");
  FieldReader spec = root.map("spec");
  const std::size_t before = root.context().illegibleFields();
  if (spec.given()) readPolicyTargets(spec, policy);
  // An error in the targets does not mean that the policy restricts clients.
  const std::size_t ofTargets = root.context().illegibleFields() - before;
  FoundFields found;
  readClientTls(spec.map("tls"), policy, found);
  findRestrictingParts(spec, found);
  findRestricting(spec, {{"proxyProtocol", {"true"}, "optional"}, {"enableProxyProtocol", {"false"}}},
                  {"tcpKeepalive", "timeout", "http1", "http2", "http3", "grpc", "healthCheck", "scheme"}, found);
  const bool closes = !found.restricting.empty() || root.context().illegibleFields() > ofTargets;
  policy.restricts = closes || policy.validation;
  root.finish();
  if (closes || root.context().errors() > 0) policy.validation.reset();
  noteEffect(root, spec, found, policy);
}

}  // namespace sluice::config
