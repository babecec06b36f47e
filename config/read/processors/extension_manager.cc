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

constexpr Choice<base::HookScope> kHookTypes[] = {{"Route", base::HookScope::kRoute},
                                                  {"VirtualHost", base::HookScope::kHostname},
                                                  {"HTTPListener", base::HookScope::kListener},
                                                  {"Translation", base::HookScope::kProcess}};
constexpr std::size_t kMaxHooks = 16;
constexpr std::size_t kMaxManagers = 16;
constexpr std::size_t kMaxRpcStatuses = 16;
constexpr TextRule kManagerName{isDnsLabel, "a DNS label in lower case", 63};
// The minimum in bytes, as in the schema of sluice.dev/ExtProc:v1.
constexpr std::uint64_t kLeastMessageSize = 1024;
constexpr std::uint64_t kMaxMessageSize = 64 * 1024 * 1024;

bool isRpcStatus(std::string_view text) { return text != "OK" && base::grpcStatusNamed(text).has_value(); }
constexpr TextRule kRpcStatus{isRpcStatus, "a gRPC status like UNAVAILABLE", 32};

/// Expands a hook that is written as only its type into a map with that type.
Value asHook(const Value& written) {
  if (!written.isString()) return written;
  Value hook = emptyMap(written.position);
  addMember(hook, "type", written);
  return hook;
}

void readHook(FieldReader hook, bool failOpen, std::vector<base::ExtensionHook>& hooks) {
  std::optional<base::HookScope> scope;
  hook.read(required("type"), scope, kHookTypes);
  const bool open = readFailOpen(hook).value_or(failOpen);
  hook.finish();
  if (!scope) return;
  const bool repeated =
      std::any_of(hooks.begin(), hooks.end(), [&](const base::ExtensionHook& other) { return other.scope == *scope; });
  if (repeated) hook.error("type", "must not be repeated");
  hooks.push_back({*scope, open});
}

void readHooks(FieldReader& manager, bool failOpen, std::vector<base::ExtensionHook>& hooks) {
  manager.require("hooks");
  FieldReader reader = manager.map("hooks");
  FieldReader translator = reader.map("xdsTranslator");
  const std::vector<Item> items = translator.list("post", kMaxHooks);
  for (const Item& item : items) {
    const Value written = asHook(*item.value);
    readHook(translator.map(Item{&written, item.path}), failOpen, hooks);
  }
  if (reader.given() && items.empty()) reader.error("xdsTranslator", "must have at least one hook in post");
  std::sort(hooks.begin(), hooks.end(),
            [](const base::ExtensionHook& a, const base::ExtensionHook& b) { return a.scope < b.scope; });
  translator.finish();
  reader.finish();
}

std::optional<double> numberOf(const Value& value) {
  double number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [used, error] = std::from_chars(value.text.data(), end, number);
  if (value.kind != Value::Kind::kNumber || used != end || error != std::errc()) return std::nullopt;
  return number;
}

/// Reads a number, or a fraction in the form of Gateway API: {numerator: 3, denominator: 2}. The default denominator is
/// 100.
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

void readExtensionRetry(FieldReader& reader, base::ExtensionRetry& retry) {
  reader.read("maxAttempts", retry.maxAttempts, {1, 100});
  reader.read("initialBackoff", retry.initialBackoff, kLongerThanZero);
  reader.read("maxBackoff", retry.maxBackoff, kLongerThanZero);
  if (retry.maxBackoff < retry.initialBackoff) reader.error("maxBackoff", "must not be shorter than initialBackoff");
  readMultiplier(reader, retry.backoffMultiplier);
  // Envoy Gateway spells this field with a capital letter.
  for (const std::string_view key : {"retryableStatusCodes", "RetryableStatusCodes"}) {
    reader.read(key, retry.retryableStatusCodes, kRpcStatus, kMaxRpcStatuses);
  }
}

void readSecretName(FieldReader& ref, base::SecretName& name) {
  constexpr Choice<bool> kGroups[] = {{"", true}};
  constexpr Choice<bool> kKinds[] = {{"Secret", true}};
  ref.choice("group", kGroups, true);
  ref.choice("kind", kKinds, true);
  ref.read(required("namespace"), name.nameSpace, rule::kNamespace);
  ref.read(required("name"), name.name, rule::kObjectName);
}

void readExtensionTls(FieldReader& tls, base::ExtensionTls& result) {
  tls.read(required("certificateRef"), result.authorities, readSecretName);
  tls.read("clientCertificateRef", result.client, readSecretName);
}

void readIpServer(FieldReader& ip, base::ExtensionManager& result) {
  result.hostname = canonicalIp(ip.requiredText("address", rule::kIpAddress));
  ip.read(required("port"), result.port, kPorts);
}

void readFqdnServer(FieldReader& fqdn, base::ExtensionManager& result) {
  result.hostname = base::toLower(fqdn.requiredText("hostname", rule::kDomainName));
  if (result.hostname.ends_with('.')) result.hostname.pop_back();
  fqdn.read(required("port"), result.port, kPorts);
}

void readExtensionService(FieldReader& service, base::ExtensionManager& result) {
  const bool byAddress = service.has("ip");
  if (service.has("unix")) service.error("unix", "is not supported: use fqdn or ip");
  if (service.has("fqdn") && byAddress) service.error("ip", "must not stand beside fqdn");
  if (!byAddress && !service.has("unix")) service.require("fqdn");
  service.read("ip", result, readIpServer);
  service.read("fqdn", result, readFqdnServer);
  service.read("tls", result.tls, readExtensionTls);
  service.read("retry", result.retry, readExtensionRetry);
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

Value number(double value) {
  char digits[32];
  const std::to_chars_result end = std::to_chars(std::begin(digits), std::end(digits), value);
  return scalarValue(Value::Kind::kNumber, std::string_view(digits, static_cast<std::size_t>(end.ptr - digits)), {});
}

void addSecretRef(Value& tls, std::string_view key, const base::SecretName& secret) {
  Value& ref = addMap(tls, key);
  addText(ref, "namespace", secret.nameSpace);
  addText(ref, "name", secret.name);
}

void addRetry(Value& service, const base::ExtensionRetry& retry) {
  Value& value = addMap(service, "retry");
  addNumber(value, "maxAttempts", retry.maxAttempts);
  addText(value, "initialBackoff", base::formatDuration(retry.initialBackoff));
  addText(value, "maxBackoff", base::formatDuration(retry.maxBackoff));
  addMember(value, "backoffMultiplier", number(retry.backoffMultiplier));
  addTexts(value, "retryableStatusCodes", retry.retryableStatusCodes, {});
}

std::string managerPath(const base::ExtensionManager& manager) {
  return manager.name.empty() ? "extensionManager" : "extensionManagers." + manager.name;
}

void addService(Value& config, const base::ExtensionManager& manager) {
  const bool byAddress = isIpAddress(manager.hostname);
  Value& service = addMap(config, "service");
  addText(service, "name", managerPath(manager));
  Value& server = addMap(service, byAddress ? "ip" : "fqdn");
  addText(server, byAddress ? "address" : "hostname", manager.hostname);
  addNumber(server, "port", manager.port);
  if (manager.tls) {
    Value& tls = addMap(service, "tls");
    addSecretRef(tls, "certificateRef", manager.tls->authorities);
    if (manager.tls->client) addSecretRef(tls, "clientCertificateRef", *manager.tls->client);
  }
  addRetry(service, manager.retry);
}

Value configOf(const base::ExtensionManager& manager, std::string_view hook) {
  Value config = emptyMap({});
  addService(config, manager);
  addNumber(config, "maxMessageSize", manager.maxMessageSize);
  Value& context = addMap(config, "context");
  addText(context, "hook", hook);
  if (!manager.name.empty()) addText(context, "extensionManager", manager.name);
  return config;
}

std::string_view typeOf(base::HookScope scope) {
  return std::find_if(std::begin(kHookTypes), std::end(kHookTypes),
                      [&](const Choice<base::HookScope>& type) { return type.value == scope; })
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

void readManager(FieldReader reader, bool named, base::ExtensionManager& manager) {
  std::string name;
  reader.read(FieldKey("name", named), name, kManagerName);
  if (named) manager.name = std::move(name);
  const bool failOpen = readFailOpen(reader).value_or(false);
  readHooks(reader, failOpen, manager.hooks);
  reader.read(required("service"), manager, readExtensionService);
  readMaxMessageSize(reader, manager.maxMessageSize);
  reader.finish();
}

}  // namespace

std::vector<base::ExtensionManager> readExtensionManagers(FieldReader& reader) {
  std::vector<base::ExtensionManager> managers;
  const Value* block = reader.find("extensionManager");
  // An empty block is treated as absent.
  const bool alone = block != nullptr && (!block->isMap() || !block->members.empty());
  if (alone) readManager(reader.map("extensionManager"), false, managers.emplace_back());
  const std::vector<Item> items = reader.list("extensionManagers", kMaxManagers);
  if (alone && !items.empty()) reader.error("extensionManagers", "must not stand beside extensionManager");
  for (const Item& item : items) {
    base::ExtensionManager manager;
    readManager(reader.map(item), true, manager);
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
