// The attributes of requests, responses and their clients that a server gets besides their headers.
//
// Immutable; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filters/expression/expression.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/processing/call.h"

namespace sluice::filters::ext_proc {

class Attributes {
 public:
  /// Reads a list of names, which are expressions without the body: "request.path". `list` is null if there is none.
  /// `bounds` are those of the use. Errors have config's origin and begin with the position in the list.
  static base::Result<Attributes> read(const content::Value* list, MessageSide side,
                                       const processing::WorkBounds& bounds);
  bool empty() const { return attributes_.empty(); }
  /// Returns a map with the attributes whose values are strings, numbers or booleans; nullopt if the request makes the
  /// expressions work more than it may.
  std::optional<content::Value> valuesIn(const processing::Call& call, const processing::Peer& peer) const;

 private:
  std::vector<std::pair<std::string, Expression>> attributes_;
  std::uint64_t mostSteps_ = 0;
};

}  // namespace sluice::filters::ext_proc
