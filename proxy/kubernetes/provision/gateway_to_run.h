// A Gateway whose Pods the controller keeps, and what all objects that it keeps for the Gateway have in common: names,
// labels and owners (GEP-1762).
//
// Pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/model/gateway_parameters.h"
#include "config/model/model.h"
#include "proxy/base/clock.h"
#include "proxy/base/json_writer.h"
#include "proxy/kubernetes/provision/provisioned_object.h"

namespace sluice::kubernetes {

struct GatewayToRun {
  const config::Gateway& gateway;
  std::string apiVersion;  // of the Gateway
  std::string uid;         // of its newest version
  config::GatewayParameters parameters = {};
  std::string image = {};                // unless the parameters name one
  base::Duration drainTimeout{};         // of the settings
  std::string controllerNamespace = {};  // of the controller that keeps it
  /// The Secret of its namespace with the keys that its Pods have in place of the class's (class_keys.h); empty: they
  /// have those of the class.
  std::string classKeys = {};
  /// Its infrastructure.annotations are those of its ServiceAccount, too.
  bool serviceAccountAnnotations = false;
};

/// Returns the name of its objects: that of the Gateway and its class, in a form that a Service may have. No other
/// Gateway of the namespace has it.
std::string nameOfPods(const config::Gateway& gateway);
/// Returns the value of kGatewayNameLabel for a Gateway of that name, which may be longer than a label's value.
std::string gatewayNameLabel(const std::string& name);
/// Returns the labels by which its Pods are selected.
std::map<std::string, std::string> selectorOf(const config::Gateway& gateway);
/// Returns the labels of its objects: those of infrastructure.labels, and ours, which come before them.
std::map<std::string, std::string> labelsOf(const config::Gateway& gateway);

/// Writes a map of texts.
void writeTextMap(base::JsonWriter& json, const std::map<std::string, std::string>& texts);
/// Begins an object of that kind: apiVersion, kind and metadata. One in the Gateway's namespace is owned by it, and has
/// the labels and annotations of infrastructure: elsewhere they are not the Gateway's to choose. The writer is inside
/// the object.
base::JsonWriter beginProvisioned(const GatewayToRun& run, const ProvisionedKind& kind, std::string_view nameSpace,
                                  std::string_view name);

/// Returns the object whose JSON was begun so.
ProvisionedObject provisionedFor(const GatewayToRun& run, const ProvisionedKind& kind, std::string_view nameSpace,
                                 std::string_view name, std::string body);

}  // namespace sluice::kubernetes
