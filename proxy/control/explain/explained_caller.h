// The caller of a request in question, as the user names it, and whether its listener would learn of one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/base/result.h"
#include "proxy/base/terms/caller.h"
#include "proxy/routing/table/served_listener.h"

namespace sluice::control {

/// All empty: nobody has said who the caller is.
struct CallerInQuestion {
  std::string account;    // "namespace/account"
  std::string principal;  // its name in the proof
  std::string assurance;  // as base::assuranceName() has it; empty: Certificate

  bool isTold() const { return !account.empty() || !principal.empty() || !assurance.empty(); }
};

/// Returns the namespace and the account of "namespace/account"; nullopt if the text is none.
std::optional<std::pair<std::string_view, std::string_view>> splitAccount(std::string_view text);

/// Returns the caller; nullopt if nobody has said who it is. Errors (400) name the fault: `as` is no account, there is
/// no such assurance, None with a name, or control characters in the principal.
base::Result<std::optional<base::Caller>> readCaller(const CallerInQuestion& asked);

/// Returns true if requests to the listener may have a caller with identity.
bool identifiesCallers(const routing::ServedListener& listener);

/// Returns which certificates the listener wants of its clients: "required", "optional", or "any" for the mode
/// AllowInsecureFallback; empty if it asks for none.
std::string_view clientCertificates(const routing::ServedListener& listener);

}  // namespace sluice::control
