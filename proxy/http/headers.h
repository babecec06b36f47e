// Field lines of one section (headers or trailers), in order, as views into an arena that outlives them (RFC 9110
// section 5).
//
// Names are lower case, and only what HTTP/1.x writes has the case in which they came over HTTP/1.x. A field that the
// gateway itself looks at has a FieldId, found once when the line is read, so that later look-ups compare integers.
// copy() copies the list, never the bytes: in this way an attempt gets its own head. Plain assignment shares the list,
// so only one of the two may be changed afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/base/arena.h"

namespace sluice::http {

/// Field names that some part of the gateway treats specially; everything else is kOther.
enum class FieldId : std::uint8_t {
  kOther,
  kAuthorization,
  kConnection,
  kContentLength,
  kContentType,
  kCookie,
  kDate,
  kExpect,
  kForwarded,
  kGrpcMessage,
  kGrpcStatus,
  kHost,
  kHttp2Settings,
  kKeepAlive,
  kMaxForwards,
  kPriority,
  kProxyAuthenticate,
  kProxyAuthorization,
  kProxyConnection,
  kServer,
  kSetCookie,
  kSluiceVia,
  kTe,
  kTrailer,
  kTransferEncoding,
  kUpgrade,
  kUserAgent,
  kVia,
  kXForwardedFor,
  kXForwardedHost,
  kXForwardedProto,
  kXRequestId,
};

/// The number of ids, kOther included.
inline constexpr std::size_t kFieldIds = static_cast<std::size_t>(FieldId::kXRequestId) + 1;

/// Returns the id of a name in lower case.
FieldId fieldId(std::string_view lowerCaseName);
/// Returns the name of an id other than kOther, in lower case and with static lifetime.
std::string_view fieldName(FieldId id);

/// Returns true for the fields in which proxies leave their names: Via, and Sluice-Via for Backends that get no Via.
constexpr bool isVia(FieldId id) { return id == FieldId::kVia || id == FieldId::kSluiceVia; }

/// How a codec must treat a field that it writes: two flags, which may be combined.
enum class Care : std::uint8_t {
  kLook = 0,    // an edit has added it, so the codec must check it
  kNone = 1,    // hygiene has checked that any version may carry its name and value
  kSecret = 2,  // the codec must check it, and never index it: others could guess it from the table (RFC 7541 7.1.3)
  kCleanSecret = 3  // hygiene has checked it, and it is never indexed
};
constexpr bool isClean(Care care) { return (static_cast<unsigned>(care) & 1) != 0; }
constexpr bool isSecret(Care care) { return (static_cast<unsigned>(care) & 2) != 0; }
/// Returns true for a field that a step has put in with a secret of the gateway. Only the Backend may see it, and no
/// other peer.
constexpr bool isInjected(Care care) { return care == Care::kSecret; }
/// Returns the mark of the field after hygiene has checked it.
constexpr Care cleaned(Care care) { return static_cast<Care>(static_cast<unsigned>(care) | 1); }

struct Field {
  std::string_view name;
  std::string_view value;
  FieldId id = FieldId::kOther;
  Care care = Care::kLook;
  /// The name as it came over HTTP/1.x lies this many bytes before `name`, in the same memory; 0 for all other names.
  std::uint32_t toReceived = 0;

  /// Returns the name in the case in which it came over HTTP/1.x; else in lower case. Only HTTP/1.x writes it.
  std::string_view receivedName() const { return {name.data() - toReceived, name.size()}; }
};

class Headers {
 public:
  Headers() = default;

  /// Views must live as long as the arena; the name must be in lower case.
  void add(base::Arena& arena, std::string_view name, std::string_view value) {
    add(arena, {name, value, fieldId(name)});
  }
  void add(base::Arena& arena, FieldId id, std::string_view value) { add(arena, {fieldName(id), value, id}); }
  void add(base::Arena& arena, const Field& field) {
    // The list that moves stays in the arena as it is, so `field` may be in it.
    if (size_ == capacity_) grow(arena);
    fields_[size_++] = field;
  }
  /// Changes the mark of the line that was added last. The list must not be empty.
  void setCareOfLast(Care care) { fields_[size_ - 1].care = care; }
  /// Makes room for `count` lines in all, so that so many can be added without moving the list.
  void reserve(base::Arena& arena, std::size_t count);

  /// Returns the first line of that name, or nullptr.
  const Field* find(FieldId id) const;
  const Field* find(std::string_view lowerCaseName) const;
  /// Gives every line of that name another name.
  void rename(FieldId from, FieldId to);
  /// Removes every line of that name; returns how many there were.
  std::size_t remove(FieldId id);
  std::size_t remove(std::string_view lowerCaseName) { return remove(fieldId(lowerCaseName), lowerCaseName); }
  /// `id` is the one that belongs to the name.
  std::size_t remove(FieldId id, std::string_view lowerCaseName);
  /// Removes the lines of that name together with its twins (areTwins()); returns how many there were.
  std::size_t removeTwins(std::string_view lowerCaseName);
  /// Removes the lines for which drop(const Field&) is true, keeping the order of the others.
  template <typename Drop>
  std::size_t removeIf(Drop&& drop) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (drop(static_cast<const Field&>(fields_[i]))) continue;
      if (kept != i) fields_[kept] = fields_[i];
      ++kept;
    }
    const std::size_t removed = size_ - kept;
    size_ = kept;
    return removed;
  }
  /// Replaces every line of that name by one.
  void set(base::Arena& arena, std::string_view name, std::string_view value);
  /// Returns an independent list over the same bytes.
  Headers copy(base::Arena& arena) const;
  /// Returns an independent list over bytes of its own, which outlives the original.
  Headers clone(base::Arena& arena) const;

  std::span<const Field> all() const { return {fields_, size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Field* begin() const { return fields_; }
  const Field* end() const { return fields_ + size_; }

 private:
  void grow(base::Arena& arena);

  Field* fields_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

/// Returns true if the comma-separated list in `value` contains `token` (ASCII case ignored; RFC 9110 section 5.6.1).
bool listHasToken(std::string_view value, std::string_view token);
/// Is areTwins() for names of the same length.
bool haveTwinBytes(std::string_view a, std::string_view b);
/// Returns true for names, in lower case, that some server would take for one another: a server that hands fields to
/// programs as variables takes "x_api_key" for "x-api-key" (RFC 3875 section 4.1.18).
inline bool areTwins(std::string_view a, std::string_view b) { return a.size() == b.size() && haveTwinBytes(a, b); }
bool equalsIgnoreCase(std::string_view a, std::string_view b);

}  // namespace sluice::http
