#include "proxy/http/target.h"

#include <algorithm>
#include <cstring>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

base::Error refuseTarget(const char* why) { return base::Error::badRequest(400, why); }

bool isEncodedRefused(char decoded) {
  return static_cast<unsigned char>(decoded) < 0x20 || decoded == 0x7F || decoded == '/' || decoded == '\\';
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
  explicit PathWriter(char* out) : begin_(out), end_(out) { *end_++ = '/'; }

  // Takes a decoded or literal byte other than "/".
  void put(char c) { *end_++ = c; }

  // Settles the segment behind the last slash, at the next "/" or at the end of the path. Returns false if the path
  // must be refused.
  bool endSegment(bool withSlash) {
    char* segment = end_;
    while (segment[-1] != '/') --segment;
    const std::string_view text{segment, static_cast<std::size_t>(end_ - segment)};
    const std::string_view name = text.substr(0, text.find(';'));
    const bool dots = name == "." || name == "..";
    if (dots && name.size() != text.size()) return false;
    if (!dots) {
      if (withSlash && !text.empty()) *end_++ = '/';
      return true;
    }
    end_ = segment;
    return text.size() == 1 || dropLastSegment();
  }

  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  char* end() const { return end_; }

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
};

// Returns nullptr, or why the path is refused.
const char* writePath(PathWriter& writer, std::string_view path) {
  for (std::size_t i = 1; i < path.size(); ++i) {
    const char c = path[i];
    if (c == '/') {
      if (!writer.endSegment(true)) return "the path leaves its root or hides a dot segment";
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
    if (isEncodedRefused(decoded)) return "the path holds an encoded separator or control character";
    if (isUnreserved(decoded)) {
      writer.put(decoded);
    } else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      writer.put('%');
      writer.put(kDigits[high]);
      writer.put(kDigits[low]);
    }
    i += 2;
  }
  return writer.endSegment(false) ? nullptr : "the path leaves its root or hides a dot segment";
}

}  // namespace

base::Result<std::string_view> normalizeTarget(base::Arena& arena, std::string_view target) {
  const std::size_t pathSize = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, pathSize);
  const std::string_view query = target.substr(pathSize);
  if (!path.starts_with('/')) return refuseTarget("the path does not begin with a slash");
  if (!std::all_of(query.begin(), query.end(), isTargetChar))
    return refuseTarget("the query holds a character that must be encoded");
  if (isPlainPath(path)) return target;

  char* out = arena.bytes(target.size());
  PathWriter writer(out);
  if (const char* why = writePath(writer, path)) return refuseTarget(why);
  if (!query.empty()) std::memcpy(writer.end(), query.data(), query.size());
  return std::string_view{out, writer.size() + query.size()};
}

}  // namespace sluice::http
