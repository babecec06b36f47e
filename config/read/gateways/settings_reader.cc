#include "config/read/gateways/settings_reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "config/fields/field_reader.h"
#include "config/fields/quantity.h"
#include "config/read/data_document.h"
#include "config/read/object_readers.h"
#include "config/read/processors/extension_manager.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

/// Settings that are agreed upon and come later.
constexpr std::size_t kMaxListItems = 1000;
constexpr std::size_t kMaxHosts = 5000;
constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

constexpr Choice<base::ClientHalfClose> kClientHalfClose[] = {{"Abort", base::ClientHalfClose::kAbort},
                                                              {"Allow", base::ClientHalfClose::kAllow}};
constexpr Choice<base::ConnectionAuth> kConnectionAuth[] = {{"Pin", base::ConnectionAuth::kPin},
                                                            {"Refuse", base::ConnectionAuth::kRefuse}};
constexpr Choice<base::EncodedSlash> kEncodedSlash[] = {{"Auto", base::EncodedSlash::kAuto},
                                                        {"Keep", base::EncodedSlash::kKeep},
                                                        {"Reject", base::EncodedSlash::kReject},
                                                        {"Decode", base::EncodedSlash::kDecode}};
constexpr Choice<base::MergeSlashes> kMergeSlashes[] = {
    {"Auto", base::MergeSlashes::kAuto}, {"true", base::MergeSlashes::kTrue}, {"false", base::MergeSlashes::kFalse}};
constexpr Choice<base::ForwardedHeaders> kForwardedHeaders[] = {{"Off", base::ForwardedHeaders::kOff},
                                                                {"Append", base::ForwardedHeaders::kAppend},
                                                                {"Overwrite", base::ForwardedHeaders::kOverwrite}};

struct DurationField {
  std::string_view key;
  base::Duration& value;
  bool mayBeZero = false;
};

void readDurations(FieldReader& reader, std::initializer_list<DurationField> fields) {
  for (const DurationField& field : fields) {
    const std::optional<base::Duration> duration = reader.duration(field.key);
    if (!duration) continue;
    if (*duration == base::Duration::zero() && !field.mayBeZero) reader.error(field.key, "must be longer than 0s");
    field.value = *duration;
  }
}

struct QuantityField {
  std::string_view key;
  std::uint64_t& value;
  std::uint64_t minimum;
  std::uint64_t maximum;
};

void readQuantities(FieldReader& reader, std::initializer_list<QuantityField> fields) {
  for (const QuantityField& field : fields) {
    const Value* given = reader.find(field.key);
    if (given == nullptr) continue;
    const bool scalar = given->kind == Value::Kind::kNumber || given->isString();
    const std::optional<std::uint64_t> quantity = scalar ? parseQuantity(given->text) : std::nullopt;
    if (!quantity) {
      reader.error(field.key, "must be a quantity like 100, 64Ki or 2Mi, but is " + base::quote(given->text));
    } else if (*quantity < field.minimum || *quantity > field.maximum) {
      reader.error(field.key, "must be between " + std::to_string(field.minimum) + " and " +
                                  std::to_string(field.maximum) + ", but is " + given->text);
    } else {
      field.value = *quantity;
    }
  }
}

template <typename T>
void readCount(FieldReader& reader, std::string_view key, std::int64_t minimum, std::int64_t maximum, T& value) {
  if (const std::optional<std::int64_t> count = reader.integer(key, minimum, maximum)) value = static_cast<T>(*count);
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

void readDns(FieldReader reader, base::DnsSettings& settings) {
  if (reader.has("servers")) settings.servers = reader.texts("servers", kServer, kMaxListItems);
  readHosts(reader, settings);
  readDurations(reader, {{"timeout", settings.timeout},
                         {"minTtl", settings.minTtl, true},
                         {"maxTtl", settings.maxTtl, true},
                         {"negativeTtl", settings.negativeTtl, true},
                         {"staleTtl", settings.staleTtl, true}});
  if (settings.maxTtl < settings.minTtl) reader.error("maxTtl", "must not be shorter than minTtl");
  readCount(reader, "attempts", 1, 100, settings.attempts);
  readCount(reader, "maxAddresses", 1, 1000, settings.maxAddresses);
  settings.ipv6 = reader.boolean("ipv6", settings.ipv6);
  reader.finish();
}

void readTimeouts(FieldReader reader, base::TimeoutSettings& settings) {
  readDurations(reader, {{"requestHeader", settings.requestHeader},
                         {"bodyIdle", settings.bodyIdle},
                         {"clientIdle", settings.clientIdle},
                         {"tlsHandshake", settings.tlsHandshake},
                         {"connect", settings.connect},
                         {"responseIdle", settings.responseIdle},
                         {"streamIdle", settings.streamIdle},
                         {"request", settings.request, true},
                         {"upstreamIdle", settings.upstreamIdle},
                         {"upstreamPing", settings.upstreamPing, true},
                         {"processor", settings.processor},
                         {"adminAnswer", settings.adminAnswer}});
  reader.finish();
}

// A buffer needs at least a chunk. 65535 is HTTP/2's initial connection window, which cannot shrink (RFC 9113 section
// 6.9.2), and a window ends at 2^31-1 (section 6.9.1).
void readLimits(FieldReader reader, base::LimitSettings& settings) {
  constexpr std::uint64_t kChunk = 16 * 1024;
  readQuantities(reader, {{"requestLineBytes", settings.requestLineBytes, 64, kMaxBytes},
                          {"headerBytes", settings.headerBytes, 64, kMaxBytes},
                          {"headerFields", settings.headerFields, 1, kMaxCount},
                          {"headerMemory", settings.headerMemory, 0, kMaxBytes},
                          {"headerMemoryTotal", settings.headerMemoryTotal, 0, kMaxBytes},
                          {"informationalResponses", settings.informationalResponses, 0, kMaxCount},
                          {"chunkExtensionBytes", settings.chunkExtensionBytes, 0, kMaxBytes},
                          {"concurrentStreams", settings.concurrentStreams, 1, kMaxCount},
                          {"streamWindow", settings.streamWindow, 1024, kMaxCount},
                          {"connectionWindow", settings.connectionWindow, 65535, kMaxCount},
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
                          {"decompressedBody", settings.decompressedBody, 0, kMaxBytes},
                          {"decompressionRatio", settings.decompressionRatio, 1, kMaxCount},
                          {"backendConnections", settings.backendConnections, 1, kMaxCount},
                          {"backendPending", settings.backendPending, 0, kMaxCount},
                          {"backendRequests", settings.backendRequests, 1, kMaxCount},
                          {"adminConnections", settings.adminConnections, 1, kMaxCount},
                          {"matches", settings.matches, 1, kMaxCount}});
  reader.finish();
}

void readCatalogs(FieldReader& reader, base::Settings& settings) {
  for (const Item& item : reader.list("processorCatalogs", kMaxListItems)) {
    FieldReader catalog = reader.map(item);
    base::CatalogRef ref{catalog.requiredText("namespace", rule::kNamespace),
                         catalog.requiredText("name", rule::kObjectName)};
    catalog.finish();
    settings.processorCatalogs.push_back(std::move(ref));
  }
}

void readSessionKeySettings(FieldReader reader, base::Settings& settings) {
  if (reader.has("secretRef")) {
    FieldReader ref = reader.map("secretRef");
    base::SessionKeyRef key;
    key.nameSpace = ref.requiredText("namespace", rule::kNamespace);
    key.name = ref.requiredText("name", rule::kObjectName);
    if (ref.has("key")) key.key = ref.text("key", rule::kRefName);
    key.previousKey = ref.text("previousKey", rule::kRefName);
    ref.finish();
    settings.sessionKey = std::move(key);
  }
  reader.finish();
}

void readRevisionSettings(FieldReader reader, base::RevisionSettings& settings) {
  readCount(reader, "keep", 1, 1000, settings.keep);
  if (reader.has("keyRef")) {
    FieldReader ref = reader.map("keyRef");
    base::RevisionKeyRef key;
    key.nameSpace = ref.requiredText("namespace", rule::kNamespace);
    key.name = ref.requiredText("name", rule::kObjectName);
    if (ref.has("key")) key.key = ref.text("key", rule::kRefName);
    ref.finish();
    settings.keyRef = std::move(key);
  }
  reader.finish();
}

/// Reads either a map or the mode alone.
void readForwarded(FieldReader& reader, base::ForwardedSettings& settings) {
  const Value* given = reader.find("forwardedHeaders");
  if (given == nullptr || !given->isMap()) {
    settings.mode = reader.choice("forwardedHeaders", kForwardedHeaders, settings.mode);
    return;
  }
  FieldReader forwarded = reader.map("forwardedHeaders");
  settings.mode = forwarded.choice("mode", kForwardedHeaders, settings.mode);
  readCount(forwarded, "trustedHops", 0, 100, settings.trustedHops);
  forwarded.finish();
}

void readRequestId(FieldReader reader, base::RequestIdSettings& settings) {
  settings.accept = reader.boolean("accept", settings.accept);
  if (reader.has("header")) {
    settings.header = base::toLower(reader.anyText("header", rule::kHeaderName.maxLength));
    // The gateway itself writes and removes the fields that say which way a request came.
    const bool ofWay = settings.header.starts_with("x-forwarded") || settings.header == "x-real-ip";
    const bool own = (settings.header.starts_with("x-") && !ofWay) || settings.header.ends_with("-id");
    if (!settings.header.empty() && (!own || !isHeaderName(settings.header))) {
      reader.error("header", "must be a header name that begins with x- or ends in -id, or empty for none");
    }
  }
  reader.finish();
}

void readPathSettings(FieldReader paths, base::PathSettings& settings) {
  settings.encodedSlash = paths.choice("encodedSlash", kEncodedSlash, settings.encodedSlash);
  const Value* merge = paths.find("mergeSlashes");
  if (merge != nullptr && merge->kind == Value::Kind::kBool) {
    settings.mergeSlashes =
        paths.boolean("mergeSlashes", true) ? base::MergeSlashes::kTrue : base::MergeSlashes::kFalse;
  } else {
    settings.mergeSlashes = paths.choice("mergeSlashes", kMergeSlashes, settings.mergeSlashes);
  }
  paths.finish();
}

void readRetrySettings(FieldReader reader, base::Settings& settings) {
  FieldReader budget = reader.map("budget");
  readCount(budget, "percent", 0, 100, settings.retryBudget.percent);
  readCount(budget, "minPerSecond", 0, 1'000'000, settings.retryBudget.minPerSecond);
  budget.finish();
  reader.finish();
}

/// Reads either names or a selector of labels.
void readNamespaces(FieldReader& reader, base::ProvisioningSettings& settings) {
  const Value* given = reader.find("namespaces");
  if (given != nullptr && given->isMap()) {
    settings.namespaceSelector = readLabelSelector(reader.map("namespaces"));
  } else {
    settings.namespaces = reader.texts("namespaces", rule::kNamespace, kMaxListItems);
  }
}

void readProvisioning(FieldReader reader, base::ProvisioningSettings& settings) {
  readNamespaces(reader, settings);
  if (reader.has("trustedNamespaces")) {
    settings.trustedNamespaces = reader.texts("trustedNamespaces", rule::kNamespace, kMaxListItems);
  }
  settings.allowImage = reader.boolean("allowImage", settings.allowImage);
  settings.allowServiceType = reader.boolean("allowServiceType", settings.allowServiceType);
  settings.allowScheduling = reader.boolean("allowScheduling", settings.allowScheduling);
  settings.allowServiceAccountAnnotations =
      reader.boolean("allowServiceAccountAnnotations", settings.allowServiceAccountAnnotations);
  reader.finish();
}

/// Reads what a Gateway may have of its own, and the sections of which it may have a part.
void readOwnable(FieldReader& reader, base::Settings& settings) {
  readCount(reader, "workers", 0, 1024, settings.workers);
  readDurations(reader, {{"drainTimeout", settings.drainTimeout, true}});
  settings.clientHalfClose = reader.choice("clientHalfClose", kClientHalfClose, settings.clientHalfClose);
  settings.connectionAuth = reader.choice("connectionAuth", kConnectionAuth, settings.connectionAuth);
  readPathSettings(reader.map("paths"), settings.paths);
  readForwarded(reader, settings.forwarded);
  readRequestId(reader.map("requestId"), settings.requestId);
  readTimeouts(reader.map("timeouts"), settings.timeouts);
  readLimits(reader.map("limits"), settings.limits);
  readRetrySettings(reader.map("retry"), settings);
}

base::Settings readTop(FieldReader reader) {
  base::Settings settings;
  readOwnable(reader, settings);
  FieldReader accessLog = reader.map("accessLog");
  if (accessLog.has("path")) settings.accessLogPath = accessLog.text("path", rule::kAnyText);
  accessLog.finish();
  readDns(reader.map("dns"), settings.dns);
  readSessionKeySettings(reader.map("sessionPersistence"), settings);
  readCatalogs(reader, settings);
  settings.extensionManagers = readExtensionManagers(reader);
  readRevisionSettings(reader.map("revisions"), settings.revisions);
  if (reader.has("stateDir")) settings.stateDir = reader.anyText("stateDir", rule::kAnyText.maxLength);
  FieldReader addressGuard = reader.map("addressGuard");
  settings.addressGuardAllow = addressGuard.texts("allow", kCidr, kMaxListItems);
  addressGuard.finish();
  readProvisioning(reader.map("provisioning"), settings.provisioning);
  reader.finish();
  return settings;
}

/// A setting that only the GatewayClass has, because all Gateways trust or share it, because it bounds the processors
/// of all of them, or because the controller judges routes by it. A key of the top level has no section.
struct ClassSetting {
  std::string_view section;
  std::string_view key;
};
constexpr ClassSetting kOfGatewayClass[] = {{"", "accessLog"},
                                            {"", "addressGuard"},
                                            {"", "dns"},
                                            {"", "extensionManager"},
                                            {"", "extensionManagers"},
                                            {"", "processorCatalogs"},
                                            {"", "provisioning"},
                                            {"", "revisions"},
                                            {"", "sessionPersistence"},
                                            {"", "stateDir"},
                                            {"limits", "adminConnections"},
                                            {"limits", "decompressedBody"},
                                            {"limits", "decompressionRatio"},
                                            {"limits", "matches"},
                                            {"limits", "processorBuffer"},
                                            {"limits", "processorBufferTotal"},
                                            {"limits", "processorContext"},
                                            {"timeouts", "adminAnswer"},
                                            {"timeouts", "processor"}};

const GatewayClass* ourGatewayClass(const Model& model) {
  const GatewayClass* ours = nullptr;
  const auto age = [](const GatewayClass& c) { return std::tie(c.meta.creationTimestamp, c.meta.name); };
  for (const GatewayClass& candidate : model.all<GatewayClass>()) {
    if (candidate.controllerName != kControllerName) continue;
    if (ours == nullptr || age(candidate) < age(*ours)) ours = &candidate;
  }
  return ours;
}

std::string nearestConfigMap(const Model& model, const ObjectRef& ref) {
  std::vector<std::string_view> names;
  for (const ConfigMap& each : model.all<ConfigMap>()) {
    if (each.meta.nameSpace == ref.nameSpace) names.push_back(each.meta.name);
  }
  std::sort(names.begin(), names.end());
  const std::string_view close = base::closestWord(ref.name, names);
  return close.empty() ? "" : "; did you mean " + std::string(close) + "?";
}

/// Returns the settings' text; sets `fault` and returns nullptr if there is none.
const ConfigMap::DataEntry* findSettingsText(const Model& model, const ObjectRef& ref, std::string& fault) {
  const std::string name = "ConfigMap " + (ref.nameSpace.empty() ? ref.name : ref.nameSpace + "/" + ref.name);
  if (!ref.group.empty() || ref.kind != "ConfigMap") {
    fault = "must refer to a ConfigMap of the core group";
  } else if (ref.nameSpace.empty()) {
    fault = "must name the namespace of the ConfigMap";
  } else if (const ConfigMap* configMap = model.find<ConfigMap>(ref.nameSpace, ref.name); configMap == nullptr) {
    fault = name + " does not exist" + nearestConfigMap(model, ref);
  } else if (const auto entry = configMap->data.find(std::string(kSettingsKey)); entry == configMap->data.end()) {
    fault = name + " has no key " + std::string(kSettingsKey);
  } else {
    return &entry->second;
  }
  return nullptr;
}

}  // namespace

std::optional<base::Settings> readSettings(const ConfigMap::DataEntry& entry, std::string_view object,
                                           Problems& problems) {
  base::Settings settings;
  const bool good = readDataDocument(entry, object, kSettingsKey, problems,
                                     [&](FieldReader reader) { settings = readTop(std::move(reader)); });
  if (!good) return std::nullopt;
  return settings;
}

void readGatewaySettings(FieldReader reader, base::Settings& settings) {
  for (const auto& [section, key] : kOfGatewayClass) {
    const Value* holder = reader.find(section.empty() ? key : section);
    const Value* given = holder == nullptr || section.empty() ? holder : holder->find(key);
    if (given == nullptr) continue;
    const std::string name = section.empty() ? std::string(key) : std::string(section) + "." + std::string(key);
    reader.context().error(given->position, reader.pathOf(name),
                           "is a setting of the GatewayClass, which a Gateway cannot change");
  }
  readOwnable(reader, settings);
  reader.finish();
}

void resolveSettings(Model& model, Problems& problems) {
  const GatewayClass* gatewayClass = ourGatewayClass(model);
  if (gatewayClass == nullptr) return;
  model.gatewayClassName = gatewayClass->meta.name;
  if (!gatewayClass->parametersRef) return;
  const ObjectRef& ref = *gatewayClass->parametersRef;
  const ConfigMap::DataEntry* entry = findSettingsText(model, ref, model.settingsFault);
  if (entry == nullptr) {
    problems.push_back(
        {Severity::kError, ref.position, "GatewayClass " + gatewayClass->meta.name, ref.path, model.settingsFault});
    return;
  }
  const std::string object = "ConfigMap " + ref.nameSpace + "/" + ref.name;
  if (const Rejected* kept = model.findKept(ref.group, ref.kind, ref.nameSpace, ref.name)) {
    model.settingsKept = object + ": " + kept->message;
  }
  Problems found;
  std::optional<base::Settings> settings = readSettings(*entry, object, found);
  if (settings) {
    model.settings = std::move(*settings);
  } else {
    model.settingsFault = found.front().field + ": " + found.front().message;
  }
  problems.insert(problems.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

}  // namespace sluice::config
