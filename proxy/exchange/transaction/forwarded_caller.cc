#include "proxy/exchange/transaction/forwarded_caller.h"

#include <algorithm>
#include <string>

#include "proxy/http/field_grammar.h"

namespace sluice::exchange {
namespace {

/// Returns true for text of the form of NAMESPACE/NAME, in the characters that Kubernetes allows.
bool looksLikeAccount(std::string_view text) {
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
  };
  return std::count(text.begin(), text.end(), '/') == 1 && std::all_of(text.begin(), text.end(), belongs);
}

/// Returns the name that Backends get; empty if there is none.
std::string forwardedName(const base::Caller& caller) {
  if (!caller.serviceAccount.empty()) return caller.nameSpace + "/" + caller.serviceAccount;
  return looksLikeAccount(caller.principal) ? std::string() : caller.principal;
}

}  // namespace

void writeCaller(base::Arena& arena, http::Headers& headers, std::string_view field, const base::Caller* caller) {
  headers.removeTwins(field);
  if (caller == nullptr) return;
  const std::string name = forwardedName(*caller);
  if (!name.empty() && http::isFieldValue(name)) headers.add(arena, field, arena.copy(name));
}

}  // namespace sluice::exchange
