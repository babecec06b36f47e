// A Fault is the reason why a part of the configuration is not served. Conditions report it, and the local reply to
// requests has its reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/ground/finding.h"
#include "config/status/conditions.h"
#include "proxy/base/error.h"

namespace sluice::compile {

struct Fault {
  std::string reason;   // the condition's reason
  std::string message;  // without the path of the field
  /// The path of the faulty field, such as "spec.rules[0].backendRefs"; empty if the whole object is faulty. Problems
  /// get their file and line by it (config/load/field_places.h).
  std::string field = {};
  /// The findings that `message` consists of, if there are several.
  std::vector<config::Finding> parts = {};
  /// True if it only sums up other conditions or problems.
  bool summary = false;

  /// Returns the message after the path of the field.
  std::string text() const { return config::Finding{field, message}.text(); }

  friend bool operator==(const Fault&, const Fault&) = default;
};

inline Fault fault(std::string_view why, std::string message) { return {std::string(why), std::move(message)}; }
inline Fault fault(std::string_view why, std::string field, std::string message) {
  return {std::string(why), std::move(message), std::move(field)};
}
/// Makes a fault that sums up faults which are reported elsewhere.
inline Fault summary(std::string_view why, std::string field, std::string message) {
  return {std::string(why), std::move(message), std::move(field), {}, true};
}
inline Fault summary(std::string_view why, std::string message) { return summary(why, {}, std::move(message)); }
/// Returns the fault for a further condition, besides the one that reports it.
inline Fault summarized(Fault fault) {
  fault.summary = true;
  return fault;
}
/// Returns the fault without its reason, as a note for a condition whose status stays good.
inline config::Finding noteOf(const Fault& fault) { return {fault.field, fault.message}; }
/// The consequence if a payload processor cannot run and fails open.
inline constexpr std::string_view kLeftOut = "; it fails open and is left out";
/// Appends the consequence to the fault's message.
Fault withConsequence(Fault fault, std::string_view consequence);

/// Returns the error (500) for requests that meet the fault. It has only the reason, because messages are for operators
/// and not for clients.
inline base::Error answer(const Fault& fault) {
  return base::Error::config("The configuration behind this request is not served (" + fault.reason + ").");
}

/// Either a value, or the fault because of which there is none.
template <typename T>
struct Resolved {
  Resolved(T found) : value(std::move(found)) {}  // NOLINT(google-explicit-constructor)
  Resolved(Fault why) : fault(std::move(why)) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return value.has_value(); }
  friend bool operator==(const Resolved&, const Resolved&) = default;

  std::optional<T> value;
  Fault fault;
};

/// Returns one fault with the reason of the first one and the texts of all, joined by "; "; nullopt if there is none.
std::optional<Fault> joined(const std::vector<Fault>& faults);

/// Returns a fault (UnsupportedValue) if some unsupported field would alter traffic. It has the message of the first
/// such field and names all of them.
std::optional<Fault> alteringFault(const std::vector<config::UnsupportedField>& unsupported);
/// Returns a note for each unsupported field that would not alter traffic.
std::vector<config::Finding> ignoredNotes(const std::vector<config::UnsupportedField>& unsupported);

}  // namespace sluice::compile
