#include "config/catalog/catalog.h"

#include <algorithm>
#include <utility>

#include "config/catalog/config_references.h"
#include "config/read/processors/processor_settings.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

/// Returns true for domains whose kinds only this program and the API define.
bool isBuiltinDomain(std::string_view type) {
  const std::string_view domain = type.substr(0, type.find('/'));
  return domain == kGatewayGroup || domain == kOwnGroup;
}

/// Returns true for types that represent other spellings. If this program cannot run such a type, the user who wrote
/// that spelling has made no mistake.
bool isSpelledOut(std::string_view type) {
  return type == processor_type::kExtProc || type == processor_type::kInProcess;
}

Finding findingAt(const ProcessorUse& use, std::string_view field, std::string message) {
  return {use.path + "." + std::string(field), std::move(message)};
}

/// The part of an admission that failed.
struct AdmissionFault {
  Admission::Outcome outcome = Admission::Outcome::kRejected;
  std::string_view reason;
  Finding why;
};

/// Returns a hint that names the type with the nearest name.
std::string nearestType(const std::string& written, const Catalog::Types& types) {
  std::vector<std::string_view> names;
  for (const auto& [name, type] : types) names.push_back(name);
  const std::string_view close = base::closestWord(written, names);
  return close.empty() ? "" : "; did you mean " + std::string(close) + "?";
}

std::optional<AdmissionFault> typeFault(const ProcessorUse& use, const ProcessorType* type,
                                        const Catalog::Types& types) {
  using enum Admission::Outcome;
  if (type == nullptr && isBuiltinDomain(use.type) && !isSpelledOut(use.type)) {
    return AdmissionFault{
        kRejected, processor_reason::kUnknownType,
        findingAt(use, "type", "there is no built-in type " + base::quote(use.type) + nearestType(use.type, types))};
  }
  std::string why;
  if (type == nullptr && isSpelledOut(use.type)) {
    why = "the engine of " + base::quote(use.type) + " is not supported";
  } else if (type == nullptr) {
    why = "no catalog has the type " + base::quote(use.type) + nearestType(use.type, types);
  } else if (!type->fault.empty()) {
    why = "the type " + base::quote(use.type) + " cannot be used: " + type->fault;
  }
  if (why.empty()) return std::nullopt;
  return AdmissionFault{kDegraded, processor_reason::kUnsupportedType, findingAt(use, "type", why)};
}

/// This check comes after all other checks of the use, so that its author first sees the mistakes that support for the
/// engine would not fix.
std::optional<AdmissionFault> engineFault(const ProcessorUse& use, const ProcessorType& type) {
  if (type.runnable) return std::nullopt;
  return AdmissionFault{Admission::Outcome::kDegraded, processor_reason::kUnsupportedType,
                        findingAt(use, "type",
                                  "the engine of " + base::quote(use.type) + ", " + std::string(type.entry.engine) +
                                      ", is not supported")};
}

/// Finds the phase of the use and stores it in `phase`.
std::optional<AdmissionFault> phaseFault(const ProcessorUse& use, const ProcessorType& type, std::string_view& phase) {
  const std::vector<std::string_view>& allowed = type.entry.phases;
  if (use.phase.empty() && allowed.size() == 1) phase = allowed.front();
  for (const std::string_view each : allowed) {
    if (each == use.phase) phase = each;
  }
  if (!phase.empty() || (use.phase.empty() && type.spans)) return std::nullopt;
  const std::string choices = base::joinChoices(allowed);
  return AdmissionFault{Admission::Outcome::kRejected, processor_reason::kUnsupportedPhase,
                        findingAt(use, "phase",
                                  (use.phase.empty() ? "must be given: " : "must be ") + choices +
                                      (use.phase.empty() ? "" : ", but is " + base::quote(use.phase)))};
}

std::optional<AdmissionFault> preAuthFault(const ProcessorUse& use, const ProcessorType& type, std::string_view phase) {
  using enum Admission::Outcome;
  if (!phase.empty() && phaseIndex(phase) >= phaseIndex(kFirstPhaseAfterAuth)) {
    return AdmissionFault{
        kRejected, processor_reason::kInvalidPreAuthPhase,
        findingAt(use, "preAuth",
                  "must not be true in the phase " + std::string(phase) + ", which comes after authentication")};
  }
  if (!type.preAuth) {
    return AdmissionFault{
        kRejected, processor_reason::kUnsupportedPreAuth,
        findingAt(use, "preAuth", "must not be true: " + use.type + " runs after authentication only")};
  }
  return std::nullopt;
}

/// This check comes before all others, because it applies to uses of every type.
std::optional<AdmissionFault> boundsFault(const ProcessorUse& use, const base::LimitSettings& limits) {
  std::optional<Finding> excess = excessOf(use, limits);
  if (!excess) return std::nullopt;
  return AdmissionFault{Admission::Outcome::kRejected, processor_reason::kInvalidConfig, *std::move(excess)};
}

/// Checks the config of the use, and stores it in `config` with the schema's defaults.
std::optional<AdmissionFault> configFault(const ProcessorUse& use, const ProcessorType& type, Value& config) {
  config.kind = Value::Kind::kMap;
  config.position = use.position;
  if (use.config) config = use.config->unpacked();
  const auto violations = type.schema->apply(config);
  if (violations.empty()) return std::nullopt;
  return AdmissionFault{Admission::Outcome::kRejected,
                        processor_reason::kInvalidConfig,
                        {use.configPath(), content::describe(violations)}};
}

template <typename T>
T settle(const std::optional<T>& own, const std::optional<T>& catalogs, T otherwise) {
  return own ? *own : catalogs.value_or(otherwise);
}

}  // namespace

Admission Catalog::admit(const ProcessorUse& use, const base::LimitSettings& limits) const {
  const auto found = types_.find(use.type);
  Admission admission;
  if (found != types_.end()) admission.type = found->second;
  const ProcessorSettings defaults = admission.type ? admission.type->entry.defaults : ProcessorSettings();
  admission.failOpen = settle(use.failOpen, defaults.failOpen, false);
  admission.priority = settle(use.priority, defaults.priority, 0);
  admission.preAuth = settle(use.preAuth, defaults.preAuth, false);
  admission.timeout = use.timeout ? use.timeout : defaults.timeout;
  std::optional<AdmissionFault> fault = boundsFault(use, limits);
  if (!fault) fault = typeFault(use, admission.type.get(), types_);
  if (!fault) fault = phaseFault(use, *admission.type, admission.phase);
  admission.spans = !fault && admission.phase.empty();
  // The preAuth of a catalog applies to all phases of a type. It must not make phases after authentication invalid,
  // which cannot have it.
  const bool late = !admission.spans && phaseIndex(admission.phase) >= phaseIndex(kFirstPhaseAfterAuth);
  if (!use.preAuth && late) admission.preAuth = false;
  if (!fault && admission.preAuth) fault = preAuthFault(use, *admission.type, admission.phase);
  if (!fault) fault = configFault(use, *admission.type, admission.config);
  if (!fault) fault = engineFault(use, *admission.type);
  if (!fault) {
    admission.outcome = Admission::Outcome::kAdmitted;
    return admission;
  }
  admission.outcome = fault->outcome;
  admission.reason = fault->reason;
  admission.why = std::move(fault->why);
  return admission;
}

}  // namespace sluice::config
