#include "config/load/gateway_settings.h"

#include <algorithm>
#include <optional>

#include "config/read/gateways/settings_reader.h"
#include "config/read/object_kinds.h"

namespace sluice::config {
namespace {

/// Returns the Gateway of this controller's class if there is exactly one; otherwise nullptr.
const Gateway* onlyGateway(const Model& model) {
  const Gateway* only = nullptr;
  for (const Gateway& each : model.all<Gateway>()) {
    if (each.gatewayClassName != model.gatewayClassName) continue;
    if (only != nullptr) return nullptr;
    only = &each;
  }
  const bool others = std::any_of(model.rejected.begin(), model.rejected.end(),
                                  [](const Rejected& each) { return isKindOf<Gateway>(each.group, each.kind); });
  return others ? nullptr : only;
}

bool hasOwnSettings(const Model& model, const Gateway& gateway) {
  const GatewayParameters* parameters = parametersOf(model, gateway);
  return parameters != nullptr && !parameters->settings.isNull();
}

}  // namespace

const GatewayParameters* parametersOf(const Model& model, const Gateway& gateway) {
  const std::optional<ObjectRef>& ref = gateway.infrastructure.parametersRef;
  if (!ref) return nullptr;
  const std::string& nameSpace = gateway.meta.nameSpace;
  if (isKindOf<GatewayParameters>(ref->group, ref->kind)) return model.find<GatewayParameters>(nameSpace, ref->name);
  if (!isKindOf<ConfigMap>(ref->group, ref->kind)) return nullptr;
  const auto* configMap = model.find<ConfigMap>(nameSpace, ref->name);
  return configMap == nullptr ? nullptr : configMap->parameters.get();
}

base::Settings settingsOf(const Model& model, const Gateway& gateway) {
  base::Settings settings = model.settings;
  const GatewayParameters* parameters = parametersOf(model, gateway);
  if (parameters == nullptr || parameters->settings.isNull()) return settings;
  // These problems were reported when the object was read. Each setting that a Gateway may have can be checked without
  // the others.
  Problems known;
  ObjectContext context("", known, Severity::kWarning);
  const Value own = parameters->settings.unpacked();
  readGatewaySettings(FieldReader(&own, "", own.position, context), settings);
  return settings;
}

void applyOwnSettings(Model& model) {
  const Gateway* only = onlyGateway(model);
  if (only != nullptr) model.settings = settingsOf(model, *only);
}

void useDerivedKeys(const base::SecretName& secret, base::Settings& settings) {
  if (std::optional<base::SessionKeyRef>& session = settings.sessionKey) {
    const bool hasPrevious = !session->previousKey.empty();
    session = {secret.nameSpace, secret.name, std::string(kSessionEntry),
               std::string(hasPrevious ? kPreviousSessionEntry : std::string_view())};
  }
  if (std::optional<base::RevisionKeyRef>& revision = settings.revisions.keyRef) {
    revision = {secret.nameSpace, secret.name, std::string(kRevisionEntry)};
  }
}

std::string gatewaysWithoutTheirSettings(const Model& model) {
  std::string names;
  if (onlyGateway(model) != nullptr) return names;
  for (const Gateway& each : model.all<Gateway>()) {
    if (each.gatewayClassName != model.gatewayClassName || !hasOwnSettings(model, each)) continue;
    names += (names.empty() ? "" : ", ") + each.meta.qualifiedName();
  }
  return names;
}

}  // namespace sluice::config
