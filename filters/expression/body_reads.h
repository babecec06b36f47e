// The values of a JSON body that a set of expressions reads, and the reading of them: all in one go, however many
// expressions ask.
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
#include "proxy/content/json_scan.h"

namespace sluice::filters {

class BodyReads {
 public:
  using Path = std::vector<content::JsonStep>;
  /// Bounds the different values that the expressions of one processor read.
  static constexpr std::size_t kMostPaths = 64;
  static constexpr std::size_t kMostSteps = content::JsonScan::kMostSteps;

  /// Returns the number of the path, the same for the same path; nullopt if there are too many. A path that only says
  /// why another one finds nothing is no `main` one.
  std::optional<std::size_t> add(const Path& path, bool main = true);
  /// Notes that an expression reads the text of the body as it is.
  void addText() { wantsText_ = true; }

  std::span<const Path> paths() const { return paths_; }
  /// Returns true if an expression reads the body.
  bool any() const { return wantsText_ || !paths_.empty(); }
  /// Returns true if there is one main path.
  bool isSingle() const { return mains_ == 1; }
  bool isMain(std::size_t path) const { return (mainBits_ >> path & 1) != 0; }

 private:
  std::vector<Path> paths_;
  std::uint64_t mainBits_ = 0;
  std::size_t mains_ = 0;
  bool wantsText_ = false;
};

class BodyDocument {
 public:
  /// `text` is the whole body; both outlive the document.
  BodyDocument(std::string_view text, const BodyReads& reads) : text_(text), reads_(reads) {}

  std::string_view text() const { return text_; }
  /// Returns true if the body is JSON.
  bool check() {
    if (state_ == State::kUnread) scan();
    return state_ != State::kBad;
  }
  /// Returns true if it was found to be no JSON.
  bool isBad() const { return state_ == State::kBad; }
  /// Returns the value at a path. Fails if the body is no JSON, or has no such value. Strings may be views into the
  /// document.
  Datum read(std::size_t path, Meter& meter);
  /// Returns true if there is such a value.
  Datum has(std::size_t path, std::size_t parent, Meter& meter);

 private:
  enum class State : std::uint8_t { kUnread, kScanned, kLocated, kBad };
  /// A value of this length or less is taken out of the text while it is checked.
  static constexpr std::size_t kShort = 256;

  void scan();
  /// Finds where the values of all paths stand.
  void locate();
  void locateIn(std::string_view container, std::size_t depth, std::uint64_t among);
  bool isThere(std::size_t path);

  const std::string_view text_;
  const BodyReads& reads_;
  State state_ = State::kUnread;
  std::optional<content::JsonScan> scan_;
  std::vector<std::string_view> located_;  // by path; empty if there is no such value
  std::size_t missing_ = 0;
};

}  // namespace sluice::filters
