#include <algorithm>

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

Autoscaling readAutoscaling(FieldReader reader) {
  Autoscaling result;
  const auto number = [&reader](std::string_view key, std::int64_t most, std::uint32_t& of) {
    if (const auto given = reader.integer(key, 1, most)) of = static_cast<std::uint32_t>(*given);
  };
  number("minReplicas", kMostReplicas, result.minReplicas);
  reader.require("maxReplicas");
  number("maxReplicas", kMostReplicas, result.maxReplicas);
  number("targetCPUUtilizationPercentage", kMostUtilization, result.targetCpuUtilization);
  if (result.maxReplicas < result.minReplicas) reader.error("maxReplicas", "must not be less than minReplicas");
  reader.finish();
  return result;
}

/// Reads a value that is Kubernetes' own to check; its API server does when the Pods are made.
Value readForeign(FieldReader& reader, std::string_view key, Value::Kind kind) {
  const Value* value = reader.find(key);
  if (value == nullptr) return {};
  if (value->kind != kind) reader.error(key, "must be " + std::string(content::describe(kind)));
  return *value;
}

}  // namespace

void readParameterFields(FieldReader spec, GatewayParameters& parameters) {
  static constexpr Choice<std::string_view> kServiceTypes[] = {
      {"ClusterIP", "ClusterIP"}, {"NodePort", "NodePort"}, {"LoadBalancer", "LoadBalancer"}};
  static constexpr Choice<std::string_view> kLogLevels[] = {{"trace", "trace"}, {"debug", "debug"}, {"info", "info"},
                                                            {"warn", "warn"},   {"error", "error"}, {"off", "off"}};
  if (const auto replicas = spec.integer("replicas", 0, kMostReplicas)) {
    parameters.replicas = static_cast<std::uint32_t>(*replicas);
  }
  if (spec.has("autoscaling")) parameters.autoscaling = readAutoscaling(spec.map("autoscaling"));
  if (parameters.replicas && parameters.autoscaling) {
    spec.error("replicas", "must not be given together with autoscaling");
  }
  parameters.image = spec.text("image", kImage);
  parameters.logLevel = spec.choice("logLevel", kLogLevels, std::string_view());
  FieldReader service = spec.map("service");
  parameters.serviceType = service.choice("type", kServiceTypes, std::string_view("ClusterIP"));
  service.finish();
  parameters.resources = readForeign(spec, "resources", Value::Kind::kMap);
  parameters.nodeSelector = readForeign(spec, "nodeSelector", Value::Kind::kMap);
  parameters.tolerations = readForeign(spec, "tolerations", Value::Kind::kList);
  parameters.affinity = readForeign(spec, "affinity", Value::Kind::kMap);
  if (const Value* settings = spec.find("settings")) {
    parameters.settings = *settings;
    base::Settings checked;
    readGatewaySettings(spec.map("settings"), checked);
  }
  spec.finish();
}

GatewayParameters readGatewayParameters(FieldReader& root, ObjectMeta meta) {
  GatewayParameters parameters;
  parameters.meta = std::move(meta);
  readParameterFields(root.map("spec"), parameters);
  return parameters;
}

}  // namespace sluice::config
