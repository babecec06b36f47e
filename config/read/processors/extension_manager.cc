#include "config/read/processors/extension_manager.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "config/fields/quantity.h"
#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"
#include "proxy/base/duration.h"
#include "proxy/base/grpc_status.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr Choice<std::optional<base::HookScope>> kHookTypes[] = {{"Route", base::HookScope::kRoute},
                                                                 {"VirtualHost", base::HookScope::kHostname},
                                                                 {"HTTPListener", base::HookScope::kListener},
                                                                 {"Translation", base::HookScope::kProcess}};
constexpr std::size_t kMaxHooks = 16;
constexpr std::size_t kMaxManagers = 16;
constexpr TextRule kManagerName{isDnsLabel, "a DNS label in lower case", 63};
// Bytes; as the schema of sluice.dev/ExtProc:v1 has it.
constexpr std::uint64_t kLeastMessageSize = 1024;
constexpr std::uint64_t kMaxMessageSize = 64 * 1024 * 1024;

bool isRpcStatus(std::string_view text) { return text != "OK" && base::grpcStatusNamed(text).has_value(); }
constexpr TextRule kRpcStatus{isRpcStatus, "a gRPC status like UNAVAILABLE", 32};

/// Expands a hook written as its type alone into a map with that type.
Value asHook(const Value& written) {
  if (!written.isString()) return written;
  Value hook = emptyValue(Value::Kind::kMap, written.position);
  addMember(hook, "type", written);
  return hook;
}

void readHooks(FieldReader& manager, bool failOpen, std::vector<base::ExtensionHook>& hooks) {
  manager.require("hooks");
  FieldReader reader = manager.map("hooks");
  FieldReader translator = reader.map("xdsTranslator");
  const std::vector<Item> items = translator.list("post", kMaxHooks);
  for (const Item& item : items) {
    const Value written = asHook(*item.value);
    FieldReader hook = translator.map(Item{&written, item.path});
    hook.require("type");
    const std::optional<base::HookScope> scope = hook.choice("type", kHookTypes, std::optional<base::HookScope>());
    const bool open = readFailOpen(hook).value_or(failOpen);
    hook.finish();
    if (!scope) continue;
    const bool repeated = std::any_of(hooks.begin(), hooks.end(),
                                      [&](const base::ExtensionHook& other) { return other.scope == *scope; });
    if (repeated) hook.error("type", "must not be repeated");
    hooks.push_back({*scope, open});
  }
  if (manager.has("hooks") && items.empty()) reader.error("xdsTranslator", "must have at least one hook in post");
  std::sort(hooks.begin(), hooks.end(),
            [](const base::ExtensionHook& a, const base::ExtensionHook& b) { return a.scope < b.scope; });
  translator.finish();
  reader.finish();
}

void readBackoff(FieldReader& reader, std::string_view key, base::Duration& value) {
  const std::optional<base::Duration> given = reader.duration(key);
  if (!given) return;
  if (*given == base::Duration::zero()) reader.error(key, "must be longer than 0s");
  value = *given;
}

std::optional<double> numberOf(const Value& value) {
  double number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [used, error] = std::from_chars(value.text.data(), end, number);
  if (value.kind != Value::Kind::kNumber || used != end || error != std::errc()) return std::nullopt;
  return number;
}

/// Reads a number, or a fraction as Gateway API writes it: {numerator: 3, denominator: 2}, of 100 by default.
void readMultiplier(FieldReader& reader, double& value) {
  const Value* given = reader.find("backoffMultiplier");
  if (given == nullptr) return;
  std::optional<double> number = numberOf(*given);
  if (given->isMap()) {
    FieldReader fraction = reader.map("backoffMultiplier");
    constexpr std::int64_t kMost = 1'000'000;
    const double numerator = static_cast<double>(fraction.integer("numerator", 0, kMost).value_or(0));
    number = numerator / static_cast<double>(fraction.integer("denominator", 1, kMost).value_or(100));
    fraction.finish();
  }
  if (number && *number >= 1 && *number <= 100) {
    value = *number;
  } else {
    reader.error("backoffMultiplier", "must be a number between 1 and 100");
  }
}

void readExtensionRetry(FieldReader reader, base::ExtensionRetry& retry) {
  if (const auto attempts = reader.integer("maxAttempts", 1, 100)) {
    retry.maxAttempts = static_cast<std::uint32_t>(*attempts);
  }
  readBackoff(reader, "initialBackoff", retry.initialBackoff);
  readBackoff(reader, "maxBackoff", retry.maxBackoff);
  if (retry.maxBackoff < retry.initialBackoff) reader.error("maxBackoff", "must not be shorter than initialBackoff");
  readMultiplier(reader, retry.backoffMultiplier);
  // Envoy Gateway spells this field with a capital letter.
  for (const std::string_view key : {"retryableStatusCodes", "RetryableStatusCodes"}) {
    constexpr std::size_t kCodes = 16;
    if (reader.has(key)) retry.retryableStatusCodes = reader.texts(key, kRpcStatus, kCodes);
  }
  reader.finish();
}

base::SecretName readSecretName(FieldReader ref) {
  constexpr Choice<bool> kGroups[] = {{"", true}};
  constexpr Choice<bool> kKinds[] = {{"Secret", true}};
  ref.choice("group", kGroups, true);
  ref.choice("kind", kKinds, true);
  base::SecretName name{ref.requiredText("namespace", rule::kNamespace), ref.requiredText("name", rule::kObjectName)};
  ref.finish();
  return name;
}

void readExtensionTls(FieldReader& service, std::optional<base::ExtensionTls>& result) {
  if (!service.has("tls")) return;
  FieldReader tls = service.map("tls");
  tls.require("certificateRef");
  base::ExtensionTls read;
  if (tls.has("certificateRef")) read.authorities = readSecretName(tls.map("certificateRef"));
  if (tls.has("clientCertificateRef")) read.client = readSecretName(tls.map("clientCertificateRef"));
  tls.finish();
  result = std::move(read);
}

void readExtensionAddress(FieldReader& service, base::ExtensionManager& result) {
  const bool byAddress = service.has("ip");
  if (service.has("unix")) service.error("unix", "is not supported: use fqdn or ip");
  if (service.has("fqdn") && byAddress) service.error("ip", "must not stand beside fqdn");
  if (!byAddress && !service.has("unix")) service.require("fqdn");
  FieldReader ip = service.map("ip");
  if (byAddress) {
    result.hostname = canonicalIp(ip.requiredText("address", rule::kIpAddress));
    result.port = ip.requiredPort("port");
  }
  ip.finish();
  FieldReader fqdn = service.map("fqdn");
  if (service.has("fqdn")) {
    result.hostname = base::toLower(fqdn.requiredText("hostname", rule::kDomainName));
    if (result.hostname.ends_with('.')) result.hostname.pop_back();
    result.port = fqdn.requiredPort("port");
  }
  fqdn.finish();
}

void readExtensionService(FieldReader& manager, base::ExtensionManager& result) {
  manager.require("service");
  FieldReader service = manager.map("service");
  if (manager.has("service")) readExtensionAddress(service, result);
  readExtensionTls(service, result.tls);
  readExtensionRetry(service.map("retry"), result.retry);
  service.finish();
}

void readMaxMessageSize(FieldReader& manager, std::uint64_t& size) {
  const Value* given = manager.find("maxMessageSize");
  if (given == nullptr) return;
  const bool scalar = given->kind == Value::Kind::kNumber || given->isString();
  const std::optional<std::uint64_t> quantity = scalar ? parseQuantity(given->text) : std::nullopt;
  if (quantity && *quantity >= kLeastMessageSize && *quantity <= kMaxMessageSize) {
    size = *quantity;
  } else {
    manager.error("maxMessageSize", "must be a quantity like 4M, from 1Ki to 64Mi");
  }
}

Value text(std::string_view value) { return scalarValue(Value::Kind::kString, value, {}); }

Value number(double value) {
  char digits[32];
  const std::to_chars_result end = std::to_chars(std::begin(digits), std::end(digits), value);
  return scalarValue(Value::Kind::kNumber, std::string_view(digits, static_cast<std::size_t>(end.ptr - digits)), {});
}

Value number(std::uint64_t value) { return scalarValue(Value::Kind::kNumber, std::to_string(value), {}); }

Value map() { return emptyValue(Value::Kind::kMap, {}); }

Value secretRef(const base::SecretName& secret) {
  Value ref = map();
  addMember(ref, "namespace", text(secret.nameSpace));
  addMember(ref, "name", text(secret.name));
  return ref;
}

Value retryOf(const base::ExtensionRetry& retry) {
  Value codes = emptyValue(Value::Kind::kList, {});
  for (const std::string& code : retry.retryableStatusCodes) codes.items.push_back(text(code));
  Value value = map();
  addMember(value, "maxAttempts", number(std::uint64_t{retry.maxAttempts}));
  addMember(value, "initialBackoff", text(base::formatDuration(retry.initialBackoff)));
  addMember(value, "maxBackoff", text(base::formatDuration(retry.maxBackoff)));
  addMember(value, "backoffMultiplier", number(retry.backoffMultiplier));
  addMember(value, "retryableStatusCodes", std::move(codes));
  return value;
}

std::string managerPath(const base::ExtensionManager& manager) {
  return manager.name.empty() ? "extensionManager" : "extensionManagers." + manager.name;
}

Value serviceOf(const base::ExtensionManager& manager) {
  const bool byAddress = isIpAddress(manager.hostname);
  Value server = map();
  addMember(server, byAddress ? "address" : "hostname", text(manager.hostname));
  addMember(server, "port", number(std::uint64_t{manager.port}));
  Value service = map();
  addMember(service, "name", text(managerPath(manager)));
  addMember(service, byAddress ? "ip" : "fqdn", std::move(server));
  if (manager.tls) {
    Value tls = map();
    addMember(tls, "certificateRef", secretRef(manager.tls->authorities));
    if (manager.tls->client) addMember(tls, "clientCertificateRef", secretRef(*manager.tls->client));
    addMember(service, "tls", std::move(tls));
  }
  addMember(service, "retry", retryOf(manager.retry));
  return service;
}

Value configOf(const base::ExtensionManager& manager, std::string_view hook) {
  Value context = map();
  addMember(context, "hook", text(hook));
  if (!manager.name.empty()) addMember(context, "extensionManager", text(manager.name));
  Value config = map();
  addMember(config, "service", serviceOf(manager));
  addMember(config, "maxMessageSize", number(manager.maxMessageSize));
  addMember(config, "context", std::move(context));
  return config;
}

std::string_view typeOf(base::HookScope scope) {
  return std::find_if(std::begin(kHookTypes), std::end(kHookTypes),
                      [&](const Choice<std::optional<base::HookScope>>& type) { return type.value == scope; })
      ->word;
}

ProcessorUse useOf(const base::ExtensionManager& manager, const base::ExtensionHook& hook) {
  const std::string_view type = typeOf(hook.scope);
  ProcessorUse use;
  use.path = managerPath(manager) + ".hooks." + std::string(type);
  use.name = managerPath(manager) + "." + std::string(type);
  use.type = processor_type::kExtProc;
  use.failOpen = hook.failOpen;
  use.priority = static_cast<std::int32_t>(hook.scope);
  use.config = configOf(manager, type);
  return use;
}

base::ExtensionManager readManager(FieldReader reader, bool named) {
  base::ExtensionManager manager;
  if (named) manager.name = reader.requiredText("name", kManagerName);
  if (!named && reader.has("name")) reader.text("name", kManagerName);
  const bool failOpen = readFailOpen(reader).value_or(false);
  readHooks(reader, failOpen, manager.hooks);
  readExtensionService(reader, manager);
  readMaxMessageSize(reader, manager.maxMessageSize);
  reader.finish();
  return manager;
}

}  // namespace

std::vector<base::ExtensionManager> readExtensionManagers(FieldReader& reader) {
  std::vector<base::ExtensionManager> managers;
  const Value* block = reader.find("extensionManager");
  // An empty block counts as absent.
  const bool alone = block != nullptr && (!block->isMap() || !block->members.empty());
  if (alone) managers.push_back(readManager(reader.map("extensionManager"), false));
  const std::vector<Item> items = reader.list("extensionManagers", kMaxManagers);
  if (alone && !items.empty()) reader.error("extensionManagers", "must not stand beside extensionManager");
  for (const Item& item : items) {
    base::ExtensionManager manager = readManager(reader.map(item), true);
    const bool repeated = std::any_of(managers.begin(), managers.end(),
                                      [&](const base::ExtensionManager& other) { return other.name == manager.name; });
    if (repeated) reader.map(item).error("name", "must not be repeated");
    managers.push_back(std::move(manager));
  }
  return managers;
}

std::vector<ScopedUse> usesOf(const std::vector<base::ExtensionManager>& managers) {
  std::vector<ScopedUse> uses;
  for (const base::ExtensionManager& manager : managers) {
    for (const base::ExtensionHook& hook : manager.hooks) uses.push_back({hook.scope, useOf(manager, hook)});
  }
  std::stable_sort(uses.begin(), uses.end(), [](const ScopedUse& a, const ScopedUse& b) { return a.scope < b.scope; });
  return uses;
}

}  // namespace sluice::config
