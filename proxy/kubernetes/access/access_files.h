// Reads the small files that contain credentials for an API server.
//
// Pure functions over files; they block, as briefly as reading a small file does. Errors have config's origin and never
// contain a byte of a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/base/secret.h"

namespace sluice::kubernetes {

/// The largest token: a header field with it is far larger than API servers accept.
inline constexpr std::size_t kMaxTokenBytes = std::size_t{64} * 1024;

/// Returns the content of a regular file, behind all links. A pipe or a device is refused, because it could be read
/// once only. Errors name the path: it cannot be read, or is larger than `maxBytes`.
base::Result<base::Secret> readAccessFile(const std::string& path, std::size_t maxBytes);

/// Returns `text` without the white space around it.
std::string_view withoutOuterSpace(std::string_view text);

/// Returns the token in `text`, without the white space around it. Errors do not name its source: it is empty, larger
/// than kMaxTokenBytes, or has a byte other than visible ASCII, which credentials of a header field may not have (RFC
/// 6750 section 2.1).
base::Result<base::Secret> parseToken(std::string_view text);

/// Returns the token in a file. Errors name the path.
base::Result<base::Secret> readTokenFile(const std::string& path);

}  // namespace sluice::kubernetes
