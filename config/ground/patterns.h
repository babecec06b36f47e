// Defines the patterns that Gateway API's schemas demand of strings, each with its name for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::config {

/// The values that a text field accepts. Lengths are in bytes.
struct TextRule {
  bool (*matches)(std::string_view);
  std::string_view expected;  // such as "a DNS label"
  std::size_t maxLength = 253;
  /// Returns a suggestion for a text that does not match, such as ": leave out the path"; empty if there is none.
  std::string (*hint)(std::string_view) = nullptr;
};

constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Returns a suggestion about the part of a text that no hostname has: a scheme, a path, a port or capital letters.
std::string hostnameHint(std::string_view text);

bool isAnyText(std::string_view text);
bool isLabelValue(std::string_view text);    // of a label of Kubernetes, not empty, at most 63
bool isDnsLabel(std::string_view text);      // RFC 1123, lower case, at most 63
bool isDnsSubdomain(std::string_view text);  // labels joined by dots
bool isHostname(std::string_view text);      // a subdomain, perhaps after "*."
bool isGroup(std::string_view text);         // a subdomain or empty
bool isKind(std::string_view text);
bool isControllerName(std::string_view text);
bool isHeaderName(std::string_view text);   // RFC 9110 token
bool isHeaderValue(std::string_view text);  // visible ASCII, with single spaces or tabs inside
bool isCookiePath(std::string_view text);   // RFC 6265 section 4.1.1: visible ASCII without ";", behind a "/"
bool isListenerProtocol(std::string_view text);
bool isPathValue(std::string_view text);  // an absolute path without "//", dot segments, %2f or a fragment
bool isIpAddress(std::string_view text);
/// Returns the address in its canonical form: "::1" for "0:0::1". `text` must be an IP address or empty.
std::string canonicalIp(std::string_view text);
bool isCidr(std::string_view text);        // "10.0.0.0/8"
bool isIpWithPort(std::string_view text);  // "1.1.1.1", "1.1.1.1:53", "2606::1111", "[2606::1111]:53"
bool isProcessorType(std::string_view text);
bool isRpcService(std::string_view text);  // "package.Service", perhaps after a dot
bool isRpcMethod(std::string_view text);
bool isCorsOrigin(std::string_view text);  // "*", or http(s)://host[:port]; host may be "*" or begin with "*"
bool isCorsMethod(std::string_view text);  // a method of RFC 9110, PATCH or "*"
/// Accepts visible ASCII that begins with a scheme (RFC 3986 section 3.1) and "://":
/// "spiffe://cluster.local/ns/a/sa/b".
bool isUri(std::string_view text);
/// Returns true if the last label is a number, as in "127.1", "0x7f000001" and "a.0". Resolvers and clients then read
/// the whole text as an IPv4 address in one of its old forms (RFC 1123 section 2.1, WHATWG URL "ends in a number").
bool endsInNumber(std::string_view text);
/// Accepts one or more labels in lower or upper case, with at most one final dot. The text is a name to be resolved and
/// never an address.
bool isDomainName(std::string_view text);

namespace rule {
inline constexpr TextRule kAnyText{isAnyText, "text", 4096};
inline constexpr TextRule kObjectName{isDnsSubdomain, "a DNS name in lower case", 253};
inline constexpr TextRule kRefName{isAnyText, "a name", 253};
inline constexpr TextRule kSentence{isAnyText, "a sentence", 256};
inline constexpr TextRule kNamespace{isDnsLabel, "a DNS label in lower case", 63};
inline constexpr TextRule kSectionName{isDnsSubdomain, "a DNS name in lower case", 253};
inline constexpr TextRule kHostname{isHostname, "a hostname in lower case that may begin with \"*.\"", 253,
                                    hostnameHint};
inline constexpr TextRule kPreciseHostname{isDnsSubdomain, "a hostname in lower case", 253, hostnameHint};
inline constexpr TextRule kHostText{isAnyText, "a hostname", 253};  // external_hostname.h has the other checks
inline constexpr TextRule kIpAddress{isIpAddress, "an IP address", 45};
inline constexpr TextRule kDomainName{isDomainName, "a domain name", 253, hostnameHint};
inline constexpr TextRule kUri{isUri, "a URI like spiffe://cluster.local/ns/a/sa/b", 253};
inline constexpr TextRule kGroup{isGroup, "an API group", 253};
inline constexpr TextRule kKind{isKind, "a kind", 63};
inline constexpr TextRule kControllerName{isControllerName, "a controller name like example.com/gateway", 253};
inline constexpr TextRule kHeaderName{isHeaderName, "a header name", 256};
inline constexpr TextRule kHeaderValue{isHeaderValue, "a header value", 4096};
inline constexpr TextRule kCookiePath{isCookiePath, "a path like /shop", 1024};
inline constexpr TextRule kCorsOrigin{isCorsOrigin, "\"*\" or an origin like https://*.example.com:8443", 253};
inline constexpr TextRule kCorsMethod{isCorsMethod, "a method like GET, or \"*\"", 7};
inline constexpr TextRule kListenerProtocol{isListenerProtocol, "a protocol", 255};
inline constexpr TextRule kProcessorType{isProcessorType, "a processor type like example.com/Kind:v1", 253};
}  // namespace rule

}  // namespace sluice::config
