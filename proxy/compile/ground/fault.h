// The reason why a part of the configuration is not served. It goes into conditions and into the local reply to
// requests.
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
  /// The path of the field that it is about, "spec.rules[0].backendRefs", by which problems get their file and line
  /// (config/load/field_places.h); empty if it is about the whole object.
  std::string field = {};
  /// The findings that `message` is made of, if it is made of several.
  std::vector<config::Finding> parts = {};
  /// True if it only sums up what other conditions or problems say.
  bool summary = false;

  /// Returns the message with the field in front.
  std::string text() const { return config::Finding{field, message}.text(); }

  friend bool operator==(const Fault&, const Fault&) = default;
};

inline Fault fault(std::string_view why, std::string message) { return {std::string(why), std::move(message)}; }
inline Fault fault(std::string_view why, std::string field, std::string message) {
  return {std::string(why), std::move(message), std::move(field)};
}
/// Makes a fault that sums up what is said elsewhere.
inline Fault summary(std::string_view why, std::string field, std::string message) {
  return {std::string(why), std::move(message), std::move(field), {}, true};
}
inline Fault summary(std::string_view why, std::string message) { return summary(why, {}, std::move(message)); }
/// Returns the fault without its reason, for a condition that is good all the same.
inline config::Finding noteOf(const Fault& fault) { return {fault.field, fault.message}; }
/// The consequence for a payload processor that cannot run.
inline constexpr std::string_view kLeftOut = "; it fails open and is left out";
/// Adds what follows from the fault.
Fault withConsequence(Fault fault, std::string_view consequence);

/// Returns the error (500) for requests that meet the fault. It names the reason only, because messages are for
/// operators and not for clients.
inline base::Error answer(const Fault& fault) {
  return base::Error::config("The configuration behind this request is not served (" + fault.reason + ").");
}

/// Either a value or the fault that prevents it.
template <typename T>
struct Resolved {
  Resolved(T found) : value(std::move(found)) {}  // NOLINT(google-explicit-constructor)
  Resolved(Fault why) : fault(std::move(why)) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return value.has_value(); }
  friend bool operator==(const Resolved&, const Resolved&) = default;

  std::optional<T> value;
  Fault fault;
};

/// Returns one fault with the first one's reason and the texts of all, joined by "; "; nullopt if there is none.
std::optional<Fault> joined(const std::vector<Fault>& faults);

/// Returns a fault (UnsupportedValue) if an unsupported field would alter traffic. It has the first such field's
/// message and names all such fields.
std::optional<Fault> alteringFault(const std::vector<config::UnsupportedField>& unsupported);
/// Returns a note for each unsupported field that would not alter traffic.
std::vector<config::Finding> ignoredNotes(const std::vector<config::UnsupportedField>& unsupported);

}  // namespace sluice::compile
