#include "proxy/content/schema/uri_reference.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace sluice::content {
namespace {

/// The parts of a URI, each with its delimiter: "http:", "//a.test", "/b", "?c", "#d".
struct UriParts {
  std::string_view scheme;
  std::string_view authority;
  std::string_view path;
  std::string_view query;
  std::string_view fragment;
};

/// Cuts off the first bytes of `rest` and returns them.
std::string_view cut(std::string_view& rest, std::size_t bytes) {
  const std::string_view head = rest.substr(0, bytes);
  rest.remove_prefix(head.size());
  return head;
}

UriParts partsOf(std::string_view uri) {
  UriParts parts;
  const std::size_t mark = uri.find_first_of(":/?#");
  if (mark != std::string_view::npos && mark > 0 && uri[mark] == ':') parts.scheme = cut(uri, mark + 1);
  if (uri.starts_with("//")) parts.authority = cut(uri, std::min(uri.find_first_of("/?#", 2), uri.size()));
  parts.path = cut(uri, uri.find_first_of("?#"));
  parts.query = cut(uri, uri.find('#'));
  parts.fragment = uri;
  return parts;
}

/// Implements section 5.2.4.
std::string withoutDots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./") || path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../") || path == "/..") {
      path = path == "/.." ? "/" : path.substr(3);
      out.erase(std::min(out.rfind('/'), out.size()));
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      out += cut(path, path.find('/', 1));
    }
  }
  return out;
}

/// Implements section 5.2.3.
std::string merged(const UriParts& base, std::string_view path) {
  if (!base.authority.empty() && base.path.empty()) return "/" + std::string(path);
  return std::string(base.path.substr(0, base.path.rfind('/') + 1)) + std::string(path);
}

std::string joined(std::string_view scheme, std::string_view authority, std::string_view path, std::string_view query) {
  std::string uri(scheme);
  uri += authority;
  uri += path;
  uri += query;
  return uri;
}

}  // namespace

ResolvedUri resolveUri(std::string_view base, std::string_view reference) {
  const UriParts to = partsOf(reference);
  const UriParts from = partsOf(base);
  ResolvedUri resolved;
  if (!to.fragment.empty()) resolved.fragment = to.fragment.substr(1);
  if (!to.scheme.empty()) {
    resolved.document = joined(to.scheme, to.authority, withoutDots(to.path), to.query);
  } else if (!to.authority.empty()) {
    resolved.document = joined(from.scheme, to.authority, withoutDots(to.path), to.query);
  } else if (to.path.empty()) {
    resolved.document = joined(from.scheme, from.authority, from.path, to.query.empty() ? from.query : to.query);
  } else {
    const bool whole = to.path.starts_with('/');
    const std::string path = withoutDots(whole ? std::string(to.path) : merged(from, to.path));
    resolved.document = joined(from.scheme, from.authority, path, to.query);
  }
  return resolved;
}

std::optional<std::string> percentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    unsigned char byte = 0;
    if (at + 2 >= text.size()) return std::nullopt;
    const char* end = text.data() + at + 3;
    if (std::from_chars(text.data() + at + 1, end, byte, 16).ptr != end) return std::nullopt;
    decoded += static_cast<char>(byte);
    at += 2;
  }
  return decoded;
}

}  // namespace sluice::content
