// The path of a request has one normal form, which decides: routes, steps and policies see no other one, so no spelling
// slips past them. What is forwarded is the path as the client spelled it, because signatures cover these bytes
// (RequestHead::sentPath).
//
// Servers disagree about two spellings only, and both are in use: "%2F" is a part of a segment to object stores, GitLab
// and npm, and a separator to others; "//" holds an empty segment, or is one separator. The right meaning depends on
// the host, so a path is normalised before its route is known, and again after that if it contains one of them.
//
// Values only, in the caller's arena; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/result.h"

namespace sluice::http {

/// How "%2F" in a path is handled.
enum class EncodedSlash : std::uint8_t {
  kKeep,    // it stays as it is
  kReject,  // the request is refused
  kDecode   // it becomes "/"
};

struct SlashRules {
  EncodedSlash encoded = EncodedSlash::kReject;
  bool merge = true;  // runs of "/" become one
  /// Backends get the normal form, too, because the settings change what the path means.
  bool forwardsNormalForm = false;
};

/// The rules for a path whose route is not known yet.
inline constexpr SlashRules kAnySlashes = {EncodedSlash::kKeep, false};

struct NormalTarget {
  std::string_view text;
  /// True if the path contains "%2F" or "//".
  bool unusualSlashes = false;
  bool hadDotSegments = false;  // plain or encoded ones, which are removed
};

/// Returns the normal form of an origin-form target. Percent-encodings of unreserved characters are decoded, others get
/// upper-case hex digits; dot segments are removed (RFC 3986 sections 6.2.2, 5.2.4); `rules` decide about "%2F" and
/// "//". These are refused with 400: backslash in either form, %00 and other encoded controls, "#", a bad "%", bytes
/// outside 0x21..0x7E, climbing above the root, and a dot segment with parameters ("/..;x/") or beside "%2F"
/// ("/..%2Fx"), which some servers take for "..". The query is kept as it is (its characters are checked). Copies only
/// if needed.
base::Result<NormalTarget> normalizeTarget(base::Arena& arena, std::string_view target, SlashRules rules = {});

/// Returns a path in normal form without the parameters of its segments (RFC 3986 section 3.3): "/a;v=1/b" becomes
/// "/a/b". A segment that has only parameters is left out, as servers that drop them do. `room` holds the result if it
/// differs from `path`.
std::string_view withoutPathParameters(std::string_view path, std::string& room);

}  // namespace sluice::http
