#include "proxy/exchange/attempt/gateway_chain.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "proxy/http/proxy_status.h"

namespace sluice::exchange {
namespace {

constexpr std::string_view kBlanks = " \t";

/// Returns the kind of intermediary in that part of the Via list: "1.1 pseudonym", perhaps followed by a comment. Few
/// requests have a Via, so this is kept out of the loop over the fields of every request.
[[gnu::noinline]] Passage passageIn(std::string_view via, std::string_view pseudonym) {
  constexpr std::string_view kAny = GatewayIdentity::kPseudonyms;
  Passage passage = Passage::kNone;
  for (std::size_t at = via.find(kAny); at != std::string_view::npos; at = via.find(kAny, at + 1)) {
    if (at == 0 || kBlanks.find(via[at - 1]) == std::string_view::npos) continue;
    const std::string_view name = via.substr(at, via.find_first_of(" \t,", at) - at);
    if (name == pseudonym) return Passage::kHere;
    passage = Passage::kGateway;
  }
  return passage;
}

/// Returns the type of the error in the registry of RFC 9209 section 2.3, which does not have all of this program's.
std::string_view registeredType(base::ErrorType type) {
  using base::ErrorType;
  if (type == ErrorType::kMisdirectedRequest) return base::errorTypeName(ErrorType::kHttpRequestError);
  if (type == ErrorType::kRateLimited || type == ErrorType::kAuthenticationRequired ||
      type == ErrorType::kProxyAuthenticationRequired) {
    return base::errorTypeName(ErrorType::kHttpRequestDenied);
  }
  const bool ofProcessor = type == ErrorType::kProcessorFailed || type == ErrorType::kProcessorCapacityReached ||
                           type == ErrorType::kProcessorTimeout;
  return base::errorTypeName(ofProcessor ? ErrorType::kProxyInternalError : type);
}

void addEntry(base::Arena& arena, const GatewayIdentity& identity, const std::string& parameter,
              http::Headers& headers) {
  headers.add(arena, "proxy-status", arena.copy(identity.pseudonym() + "; " + parameter));
}

}  // namespace

Passage passageOf(const http::Headers& headers, const GatewayIdentity& identity) {
  Passage passage = Passage::kNone;
  for (const http::Field& field : headers) {
    if (!http::isVia(field.id)) continue;
    const Passage found = passageIn(field.value, identity.pseudonym());
    if (found == Passage::kHere) return found;
    if (found == Passage::kGateway) passage = found;
  }
  return passage;
}

bool isFinalHere(const base::Error& error) {
  using base::ErrorType;
  constexpr std::uint16_t kErrors = 400;
  return error.status >= kErrors && error.type != ErrorType::kConnectionLimitReached &&
         error.type != ErrorType::kProcessorCapacityReached && error.type != ErrorType::kRateLimited;
}

bool isFinalBehind(const http::Headers& headers) {
  return http::hasProxyStatusOf(headers, GatewayIdentity::kPseudonyms);
}

void hideFinal(base::Arena& arena, http::Headers& headers) {
  http::removeProxyStatusOf(arena, GatewayIdentity::kPseudonyms, headers);
}

void markFinal(base::Arena& arena, const GatewayIdentity& identity, std::uint16_t received, http::Headers& headers) {
  addEntry(arena, identity, "received-status=" + std::to_string(received), headers);
}

void markFinal(base::Arena& arena, const GatewayIdentity& identity, const base::Error& error, http::Headers& headers) {
  addEntry(arena, identity, "error=" + std::string(registeredType(error.type)), headers);
}

}  // namespace sluice::exchange
