#include "proxy/http/headers.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

// The names in the order of FieldId.
constexpr std::array<std::string_view, kFieldIds> kNames{
    "",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "grpc-message",
    "grpc-status",
    "host",
    "http2-settings",
    "keep-alive",
    "max-forwards",
    "priority",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "server",
    "set-cookie",
    "sluice-via",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-request-id",
};
static_assert(!kNames.back().empty());

// A perfect hash of the known names, found by the compiler: an unknown name costs three bytes and one comparison of
// lengths.
constexpr std::size_t kSlots = 128;

struct Mix {
  unsigned first;
  unsigned last;
};

constexpr std::size_t slotOf(std::string_view name, Mix mix) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(name[i]); };
  return (name.size() * 7 + byte(0) * mix.first + byte(name.size() - 1) * mix.last + byte(name.size() / 2)) % kSlots;
}

constexpr bool collides(Mix mix) {
  std::array<bool, kSlots> used{};
  for (std::size_t i = 1; i < kNames.size(); ++i) {
    const std::size_t slot = slotOf(kNames[i], mix);
    if (used[slot]) return true;
    used[slot] = true;
  }
  return false;
}

constexpr Mix findMix() {
  for (unsigned first = 1; first < 64; ++first) {
    for (unsigned last = 1; last < 64; ++last) {
      if (!collides({first, last})) return {first, last};
    }
  }
  return {0, 0};
}

constexpr Mix kMix = findMix();
static_assert(kMix.first != 0, "no perfect hash: change the formula");

constexpr std::array<FieldId, kSlots> kIds = [] {
  std::array<FieldId, kSlots> table{};
  for (std::size_t i = 1; i < kNames.size(); ++i) table[slotOf(kNames[i], kMix)] = static_cast<FieldId>(i);
  return table;
}();

template <typename Word>
bool differAt(const char* a, const char* b, std::size_t at) {
  Word x;
  Word y;
  std::memcpy(&x, a + at, sizeof(Word));
  std::memcpy(&y, b + at, sizeof(Word));
  return x != y;
}

// Compares two names of a known name's size without a call, as each field of each message is: in words that overlap.
bool areSameKnown(const char* a, const char* b, std::size_t size) {
  static_assert(std::all_of(kNames.begin() + 1, kNames.end(),
                            [](std::string_view name) { return name.size() >= 2 && name.size() <= 24; }));
  if (size < 4) return !differAt<std::uint16_t>(a, b, 0) && a[size - 1] == b[size - 1];
  if (size < 8) return !differAt<std::uint32_t>(a, b, 0) && !differAt<std::uint32_t>(a, b, size - 4);
  if (differAt<std::uint64_t>(a, b, 0) || differAt<std::uint64_t>(a, b, size - 8)) return false;
  return size <= 16 || !differAt<std::uint64_t>(a, b, 8);
}

constexpr std::uint32_t kFirstCapacity = 16;

}  // namespace

FieldId fieldId(std::string_view lowerCaseName) {
  if (lowerCaseName.empty()) return FieldId::kOther;
  const FieldId id = kIds[slotOf(lowerCaseName, kMix)];
  const std::string_view known = kNames[static_cast<std::size_t>(id)];
  if (id == FieldId::kOther || known.size() != lowerCaseName.size()) return FieldId::kOther;
  return areSameKnown(known.data(), lowerCaseName.data(), known.size()) ? id : FieldId::kOther;
}

std::string_view fieldName(FieldId id) { return kNames[static_cast<std::size_t>(id)]; }

void Headers::reserve(base::Arena& arena, std::size_t count) {
  if (count <= capacity_) return;
  Field* grown = arena.array<Field>(count);
  if (size_ > 0) std::memcpy(grown, fields_, size_ * sizeof(Field));
  fields_ = grown;
  capacity_ = static_cast<std::uint32_t>(count);
}

void Headers::grow(base::Arena& arena) { reserve(arena, capacity_ == 0 ? kFirstCapacity : std::size_t{capacity_} * 2); }

const Field* Headers::find(FieldId id) const {
  const Field* found = std::find_if(begin(), end(), [id](const Field& field) { return field.id == id; });
  return found == end() ? nullptr : found;
}

const Field* Headers::find(std::string_view lowerCaseName) const {
  const FieldId id = fieldId(lowerCaseName);
  if (id != FieldId::kOther) return find(id);
  const Field* found = std::find_if(begin(), end(), [&](const Field& field) { return field.name == lowerCaseName; });
  return found == end() ? nullptr : found;
}

void Headers::rename(FieldId from, FieldId to) {
  for (std::uint32_t i = 0; i < size_; ++i) {
    if (fields_[i].id == from) fields_[i] = {fieldName(to), fields_[i].value, to, fields_[i].care};
  }
}

std::size_t Headers::remove(FieldId id) {
  return removeIf([id](const Field& field) { return field.id == id; });
}

std::size_t Headers::remove(FieldId id, std::string_view lowerCaseName) {
  if (id != FieldId::kOther) return remove(id);
  return removeIf([&](const Field& field) { return field.name == lowerCaseName; });
}

std::size_t Headers::removeTwins(std::string_view lowerCaseName) {
  return removeIf([lowerCaseName](const Field& field) { return areTwins(field.name, lowerCaseName); });
}

void Headers::set(base::Arena& arena, std::string_view name, std::string_view value) {
  remove(name);
  add(arena, name, value);
}

Headers Headers::copy(base::Arena& arena) const {
  Headers result;
  // Room for the fields that an attempt usually adds, so that the copy does not grow at once.
  result.capacity_ = size_ + kFirstCapacity / 2;
  result.fields_ = arena.array<Field>(result.capacity_);
  if (size_ > 0) std::memcpy(result.fields_, fields_, size_ * sizeof(Field));
  result.size_ = size_;
  return result;
}

Headers Headers::clone(base::Arena& arena) const {
  Headers result = copy(arena);
  for (std::uint32_t i = 0; i < result.size_; ++i) {
    Field& field = result.fields_[i];
    if (field.toReceived == 0) {
      field.name = arena.copy(field.name);
    } else {
      field.name = arena.concat(field.receivedName(), field.name).substr(field.name.size());
      field.toReceived = static_cast<std::uint32_t>(field.name.size());
    }
    field.value = arena.copy(field.value);
  }
  return result;
}

bool haveTwinBytes(std::string_view a, std::string_view b) {
  const auto plain = [](char c) { return c == '_' ? '-' : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return plain(x) == plain(y); });
}

bool equalsIgnoreCase(std::string_view a, std::string_view b) {
  if (a == b) return true;
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return toLower(x) == toLower(y); });
}

bool listHasToken(std::string_view value, std::string_view token) {
  bool found = false;
  forEachListElement(value, [&](std::string_view element) { found = found || equalsIgnoreCase(element, token); });
  return found;
}

}  // namespace sluice::http
