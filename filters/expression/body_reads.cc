#include "filters/expression/body_reads.h"

#include <algorithm>

#include "filters/expression/json_part.h"

namespace sluice::filters {
namespace {

bool isSameStep(const content::JsonStep& a, const content::JsonStep& b) {
  return a.name == b.name && a.index == b.index;
}

}  // namespace

std::optional<std::size_t> BodyReads::add(const Path& path) {
  const auto same = std::find_if(paths_.begin(), paths_.end(), [&](const Path& each) {
    return std::equal(each.begin(), each.end(), path.begin(), path.end(), isSameStep);
  });
  const auto number = static_cast<std::size_t>(same - paths_.begin());
  if (number == kMostPaths) return std::nullopt;
  if (same == paths_.end()) paths_.push_back(path);
  return number;
}

bool BodyDocument::check(Meter& meter) {
  if (state_ == State::kUnread) {
    meter.step(text_.size());
    const std::size_t count = reads_.paths().size();
    located_ = {arena_.array<std::string_view>(count), count};
    state_ = content::locateJson(text_, reads_.paths(), located_) ? State::kGood : State::kBad;
  }
  return state_ == State::kGood;
}

Datum BodyDocument::read(std::size_t path, Meter& meter) {
  if (!check(meter)) return Datum::error("the body is no JSON");
  if (located_[path].empty()) return Datum::error("the body has no such field");
  return jsonDatum(located_[path], meter);
}

Datum BodyDocument::has(std::size_t path, std::size_t parent, Meter& meter) {
  if (!check(meter)) return Datum::error("the body is no JSON");
  if (!located_[path].empty()) return Datum::boolean(true);
  const Datum holder = read(parent, meter);
  if (holder.isError() || holder.isJsonMap()) return holder.isError() ? holder : Datum::boolean(false);
  return noOverload();
}

}  // namespace sluice::filters
