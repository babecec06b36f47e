// Encodes a text as gzip (RFC 1952). What decodes it is in decoder.h.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace sluice::content {

/// Returns one gzip member; nothing if there is no memory. `text` is shorter than 4 GiB. Equal texts have equal
/// encodings: it holds no time and no name.
std::string gzip(std::string_view text);

}  // namespace sluice::content
