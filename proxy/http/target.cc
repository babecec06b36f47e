#include "proxy/http/target.h"

#include <algorithm>
#include <cstring>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

base::Error refuseTarget(const char* why) { return base::Error::badRequest(400, why); }

constexpr std::string_view kEncodedSlash = "%2F";

bool isEncodedRefused(char decoded) {
  return static_cast<unsigned char>(decoded) < 0x20 || decoded == 0x7F || decoded == '\\';
}

// Returns true if a server may take the segment for "." or ".." although it is neither: it has parameters, or a server
// that decodes "%2F" finds one of them in there.
bool hidesDots(std::string_view segment) {
  while (true) {
    const std::size_t size = std::min(segment.find(kEncodedSlash), segment.size());
    const std::string_view part = segment.substr(0, size);
    const std::string_view name = part.substr(0, part.find(';'));
    if (name == "." || name == "..") return true;
    if (size == segment.size()) return false;
    segment.remove_prefix(size + kEncodedSlash.size());
  }
}

// Returns true if nothing is to be changed or refused: no escape, no empty segment, no segment that begins with a dot.
bool isPlainPath(std::string_view path) {
  char before = 0;
  for (const char c : path) {
    if (!isTargetChar(c) || c == '%' || c == '\\') return false;
    if (before == '/' && (c == '/' || c == '.')) return false;
    before = c;
  }
  return true;
}

// Writes the normal form of a path into room for path.size() bytes: it never grows.
class PathWriter {
 public:
  PathWriter(char* out, bool mergesSlashes) : begin_(out), end_(out), mergesSlashes_(mergesSlashes) { *end_++ = '/'; }

  // Takes a decoded or literal byte other than "/".
  void put(char c) { *end_++ = c; }

  void putEncoded(char decoded) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(decoded);
    put('%');
    put(kDigits[byte >> 4]);
    put(kDigits[byte & 15]);
  }

  // Settles the segment behind the last slash, at the next "/" or at the end of the path. Returns false if the path
  // must be refused.
  bool endSegment(bool withSlash) {
    char* segment = end_;
    while (segment[-1] != '/') --segment;
    const std::string_view text{segment, static_cast<std::size_t>(end_ - segment)};
    if (text == "." || text == "..") {
      hadDotSegments_ = true;
      end_ = segment;
      return text.size() == 1 || dropLastSegment();
    }
    if (hidesDots(text)) return false;
    if (withSlash && (!mergesSlashes_ || !text.empty())) *end_++ = '/';
    return true;
  }

  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  std::string_view text() const { return {begin_, size()}; }
  char* end() const { return end_; }
  bool hadDotSegments() const { return hadDotSegments_; }

 private:
  // Removes the last segment: "/a/b/" becomes "/a/".
  bool dropLastSegment() {
    if (end_ == begin_ + 1) return false;
    --end_;
    while (end_[-1] != '/') --end_;
    return true;
  }

  char* begin_;
  char* end_;
  bool mergesSlashes_;
  bool hadDotSegments_ = false;
};

constexpr char kHidesDots[] = "the path leaves its root or hides a dot segment";

// Returns nullptr, or why the path is refused.
const char* writePath(PathWriter& writer, std::string_view path, EncodedSlash encodedSlash) {
  for (std::size_t i = 1; i < path.size(); ++i) {
    const char c = path[i];
    if (c == '/') {
      if (!writer.endSegment(true)) return kHidesDots;
      continue;
    }
    if (!isTargetChar(c) || c == '\\') return "the path holds a character that must be encoded";
    if (c != '%') {
      writer.put(c);
      continue;
    }
    const int high = i + 2 < path.size() ? hexValue(path[i + 1]) : -1;
    const int low = i + 2 < path.size() ? hexValue(path[i + 2]) : -1;
    if (high < 0 || low < 0) return "the path holds a broken percent-encoding";
    const char decoded = static_cast<char>(high * 16 + low);
    if (decoded == '/' && encodedSlash == EncodedSlash::kReject) {
      return "the path holds %2F, which paths.encodedSlash of the settings does not let through here";
    }
    if (isEncodedRefused(decoded)) return "the path holds an encoded backslash or control character";
    if (decoded == '/' && encodedSlash == EncodedSlash::kDecode) {
      if (!writer.endSegment(true)) return kHidesDots;
    } else if (isUnreserved(decoded)) {
      writer.put(decoded);
    } else {
      writer.putEncoded(decoded);
    }
    i += 2;
  }
  return writer.endSegment(false) ? nullptr : kHidesDots;
}

}  // namespace

base::Result<NormalTarget> normalizeTarget(base::Arena& arena, std::string_view target, SlashRules rules) {
  const std::size_t pathSize = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, pathSize);
  const std::string_view query = target.substr(pathSize);
  if (!path.starts_with('/')) return refuseTarget("the path does not begin with a slash");
  if (!std::all_of(query.begin(), query.end(), isTargetChar))
    return refuseTarget("the query holds a character that must be encoded");
  if (isPlainPath(path)) return NormalTarget{target};

  char* out = arena.bytes(target.size());
  PathWriter writer(out, rules.merge);
  if (const char* why = writePath(writer, path, rules.encoded)) return refuseTarget(why);
  const std::string_view written = writer.text();
  const bool unusualSlashes =
      written.find("//") != std::string_view::npos || written.find(kEncodedSlash) != std::string_view::npos;
  if (!query.empty()) std::memcpy(writer.end(), query.data(), query.size());
  return NormalTarget{{out, written.size() + query.size()}, unusualSlashes, writer.hadDotSegments()};
}

std::string_view withoutPathParameters(std::string_view path, std::string& room) {
  if (path.find(';') == std::string_view::npos) return path;
  room.clear();
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/', 1));  // with the slash before it
    path.remove_prefix(segment.size());
    const std::string_view name = segment.substr(0, segment.find(';'));
    if (name.size() > 1 || name == segment || path.empty()) room += name;
  }
  return room;
}

}  // namespace sluice::http
