#include "config/catalog/extension_manager.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "config/fields/quantity.h"
#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"
#include "proxy/base/duration.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr Choice<std::optional<base::HookScope>> kHookTypes[] = {{"Route", base::HookScope::kRoute},
                                                                 {"VirtualHost", base::HookScope::kHostname},
                                                                 {"HTTPListener", base::HookScope::kListener},
                                                                 {"Translation", base::HookScope::kProcess}};
constexpr std::size_t kMaxHooks = 16;
constexpr std::uint64_t kMaxMessageSize = 1024 * 1024 * 1024;

bool isRpcStatus(std::string_view text) {
  constexpr std::string_view kNames[] = {
      "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",   "NOT_FOUND",
      "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
      "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",         "DATA_LOSS",
      "UNAUTHENTICATED"};
  return std::find(std::begin(kNames), std::end(kNames), text) != std::end(kNames);
}
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

void readMultiplier(FieldReader& reader, double& value) {
  const Value* given = reader.find("backoffMultiplier");
  if (given == nullptr) return;
  double number = 0;
  const char* end = given->text.data() + given->text.size();
  const auto [used, error] = std::from_chars(given->text.data(), end, number);
  const bool good = given->kind == Value::Kind::kNumber && used == end && error == std::errc();
  if (good && number >= 1 && number <= 100) {
    value = number;
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

void readExtensionService(FieldReader& manager, base::ExtensionManager& result) {
  manager.require("service");
  FieldReader service = manager.map("service");
  if (manager.has("service")) service.require("fqdn");
  FieldReader fqdn = service.map("fqdn");
  if (service.has("fqdn")) {
    result.hostname = base::toLower(fqdn.requiredText("hostname", rule::kDomainName));
    result.port = fqdn.requiredPort("port");
  }
  fqdn.finish();
  readExtensionRetry(service.map("retry"), result.retry);
  service.finish();
}

void readMaxMessageSize(FieldReader& manager, std::uint64_t& size) {
  const Value* given = manager.find("maxMessageSize");
  if (given == nullptr) return;
  const bool scalar = given->kind == Value::Kind::kNumber || given->isString();
  const std::optional<std::uint64_t> quantity = scalar ? parseQuantity(given->text) : std::nullopt;
  if (quantity && *quantity >= 1 && *quantity <= kMaxMessageSize) {
    size = *quantity;
  } else {
    manager.error("maxMessageSize", "must be a quantity like 4M, at most 1Gi");
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

Value configOf(const base::ExtensionManager& manager) {
  Value fqdn = map();
  addMember(fqdn, "hostname", text(manager.hostname));
  addMember(fqdn, "port", number(std::uint64_t{manager.port}));
  Value codes = emptyValue(Value::Kind::kList, {});
  for (const std::string& code : manager.retry.retryableStatusCodes) codes.items.push_back(text(code));
  Value retry = map();
  addMember(retry, "maxAttempts", number(std::uint64_t{manager.retry.maxAttempts}));
  addMember(retry, "initialBackoff", text(base::formatDuration(manager.retry.initialBackoff)));
  addMember(retry, "maxBackoff", text(base::formatDuration(manager.retry.maxBackoff)));
  addMember(retry, "backoffMultiplier", number(manager.retry.backoffMultiplier));
  addMember(retry, "retryableStatusCodes", std::move(codes));
  Value service = map();
  addMember(service, "fqdn", std::move(fqdn));
  addMember(service, "retry", std::move(retry));
  Value config = map();
  addMember(config, "service", std::move(service));
  addMember(config, "maxMessageSize", number(manager.maxMessageSize));
  return config;
}

std::string_view typeOf(base::HookScope scope) {
  return std::find_if(std::begin(kHookTypes), std::end(kHookTypes),
                      [&](const Choice<std::optional<base::HookScope>>& type) { return type.value == scope; })
      ->word;
}

}  // namespace

base::ExtensionManager readExtensionManager(FieldReader reader) {
  base::ExtensionManager manager;
  const bool failOpen = readFailOpen(reader).value_or(false);
  readHooks(reader, failOpen, manager.hooks);
  readExtensionService(reader, manager);
  readMaxMessageSize(reader, manager.maxMessageSize);
  reader.finish();
  return manager;
}

std::vector<ScopedUse> usesOf(const base::ExtensionManager& manager) {
  std::vector<ScopedUse> uses;
  for (const base::ExtensionHook& hook : manager.hooks) {
    ProcessorUse use;
    use.path = "extensionManager.hooks." + std::string(typeOf(hook.scope));
    use.name = "extensionManager." + std::string(typeOf(hook.scope));
    use.type = processor_type::kExtProc;
    use.failOpen = hook.failOpen;
    use.config = configOf(manager);
    uses.push_back({hook.scope, std::move(use)});
  }
  return uses;
}

}  // namespace sluice::config
