// sluice.dev/BodyRouter:v1, but for how bodies come: what a body says about where its request goes, such as the `model`
// of the common inference APIs.
//
// config: {pointer | jsonPath, header, routeHint, maxBodyBytes}. Immutable; any thread. The fields `header` and
// `routeHint` are the gateway's own: what a client sent in them, or in a spelling that some server takes for them,
// goes, whatever the body is and whatever becomes of the step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filters/body_path.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/http/message.h"
#include "proxy/processing/request_edits.h"

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

  /// The fields that no client may send.
  std::span<const std::string> ownedFields() const { return owned_; }
  /// Sets the field to `value`, which lives as long as the exchange, unless that is empty.
  void apply(processing::RequestEditor& edit, std::string_view value) const;
  /// The route hint that gets the value, which matches on header fields of that name see; empty: none.
  const std::string& routeHint() const { return routeHint_; }

 private:
  BodyPath path_;
  std::string header_;
  std::string routeHint_;
  std::vector<std::string> owned_;
  std::uint64_t maxBodyBytes_ = 0;
};

}  // namespace sluice::filters
