// The reason why a part of the configuration is not served. It goes into conditions and into the local reply to
// requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/base/error.h"

namespace sluice::control {

struct Fault {
  std::string reason;  // the condition's reason
  std::string message;

  friend bool operator==(const Fault&, const Fault&) = default;
};

inline Fault fault(std::string_view why, std::string message) { return {std::string(why), std::move(message)}; }

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

/// Returns the messages of all faults, joined by "; ".
std::string joinMessages(const std::vector<Fault>& faults);

/// Returns a fault (UnsupportedValue) if an unsupported field would alter traffic. It has the first such field's
/// message and names all such fields.
std::optional<Fault> alteringFault(const std::vector<config::UnsupportedField>& unsupported);
/// Returns a note about the unsupported fields that would not alter traffic, to be appended to a message; empty if
/// there are none.
std::string ignoredNote(const std::vector<config::UnsupportedField>& unsupported);

}  // namespace sluice::control
