// Reads ConfigMap and Secret. No message quotes one of their values, except those of a Gateway's parameters.
#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "config/read/data_document.h"
#include "config/read/object_readers.h"
#include "proxy/base/base64.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxDataBytes = 1024 * 1024;  // the most bytes of one object, as in Kubernetes
constexpr std::size_t kMaxKeyBytes = 253;

bool isDataKey(std::string_view key) {
  constexpr std::string_view kAllowed = "-._";
  if (key.empty() || key.size() > kMaxKeyBytes || key == "." || key.starts_with("..")) return false;
  return std::all_of(key.begin(), key.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kAllowed.find(c) != std::string_view::npos;
  });
}

/// Returns how to write a value of another type as a string. Quotes do not help for a map or a list of YAML.
std::string asText(const std::string& key, const Value& value) {
  if (!value.isMap() && !value.isList()) return "put it in quotes";
  return "write `" + key + ": |` and the text below it, indented";
}

/// Calls `visit(member, path)` for each entry of a map from keys to strings.
template <typename Visit>
void forEachEntry(FieldReader& root, std::string_view key, std::size_t& bytes, Visit visit) {
  const Value* map = root.find(key);
  if (map == nullptr) return;
  if (!map->isMap()) {
    root.error(key, wrongKind("a map", *map));
    return;
  }
  for (const Member& member : map->members) {
    const std::string path = root.pathOf(key) + "[" + base::quote(member.key) + "]";
    bytes += member.value.text.size();
    if (!isDataKey(member.key)) {
      root.context().error(member.position, path, "is no key: letters, digits, '-', '_' and '.' only");
    } else if (!member.value.isString() && !member.value.isNull()) {
      root.context().error(member.value.position, path,
                           "must be a string, but is " + std::string(describe(member.value.kind)) + ": " +
                               asText(member.key, member.value));
    } else {
      visit(member, path);
    }
  }
}

void checkSize(FieldReader& root, std::size_t bytes) {
  if (bytes <= kMaxDataBytes) return;
  root.error("data", "is larger than " + std::to_string(kMaxDataBytes) + " bytes");
}

/// Reads the parameters of a Gateway, if the ConfigMap has any.
void readParametersOf(FieldReader& root, ConfigMap& configMap) {
  const auto entry = configMap.data.find(std::string(ConfigMap::kParametersKey));
  if (entry == configMap.data.end()) return;
  const std::size_t bytes = entry->second.value.size();
  if (bytes > kMostParameterBytes) {
    return root.context().error(
        entry->second.position, std::string(ConfigMap::kParametersKey),
        "has " + std::to_string(bytes) + " bytes, and " + std::to_string(kMostParameterBytes) + " are allowed");
  }
  GatewayParameters parameters;
  parameters.meta = configMap.meta;
  Problems found;
  readDataDocument(entry->second, root.context().object(), ConfigMap::kParametersKey, found,
                   [&parameters](FieldReader reader) { reader.readInto(parameters, readParameterFields); });
  for (Problem& each : found) root.context().error(each.position, std::move(each.field), std::move(each.message));
  configMap.parameters = std::make_shared<const GatewayParameters>(std::move(parameters));
}

}  // namespace

bool readConfigMap(FieldReader& root, ConfigMap& configMap) {
  std::size_t bytes = 0;
  forEachEntry(root, "data", bytes, [&](const Member& member, const std::string&) {
    configMap.data[member.key] = {member.value.text, member.value.position, member.value.blockColumn};
  });
  forEachEntry(root, "binaryData", bytes, [&](const Member& member, const std::string& path) {
    std::optional<std::string> decoded = base::decodeBase64(member.value.text);
    if (!decoded) {
      root.context().error(member.value.position, path, "is not base64");
    } else if (!configMap.data.try_emplace(member.key, ConfigMap::DataEntry{*decoded, member.value.position, 0})
                    .second) {
      root.context().error(member.position, path, "is in data too");
    }
  });
  checkSize(root, bytes);
  root.ignore("immutable");
  readParametersOf(root, configMap);
  return true;
}

void readSecret(FieldReader& root, SecretObject& secret) {
  secret.type = root.text("type", rule::kAnyText);
  std::size_t bytes = 0;
  forEachEntry(root, "data", bytes, [&](const Member& member, const std::string& path) {
    std::optional<std::string> decoded = base::decodeBase64(member.value.text);
    if (decoded) {
      secret.data[member.key] = base::Secret(std::move(*decoded));
    } else {
      root.context().error(member.value.position, path, "is not base64");
    }
  });
  forEachEntry(root, "stringData", bytes, [&](const Member& member, const std::string&) {
    secret.data[member.key] = base::Secret(member.value.text);
  });
  checkSize(root, bytes);
  root.ignore("immutable");
}

}  // namespace sluice::config
