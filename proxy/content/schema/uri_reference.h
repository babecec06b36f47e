// Resolves the references of a JSON Schema to URIs. Nothing is ever loaded from one: it is a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::content {

/// A URI that was resolved, in two parts.
struct ResolvedUri {
  std::string document;  // without a fragment
  std::string fragment;  // still percent-encoded; empty if there is none
};

/// Resolves a reference against a base that has no fragment, by RFC 3986 section 5.2. A reference against an empty base
/// stays as it is. Malformed ones have some result.
ResolvedUri resolveUri(std::string_view base, std::string_view reference);

/// Decodes the text of a fragment (RFC 3986 section 2.1); nullopt if it is malformed.
std::optional<std::string> percentDecoded(std::string_view text);

}  // namespace sluice::content
