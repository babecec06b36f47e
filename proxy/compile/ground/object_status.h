// Makes the conditions of all kinds of objects in one place, so that they look alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/ground/finding.h"
#include "config/status/conditions.h"
#include "proxy/compile/ground/fault.h"

namespace sluice::compile {

/// The conditions of one object. All of them have the generation of that object.
class Conditions {
 public:
  explicit Conditions(const config::ObjectMeta& meta) : generation_(meta.generation) {}
  explicit Conditions(std::optional<std::int64_t> generation) : generation_(generation) {}

  Conditions& set(std::string_view type, config::ConditionStatus status, const Fault& fault);
  Conditions& good(std::string_view type, std::string_view reason, std::string message = {}) {
    return set(type, config::ConditionStatus::kTrue, summary(reason, std::move(message)));
  }
  Conditions& bad(std::string_view type, const Fault& fault) {
    return set(type, config::ConditionStatus::kFalse, fault);
  }
  /// Adds a condition such as Degraded, whose status True reports a fault.
  Conditions& troubled(std::string_view type, const Fault& fault) {
    return set(type, config::ConditionStatus::kTrue, fault);
  }
  /// Adds `bad` if there is a fault. Otherwise adds `good` with the type's own name as reason, and with notes for
  /// people.
  Conditions& check(std::string_view type, const std::optional<Fault>& fault,
                    const std::vector<config::Finding>& notes = {});

  std::size_t size() const { return conditions_.size(); }
  std::vector<config::Condition> take() { return std::move(conditions_); }

 private:
  std::optional<std::int64_t> generation_;
  std::vector<config::Condition> conditions_;
};

/// Returns the fault for the conditions of an object whose newest version its schema refuses while the previous version
/// is served; nullopt for other objects.
std::optional<Fault> keptFault(const config::Model& model, const config::ObjectMeta& meta);
/// Returns the fault `why`, with a note that the previous version is served.
Fault keptFault(std::string_view reason, const config::Finding& why);
/// Joins two faults into one with the reason of the first one.
std::optional<Fault> both(const std::optional<Fault>& first, const std::optional<Fault>& second);

/// Makes a status without conditions yet, in the shape of its kind.
config::ObjectStatus statusOf(const config::ObjectMeta& meta);
config::ObjectStatus statusOf(const config::Rejected& rejected);
/// Makes the status of an object without any readable part. Such an object has no parent or ancestor that could carry
/// the condition. `consequence` follows the message, if it is not empty.
config::ObjectStatus rejectedStatus(const config::Rejected& rejected, std::string_view consequence = {});

}  // namespace sluice::compile
