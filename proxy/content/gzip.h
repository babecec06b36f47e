// Encodes a text as gzip (RFC 1952). decoder.h decodes it.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::content {

/// Returns one gzip member of all pieces, one after the other; nothing if there is no memory. They are shorter than
/// 4 GiB. Equal pieces have equal encodings, because the member contains no time and no name.
std::string gzip(const std::vector<std::string_view>& pieces);

}  // namespace sluice::content
