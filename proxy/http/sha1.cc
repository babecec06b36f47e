#include "proxy/http/sha1.h"

#include <bit>
#include <cstddef>
#include <string>

namespace sluice::http {
namespace {

constexpr std::size_t kBlock = 64;
using State = std::array<std::uint32_t, 5>;

std::uint32_t mix(int round, const State& s) {
  if (round < 20) return ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5A827999;
  if (round < 40) return (s[1] ^ s[2] ^ s[3]) + 0x6ED9EBA1;
  if (round < 60) return ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) + 0x8F1BBCDC;
  return (s[1] ^ s[2] ^ s[3]) + 0xCA62C1D6;
}

void absorb(State& state, std::string_view block) {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t i = 0; i < kBlock; ++i) words[i / 4] = words[i / 4] << 8 | static_cast<std::uint8_t>(block[i]);
  for (std::size_t i = 16; i < words.size(); ++i)
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  State s = state;
  for (int round = 0; round < 80; ++round) {
    const std::uint32_t next = std::rotl(s[0], 5) + mix(round, s) + s[4] + words[static_cast<std::size_t>(round)];
    s = {next, s[0], std::rotl(s[1], 30), s[2], s[3]};
  }
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += s[i];
}

}  // namespace

std::array<std::uint8_t, 20> sha1(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % kBlock != kBlock - 8) padded += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xFF);

  State state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  for (std::size_t at = 0; at < padded.size(); at += kBlock) absorb(state, std::string_view(padded).substr(at, kBlock));
  std::array<std::uint8_t, 20> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

}  // namespace sluice::http
