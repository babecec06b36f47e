// The values of a JSON body that a set of expressions reads. They are all located in one pass, however many expressions
// there are.
//
// BodyReads is filled while expressions are compiled, and constant from then on. A BodyDocument lives as long as one
// message's body is looked at; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "filters/expression/datum.h"
#include "filters/expression/meter.h"
#include "proxy/base/arena.h"
#include "proxy/content/json_locate.h"
#include "proxy/content/json_scan.h"

namespace sluice::filters {

class BodyReads {
 public:
  using Path = content::JsonPath;
  /// Bounds the different values that the expressions of one processor read.
  static constexpr std::size_t kMostPaths = content::kMostLocated;
  static constexpr std::size_t kMostSteps = content::JsonScan::kMostSteps;

  /// Returns the number of the path, the same for the same path; nullopt if there are too many.
  std::optional<std::size_t> add(const Path& path);
  /// Notes that an expression reads the unparsed text of the body.
  void addText() { wantsText_ = true; }

  std::span<const Path> paths() const { return paths_; }
  /// Returns true if an expression reads the body.
  bool any() const { return wantsText_ || !paths_.empty(); }

 private:
  std::vector<Path> paths_;
  bool wantsText_ = false;
};

class BodyDocument {
 public:
  /// `text` is the whole body; all three outlive the document.
  BodyDocument(std::string_view text, const BodyReads& reads, base::Arena& arena)
      : text_(text), reads_(reads), arena_(arena) {}

  std::string_view text() const { return text_; }
  /// Returns true if the body is JSON.
  bool check(Meter& meter);
  /// Returns true if the body has been found to be no JSON.
  bool isBad() const { return state_ == State::kBad; }
  /// Returns the value at a path. Fails if the body is no JSON, or has no such value. Strings may be views of the
  /// body.
  Datum read(std::size_t path, Meter& meter);
  /// Returns true if there is such a value.
  Datum has(std::size_t path, std::size_t parent, Meter& meter);

 private:
  enum class State : std::uint8_t { kUnread, kGood, kBad };

  const std::string_view text_;
  const BodyReads& reads_;
  base::Arena& arena_;
  State state_ = State::kUnread;
  std::span<std::string_view> located_;  // by path; empty if there is no such value
};

}  // namespace sluice::filters
