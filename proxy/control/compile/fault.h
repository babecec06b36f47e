// Why a part of the configuration is not served: what its conditions say of it, and what its requests are answered
// with.
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
  std::string reason;  // of the condition
  std::string message;

  friend bool operator==(const Fault&, const Fault&) = default;
};

inline Fault fault(std::string_view why, std::string message) { return {std::string(why), std::move(message)}; }

/// The answer (500) to requests that meet it. Names the reason only: messages are for operators, not for clients.
inline base::Error answer(const Fault& fault) {
  return base::Error::config("The configuration behind this request is not served (" + fault.reason + ").");
}

/// A value, or the fault that stands in its place.
template <typename T>
struct Resolved {
  Resolved(T found) : value(std::move(found)) {}  // NOLINT(google-explicit-constructor)
  Resolved(Fault why) : fault(std::move(why)) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return value.has_value(); }
  friend bool operator==(const Resolved&, const Resolved&) = default;

  std::optional<T> value;
  Fault fault;
};

/// The messages of all, joined by "; ".
std::string joinMessages(const std::vector<Fault>& faults);

/// What a known but unbuilt field says: the first that would alter traffic as a fault (UnsupportedValue) that names all
/// such fields.
std::optional<Fault> alteringFault(const std::vector<config::Unbuilt>& unbuilt);
/// The others, as a text to append to a message; empty if there are none.
std::string ignoredNote(const std::vector<config::Unbuilt>& unbuilt);

}  // namespace sluice::control
