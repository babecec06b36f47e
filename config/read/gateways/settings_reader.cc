#include "config/read/gateways/settings_reader.h"

#include <limits>
#include <string>
#include <utility>

#include "config/fields/field_reader.h"
#include "config/read/data_document.h"
#include "config/read/gateways/identity_reader.h"
#include "config/read/object_readers.h"
#include "config/read/processors/extension_manager.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxListItems = 1000;
constexpr std::size_t kMaxHosts = 5000;
constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

constexpr Choice<base::ClientHalfClose> kClientHalfClose[] = {{"Abort", base::ClientHalfClose::kAbort},
                                                              {"Allow", base::ClientHalfClose::kAllow}};
constexpr Choice<base::ConnectionAuth> kConnectionAuth[] = {{"Pin", base::ConnectionAuth::kPin},
                                                            {"Refuse", base::ConnectionAuth::kRefuse}};
constexpr Choice<base::ErrorDetail> kErrorDetail[] = {{"Codes", base::ErrorDetail::kCodes},
                                                      {"Names", base::ErrorDetail::kNames}};
constexpr Choice<base::EncodedSlash> kEncodedSlash[] = {{"Auto", base::EncodedSlash::kAuto},
                                                        {"Keep", base::EncodedSlash::kKeep},
                                                        {"Reject", base::EncodedSlash::kReject},
                                                        {"Decode", base::EncodedSlash::kDecode}};
constexpr Choice<base::MergeSlashes> kMergeSlashes[] = {
    {"Auto", base::MergeSlashes::kAuto}, {"true", base::MergeSlashes::kTrue}, {"false", base::MergeSlashes::kFalse}};
constexpr Choice<base::ForwardedHeaders> kForwardedHeaders[] = {{"Off", base::ForwardedHeaders::kOff},
                                                                {"Append", base::ForwardedHeaders::kAppend},
                                                                {"Overwrite", base::ForwardedHeaders::kOverwrite}};

struct QuantityField {
  std::string_view key;
  std::uint64_t& value;
  std::uint64_t minimum;
  std::uint64_t maximum;
};

void readQuantities(FieldReader& reader, std::initializer_list<QuantityField> fields) {
  for (const QuantityField& field : fields) {
    field.value = reader.quantity(field.key, field.minimum, field.maximum).value_or(field.value);
  }
}

constexpr TextRule kAddress{isIpAddress, "an IP address"};
constexpr TextRule kServer{isIpWithPort, "an IP address, with or without a port"};
constexpr TextRule kCidr{isCidr, "a CIDR like 10.0.0.0/8"};

void readHosts(FieldReader& dns, base::DnsSettings& settings) {
  const Value* hosts = dns.find("hosts");
  FieldReader reader = dns.map("hosts");
  if (hosts == nullptr) return;
  if (hosts->members.size() > kMaxHosts) {
    dns.error("hosts", "has more than " + std::to_string(kMaxHosts) + " names");
    return;
  }
  for (const Member& member : hosts->members) {
    if (!isDomainName(member.key)) {
      reader.context().error(member.position, reader.pathOf(base::quote(member.key)), "must be a domain name");
    }
    std::vector<std::string> addresses = reader.texts(member.key, kAddress, kMaxListItems);
    std::string name = base::toLower(member.key);
    if (name.ends_with('.')) name.pop_back();
    settings.hosts[name] = std::move(addresses);
  }
}

void readDns(FieldReader& reader, base::DnsSettings& settings) {
  reader.read("servers", settings.servers, kServer, kMaxListItems);
  readHosts(reader, settings);
  reader.read("timeout", settings.timeout, kLongerThanZero);
  reader.read("minTtl", settings.minTtl);
  reader.read("maxTtl", settings.maxTtl);
  reader.read("negativeTtl", settings.negativeTtl);
  reader.read("staleTtl", settings.staleTtl);
  if (settings.maxTtl < settings.minTtl) reader.error("maxTtl", "must not be shorter than minTtl");
  reader.read("attempts", settings.attempts, {1, 100});
  reader.read("maxAddresses", settings.maxAddresses, {1, 1000});
  reader.read("ipv6", settings.ipv6);
}

void readTimeouts(FieldReader& reader, base::TimeoutSettings& settings) {
  reader.read("requestHeader", settings.requestHeader, kLongerThanZero);
  reader.read("bodyIdle", settings.bodyIdle, kLongerThanZero);
  reader.read("expectContinue", settings.expectContinue, kLongerThanZero);
  reader.read("clientIdle", settings.clientIdle, kLongerThanZero);
  reader.read("tlsHandshake", settings.tlsHandshake, kLongerThanZero);
  reader.read("connect", settings.connect, kLongerThanZero);
  reader.read("drain", settings.drain, kLongerThanZero);
  reader.read("responseIdle", settings.responseIdle, kLongerThanZero);
  reader.read("streamIdle", settings.streamIdle, kLongerThanZero);
  reader.read("tunnelIdle", settings.tunnelIdle, kLongerThanZero);
  reader.read("tunnel", settings.tunnel);
  reader.read("tunnelSniff", settings.tunnelSniff, kLongerThanZero);
  reader.read("request", settings.request);
  reader.read("upstreamIdle", settings.upstreamIdle, kLongerThanZero);
  reader.read("upstreamPing", settings.upstreamPing);
  reader.read("processor", settings.processor, kLongerThanZero);
  reader.read("adminAnswer", settings.adminAnswer, kLongerThanZero);
}

// A buffer must have room for at least one chunk. 65535 is HTTP/2's initial connection window, which cannot shrink (RFC
// 9113 section 6.9.2), and a window cannot exceed 2^31-1 (section 6.9.1).
void readLimits(FieldReader& reader, base::LimitSettings& settings) {
  constexpr std::uint64_t kChunk = 16 * 1024;
  constexpr std::uint64_t kMostPasswordChecks = 10000;
  readQuantities(reader, {{"requestLineBytes", settings.requestLineBytes, 64, kMaxBytes},
                          {"headerBytes", settings.headerBytes, 64, kMaxBytes},
                          {"headerFields", settings.headerFields, 1, kMaxCount},
                          {"responseFields", settings.responseFields, 1, kMaxCount},
                          {"headerMemory", settings.headerMemory, 0, kMaxBytes},
                          {"headerMemoryTotal", settings.headerMemoryTotal, 0, kMaxBytes},
                          {"informationalResponses", settings.informationalResponses, 0, kMaxCount},
                          {"chunkExtensionBytes", settings.chunkExtensionBytes, 0, kMaxBytes},
                          {"concurrentStreams", settings.concurrentStreams, 1, kMaxCount},
                          {"streamWindow", settings.streamWindow, 1024, kMaxCount},
                          {"connectionWindow", settings.connectionWindow, 65535, kMaxCount},
                          {"drainBytes", settings.drainBytes, 0, kMaxCount},
                          {"resetsPerMinute", settings.resetsPerMinute, 1, kMaxCount},
                          {"emptyFrames", settings.emptyFrames, 1, kMaxCount},
                          {"queuedControlFrames", settings.queuedControlFrames, 1, kMaxCount},
                          {"controlFramesPerMinute", settings.controlFramesPerMinute, 1, kMaxCount},
                          {"connections", settings.connections, 1, kMaxCount},
                          {"connectionsPerAddress", settings.connectionsPerAddress, 0, kMaxCount},
                          {"handshakesPerAddress", settings.handshakesPerAddress, 0, kMaxCount},
                          {"connectionMemory", settings.connectionMemory, kChunk, kMaxBytes},
                          {"connectionMemoryTotal", settings.connectionMemoryTotal, kChunk, kMaxBytes},
                          {"responseRate", settings.responseRate, 0, kMaxBytes},
                          {"exchangeBuffer", settings.exchangeBuffer, kChunk, kMaxBytes},
                          {"replayBuffer", settings.replayBuffer, 0, kMaxBytes},
                          {"processorBuffer", settings.processorBuffer, 0, kMaxBytes},
                          {"processorBufferTotal", settings.processorBufferTotal, 0, kMaxBytes},
                          {"processorContext", settings.processorContext, 0, kMaxCount},
                          {"luaScriptBytes", settings.luaScriptBytes, 1, kMaxCount},
                          {"stepWork", settings.stepWork, 1, kMaxCount},
                          {"decompressedBody", settings.decompressedBody, 0, kMaxBytes},
                          {"decompressionRatio", settings.decompressionRatio, 1, kMaxCount},
                          {"backendConnections", settings.backendConnections, 1, kMaxCount},
                          {"backendPending", settings.backendPending, 0, kMaxCount},
                          {"backendRequests", settings.backendRequests, 1, kMaxCount},
                          {"dynamicClusters", settings.dynamicClusters, 1, kMaxCount},
                          {"tunnels", settings.tunnels, 1, kMaxCount},
                          {"tunnelsPerAddress", settings.tunnelsPerAddress, 0, kMaxCount},
                          {"passwordChecks", settings.passwordChecks, 1, kMostPasswordChecks},
                          {"probesPerSecond", settings.probesPerSecond, 1, kMaxCount},
                          {"adminConnections", settings.adminConnections, 1, kMaxCount},
                          {"matches", settings.matches, 1, kMaxCount},
                          {"configBytes", settings.configBytes, 1024, kMaxCount},
                          {"references", settings.references, 1, kMaxCount}});
}

/// Reads the name and namespace of an object in any namespace.
template <typename Ref>
void readNames(FieldReader& reader, Ref& ref) {
  reader.read(required("namespace"), ref.nameSpace, rule::kNamespace);
  reader.read(required("name"), ref.name, rule::kObjectName);
}

void readSessionKeyRef(FieldReader& reader, base::SessionKeyRef& ref) {
  readNames(reader, ref);
  reader.read("key", ref.key, rule::kRefName);
  ref.previousKey = reader.text("previousKey", rule::kRefName);
}

void readRevisionKeyRef(FieldReader& reader, base::RevisionKeyRef& ref) {
  readNames(reader, ref);
  reader.read("key", ref.key, rule::kRefName);
}

void readRevisionSettings(FieldReader& reader, base::RevisionSettings& settings) {
  reader.read("keep", settings.keep, {1, 1000});
  reader.read("failures", settings.failures, {1, 100});
  reader.read("keyRef", settings.keyRef, readRevisionKeyRef);
}

void readForwarded(FieldReader& reader, base::ForwardedSettings& settings) {
  reader.read("mode", settings.mode, kForwardedHeaders);
  reader.read("trustedHops", settings.trustedHops, {0, 100});
}

/// Reads either a map or only the mode.
void readForwardedOrMode(FieldReader& reader, base::ForwardedSettings& settings) {
  const Value* given = reader.find("forwardedHeaders");
  if (given != nullptr && given->isMap()) {
    reader.read("forwardedHeaders", settings, readForwarded);
  } else {
    reader.read("forwardedHeaders", settings.mode, kForwardedHeaders);
  }
}

void readRequestId(FieldReader& reader, base::RequestIdSettings& settings) {
  reader.read("accept", settings.accept);
  if (!reader.has("header")) return;
  settings.header = base::toLower(reader.anyText("header", rule::kHeaderName.maxLength));
  // The gateway itself writes and removes the fields about the path that a request has taken.
  const bool ofWay = settings.header.starts_with("x-forwarded") || settings.header == "x-real-ip";
  const bool own = (settings.header.starts_with("x-") && !ofWay) || settings.header.ends_with("-id");
  if (!settings.header.empty() && (!own || !isHeaderName(settings.header))) {
    reader.error("header", "must be a header name that begins with x- or ends in -id, or empty for none");
  }
}

void readPathSettings(FieldReader& paths, base::PathSettings& settings) {
  paths.read("encodedSlash", settings.encodedSlash, kEncodedSlash);
  const Value* merge = paths.find("mergeSlashes");
  if (merge != nullptr && merge->kind == Value::Kind::kBool) {
    settings.mergeSlashes =
        paths.boolean("mergeSlashes", true) ? base::MergeSlashes::kTrue : base::MergeSlashes::kFalse;
  } else {
    paths.read("mergeSlashes", settings.mergeSlashes, kMergeSlashes);
  }
}

void readRetryBudget(FieldReader& budget, base::RetryBudgetSettings& settings) {
  budget.read("percent", settings.percent, {0, 100});
  budget.read("minPerSecond", settings.minPerSecond, {0, 1'000'000});
}

/// Reads either a list of names or a label selector.
void readNamespaces(FieldReader& reader, base::ProvisioningSettings& settings) {
  const Value* given = reader.find("namespaces");
  if (given != nullptr && given->isMap()) {
    reader.read("namespaces", settings.namespaceSelector, readLabelSelector);
  } else {
    reader.read("namespaces", settings.namespaces, rule::kNamespace, kMaxListItems);
  }
}

void readProvisioning(FieldReader& reader, base::ProvisioningSettings& settings) {
  readNamespaces(reader, settings);
  if (reader.has("trustedNamespaces")) {
    settings.trustedNamespaces = reader.texts("trustedNamespaces", rule::kNamespace, kMaxListItems);
  }
  reader.read("allowImage", settings.allowImage);
  reader.read("allowServiceType", settings.allowServiceType);
  reader.read("allowScheduling", settings.allowScheduling);
  reader.read("allowServiceAccountAnnotations", settings.allowServiceAccountAnnotations);
}

/// Reads the settings that a Gateway may set for itself. In some sections it may set only some of the keys.
void readOwnable(FieldReader& reader, base::Settings& settings) {
  reader.read("workers", settings.workers, {0, 1024});
  reader.read("drainTimeout", settings.drainTimeout);
  reader.read("drainDelay", settings.drainDelay);
  reader.read("clientHalfClose", settings.clientHalfClose, kClientHalfClose);
  reader.read("connectionAuth", settings.connectionAuth, kConnectionAuth);
  reader.read("paths", settings.paths, readPathSettings);
  readForwardedOrMode(reader, settings.forwarded);
  reader.read("requestId", settings.requestId, readRequestId);
  reader.read("timeouts", settings.timeouts, readTimeouts);
  reader.read("limits", settings.limits, readLimits);
  reader.map("retry").read("budget", settings.retryBudget, readRetryBudget).finish();
}

void readClassIdentity(FieldReader& reader, base::IdentityTerms& identity) {
  readIdentity(reader, identity);
  if (reader.find("trustedForwarders") != nullptr) {
    reader.error("trustedForwarders", "identity by what another gateway forwards is not supported");
  }
}

void readTop(FieldReader& reader, base::Settings& settings) {
  readOwnable(reader, settings);
  reader.read("errorDetail", settings.errorDetail, kErrorDetail);
  reader.map("accessLog").read("path", settings.accessLogPath, rule::kAnyText).finish();
  reader.read("dns", settings.dns, readDns);
  reader.map("sessionPersistence").read("secretRef", settings.sessionKey, readSessionKeyRef).finish();
  reader.read("processorCatalogs", settings.processorCatalogs, kMaxListItems, readNames<base::NamespacedName>);
  reader.read("egressPolicies", settings.egressPolicies, kMaxListItems, readNames<base::NamespacedName>);
  settings.extensionManagers = readExtensionManagers(reader);
  reader.read("revisions", settings.revisions, readRevisionSettings);
  if (reader.has("stateDir")) settings.stateDir = reader.anyText("stateDir", rule::kAnyText.maxLength);
  reader.map("addressGuard").read("allow", settings.addressGuardAllow, kCidr, kMaxListItems).finish();
  reader.read("provisioning", settings.provisioning, readProvisioning);
  reader.read("identity", settings.identity, readClassIdentity);
  const std::string& forward = settings.identity.forwardHeader;
  if (!forward.empty() && forward == settings.requestId.header) {
    reader.error("identity", "forward.header must not be requestId.header, which has the id of the request");
  }
}

/// Settings that only the GatewayClass has. All Gateways trust or share some of them. Others limit the processors of
/// all Gateways, show clients the names of other namespaces' objects, or protect third parties from who owns a Gateway,
/// or the controller judges routes by them. A key at the top level has no section in front.
constexpr std::string_view kOfGatewayClass[] = {"accessLog",
                                                "addressGuard",
                                                "dns",
                                                "egressPolicies",
                                                "errorDetail",
                                                "extensionManager",
                                                "extensionManagers",
                                                "identity",
                                                "processorCatalogs",
                                                "provisioning",
                                                "revisions",
                                                "sessionPersistence",
                                                "stateDir",
                                                "limits.adminConnections",
                                                "limits.configBytes",
                                                "limits.decompressedBody",
                                                "limits.decompressionRatio",
                                                "limits.luaScriptBytes",
                                                "limits.matches",
                                                "limits.processorBuffer",
                                                "limits.processorBufferTotal",
                                                "limits.processorContext",
                                                "limits.probesPerSecond",
                                                "limits.references",
                                                "limits.stepWork",
                                                "timeouts.adminAnswer",
                                                "timeouts.processor"};

}  // namespace

std::optional<base::Settings> readSettings(const ConfigMap::DataEntry& entry, std::string_view object,
                                           Problems& problems) {
  base::Settings settings;
  const bool good = readDataDocument(entry, object, kSettingsKey, problems,
                                     [&](FieldReader reader) { reader.readInto(settings, readTop); });
  if (!good) return std::nullopt;
  return settings;
}

void readGatewaySettings(FieldReader reader, base::Settings& settings) {
  for (const std::string_view name : kOfGatewayClass) {
    const std::size_t dot = name.find('.');
    const Value* given = reader.find(name.substr(0, dot));
    if (given != nullptr && dot != std::string_view::npos) given = given->find(name.substr(dot + 1));
    if (given == nullptr) continue;
    reader.context().error(given->position, reader.pathOf(name),
                           "is a setting of the GatewayClass, which a Gateway cannot change");
  }
  readOwnable(reader, settings);
  reader.finish();
}

}  // namespace sluice::config
