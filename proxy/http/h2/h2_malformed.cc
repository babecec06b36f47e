#include "proxy/http/h2/h2_malformed.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <string_view>

#include "proxy/http/field_section.h"
#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

using LibraryCheck = int (*)(const std::uint8_t*, std::size_t);

bool passes(LibraryCheck check, std::string_view text) {
  return check(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()) != 0;
}

bool isLine(const Field& field) {
  return passes(nghttp2_check_header_name, field.name) && passes(nghttp2_check_header_value_rfc9113, field.value);
}

// RFC 9113 section 8.2.2.
bool isForbidden(const Field& field) {
  switch (field.id) {
    case FieldId::kConnection:
    case FieldId::kKeepAlive:
    case FieldId::kProxyConnection:
    case FieldId::kTransferEncoding:
    case FieldId::kUpgrade:
      return true;
    case FieldId::kTe:
      return !equalsIgnoreCase(field.value, "trailers");
    default:
      return false;
  }
}

// RFC 3986 section 3.1.
bool isScheme(std::string_view text) {
  const auto isAlpha = [](char c) { return toLower(c) >= 'a' && toLower(c) <= 'z'; };
  return !text.empty() && isAlpha(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return isAlpha(c) || isDigit(c) || c == '+' || c == '-' || c == '.';
  });
}

bool isPlainConnect(const H2FieldReader& section) { return section.method == "CONNECT" && section.protocol.empty(); }

// RFC 9113 section 8.5.
bool isMalformedConnect(const H2FieldReader& section) {
  return !section.scheme.empty() || !section.path.empty() || !passes(nghttp2_check_authority, section.authority) ||
         section.authority.empty();
}

// RFC 9113 section 8.3.1, and RFC 8441 section 4.
bool hasMalformedTarget(const H2FieldReader& section) {
  if (!isScheme(section.scheme) || !passes(nghttp2_check_path, section.path) || section.path.empty()) return true;
  if (!passes(nghttp2_check_authority, section.authority)) return true;
  if (section.authority.empty() && section.fields.find(FieldId::kHost) == nullptr) return true;
  if (!section.protocol.empty() && (section.method != "CONNECT" || section.authority.empty())) return true;
  if (!passes(nghttp2_check_header_value_rfc9113, section.protocol)) return true;
  const bool web = equalsIgnoreCase(section.scheme, "http") || equalsIgnoreCase(section.scheme, "https");
  return web && !section.path.starts_with('/') && !(section.path == "*" && section.method == "OPTIONS");
}

bool hasMalformedLine(const Headers& fields) {
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  for (const Field& field : fields) {
    if (!isLine(field) || isForbidden(field)) return true;
    if (field.id == FieldId::kHost) {
      ++hosts;
      if (field.value.empty() || !passes(nghttp2_check_authority, field.value)) return true;
    } else if (field.id == FieldId::kContentLength) {
      ++lengths;
      if (!parseContentLength(field.value)) return true;
    }
  }
  return hosts > 1 || lengths > 1;
}

}  // namespace

bool isMalformedRequest(const H2FieldReader& section, bool endOfStream) {
  if (!passes(nghttp2_check_method, section.method) || hasMalformedLine(section.fields)) return true;
  if (isPlainConnect(section)) return isMalformedConnect(section);
  return hasMalformedTarget(section) || (endOfStream && announcedLength(section).value_or(0) > 0);
}

// Host in the trailers of a request could name another destination than its head did, so it is malformed like a second
// Host in a head.
bool isMalformedTrailers(const Headers& fields, const H2BodyLength& length, bool ofRequest) {
  bool counted = length.isAnnounced();
  for (const Field& field : fields) {
    if (!isCodecField(field.id)) continue;
    if (isForbidden(field) || (ofRequest && field.id == FieldId::kHost)) return true;
    if (field.id != FieldId::kContentLength) continue;
    if (counted || parseContentLength(field.value) != length.received()) return true;
    counted = true;
  }
  return false;
}

std::optional<std::uint64_t> announcedLength(const H2FieldReader& section) {
  const Field* length = isPlainConnect(section) ? nullptr : section.fields.find(FieldId::kContentLength);
  return length == nullptr ? std::nullopt : parseContentLength(length->value);
}

}  // namespace sluice::http
