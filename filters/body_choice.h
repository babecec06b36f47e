// The part of sluice.dev/BodyRouter:v1 that does not depend on how bodies arrive: the value in a body by which its
// request is routed, such as the `model` of the common inference APIs.
//
// config: {pointer
//
// jsonPath, header, routeHint, maxBodyBytes}. Immutable; any thread. The fields `header` and `routeHint` belong to the
// gateway: a field of that name that a client sends, or of a spelling that some server takes for it, is always removed,
// whatever the body contains and however the step ends.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filters/body_path.h"
#include "proxy/base/result.h"
#include "proxy/content/form_scan.h"
#include "proxy/content/value.h"
#include "proxy/http/message.h"
#include "proxy/processing/request_edits.h"

namespace sluice::filters {

class BodyChoice {
 public:
  /// The largest value by which a route is chosen, in bytes.
  static constexpr std::size_t kMostBytes = 256;

  /// Errors have config's origin and name the member.
  static base::Result<BodyChoice> read(const content::Value& config);

  /// Returns true if the request's body is JSON: application/json or a +json type.
  static bool isJson(const http::RequestHead& request);
  /// Returns true if the request's body is a form (multipart/form-data) that may have the value: the path is the name
  /// of a field. Requests with other bodies pass unchanged.
  bool isForm(const http::RequestHead& request) const;
  /// Returns 0 if the chain's bound applies.
  std::uint64_t maxBodyBytes() const { return maxBodyBytes_; }

  /// Returns a scan that finds the value in a body; the choice outlives it.
  content::JsonScan scan() const { return {path_.steps(), kMostBytes}; }
  /// Returns a scan that finds the value in a form, which isForm(); null if the form has no valid boundary. The choice
  /// outlives it.
  std::optional<content::FormScan> formScan(const http::RequestHead& request) const;
  /// Returns the value, a view into `found`; empty if the body has none there. Fails with 400 if it is neither a
  /// string nor a number, or cannot be the value of a field.
  static base::Result<std::string_view> chosenBy(const content::JsonScan::Found* found);

  /// Returns the fields that no client may send.
  std::span<const std::string> ownedFields() const { return owned_; }
  /// Sets the field to `value`, which lives as long as the exchange, unless `value` is empty.
  void apply(processing::RequestEditor& edit, std::string_view value) const;
  /// Returns the name of the route hint that gets the value; empty if there is none. Matches on header fields of that
  /// name see the hint.
  const std::string& routeHint() const { return routeHint_; }

 private:
  BodyPath path_;
  std::string header_;
  std::string routeHint_;
  std::vector<std::string> owned_;
  std::uint64_t maxBodyBytes_ = 0;
};

}  // namespace sluice::filters
