#include "proxy/http/connection_auth.h"

#include <algorithm>
#include <string_view>

#include "proxy/http/grammar.h"

namespace sluice::http {

bool isConnectionScheme(std::string_view text) {
  const std::string_view scheme = text.substr(0, text.find_first_of(" \t"));
  return equalsIgnoreCase(scheme, "ntlm") || equalsIgnoreCase(scheme, "negotiate");
}

namespace {

/// Challenges come one a line, or as a list whose commas also separate the parameters of one challenge. So any element
/// that begins with the name of the scheme is taken for a challenge.
bool offersConnectionScheme(std::string_view value) {
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(','), value.size());
    if (isConnectionScheme(trimSpace(value.substr(0, end)))) return true;
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return false;
}

bool isChallenge(const Field& field) { return field.name == "www-authenticate" && offersConnectionScheme(field.value); }

}  // namespace

bool challengesConnection(const Headers& response) {
  return std::any_of(response.begin(), response.end(), isChallenge);
}

void removeConnectionChallenges(Headers& response) { response.removeIf(isChallenge); }

}  // namespace sluice::http
