#include "filters/expression/body_reads.h"

#include <algorithm>
#include <bit>

#include "filters/expression/json_part.h"

namespace sluice::filters {
namespace {

bool isSameStep(const content::JsonStep& a, const content::JsonStep& b) {
  return a.name == b.name && a.index == b.index;
}

}  // namespace

std::optional<std::size_t> BodyReads::add(const Path& path, bool main) {
  const auto same = std::find_if(paths_.begin(), paths_.end(), [&](const Path& each) {
    return std::equal(each.begin(), each.end(), path.begin(), path.end(), isSameStep);
  });
  const auto number = static_cast<std::size_t>(same - paths_.begin());
  if (number == kMostPaths) return std::nullopt;
  if (same == paths_.end()) paths_.push_back(path);
  if (main && !isMain(number)) {
    mainBits_ |= std::uint64_t{1} << number;
    ++mains_;
  }
  return number;
}

Datum BodyDocument::read(std::size_t path, Meter& meter) {
  if (state_ == State::kUnread) scan();
  if (state_ == State::kScanned && reads_.isMain(path)) {
    const content::FoundJson* found = scan_->found();
    if (found == nullptr) return Datum::error("the body has no such field");
    if (found->kind == content::Value::Kind::kNull) return {};
    if (found->kind == content::Value::Kind::kBool) return Datum::boolean(found->text == "true");
    if (found->kind == content::Value::Kind::kString && !found->isCut) return Datum::string(found->text);
    if (found->kind == content::Value::Kind::kNumber && !found->isCut) return jsonNumberDatum(found->text);
  }
  if (state_ == State::kScanned) locate();
  if (state_ == State::kBad) return Datum::error("the body is no JSON");
  if (located_[path].empty()) return Datum::error("the body has no such field");
  return jsonDatum(located_[path], meter);
}

Datum BodyDocument::has(std::size_t path, std::size_t parent, Meter& meter) {
  if (state_ == State::kUnread) scan();
  if (state_ == State::kBad) return Datum::error("the body is no JSON");
  if (isThere(path)) return Datum::boolean(true);
  const Datum holder = read(parent, meter);
  if (holder.isError() || holder.isJsonMap()) return holder.isError() ? holder : Datum::boolean(false);
  return noOverload();
}

bool BodyDocument::isThere(std::size_t path) {
  if (state_ == State::kScanned && reads_.isMain(path)) return scan_->found() != nullptr;
  if (state_ == State::kScanned) locate();
  return !located_[path].empty();
}

void BodyDocument::scan() {
  const auto mains = reads_.paths();
  std::span<const content::JsonStep> path;
  for (std::size_t i = 0; reads_.isSingle() && i < mains.size(); ++i) {
    if (reads_.isMain(i)) path = mains[i];
  }
  scan_.emplace(path, kShort);
  const bool good = scan_->feed(text_) && scan_->end();
  state_ = good ? State::kScanned : State::kBad;
  if (good && !reads_.isSingle()) locate();
}

void BodyDocument::locate() {
  state_ = State::kLocated;
  const std::string_view whole = trimmedJson(text_);
  const auto paths = reads_.paths();
  located_.assign(paths.size(), {});
  missing_ = paths.size();
  std::uint64_t longer = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].empty()) {
      longer |= std::uint64_t{1} << i;
      continue;
    }
    located_[i] = whole;
    --missing_;
  }
  locateIn(whole, 0, longer);
}

/// Looks for the paths `among`, whose first `depth` steps lead to the container.
void BodyDocument::locateIn(std::string_view container, std::size_t depth, std::uint64_t among) {
  const bool isMap = container.starts_with('{');
  if (among == 0 || (!isMap && !container.starts_with('['))) return;
  const auto paths = reads_.paths();
  JsonParts parts(container);
  for (std::int32_t index = 0; missing_ > 0 && parts.next(); ++index) {
    std::uint64_t deeper = 0;
    for (std::uint64_t rest = among; rest != 0; rest &= rest - 1) {
      const auto path = static_cast<std::size_t>(std::countr_zero(rest));
      const content::JsonStep& step = paths[path][depth];
      if (isMap ? !step.name || !parts.isNamed(*step.name) : step.index != index) continue;
      if (paths[path].size() > depth + 1) {
        deeper |= std::uint64_t{1} << path;
      } else {
        located_[path] = parts.value();
        --missing_;
      }
    }
    if (deeper != 0) locateIn(parts.value(), depth + 1, deeper);
  }
}

}  // namespace sluice::filters
