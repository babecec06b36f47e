#include "proxy/content/decoder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace sluice::content {
namespace {

constexpr std::size_t kHeldBytes = std::size_t{16} * 1024;
constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

class IdentityCoding final : public Coding {
 public:
  bool decode(std::string_view& in, std::span<char>& out) override {
    const std::size_t count = std::min(in.size(), out.size());
    if (count > 0) std::memcpy(out.data(), in.data(), count);
    in.remove_prefix(count);
    out = out.subspan(count);
    return true;
  }
  bool complete() const override { return true; }
  std::size_t memory() const override { return 0; }
};

bool equalsIgnoringCase(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char one, char other) {
    return (one >= 'A' && one <= 'Z' ? static_cast<char>(one + ('a' - 'A')) : one) == other;
  });
}

/// Takes the next coding other than `identity` off the list; returns an empty text if there is none left.
std::string_view takeCoding(std::string_view& list) {
  while (!list.empty()) {
    std::string_view coding = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), coding.size() + 1));
    coding.remove_prefix(std::min(coding.size(), coding.find_first_not_of(" \t")));
    coding = coding.substr(0, coding.find_last_not_of(" \t") + 1);
    if (!coding.empty() && !equalsIgnoringCase(coding, "identity")) return coding;
  }
  return {};
}

std::unique_ptr<Coding> codingNamed(std::string_view name) {
  if (equalsIgnoringCase(name, "gzip") || equalsIgnoringCase(name, "x-gzip")) return makeZlibCoding(ZlibFormat::kGzip);
  if (equalsIgnoringCase(name, "deflate")) return makeZlibCoding(ZlibFormat::kDeflate);
  if (equalsIgnoringCase(name, "br")) return makeBrotliCoding();
  if (equalsIgnoringCase(name, "zstd")) return makeZstdCoding();
  return nullptr;
}

}  // namespace

std::string_view describe(DecodeStatus status) {
  switch (status) {
    case DecodeStatus::kTaken:
    case DecodeStatus::kMore:
      return "is well";
    case DecodeStatus::kCorrupt:
      return "is not what its Content-Encoding says";
    case DecodeStatus::kTruncated:
      return "ends before its Content-Encoding does";
    case DecodeStatus::kTooLong:
      return "is longer than limits.decompressedBody when it is decompressed";
    case DecodeStatus::kTooDense:
      return "grows by more than limits.decompressionRatio when it is decompressed";
  }
  return {};
}

bool Decoder::needed(std::string_view contentEncoding) { return !takeCoding(contentEncoding).empty(); }

std::optional<Decoder> Decoder::make(std::string_view contentEncoding, const DecodeLimits& limits) {
  std::vector<std::unique_ptr<Coding>> codings;
  for (std::string_view name = takeCoding(contentEncoding); !name.empty(); name = takeCoding(contentEncoding)) {
    if (codings.size() == kMostCodings) return std::nullopt;
    codings.push_back(codingNamed(name));
    if (!codings.back()) return std::nullopt;
  }
  if (codings.empty()) codings.push_back(std::make_unique<IdentityCoding>());
  Decoder decoder(limits);
  // The coding that was applied last is undone first.
  for (auto coding = codings.rbegin(); coding != codings.rend(); ++coding) decoder.append(std::move(*coding));
  return decoder;
}

void Decoder::append(std::unique_ptr<Coding> coding) {
  if (!stages_.empty()) stages_.back().held.resize(kHeldBytes);
  stages_.emplace_back().coding = std::move(coding);
}

DecodeStatus Decoder::feed(std::string_view& in, base::ByteQueue& out, std::size_t room) {
  for (bool moved = true; moved && !failed(failure_);) {
    moved = false;
    for (std::size_t i = 0; i < stages_.size() && !failed(failure_); ++i) moved |= step(i, in, out, room);
  }
  if (out.empty()) out.clear();  // gives back the room that was prepared
  if (failed(failure_)) return failure_;
  if (room == 0) return DecodeStatus::kMore;
  // With input and room, no progress is a failure: otherwise the caller would ask again and again.
  const bool stuck =
      std::any_of(stages_.begin(), stages_.end(), [](const CodingStage& s) { return !s.waiting.empty(); });
  if (stuck || !in.empty()) failure_ = DecodeStatus::kCorrupt;
  return failure_;
}

std::size_t Decoder::memory() const {
  std::size_t bytes = 0;
  for (const CodingStage& stage : stages_) bytes += stage.coding->memory() + stage.held.size();
  return bytes;
}

DecodeStatus Decoder::end() {
  for (const CodingStage& stage : stages_) {
    const bool over = !stage.fed || (stage.coding->complete() && stage.waiting.empty());
    if (!over && !failed(failure_)) failure_ = DecodeStatus::kTruncated;
  }
  return failure_;
}

/// Makes one call of one coding. Returns false if nothing moved, or it failed.
bool Decoder::step(std::size_t index, std::string_view& in, base::ByteQueue& out, std::size_t& room) {
  CodingStage& stage = stages_[index];
  const bool last = index + 1 == stages_.size();
  if (last ? room == 0 : !stage.waiting.empty()) return false;
  std::string_view& input = index == 0 ? in : stages_[index - 1].waiting;
  std::span<char> to = last ? out.prepare() : std::span<char>(stage.held);
  if (last) to = to.first(std::min(to.size(), room));
  // One byte more than allowed, so that the end of a body just within the limits can be seen.
  const std::uint64_t allowed = std::min(longest(stage), densest()) - stage.written;
  if (allowed < to.size()) to = to.first(static_cast<std::size_t>(allowed) + 1);

  const char* begin = to.data();
  const std::size_t inputSize = input.size();
  const bool sound = stage.coding->decode(input, to);
  const std::size_t taken = inputSize - input.size();
  const auto written = static_cast<std::size_t>(to.data() - begin);
  if (index == 0) taken_ += taken;
  stage.fed |= taken > 0;
  stage.written += written;
  failure_ = sound ? judge(stage) : DecodeStatus::kCorrupt;
  if (failed(failure_)) return false;
  if (last) {
    out.commit(written);
    room -= written;
  } else {
    stage.waiting = {begin, written};
  }
  return taken > 0 || written > 0;
}

DecodeStatus Decoder::judge(const CodingStage& stage) const {
  if (stage.written > longest(stage)) return DecodeStatus::kTooLong;
  if (stage.written > densest()) return DecodeStatus::kTooDense;
  return DecodeStatus::kTaken;
}

std::uint64_t Decoder::longest(const CodingStage& stage) const {
  if (&stage == &stages_.back()) return limits_.mostBytes;
  return limits_.mostBytes > (kUnbounded - kGraceBytes) / 2 ? kUnbounded : 2 * limits_.mostBytes + kGraceBytes;
}

/// Returns how many bytes may come out of the input taken so far.
std::uint64_t Decoder::densest() const {
  if (limits_.mostRatio != 0 && taken_ > (kUnbounded - kGraceBytes) / limits_.mostRatio) return kUnbounded;
  return kGraceBytes + taken_ * limits_.mostRatio;
}

}  // namespace sluice::content
