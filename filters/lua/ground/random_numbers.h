// Random numbers for one call of a script (xoshiro256**), of which no other call learns anything: the numbers of a
// generator tell which ones come next.
#pragma once

#include <array>
#include <cstdint>

namespace sluice::filters::lua {

class RandomNumbers {
 public:
  /// Takes its seed from the system's random generator.
  RandomNumbers();

  /// Returns false if the system had no random bytes.
  bool hasSeed() const { return hasSeed_; }
  std::uint64_t next();
  /// Returns a number of 0 to `most`.
  std::uint64_t upTo(std::uint64_t most);

 private:
  std::array<std::uint64_t, 4> state_{};
  bool hasSeed_;
};

}  // namespace sluice::filters::lua
