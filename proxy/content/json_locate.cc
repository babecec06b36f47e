#include "proxy/content/json_locate.h"

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "proxy/content/byte_order_mark.h"
#include "proxy/content/json_bytes.h"
#include "proxy/content/json_cursor.h"
#include "proxy/content/json_scan.h"
#include "proxy/content/name_set.h"

namespace sluice::content {
namespace {

/// Paths by their positions, one bit for each.
using PathSet = std::uint64_t;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// The names of one open map. The first few are stored in the object itself, so that most maps need no other memory.
class MapNames {
 public:
  explicit MapNames(NameSet& others) : others_(others) {}
  ~MapNames() {
    if (hasOthers_) others_.close();
  }
  MapNames(const MapNames&) = delete;
  MapNames& operator=(const MapNames&) = delete;

  /// Returns false if the map has a name of the same hash.
  bool add(std::uint64_t hash) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (few_[i] == hash) return false;
    }
    if (count_ < few_.size()) {
      few_[count_++] = hash;
      return true;
    }
    if (!hasOthers_) others_.open();
    hasOthers_ = true;
    return others_.add(hash);
  }

 private:
  NameSet& others_;
  std::array<std::uint64_t, 8> few_;
  std::size_t count_ = 0;
  bool hasOthers_ = false;
};

/// Each function takes one thing from where the last one stopped. Those that return a position return null if the text
/// is not JSON, and take no spaces before it.
class JsonLocator {
 public:
  JsonLocator(std::string_view text, std::span<const JsonPath> paths, std::span<std::string_view> found)
      : end_(text.data() + text.size()), paths_(paths), found_(found) {}

  bool locate(const char* at) {
    PathSet all = 0;
    for (std::size_t i = 0; i < paths_.size(); ++i) all |= PathSet{1} << i;
    at = valueOn(skipSpace(at, end_), 0, all);
    return at != nullptr && skipSpace(at, end_) == end_;
  }

 private:
  /// Takes a value inside `depth` maps and lists. The first `depth` steps of the paths `here` lead to it.
  const char* valueOn(const char* at, std::size_t depth, PathSet here) {
    if (here == 0) return value(at, depth, 0);
    PathSet deeper = 0;
    for (PathSet rest = here; rest != 0; rest &= rest - 1) {
      const auto path = static_cast<std::size_t>(std::countr_zero(rest));
      if (paths_[path].size() > depth) deeper |= PathSet{1} << path;
    }
    const char* const behind = value(at, depth, deeper);
    if (behind == nullptr) return nullptr;
    for (PathSet rest = here & ~deeper; rest != 0; rest &= rest - 1) {
      found_[static_cast<std::size_t>(std::countr_zero(rest))] = {at, static_cast<std::size_t>(behind - at)};
    }
    return behind;
  }

  const char* value(const char* at, std::size_t depth, PathSet deeper) {
    if (at == end_) return nullptr;
    switch (*at) {
      case '"':
        return string(at);
      case '{':
        return depth == JsonScan::kMostDepth ? nullptr : map(at + 1, depth, deeper);
      case '[':
        return depth == JsonScan::kMostDepth ? nullptr : list(at + 1, depth, deeper);
      case 't':
        return word(at, "true");
      case 'f':
        return word(at, "false");
      case 'n':
        return word(at, "null");
      default:
        return number(at);
    }
  }

  const char* map(const char* at, std::size_t depth, PathSet deeper) {
    at = skipSpace(at, end_);
    if (at != end_ && *at == '}') return at + 1;
    MapNames names(names_);
    while (true) {
      if (at == end_ || *at != '"') return nullptr;
      const char* const behind = string(at);
      if (behind == nullptr) return nullptr;
      const std::string_view raw(at + 1, static_cast<std::size_t>(behind - at) - 2);
      at = skipSpace(behind, end_);
      if (at == end_ || *at != ':') return nullptr;
      at = skipSpace(at + 1, end_);
      PathSet here = deeper;
      if (!(wasPlain_ ? takeName(raw, names, depth, here) : takeName(decoded(raw), names, depth, here))) return nullptr;
      at = valueOn(at, depth + 1, here);
      if (at == nullptr) return nullptr;
      at = skipSpace(at, end_);
      if (at == end_) return nullptr;
      if (*at == '}') return at + 1;
      if (*at != ',') return nullptr;
      at = skipSpace(at + 1, end_);
    }
  }

  const char* list(const char* at, std::size_t depth, PathSet deeper) {
    at = skipSpace(at, end_);
    if (at != end_ && *at == ']') return at + 1;
    for (std::int64_t index = 0;; ++index) {
      PathSet here = deeper;
      for (PathSet rest = deeper; rest != 0; rest &= rest - 1) {
        if (stepOf(rest, depth).index != index) here &= ~(rest & -rest);
      }
      at = valueOn(at, depth + 1, here);
      if (at == nullptr) return nullptr;
      at = skipSpace(at, end_);
      if (at == end_) return nullptr;
      if (*at == ']') return at + 1;
      if (*at != ',') return nullptr;
      at = skipSpace(at + 1, end_);
    }
  }

  /// Removes the paths whose next step is not this name from `here`. Returns false if the name is a duplicate in the
  /// map.
  bool takeName(std::string_view name, MapNames& names, std::size_t depth, PathSet& here) const {
    for (PathSet rest = here; rest != 0; rest &= rest - 1) {
      if (stepOf(rest, depth).name != name) here &= ~(rest & -rest);
    }
    NameHash hash;
    hash.add(name);
    return names.add(hash.value());
  }

  /// Returns the step of the first of the paths.
  const JsonStep& stepOf(PathSet paths, std::size_t depth) const {
    return paths_[static_cast<std::size_t>(std::countr_zero(paths))][depth];
  }

  /// Takes a string with its quotes, and notes whether it is free of escapes.
  const char* string(const char* at) {
    at = skipPlain(at + 1, end_);
    wasPlain_ = at != end_ && *at == '"';
    return wasPlain_ ? at + 1 : restOfString(at);
  }

  const char* restOfString(const char* at) const {
    while (at != end_) {
      if (*at == '"') return at + 1;
      if (*at == '\\') {
        at = skipEscape(at, end_);
      } else {
        at = static_cast<unsigned char>(*at) < 0x80 ? nullptr : skipCharacter(at, end_);
      }
      if (at == nullptr) return nullptr;
      at = skipPlain(at, end_);
    }
    return nullptr;
  }

  /// Returns a valid name without its escapes.
  static std::string decoded(std::string_view raw) {
    const std::string_view quoted(raw.data() - 1, raw.size() + 2);
    return JsonCursor(quoted, 0).takeString().value_or(std::string());
  }

  const char* number(const char* at) const {
    if (*at == '-') ++at;
    if (at == end_ || !isDigit(*at)) return nullptr;
    at = *at == '0' ? at + 1 : skipDigits(at, end_);
    if (at != end_ && *at == '.' && (at = digits(at + 1)) == nullptr) return nullptr;
    if (at == end_ || (*at != 'e' && *at != 'E')) return at;
    ++at;
    if (at != end_ && (*at == '+' || *at == '-')) ++at;
    return digits(at);
  }

  /// Takes at least one digit.
  const char* digits(const char* at) const { return at != end_ && isDigit(*at) ? skipDigits(at, end_) : nullptr; }

  const char* word(const char* at, std::string_view word) const {
    const std::string_view rest(at, static_cast<std::size_t>(end_ - at));
    return rest.starts_with(word) ? at + word.size() : nullptr;
  }

  const char* const end_;
  const std::span<const JsonPath> paths_;
  const std::span<std::string_view> found_;
  NameSet names_;
  bool wasPlain_ = false;
};

}  // namespace

bool locateJson(std::string_view text, std::span<const JsonPath> paths, std::span<std::string_view> found) {
  for (std::size_t i = 0; i < paths.size(); ++i) found[i] = {};
  const std::size_t mark = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  return JsonLocator(text, paths, found).locate(text.data() + mark);
}

}  // namespace sluice::content
