// Encodes a text as gzip (RFC 1952). decoder.h decodes it.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace sluice::content {

/// Returns one gzip member; nothing if there is no memory. `text` is shorter than 4 GiB. Equal texts have equal
/// encodings, because the member contains no time and no name.
std::string gzip(std::string_view text);

}  // namespace sluice::content
