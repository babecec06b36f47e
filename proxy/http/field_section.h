// One pass over the field lines of a head, as they were on the wire: checks their grammar, sets aside those that are
// control data, and keeps the end-to-end ones. Only hygiene needs it, to decide about the head.
//
// It holds values only: views into the bytes of the raw fields, and a list in the caller's arena.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/http/headers.h"
#include "proxy/http/message.h"

namespace sluice::http {

struct FieldSection {
  Headers kept;  // the fields that are passed on
  // Each member holds the last value of its field, each count the number of its lines.
  std::string_view contentType;
  std::string_view host;
  std::string_view length;
  std::string_view coding;
  std::string_view expect;
  std::string_view upgrade;
  std::string_view proxyAuthorization;
  std::uint32_t authorizationCount = 0;
  std::uint32_t proxyAuthorizationCount = 0;
  std::uint32_t contentTypeCount = 0;
  std::uint32_t hostCount = 0;
  std::uint32_t lengthCount = 0;
  std::uint32_t codingCount = 0;
  std::uint32_t expectCount = 0;
  std::uint32_t upgradeCount = 0;
  bool dated = false;  // there is a Date
  bool lengthsDiffer = false;
  bool teTrailers = false;
  bool connectionClose = false;
  bool connectionKeepAlive = false;
  bool connectionUpgrade = false;
  bool keepAlive = false;  // there is a Keep-Alive
};

/// Returns nullptr, or why the section is malformed: a name that is no lower-case token, a value outside RFC 9110
/// section 5.5, in HTTP/2 a connection-specific field (RFC 9113 section 8.2.2).
const char* readFields(base::Arena& arena, const Headers& raw, Version version, FieldSection& section);

/// Reads one 1*DIGIT value up to 2^63-1 (RFC 9110 section 8.6).
std::optional<std::uint64_t> parseContentLength(std::string_view value);

}  // namespace sluice::http
