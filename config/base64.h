// Base64 as Secrets carry it (RFC 4648 section 4): padded, strict. Line breaks are skipped, because people fold their
// files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::config {

/// nullopt for a character outside the alphabet, for wrong padding, and for bits that the padding leaves over.
std::optional<std::string> decodeBase64(std::string_view text);

}  // namespace sluice::config
