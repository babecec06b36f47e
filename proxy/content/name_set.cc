#include "proxy/content/name_set.h"

#include <bit>
#include <cassert>
#include <cstring>

namespace sluice::content {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kFewNames = 64;

/// Returns the two halves of the product, folded.
std::uint64_t mix(std::uint64_t one, std::uint64_t other) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(one) * other;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t absorb(std::uint64_t state, std::uint64_t word) {
  return mix(state ^ word ^ 0xA0761D6478BD642FULL, state + 0xE7037ED1A0B428DBULL);
}

/// Loads bytes with the first one as the lowest, on every machine.
template <typename Word>
std::uint64_t load(const char* bytes) {
  Word word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    return sizeof word == kWord ? __builtin_bswap64(word) : __builtin_bswap32(static_cast<std::uint32_t>(word));
  }
  return word;
}

/// Loads one to seven bytes likewise. Some are loaded twice, to the same place.
std::uint64_t loadFew(const char* bytes, std::size_t count) {
  constexpr std::size_t kHalf = sizeof(std::uint32_t);
  if (count >= kHalf) {
    const std::size_t rest = count - kHalf;
    return load<std::uint32_t>(bytes) | load<std::uint32_t>(bytes + rest) << (8 * rest);
  }
  const auto at = [bytes](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  };
  return at(0) | at(count / 2) | at(count - 1);
}

}  // namespace

void NameHash::add(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  std::size_t filled = size_ % kWord;
  size_ += bytes.size();
  while (filled > 0 && at != end) {
    block_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(*at++)) << (8 * filled);
    if (++filled < kWord) continue;
    state_ = absorb(state_, block_);
    block_ = filled = 0;
  }
  for (; static_cast<std::size_t>(end - at) >= kWord; at += kWord) state_ = absorb(state_, load<std::uint64_t>(at));
  if (at != end) block_ = loadFew(at, static_cast<std::size_t>(end - at));
}

std::uint64_t NameHash::value() const { return mix(absorb(state_, block_), size_ ^ 0x8EBC6AF09C88C6E3ULL); }

bool NameSet::add(std::uint64_t hash) {
  assert(open_ > 0);
  const std::size_t begin = begins_[open_ - 1];
  const auto count = static_cast<std::uint32_t>(names_.size() - begin);
  if (names_.capacity() == 0) names_.reserve(kFewNames);
  names_.push_back({hash});
  if (count == 0) return true;
  NameNode* name = &names_[begin];
  for (std::uint64_t bits = hash; name->hash != hash; bits >>= 1) {
    std::uint32_t& next = name->next[bits & 1];
    if (next == 0) {
      next = count;
      return true;
    }
    name = &names_[begin + next];
  }
  return false;
}

}  // namespace sluice::content
