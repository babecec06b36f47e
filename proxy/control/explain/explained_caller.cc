#include "proxy/control/explain/explained_caller.h"

#include <algorithm>

#include "config/ground/patterns.h"
#include "proxy/base/text.h"
#include "proxy/routing/policy/client_validation.h"

namespace sluice::control {
namespace {

base::Error badCaller(std::string why) { return base::Error::badRequest(400, std::move(why)); }

bool isAsciiControl(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

}  // namespace

std::optional<std::pair<std::string_view, std::string_view>> splitAccount(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::pair<std::string_view, std::string_view> names{text.substr(0, slash), text.substr(slash + 1)};
  if (!config::isDnsLabel(names.first) || !config::isDnsSubdomain(names.second)) return std::nullopt;
  return names;
}

base::Result<std::optional<base::Caller>> readCaller(const CallerInQuestion& asked) {
  if (!asked.isTold()) return std::optional<base::Caller>();
  base::Caller caller;
  if (!asked.account.empty()) {
    const auto names = splitAccount(asked.account);
    if (!names) return badCaller("as: " + base::quote(asked.account) + " is not NAMESPACE/ACCOUNT");
    caller.nameSpace = names->first;
    caller.serviceAccount = names->second;
  }
  if (std::any_of(asked.principal.begin(), asked.principal.end(), isAsciiControl)) {
    return badCaller("principal: it has control characters");
  }
  caller.principal = asked.principal;
  const auto assurance = asked.assurance.empty() ? base::Assurance::kCertificate : base::assuranceOf(asked.assurance);
  if (!assurance) {
    return badCaller("assurance: " + base::quote(asked.assurance) + " is not None, Address, Token or Certificate");
  }
  caller.assurance = *assurance;
  const bool isNamed = !asked.account.empty() || !asked.principal.empty();
  if (isNamed && caller.assurance == base::Assurance::kNone) {
    return badCaller("assurance: a caller with None has no identity, so it excludes as and principal");
  }
  return std::optional<base::Caller>(std::move(caller));
}

// Basic authentication names a principal.
bool identifiesCallers(const routing::ServedListener& listener) {
  return listener.authentication != nullptr || (listener.clients != nullptr && listener.clients->namesCallers);
}

std::string_view clientCertificates(const routing::ServedListener& listener) {
  if (listener.clients == nullptr) return {};
  if (listener.clients->insecureFallback) return "any";
  return listener.clients->required ? "required" : "optional";
}

}  // namespace sluice::control
