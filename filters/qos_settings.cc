#include "filters/qos_settings.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "proxy/processing/field_edits.h"

namespace sluice::filters {

const std::string_view kQosControllerSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "QoSController",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "requestsPerMinute": {"type": "integer", "minimum": 1, "maximum": 10000000},
    "burst": {"type": "integer", "minimum": 1, "maximum": 1000000},
    "concurrency": {"type": "integer", "minimum": 1, "maximum": 1000000},
    "key": {"enum": ["Backend", "Namespace", "ServiceAccount", "Principal", "Header"], "default": "Backend"},
    "header": {"type": "string", "minLength": 1, "maxLength": 256},
    "overrides": {"type": "array", "maxItems": 256, "items": {"$ref": "#/$defs/override"}}
  },
  "anyOf": [{"required": ["requestsPerMinute"]}, {"required": ["concurrency"]}],
  "$defs": {
    "override": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "key": {"type": "string", "maxLength": 2048},
        "requestsPerMinute": {"type": "integer", "minimum": 1, "maximum": 10000000},
        "burst": {"type": "integer", "minimum": 1, "maximum": 1000000},
        "concurrency": {"type": "integer", "minimum": 1, "maximum": 1000000}
      },
      "required": ["key"],
      "anyOf": [{"required": ["requestsPerMinute"]}, {"required": ["concurrency"]}]
    }
  }
})";

namespace {

/// Reads an integer from 1 on into `number` if the member is there. Returns an error text, empty if there is no error.
std::string readNumber(const content::Value& config, std::string_view member, std::uint32_t most,
                       std::uint32_t& number) {
  const content::Value* value = config.find(member);
  if (value == nullptr) return {};
  const char* const end = value->text.data() + value->text.size();
  const auto read = std::from_chars(value->text.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end && number >= 1 && number <= most) return {};
  return std::string(member) + ": is no integer from 1 to " + std::to_string(most);
}

base::Result<Allowance> readAllowance(const content::Value& config) {
  Allowance allowance;
  std::string fault = readNumber(config, "requestsPerMinute", Allowance::kMostPerMinute, allowance.perMinute);
  allowance.burst = std::clamp<std::uint32_t>(allowance.perMinute / 10, 1, Allowance::kMostBurst);
  if (fault.empty()) fault = readNumber(config, "burst", Allowance::kMostBurst, allowance.burst);
  if (fault.empty()) fault = readNumber(config, "concurrency", Allowance::kMostConcurrency, allowance.concurrency);
  if (fault.empty() && allowance.perMinute == 0 && allowance.concurrency == 0) {
    fault = "requestsPerMinute: is required unless there is a concurrency";
  }
  if (!fault.empty()) return base::Error::config(std::move(fault));
  return allowance;
}

QosKey readKey(const content::Value& config, bool ofBackend) {
  const content::Value* const key = config.find("key");
  const std::string_view name = key != nullptr ? std::string_view(key->text) : std::string_view();
  if (name == "Namespace") return QosKey::kNamespace;
  if (name == "ServiceAccount") return QosKey::kServiceAccount;
  if (name == "Principal") return QosKey::kPrincipal;
  if (name == "Header") return QosKey::kHeader;
  // A Backend's own use serves no other Backend, so its budget needs no look-up by Backend.
  return ofBackend ? QosKey::kOwner : QosKey::kBackend;
}

base::Result<std::vector<QosOverride>> readOverrides(const content::Value& config) {
  std::vector<QosOverride> overrides;
  const content::Value* const list = config.find("overrides");
  if (list == nullptr) return overrides;
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string place = "overrides[" + std::to_string(i) + "].";
    const content::Value& item = list->items[i];
    const content::Value* const key = item.find("key");
    if (key == nullptr) return base::Error::config(place + "key: is required");
    if (!keys.insert(key->text).second) return base::Error::config(place + "key: has an override already");
    auto allowance = readAllowance(item);
    if (!allowance) return base::Error::config(place + allowance.error().detail);
    overrides.push_back({key->text, *allowance});
  }
  return overrides;
}

}  // namespace

base::Result<QosSettings> readQosSettings(const content::Value& config, bool ofBackend) {
  QosSettings settings;
  auto allowance = readAllowance(config);
  if (!allowance) return std::move(allowance).error();
  settings.allowance = *allowance;
  settings.key = readKey(config, ofBackend);
  const content::Value* const header = config.find("header");
  if ((settings.key == QosKey::kHeader) != (header != nullptr)) {
    return base::Error::config("header: belongs to key Header, which needs it");
  }
  if (header != nullptr) {
    auto name = processing::editableField(header->text);
    if (!name) return base::Error::config("header: " + name.error().detail);
    settings.header = std::move(name).value();
  }
  auto overrides = readOverrides(config);
  if (!overrides) return std::move(overrides).error();
  settings.overrides = std::move(overrides).value();
  return {std::move(settings)};
}

}  // namespace sluice::filters
