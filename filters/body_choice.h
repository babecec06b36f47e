// sluice.dev/BodyRouter:v1, but for how bodies come: what a body says about where its request goes, such as the `model`
// of the common inference APIs.
//
// config: {pointer | jsonPath, header, routeHint, maxBodyBytes}. Immutable; any thread. The field is the gateway's own:
// what a client sent in it, or in a spelling that some server takes for it, goes, whatever the body is,
// unless the step is skipped because it fails open.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "filters/body_path.h"
#include "proxy/base/arena.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/http/message.h"

namespace sluice::filters {

class BodyChoice {
 public:
  /// Of a value that is chosen by.
  static constexpr std::size_t kMostBytes = 256;

  /// Errors (config's) name the member.
  static base::Result<BodyChoice> read(const content::Value& config);

  /// Its body is JSON: application/json or a +json type. Others pass, and choose nothing.
  static bool concerns(const http::RequestHead& request);
  /// 0: what the chain allows.
  std::uint64_t maxBodyBytes() const { return maxBodyBytes_; }

  /// Finds the value in a body; the choice outlives it.
  content::JsonScan scan() const { return {path_.steps(), kMostBytes}; }
  /// The value, a view into `found`; empty: the body has none there. 400: it is neither a string nor a number, or
  /// cannot be the value of a field.
  static base::Result<std::string_view> chosenBy(const content::JsonScan::Found* found);

  /// Sets the field to `value`, which lives as long as the arena; empty: removes it.
  void apply(base::Arena& arena, http::Headers& headers, std::string_view value) const;
  /// The route hint that gets the value, which matches on header fields of that name see; empty: none.
  const std::string& routeHint() const { return routeHint_; }

 private:
  BodyPath path_;
  std::string header_;
  std::string routeHint_;
  std::uint64_t maxBodyBytes_ = 0;
};

}  // namespace sluice::filters
