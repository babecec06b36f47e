// The members of a map, or the elements of a list, that some schema has been applied to. `unevaluatedProperties` and
// `unevaluatedItems` apply to the others.
//
// Belongs to one check. It takes no memory until something is marked, and then a bit for each part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::content {

class EvaluatedParts {
 public:
  /// Marks the part of this index, one of `count`.
  void mark(std::size_t index, std::size_t count) {
    if (words_.empty()) words_.resize((count + 63) / 64);
    words_[index / 64] |= std::uint64_t{1} << index % 64;
  }
  void markAll() { all_ = true; }
  /// Marks the parts that `other`, which belongs to the same value, has marked.
  void add(const EvaluatedParts& other) {
    all_ = all_ || other.all_;
    if (words_.empty()) words_.resize(other.words_.size());
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }

  bool has(std::size_t index) const {
    return all_ || (index / 64 < words_.size() && (words_[index / 64] >> index % 64 & 1) != 0);
  }

 private:
  bool all_ = false;
  std::vector<std::uint64_t> words_;
};

}  // namespace sluice::content
