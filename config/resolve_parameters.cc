#include "config/resolve_parameters.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "config/catalog/data_document.h"
#include "config/model/object_kinds.h"
#include "config/read/object_readers.h"
#include "config/read/settings_reader.h"

namespace sluice::config {
namespace {

class ParametersResolver {
 public:
  ParametersResolver(Model& model, const Model* previous, Problems& problems)
      : model_(model), previous_(previous), problems_(problems) {}

  void resolve(const Gateway& gateway) {
    const std::optional<ObjectRef>& ref = gateway.infrastructure.parametersRef;
    if (!ref) return;
    const std::string& nameSpace = gateway.meta.nameSpace;
    const ResolvedKey key{ref->kind, nameSpace, ref->name};
    if (model_.parameters.contains(key)) return;
    std::optional<ResolvedParameters> resolved;
    if (isKindOf<GatewayParameters>(ref->group, ref->kind)) {
      resolved = ofObject(nameSpace, ref->name);
    } else if (isKindOf<ConfigMap>(ref->group, ref->kind)) {
      resolved = ofConfigMap(nameSpace, ref->name);
    }
    if (!resolved) return;
    if (resolved->parameters && !resolved->parameters->settings.isNull()) overlay(*resolved);
    if (!resolved->parameters) keepPrevious(key, *resolved);
    model_.parameters.emplace(key, std::move(*resolved));
  }

 private:
  using ResolvedKey = decltype(Model::parameters)::key_type;

  std::optional<ResolvedParameters> ofObject(const std::string& nameSpace, const std::string& name) const {
    const auto* parameters = model_.find<GatewayParameters>(nameSpace, name);
    if (parameters == nullptr) return std::nullopt;
    const Rejected* kept = model_.findKept(kOwnGroup, GatewayParameters::kKind, nameSpace, name);
    return ResolvedParameters{.parameters = *parameters, .fault = kept == nullptr ? "" : kept->message};
  }

  std::optional<ResolvedParameters> ofConfigMap(const std::string& nameSpace, const std::string& name) {
    const auto* configMap = model_.find<ConfigMap>(nameSpace, name);
    if (configMap == nullptr) return std::nullopt;
    ResolvedParameters resolved;
    const std::string object = configMap->meta.title();
    const auto entry = configMap->data.find(std::string(kParametersKey));
    if (entry == configMap->data.end()) {
      Problem problem{Severity::kError, configMap->meta.position, object, "data",
                      "has no key " + std::string(kParametersKey)};
      take({std::move(problem)}, resolved);
      return resolved;
    }
    Problems found;
    GatewayParameters parameters;
    parameters.meta = configMap->meta;
    if (readDataDocument(entry->second, object, kParametersKey, found,
                         [&parameters](FieldReader reader) { readParameterFields(reader, parameters); })) {
      resolved.parameters = std::move(parameters);
    }
    take(std::move(found), resolved);
    return resolved;
  }

  /// Reads the parameters' settings again, now onto those that they change.
  void overlay(ResolvedParameters& resolved) {
    const Value& written = resolved.parameters->settings;
    base::Settings settings = model_.settings;
    Problems found;
    ObjectContext context(resolved.parameters->meta.title(), found);
    readGatewaySettings(FieldReader(&written, "settings", written.position, context), settings);
    if (context.errors() == 0) {
      resolved.settings = std::move(settings);
      return;
    }
    resolved.parameters.reset();
    take(std::move(found), resolved);
  }

  void keepPrevious(const ResolvedKey& key, ResolvedParameters& resolved) const {
    if (previous_ == nullptr) return;
    const auto before = previous_->parameters.find(key);
    if (before == previous_->parameters.end() || !before->second.parameters) return;
    resolved.parameters = before->second.parameters;
    resolved.settings = before->second.settings;
  }

  /// Reports problems; the first error is the fault of the parameters.
  void take(Problems found, ResolvedParameters& resolved) {
    const auto error =
        std::find_if(found.begin(), found.end(), [](const Problem& each) { return each.severity == Severity::kError; });
    if (error != found.end()) resolved.fault = error->object + ": " + error->field + ": " + error->message;
    problems_.insert(problems_.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }

  Model& model_;
  const Model* previous_;
  Problems& problems_;
};

/// Returns the Gateway of our class if there is no other one; nullptr if there are several, or none.
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

}  // namespace

void resolveParameters(Model& model, const Model* previous, Problems& problems) {
  ParametersResolver resolver(model, previous, problems);
  for (const Gateway& each : model.all<Gateway>()) {
    if (each.gatewayClassName == model.gatewayClassName) resolver.resolve(each);
  }
  const Gateway* only = onlyGateway(model);
  const ResolvedParameters* resolved = only == nullptr ? nullptr : model.parametersOf(*only);
  if (resolved != nullptr && resolved->settings) model.settings = *resolved->settings;
}

std::string gatewaysWithoutTheirSettings(const Model& model) {
  std::string names;
  if (onlyGateway(model) != nullptr) return names;
  for (const Gateway& each : model.all<Gateway>()) {
    const ResolvedParameters* resolved = model.parametersOf(each);
    if (resolved == nullptr || !resolved->settings) continue;
    names += (names.empty() ? "" : ", ") + each.meta.qualifiedName();
  }
  return names;
}

}  // namespace sluice::config
