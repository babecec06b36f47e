// Takes a Kubernetes list (`{"kind": "...List", "metadata": {...}, "items": [...]}`) apart while it arrives, so that
// one of its items at a time is in memory as text.
//
// Lives for one answer; one thread; sans-IO. If the answer is another JSON object, such as a Status, rest() returns it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::kubernetes {

class ListDecoder {
 public:
  /// The largest item, and the most bytes of everything else. An API server takes objects of 1.5 MB at most.
  static constexpr std::size_t kMostBytes = 8 * 1024 * 1024;

  ListDecoder() = default;
  /// With `leavesOut`, items that are no JSON or too large are left out, so that one object does not hide all others.
  explicit ListDecoder(bool leavesOut) : leavesOut_(leavesOut) {}

  /// Takes the bytes of an answer, in order, off the front of `bytes` up to the end of an item, and returns that;
  /// nullopt once all of them are taken. Fails if an item is no JSON or too large, unless it is left out; call nothing
  /// else then.
  base::Result<std::optional<content::Value>> next(std::string_view& bytes);
  /// Returns the answer with an empty list of items; to be called once, at the end of the answer. Fails if that is no
  /// JSON.
  base::Result<content::Value> rest();

 private:
  bool takeInString(char c);
  base::Result<std::optional<content::Value>> endItem();
  base::Status outgrown(std::string& text);

  static constexpr int kItemDepth = 3;  // of an item's own members: the list, "items", the item

  std::string rest_;
  std::string item_;
  std::string name_;  // the last string at depth 1
  int depth_ = 0;     // open lists and maps
  bool inString_ = false;
  bool escaped_ = false;
  bool inItems_ = false;
  bool leavesOut_ = false;
  bool tooLarge_ = false;  // the item that is being read is too large
};

}  // namespace sluice::kubernetes
