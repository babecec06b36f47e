#include <algorithm>

#include "config/read/gateways/identity_reader.h"
#include "config/read/gateways/settings_reader.h"
#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::int64_t kMostReplicas = 1000;
constexpr std::int64_t kMostUtilization = 1000;
constexpr std::size_t kMostImageBytes = 512;

bool isImage(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

constexpr TextRule kImage{isImage, "a reference to an image, such as registry.example.com/sluice:1.2", kMostImageBytes};

void readAutoscaling(FieldReader& reader, Autoscaling& autoscaling) {
  reader.read("minReplicas", autoscaling.minReplicas, {1, kMostReplicas});
  reader.read(required("maxReplicas"), autoscaling.maxReplicas, {1, kMostReplicas});
  reader.read("targetCPUUtilizationPercentage", autoscaling.targetCpuUtilization, {1, kMostUtilization});
  if (autoscaling.maxReplicas < autoscaling.minReplicas) {
    reader.error("maxReplicas", "must not be less than minReplicas");
  }
}

/// Keeps a free-form value, unless it is larger than any honest one.
PackedValue packed(FieldReader& reader, std::string_view key, const Value& value) {
  PackedValue kept = value;
  if (kept.size() <= kMostParameterBytes) return kept;
  reader.error(key, "has " + std::to_string(kept.size()) + " bytes, and " + std::to_string(kMostParameterBytes) +
                        " are allowed");
  return {};
}

/// Reads a value in Kubernetes' own form. The API server checks it when the Pods are made.
PackedValue readForeign(FieldReader& reader, std::string_view key, Value::Kind kind) {
  const Value* value = reader.find(key);
  if (value == nullptr) return {};
  if (value->kind != kind) reader.error(key, "must be " + std::string(content::describe(kind)));
  return packed(reader, key, *value);
}

}  // namespace

void readParameterFields(FieldReader& spec, GatewayParameters& parameters) {
  static constexpr std::string_view kServiceTypes[] = {"ClusterIP", "NodePort", "LoadBalancer"};
  static constexpr std::string_view kLogLevels[] = {"trace", "debug", "info", "warn", "error", "off"};
  spec.read("replicas", parameters.replicas, {0, kMostReplicas});
  spec.read("autoscaling", parameters.autoscaling, readAutoscaling);
  if (parameters.replicas && parameters.autoscaling) {
    spec.error("replicas", "must not be given together with autoscaling");
  }
  spec.read("image", parameters.image, kImage);
  spec.read("logLevel", parameters.logLevel, kLogLevels);
  spec.map("service").read("type", parameters.serviceType, kServiceTypes).finish();
  parameters.resources = readForeign(spec, "resources", Value::Kind::kMap);
  parameters.nodeSelector = readForeign(spec, "nodeSelector", Value::Kind::kMap);
  parameters.tolerations = readForeign(spec, "tolerations", Value::Kind::kList);
  parameters.affinity = readForeign(spec, "affinity", Value::Kind::kMap);
  spec.read("identity", parameters.identity, readIdentity);
  if (const Value* settings = spec.find("settings")) {
    parameters.settings = packed(spec, "settings", *settings);
    base::Settings checked;
    readGatewaySettings(spec.map("settings"), checked);
  }
}

void readGatewayParameters(FieldReader& root, GatewayParameters& parameters) {
  root.read("spec", parameters, readParameterFields);
}

}  // namespace sluice::config
