#include "proxy/pki/names/spiffe_id.h"

#include <algorithm>
#include <cstddef>

namespace sluice::pki {
namespace {

constexpr std::string_view kScheme = "spiffe://";
constexpr std::size_t kLongestId = 2048;
constexpr std::size_t kLongestTrustDomain = 255;
constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kLongestSubdomain = 253;

bool isDigitOrLower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool isOfTrustDomain(char c) { return isDigitOrLower(c) || c == '.' || c == '-' || c == '_'; }
bool isOfSegment(char c) { return isOfTrustDomain(c) || (c >= 'A' && c <= 'Z'); }

/// Returns the text up to the separator, and takes both off the front of `rest`.
std::string_view takePart(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

bool isSegment(std::string_view text) {
  return !text.empty() && text != "." && text != ".." && std::all_of(text.begin(), text.end(), isOfSegment);
}

bool isPath(std::string_view path) {
  if (path.empty()) return true;
  // A slash at the end begins an empty segment.
  if (path.back() == '/') return false;
  for (path.remove_prefix(1); !path.empty();) {
    if (!isSegment(takePart(path, '/'))) return false;
  }
  return true;
}

// RFC 1123, in lower case: a Kubernetes Namespace is a label, and a ServiceAccount labels with dots between them.
bool isRfc1123Label(std::string_view text) {
  return !text.empty() && isDigitOrLower(text.front()) && isDigitOrLower(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return isDigitOrLower(c) || c == '-'; });
}

bool isRfc1123Subdomain(std::string_view text) {
  if (text.empty() || text.size() > kLongestSubdomain || text.back() == '.') return false;
  while (!text.empty()) {
    if (!isRfc1123Label(takePart(text, '.'))) return false;
  }
  return true;
}

void readWorkload(SpiffeId& id) {
  std::string_view rest = id.path;
  takePart(rest, '/');
  if (takePart(rest, '/') != "ns") return;
  const std::string_view nameSpace = takePart(rest, '/');
  if (takePart(rest, '/') != "sa") return;
  // A further segment leaves a slash in the rest, which no account has.
  if (nameSpace.size() > kLongestLabel || !isRfc1123Label(nameSpace) || !isRfc1123Subdomain(rest)) return;
  id.nameSpace = nameSpace;
  id.serviceAccount = rest;
}

}  // namespace

std::optional<SpiffeId> SpiffeId::parse(std::string_view uri) {
  if (uri.size() > kLongestId || !uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  SpiffeId id;
  id.trustDomain = uri.substr(0, uri.find('/'));
  id.path = uri.substr(id.trustDomain.size());
  const bool isNamed = !id.trustDomain.empty() && id.trustDomain.size() <= kLongestTrustDomain &&
                       std::all_of(id.trustDomain.begin(), id.trustDomain.end(), isOfTrustDomain);
  if (!isNamed || !isPath(id.path)) return std::nullopt;
  readWorkload(id);
  return id;
}

}  // namespace sluice::pki
