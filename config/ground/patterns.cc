#include "config/ground/patterns.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "proxy/base/text.h"

namespace sluice::config {
namespace {

bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isAlphanumeric(char c) { return isLower(c) || isUpper(c) || isDigit(c); }
bool isLowerAlphanumeric(char c) { return isLower(c) || isDigit(c); }

template <typename Predicate>
bool all(std::string_view text, Predicate predicate) {
  return std::all_of(text.begin(), text.end(), predicate);
}

/// Calls `matches` for each part between separators. Returns false if it returns false for a part.
template <typename Predicate>
bool eachPart(std::string_view text, char separator, Predicate matches) {
  for (;;) {
    const std::size_t end = text.find(separator);
    if (!matches(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

/// Matches [c]([-c]*[c])?, which means characters of one class with hyphens between them.
template <typename Predicate>
bool isHyphenated(std::string_view text, Predicate character) {
  if (text.empty() || !character(text.front()) || !character(text.back())) return false;
  return all(text, [&](char c) { return c == '-' || character(c); });
}

int addressFamily(std::string_view text) {
  if (text.size() > INET6_ADDRSTRLEN) return AF_UNSPEC;
  const std::string copy(text);
  std::array<unsigned char, 16> bytes{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, copy.c_str(), bytes.data()) == 1) return family;
  }
  return AF_UNSPEC;
}

bool isNumberUpTo(std::string_view text, unsigned minimum, unsigned maximum) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= minimum && number <= maximum;
}

bool isPathCharacter(char c) {
  return isAlphanumeric(c) || std::string_view("-/._~!$&'()*+,;=:@").find(c) != std::string_view::npos;
}

}  // namespace

std::string hostnameHint(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme != std::string_view::npos) return ": leave out " + base::quote(text.substr(0, scheme + 3));
  if (text.find('/') != std::string_view::npos) return ": leave out the path";
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && colon == text.find(':') && colon + 1 < text.size() &&
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(colon) + 1, text.end(), isDigit)) {
    return ": leave out the port";
  }
  const auto isCapital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return std::any_of(text.begin(), text.end(), isCapital) ? ": write it in lower case" : "";
}

bool isAnyText(std::string_view /*text*/) { return true; }

bool isLabelValue(std::string_view text) {
  if (text.empty() || text.size() > 63 || !isAlphanumeric(text.front()) || !isAlphanumeric(text.back())) return false;
  return all(text, [](char c) { return isAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool isDnsLabel(std::string_view text) { return text.size() <= 63 && isHyphenated(text, isLowerAlphanumeric); }

bool isDnsSubdomain(std::string_view text) {
  return eachPart(text, '.', [](std::string_view part) { return isHyphenated(part, isLowerAlphanumeric); });
}

bool isHostname(std::string_view text) {
  if (text.starts_with("*.")) text.remove_prefix(2);
  return isDnsSubdomain(text) && !isIpAddress(text);
}

bool isGroup(std::string_view text) { return text.empty() || isDnsSubdomain(text); }

bool isKind(std::string_view text) {
  return isHyphenated(text, isAlphanumeric) && (isLower(text.front()) || isUpper(text.front()));
}

bool isControllerName(std::string_view text) {
  constexpr std::string_view kPath = "/-._~%!$&'()*+,;=:";
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 == text.size()) return false;
  return isDnsSubdomain(text.substr(0, slash)) && all(text.substr(slash + 1), [&](char c) {
           return isAlphanumeric(c) || kPath.find(c) != std::string_view::npos;
         });
}

bool isHeaderName(std::string_view text) {
  constexpr std::string_view kToken = "!#$%&'*+-.^_`|~";
  return !text.empty() &&
         all(text, [&](char c) { return isAlphanumeric(c) || kToken.find(c) != std::string_view::npos; });
}

bool isCookiePath(std::string_view text) {
  return text.starts_with("/") &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~' && c != ';'; });
}

bool isHeaderValue(std::string_view text) {
  const auto visible = [](char c) { return c >= '!' && c <= '~'; };
  if (text.empty() || !visible(text.front()) || !visible(text.back())) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool gap = text[i] == ' ' || text[i] == '\t';
    if (!visible(text[i]) && (!gap || !visible(text[i - 1]))) return false;
  }
  return true;
}

bool isListenerProtocol(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return isHyphenated(text, isAlphanumeric);
  return isDnsSubdomain(text.substr(0, slash)) && slash + 1 < text.size() &&
         all(text.substr(slash + 1), isAlphanumeric);
}

bool isPathValue(std::string_view text) {
  if (!text.starts_with('/') || text.find("//") != std::string_view::npos) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (isPathCharacter(text[i])) continue;
    if (text[i] != '%' || i + 2 >= text.size() || !isHexDigit(text[i + 1]) || !isHexDigit(text[i + 2])) return false;
    if (text[i + 1] == '2' && (text[i + 2] == 'f' || text[i + 2] == 'F')) return false;
  }
  return eachPart(text, '/', [](std::string_view segment) { return segment != "." && segment != ".."; });
}

bool isIpAddress(std::string_view text) { return addressFamily(text) != AF_UNSPEC; }

std::string canonicalIp(std::string_view text) {
  std::array<unsigned char, 16> bytes{};
  std::array<char, INET6_ADDRSTRLEN> written{};
  const int family = addressFamily(text);
  if (::inet_pton(family, std::string(text).c_str(), bytes.data()) != 1) return std::string(text);
  return ::inet_ntop(family, bytes.data(), written.data(), written.size());
}

bool isCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const int family = addressFamily(text.substr(0, slash));
  return family != AF_UNSPEC && isNumberUpTo(text.substr(slash + 1), 0, family == AF_INET ? 32 : 128);
}

bool isIpWithPort(std::string_view text) {
  if (isIpAddress(text)) return true;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !isNumberUpTo(text.substr(colon + 1), 1, 65535)) return false;
  std::string_view host = text.substr(0, colon);
  if (!host.starts_with('[')) return addressFamily(host) == AF_INET;
  return host.ends_with(']') && addressFamily(host.substr(1, host.size() - 2)) == AF_INET6;
}

bool isProcessorType(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::size_t colon = text.rfind(':');
  if (slash == std::string_view::npos || colon == std::string_view::npos || colon < slash) return false;
  return isDnsSubdomain(text.substr(0, slash)) && isKind(text.substr(slash + 1, colon - slash - 1)) &&
         isHyphenated(text.substr(colon + 1), isAlphanumeric);
}

bool isRpcMethod(std::string_view text) {
  const auto isLetter = [](char c) { return isLower(c) || isUpper(c) || c == '_'; };
  if (text.empty() || !isLetter(text.front())) return false;
  return all(text, [&](char c) { return isLetter(c) || isDigit(c); });
}

bool isRpcService(std::string_view text) {
  if (text.starts_with('.')) text.remove_prefix(1);
  return eachPart(text, '.', isRpcMethod);
}

bool isCorsOrigin(std::string_view text) {
  if (text == "*") return true;
  if (!text.starts_with("http://") && !text.starts_with("https://")) return false;
  text.remove_prefix(text.find("://") + 3);
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || port.size() > 5 || !all(port, isDigit)) return false;
    text = text.substr(0, colon);
  }
  if (text == "*") return true;
  if (text.starts_with("*.")) text.remove_prefix(2);
  return eachPart(text, '.', [](std::string_view part) {
    return !part.empty() && all(part, [](char c) { return c == '-' || isAlphanumeric(c); });
  });
}

bool isCorsMethod(std::string_view text) {
  constexpr std::string_view kMethods[] = {"GET",     "HEAD",    "POST",  "PUT",   "DELETE",
                                           "CONNECT", "OPTIONS", "TRACE", "PATCH", "*"};
  return std::find(std::begin(kMethods), std::end(kMethods), text) != std::end(kMethods);
}

bool endsInNumber(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  const std::string_view last = text.substr(text.rfind('.') + 1);
  if (last.starts_with("0x") || last.starts_with("0X")) return all(last.substr(2), isHexDigit);
  return !last.empty() && all(last, isDigit);
}

bool isUri(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view scheme = text.substr(0, colon);
  const bool letter = isAlphanumeric(scheme.front()) && !isDigit(scheme.front());
  const auto inScheme = [](char c) { return isAlphanumeric(c) || c == '+' || c == '-' || c == '.'; };
  return letter && all(scheme, inScheme) && all(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

bool isDomainName(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  const bool shaped = eachPart(text, '.', [](std::string_view part) {
    return part.size() <= 63 && isHyphenated(part, [](char c) { return isAlphanumeric(c) || c == '_'; });
  });
  return shaped && !endsInNumber(text);
}

}  // namespace sluice::config
